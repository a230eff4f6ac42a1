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
  // `control` is the caller's own worker. `workers` carry the flows; with `threads` false nobody
  // runs them but the caller (the simulator). `resolver` outlives the engine.
  Engine(rt::Worker& control, std::vector<std::unique_ptr<rt::Worker>> workers,
         flow::Resolver& resolver, bool threads);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  // Opens every listener and starts the workers. On failure nothing is left open, and `diagnostics`
  // says which listener could not be had and why.
  Status start(std::unique_ptr<Generation> generation, Diagnostics& diagnostics);

  // Stops accepting. Then waits, at most `grace`, for flows to end: a quarter of a second without a
  // byte moved on any of them ends the wait. Then resets what is left. Runs on the control worker.
  flow::Task<void> drain(Duration grace);
  // Joins the threads; after it nothing runs. Called once drain() is over, or at once to abandon
  // all.
  void stop();

  // Any thread.
  [[nodiscard]] uint64_t uploaded() const;
  [[nodiscard]] uint64_t downloaded() const;

  [[nodiscard]] const Generation& generation() const { return *generation_; }
  [[nodiscard]] size_t worker_count() const { return workers_.size(); }
  // How many serve: none before start() and after stop().
  [[nodiscard]] size_t core_count() const { return cores_.size(); }
  [[nodiscard]] WorkerCore& core(size_t i) { return *cores_[i]; }
  [[nodiscard]] rt::Worker& control() { return control_; }
  // Where each listener really listens, in the generation's order.
  [[nodiscard]] std::vector<Endpoint> listening_at() const;
  [[nodiscard]] WallTime started_at() const { return started_wall_; }
  // Wall-clock time of a moment on a worker's clock.
  [[nodiscard]] WallTime to_wall(TimePoint t) const { return started_wall_ + (t - started_); }

 private:
  // Runs `f(core)` on every worker and `done()` on the control worker when all have.
  void on_all(std::function<void(WorkerCore&)> f, std::function<void()> done);

  rt::Worker& control_;
  std::vector<std::unique_ptr<rt::Worker>> workers_;
  flow::Resolver& resolver_;
  const bool threaded_;
  std::unique_ptr<Generation> generation_;
  std::vector<std::unique_ptr<WorkerCore>> cores_;
  std::vector<std::thread> threads_;
  TimePoint started_{};
  WallTime started_wall_{};
};

}  // namespace culvert::engine
