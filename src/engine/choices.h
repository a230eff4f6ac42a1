// Choices: what groups have been told to choose, remembered over restarts. Written after a second
// of quiet, by the background thread. Lives on the control worker.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rt/background.h"
#include "rt/timer.h"
#include "rt/worker.h"
#include "store/store.h"

namespace culvert::engine {

class Choices {
 public:
  static constexpr Duration kQuiet = std::chrono::seconds(1);

  // `store` is the background thread's; all outlive it.
  Choices(rt::Worker& control, rt::Background& background, store::Store& store);
  Choices(const Choices&) = delete;
  Choices& operator=(const Choices&) = delete;
  // What is not written yet is handed to the background thread, whose stop() writes it.
  ~Choices();

  // Whether anything is remembered at all (profile.store-selected).
  void set_on(bool on) { on_ = on; }
  void chose(std::string_view group, std::string_view member);

 private:
  struct Quiet : rt::Timer {
    explicit Quiet(Choices* c) : Timer(&Choices::on_quiet), choices(c) {}
    Choices* choices;
  };
  static void on_quiet(rt::Timer& timer) { static_cast<Quiet&>(timer).choices->write(); }
  void write();

  rt::Worker& control_;
  rt::Background& background_;
  store::Store& store_;
  bool on_ = true;
  std::vector<store::Store::Selection> fresh_;
  Quiet quiet_{this};
};

}  // namespace culvert::engine
