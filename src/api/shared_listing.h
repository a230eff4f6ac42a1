// SharedListings: the text of /connections for several clients that are told at the same moments,
// made once for all of them.
//
// A listing is a list of pieces. One task fills it as fast as the workers answer; each client sends
// the pieces at its own pace, and a slow one passes over the listings that come meanwhile. A
// listing is gone with its last reader.
//
// Memory: kMaxAlive listings of kMaxText bytes, roughly; a client that would need another, because
// slow ones hold these, or for whom there are too many flows, is not given one and streams a text
// of its own (ConnectionsText). So is a client that is alone.
//
// Control worker.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/push.h"
#include "engine/engine.h"
#include "rt/await.h"
#include "rt/scope.h"

namespace culvert::api {

class SharedListings {
 public:
  static constexpr size_t kMaxAlive = 2;
  static constexpr size_t kMaxText = 32 << 20;
  // Of one flow's text, host name and rule included; most have fewer.
  static constexpr size_t kUsualFlow = 1 << 10;

  // Listings are filled in `scope`, which ends before this and before the engine.
  SharedListings(engine::Engine& engine, rt::Scope& scope) : engine_(engine), scope_(scope) {}
  SharedListings(const SharedListings&) = delete;
  SharedListings& operator=(const SharedListings&) = delete;

  // A client that is told again and again.
  class Subscription {
   public:
    explicit Subscription(SharedListings& shared) : shared_(shared) { ++shared_.subscribers_; }
    Subscription(const Subscription&) = delete;
    Subscription& operator=(const Subscription&) = delete;
    ~Subscription() { --shared_.subscribers_; }

   private:
    SharedListings& shared_;
  };

  // The client is told at these moments, all clients of one interval at the same.
  static TimePoint next_tick(TimePoint now, Duration interval);
  // Sends what is listed now: a shared listing that is no older than half the interval, or one's
  // own.
  rt::Task<Status> send(Push& push, Duration interval, TimePoint deadline);
  // How many listings there are, and how many were made.
  [[nodiscard]] size_t alive() const { return alive_; }
  [[nodiscard]] uint64_t made() const { return made_; }

 private:
  struct Listing {
    explicit Listing(SharedListings& s) : shared(s) { ++shared.alive_; }
    Listing(const Listing&) = delete;
    Listing& operator=(const Listing&) = delete;
    ~Listing() { --shared.alive_; }
    void tell() {
      for (rt::Signal* reader : waiting) reader->raise();
    }
    SharedListings& shared;
    TimePoint when{};
    std::deque<std::string> pieces;  // which stay where they are
    bool complete = false;
    Status status;                     // why it will never be complete
    std::vector<rt::Signal*> waiting;  // for the next piece
  };
  std::shared_ptr<Listing> find(TimePoint now, Duration interval);
  static rt::Task<void> fill(engine::Engine& engine, std::shared_ptr<Listing> listing);
  static rt::Task<Status> send_shared(Push& push, std::shared_ptr<Listing> listing,
                                      TimePoint deadline);

  engine::Engine& engine_;
  rt::Scope& scope_;
  size_t subscribers_ = 0;
  size_t alive_ = 0;
  uint64_t made_ = 0;
  std::weak_ptr<Listing> latest_;
};

}  // namespace culvert::api
