#include "api/shared_listing.h"

#include <algorithm>

#include "api/connections_text.h"
#include "api/controller.h"

namespace culvert::api {

using rt::Task;

TimePoint SharedListings::next_tick(TimePoint now, Duration interval) {
  return TimePoint((now.time_since_epoch() / interval + 1) * interval);
}

std::shared_ptr<SharedListings::Listing> SharedListings::find(TimePoint now, Duration interval) {
  if (subscribers_ < 2) return nullptr;
  if (auto latest = latest_.lock();
      latest != nullptr && latest->status.ok() && now - latest->when < interval / 2) {
    return latest;
  }
  size_t flows = 0;
  for (size_t i = 0; i < engine_.core_count(); ++i) flows += engine_.core(i).worker().load();
  if (alive_ >= kMaxAlive || flows > kMaxText / kUsualFlow || scope_.cancelled()) return nullptr;
  auto listing = std::make_shared<Listing>(*this);
  listing->when = now;
  latest_ = listing;
  ++made_;
  scope_.spawn("connections", fill(engine_, listing));
  return listing;
}

Task<void> SharedListings::fill(engine::Engine& engine, std::shared_ptr<Listing> listing) {
  ConnectionsText text(engine);
  // Those who wait for it hold it too.
  while (!text.complete() && listing.use_count() > 1) {
    const Status made = co_await text.next(rt::Worker::here().now() + Controller::kWriteTime);
    if (!made.ok()) {
      listing->status = made;
      break;
    }
    listing->pieces.emplace_back(text.piece());
    listing->complete = text.complete();
    listing->tell();
  }
  if (!listing->complete && listing->status.ok()) listing->status = Errc::kCancelled;
  listing->tell();
}

Task<Status> SharedListings::send_shared(Push& push, std::shared_ptr<Listing> listing,
                                         TimePoint deadline) {
  rt::Signal arrived;
  struct Waiting {
    Waiting(Listing& l, rt::Signal& s) : listing(l), signal(s) { l.waiting.push_back(&s); }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    ~Waiting() { std::erase(listing.waiting, &signal); }
    Listing& listing;
    rt::Signal& signal;
  } const waiting(*listing, arrived);
  for (size_t i = 0;; ++i) {
    while (i >= listing->pieces.size()) {
      if (!listing->status.ok()) co_return listing->status;
      arrived.reset();
      const Status waited = co_await arrived.wait(deadline);
      if (!waited.ok()) co_return waited;
    }
    const bool last = listing->complete && i + 1 == listing->pieces.size();
    const std::string_view piece = listing->pieces[i];
    const Status sent = co_await push.send_part(piece, i == 0, last, deadline);
    if (!sent.ok() || last) co_return sent;
  }
}

Task<Status> SharedListings::send(Push& push, Duration interval, TimePoint deadline) {
  std::shared_ptr<Listing> listing = find(rt::Worker::here().now(), interval);
  if (listing == nullptr) co_return co_await send_connections(push, engine_, deadline);
  Task<Status> sending = send_shared(push, std::move(listing), deadline);
  co_return co_await std::move(sending);
}

}  // namespace culvert::api
