// Engine: the pipeline as a whole. Owns the workers' cores and the generation they serve; started,
// asked and stopped from the control thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/generation.h"
#include "engine/worker_core.h"
#include "rt/worker.h"

namespace culvert::engine {

class Engine {
 public:
  using GenerationPtr = std::shared_ptr<Generation>;
  // Group and the member it is to choose, by name.
  using Choices = std::vector<std::pair<std::string, std::string>>;

  // `control` is the caller's own worker. `workers` carry the flows; with `threads` false nobody
  // runs them but the caller (the simulator). `surroundings` outlives the engine.
  Engine(rt::Worker& control, std::vector<std::unique_ptr<rt::Worker>> workers,
         Surroundings& surroundings, bool threads);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  // Opens every listener and starts the workers. On failure nothing is left open, and `diagnostics`
  // says which listener could not be had and why. `remembered`: what groups chose before.
  Status start(GenerationPtr generation, const Choices& remembered, Diagnostics& diagnostics);

  // Serves `next` instead of the current generation, on all workers or, when a listener cannot be
  // had, on none: then `diagnostics` says why, and nothing has changed. Open flows go on; listeners
  // that are the same stay open throughout. One at a time: the caller waits for one to end before
  // it begins another. Runs on the control worker.
  flow::Task<Status> apply(GenerationPtr next, Diagnostics& diagnostics);
  // As apply(), of the current generation with other rules disabled: numbers and choices are its
  // own.
  flow::Task<void> apply_disabled(GenerationPtr next);

  // Stops accepting. Then waits, at most `grace`, for flows to end: a quarter of a second without a
  // byte moved on any of them ends the wait. Then resets what is left. Runs on the control worker.
  flow::Task<void> drain(Duration grace);
  // Joins the threads; after it nothing runs. Called once drain() is over, or at once to abandon
  // all.
  void stop();

  // Any thread.
  [[nodiscard]] uint64_t uploaded() const;
  [[nodiscard]] uint64_t downloaded() const;

  // The control thread.
  [[nodiscard]] const Generation& generation() const { return *generation_; }
  [[nodiscard]] const GenerationPtr& generation_ptr() const { return generation_; }
  [[nodiscard]] Surroundings& surroundings() { return surroundings_; }
  [[nodiscard]] const stats::Directory& directory() const { return surroundings_.directory(); }

  // Resets the flow with this id, if it is there, or all flows; returns when they are gone.
  flow::Task<void> interrupt(stats::FlowId id);
  flow::Task<void> interrupt_all();
  // Those that this target, a group or a node, carries: by the generation of now.
  flow::Task<void> interrupt_through(uint32_t target);
  [[nodiscard]] size_t worker_count() const { return workers_.size(); }
  // How many serve: none before start() and after stop().
  [[nodiscard]] size_t core_count() const { return cores_.size(); }
  [[nodiscard]] WorkerCore& core(size_t i) { return *cores_[i]; }
  [[nodiscard]] rt::Worker& control() { return control_; }
  // Where each listener really listens, in the generation's order.
  [[nodiscard]] const std::vector<Endpoint>& listening_at() const { return listening_at_; }
  [[nodiscard]] WallTime started_at() const { return started_wall_; }
  // Wall-clock time of a moment on a worker's clock.
  [[nodiscard]] WallTime to_wall(TimePoint t) const { return started_wall_ + (t - started_); }

 private:
  // Runs `f(core)` on the workers from `first` up to `end` and returns when all have.
  flow::Task<void> on_workers(size_t first, size_t end, std::function<void(WorkerCore&)> f);
  flow::Task<void> on_all(std::function<void(WorkerCore&)> f);
  // With SO_REUSEPORT a port that another process of the same user listens on can be bound, and
  // connections would be shared with it: a first try without finds that out.
  Status probe(const Generation& next, size_t& failed);
  void say_failed(const Generation& next, size_t failed, const Error& why,
                  Diagnostics& diagnostics) const;

  rt::Worker& control_;
  std::vector<std::unique_ptr<rt::Worker>> workers_;
  Surroundings& surroundings_;
  const bool threaded_;
  GenerationPtr generation_;
  std::vector<Endpoint> listening_at_;
  Cores cores_;
  std::vector<std::thread> threads_;
  TimePoint started_{};
  WallTime started_wall_{};
};

}  // namespace culvert::engine
