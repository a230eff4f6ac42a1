// Delay tests: how long a node takes to bring the answer to a small HTTP request. They run as
// ordinary dials on workers; what they found is kept with the node, on the control thread.
//
// Semantics are mihomo's: from the beginning of the dial to the end of the response's head, or,
// with unified-delay, of a second request on the same connection alone.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "rt/task.h"

namespace culvert::engine {

class Engine;
struct Node;

// Which status codes are a success: "200", "200-299/301"; "" and "*" are any.
class ExpectedStatus {
 public:
  static std::optional<ExpectedStatus> parse(std::string_view text);
  [[nodiscard]] bool contains(int status) const;

 private:
  std::vector<std::pair<int, int>> ranges_;  // empty = any
};

struct DelayRecord {
  WallTime when{};
  uint32_t milliseconds = 0;  // 0: it failed
};

// What is known of one node.
class DelayBook {
 public:
  static constexpr size_t kHistory = 10;
  static constexpr size_t kUrls = 16;
  struct State {
    bool alive = true;
    std::deque<DelayRecord> history;  // the latest last
  };
  // `unexpected`: an answer came, but with another status than was wanted: not a success of this
  // URL, though the node is alive.
  void add(std::string_view url, DelayRecord record, bool unexpected);
  [[nodiscard]] const State& overall() const { return overall_; }
  // By URL; of more than kUrls the one not used for longest is forgotten.
  [[nodiscard]] const std::map<std::string, State, std::less<>>& by_url() const { return by_url_; }

 private:
  static void put(State& state, DelayRecord record, bool alive);
  State overall_;
  std::map<std::string, State, std::less<>> by_url_;
};

struct DelayTest {
  std::string url;
  ExpectedStatus expected;
  Duration timeout = std::chrono::seconds(5);
  bool unified = false;
};

// Whether a URL can be tested: http only, until there is TLS.
Status check_delay_url(std::string_view url);

// In milliseconds, at least 1. kTimedOut when nothing came in time, kRejected when the status was
// not the expected one. The record goes into the node's book. On the control worker.
rt::Task<Result<uint32_t>> measure_delay(Engine& engine, std::shared_ptr<Node> node,
                                         DelayTest test);

}  // namespace culvert::engine
