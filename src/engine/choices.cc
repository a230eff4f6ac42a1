#include "engine/choices.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace culvert::engine {

Choices::Choices(rt::Worker& control, rt::Background& background, store::Store& store)
    : control_(control), background_(background), store_(store) {}

Choices::~Choices() {
  quiet_.cancel();
  write();
}

void Choices::chose(std::string_view group, std::string_view member) {
  if (!on_) return;
  const auto known = std::ranges::find(fresh_, group, &store::Store::Selection::first);
  if (known != fresh_.end()) {
    known->second = member;
  } else {
    fresh_.emplace_back(group, member);
  }
  quiet_.cancel();
  control_.timers().arm(quiet_, control_.now() + kQuiet);
}

void Choices::write() {
  if (fresh_.empty()) return;
  const bool taken = background_.submit([this_store = &store_, fresh = std::exchange(fresh_, {})] {
    const Status written = this_store->put_selections(fresh);
    if (!written.ok() || !this_store->trouble().empty()) {
      CULVERT_LOG(kWarning, "remembering selections: {}", this_store->trouble());
    }
  });
  if (!taken) CULVERT_LOG(kWarning, "remembering selections: too much is waiting");
}

}  // namespace culvert::engine
