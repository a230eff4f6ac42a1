// Reloader: changes the profile of a running engine, one change after another. A change is loaded
// and built on the background thread, then applied as a whole or not at all.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "config/settings.h"
#include "engine/engine.h"
#include "rt/background.h"
#include "rt/scope.h"

namespace culvert::engine {

// Where a profile is to be loaded from.
struct ProfileSource {
  std::string path;  // empty: where the running one came from
  std::string text;  // the profile itself, when `is_text`
  bool is_text = false;
};

class Reloader {
 public:
  using SettingsPtr = std::shared_ptr<const config::Settings>;
  // Makes the new settings out of the current ones, or nullptr with an error added. On the
  // background thread.
  using Load = std::function<SettingsPtr(const SettingsPtr& current, Diagnostics& out)>;
  // Changes that wait; one more is declined.
  static constexpr size_t kMaxWaiting = 16;

  struct Outcome {
    Status status;  // kExhausted: too many changes wait, or the program ends
    Diagnostics diagnostics;
  };

  // All outlive it; it lives on the control worker. `applied`: told of every change that is in
  // force, with the settings before.
  Reloader(Engine& engine, rt::Background& background,
           std::function<void(const config::Settings& before)> applied);
  Reloader(const Reloader&) = delete;
  Reloader& operator=(const Reloader&) = delete;
  ~Reloader();

  // Returns when the change is in force, or refused. Whoever waits may be cancelled: the change
  // goes on.
  flow::Task<std::shared_ptr<const Outcome>> change(Load load);
  // Disables and enables rules by index, those beyond the end left out; the others stay as they
  // are.
  flow::Task<std::shared_ptr<const Outcome>> disable_rules(
      std::vector<std::pair<uint32_t, bool>> rules);

 private:
  struct Job;
  flow::Task<std::shared_ptr<const Outcome>> wait_for(std::shared_ptr<Job> job);
  flow::Task<void> run();
  flow::Task<void> run_one(Job& job);

  Engine& engine_;
  rt::Background& background_;
  const std::function<void(const config::Settings&)> applied_;
  rt::Scope scope_;
  std::deque<std::shared_ptr<Job>> jobs_;
  bool running_ = false;
};

}  // namespace culvert::engine
