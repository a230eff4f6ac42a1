#include "engine/reloader.h"

#include <utility>

#include "rt/await.h"

namespace culvert::engine {

using flow::Task;

struct Reloader::Job {
  Load load;
  std::vector<std::pair<uint32_t, bool>> disable;  // when there is no load
  std::shared_ptr<Outcome> outcome = std::make_shared<Outcome>();
  rt::Signal done;
};

Reloader::Reloader(Engine& engine, rt::Background& background,
                   std::function<void(const config::Settings& before)> applied)
    : engine_(engine),
      background_(background),
      applied_(std::move(applied)),
      scope_(&engine.control().scope()) {}

Reloader::~Reloader() {
  scope_.cancel();
  while (scope_.running() != 0) engine_.control().turn(TimePoint::min());
}

Task<std::shared_ptr<const Reloader::Outcome>> Reloader::change(Load load) {
  auto job = std::make_shared<Job>();
  job->load = std::move(load);
  return wait_for(std::move(job));
}

Task<std::shared_ptr<const Reloader::Outcome>> Reloader::disable_rules(
    std::vector<std::pair<uint32_t, bool>> rules) {
  auto job = std::make_shared<Job>();
  job->disable = std::move(rules);
  return wait_for(std::move(job));
}

Task<std::shared_ptr<const Reloader::Outcome>> Reloader::wait_for(std::shared_ptr<Job> job) {
  if (jobs_.size() >= kMaxWaiting || scope_.cancelled()) {
    job->outcome->status = Errc::kExhausted;
    co_return job->outcome;
  }
  jobs_.push_back(job);
  if (!running_) {
    running_ = true;
    scope_.spawn("reload", run());
  }
  const Status waited = co_await job->done.wait(kNever);
  if (waited.ok()) co_return job->outcome;
  auto cancelled = std::make_shared<Outcome>();
  cancelled->status = waited;
  co_return cancelled;
}

Task<void> Reloader::run() {
  while (!jobs_.empty() && !scope_.cancelled()) {
    const std::shared_ptr<Job> job = jobs_.front();
    co_await run_one(*job);
    jobs_.pop_front();
    job->done.raise();
  }
  running_ = false;
}

Task<void> Reloader::run_one(Job& job) {
  // What the background thread works on; it may still do when this wait is over.
  struct Work {
    Load load;
    std::vector<std::pair<uint32_t, bool>> disable;
    std::shared_ptr<const Generation> before;
    Engine::GenerationPtr next;
    Diagnostics diagnostics;
    const Surroundings* surroundings;
  };
  auto work = std::make_shared<Work>();
  work->load = std::move(job.load);
  work->disable = std::move(job.disable);
  work->before = engine_.generation_ptr();
  work->surroundings = &engine_.surroundings();
  const bool loads = work->load != nullptr;
  Task<Status> loading = rt::in_background(background_, engine_.control(), [work] {
    if (work->load == nullptr) {
      work->next = work->before->with_rules(work->disable);
      return;
    }
    const SettingsPtr settings = work->load(work->before->settings, work->diagnostics);
    if (settings == nullptr) return;
    work->next =
        Generation::build(settings, *work->surroundings, work->before.get(), work->diagnostics);
  });
  const Status ran = co_await std::move(loading);
  Outcome& outcome = *job.outcome;
  outcome.status = ran;
  if (!ran.ok()) co_return;
  outcome.diagnostics = std::move(work->diagnostics);
  if (work->next == nullptr) {
    outcome.status = Errc::kInvalid;
  } else if (loads) {
    Task<Status> applying = engine_.apply(std::move(work->next), outcome.diagnostics);
    outcome.status = co_await std::move(applying);
    if (outcome.status.ok()) applied_(*work->before->settings);
  } else {
    Task<void> applying = engine_.apply_disabled(std::move(work->next));
    co_await std::move(applying);
  }
  // The tables of the profile before may be large: they go where nobody waits.
  const bool taken = background_.submit([work = std::move(work)]() mutable { work.reset(); });
  (void)taken;
}

}  // namespace culvert::engine
