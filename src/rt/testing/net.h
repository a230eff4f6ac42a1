// One face for the backends, so that a suite can run on each of them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rt/testing/sim.h"
#include "rt/worker.h"

namespace culvert::rt::testing {

class Net {
 public:
  virtual ~Net() = default;
  virtual Worker& worker() = 0;
  // An address of this net to listen on, port 0.
  virtual Endpoint loopback() = 0;
  // Runs until `done`; false after a generous limit.
  virtual bool run_until(const std::function<bool()>& done) = 0;
  // Runs until nothing moves any more.
  virtual void settle() = 0;
};

// "epoll" or "sim".
std::unique_ptr<Net> make_net(const std::string& kind);

// Collects what a listener accepts.
class Accepted final : public Acceptor {
 public:
  explicit Accepted(Worker& worker) : worker_(worker) {}
  void accepted(AcceptedSocket socket) override {
    remote.push_back(socket.remote());
    auto stream = worker_.backend().adopt(std::move(socket));
    if (stream.ok()) streams.push_back(*std::move(stream));
  }
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<Endpoint> remote;

 private:
  Worker& worker_;
};

// Coroutines that tests spawn.
// Reads to the end of the stream into `out`; `end` is why it stopped (kEndOfStream in order).
Task<void> read_all(Stream& stream, std::string* out, Errc* end, TimePoint deadline);
// Reads at most `step` bytes every `pause`.
Task<void> read_slowly(Stream& stream, size_t step, Duration pause, std::string* out, Errc* end);
// Writes all of `data`, then ends the direction when `finish`.
Task<void> send_all(Stream& stream, std::string data, bool finish, Errc* result,
                    TimePoint deadline);

// Repeatable bytes that differ everywhere.
std::string pattern(size_t size, uint64_t seed);

}  // namespace culvert::rt::testing
