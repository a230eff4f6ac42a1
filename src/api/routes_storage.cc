// What a user interface keeps here: JSON texts by key, in the store.
#include <memory>
#include <optional>

#include "api/json_value.h"
#include "api/routes.h"
#include "base/log.h"
#include "rt/background.h"
#include "store/store.h"

namespace culvert::api {
namespace {

using rt::Task;

// The background thread's until it is done.
struct Work {
  store::Store* store = nullptr;
  std::string key;
  std::string value;
  Status status;
  std::optional<std::string> found;
};

Reply of_error(const Error& error) {
  switch (error.code) {
    case Errc::kTooLarge:
      return failure(413, "More than the storage holds");
    case Errc::kInvalid:
      return bad_request();
    case Errc::kExhausted:
      return failure(503, "No room to store it, or too much waits to be stored");
    default:
      return failure(500, "The storage cannot be used; the log says why");
  }
}

bool is_key(std::string_view key) {
  return !key.empty() && key.size() <= store::Store::kMaxKey;
}

std::shared_ptr<Work> work_of(Call& call) {
  auto work = std::make_shared<Work>();
  work->store = call.state.parts.store;
  work->key = call.names[0];
  return work;
}

// Runs `what` of it on the background thread.
Task<Status> run(Call& call, const std::shared_ptr<Work>& work, void (*what)(Work& work)) {
  std::function<void()> job = [work = work, what] {
    what(*work);
    if (!work->store->trouble().empty()) {
      CULVERT_LOG_SAMPLED(kWarning, "storage: {}", work->store->trouble());
    }
  };
  Task<Status> running =
      rt::in_background(*call.state.parts.background, call.engine.control(), std::move(job));
  const Status ran = co_await std::move(running);
  co_return ran.ok() ? work->status : ran;
}

bool has_store(const Call& call) {
  return call.state.parts.store != nullptr && call.state.parts.background != nullptr;
}

Task<Reply> get(Call& call) {
  if (!has_store(call)) co_return not_implemented("storage");
  if (!is_key(call.names[0])) co_return bad_request();
  const std::shared_ptr<Work> work = work_of(call);
  const Status ran = co_await run(call, work, [](Work& w) {
    Result<std::optional<std::string>> found = w.store->blob(w.key);
    if (found.ok()) {
      w.found = *std::move(found);
    } else {
      w.status = found.error();
    }
  });
  if (!ran.ok()) co_return of_error(ran.error());
  Reply reply;
  reply.body = work->found ? *std::move(work->found) : std::string("null");
  co_return reply;
}

Task<Reply> put(Call& call) {
  if (!has_store(call)) co_return not_implemented("storage");
  if (!is_key(call.names[0]) || !parse_json(call.body)) co_return bad_request();
  const std::shared_ptr<Work> work = work_of(call);
  work->value = call.body;
  const Status ran =
      co_await run(call, work, [](Work& w) { w.status = w.store->put_blob(w.key, w.value); });
  if (!ran.ok()) co_return of_error(ran.error());
  co_return no_content();
}

Task<Reply> remove(Call& call) {
  if (!has_store(call)) co_return not_implemented("storage");
  if (!is_key(call.names[0])) co_return bad_request();
  const std::shared_ptr<Work> work = work_of(call);
  const Status ran =
      co_await run(call, work, [](Work& w) { w.status = w.store->delete_blob(w.key); });
  if (!ran.ok()) co_return of_error(ran.error());
  co_return no_content();
}

constexpr Route kRoutes[] = {
    {.method = "GET", .path = "/storage/{}", .later = get},
    {.method = "PUT", .path = "/storage/{}", .later = put},
    {.method = "DELETE", .path = "/storage/{}", .later = remove},
};

}  // namespace

std::span<const Route> storage_routes() {
  return kRoutes;
}

}  // namespace culvert::api
