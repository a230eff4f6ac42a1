// In-memory twins of the contracts, with faults on demand.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "flow/authenticator.h"
#include "flow/dialer.h"
#include "flow/fetcher.h"
#include "flow/inbound.h"
#include "flow/relay.h"
#include "flow/resolver.h"

namespace culvert::flow::testing {

// A stream in memory. The test plays the peer: it feeds what is to be read, takes what was written,
// and decides how much goes through at a time.
class MemoryStream : public Stream {
 public:
  // The peer's side.
  void feed(std::string_view bytes);
  void feed_end();                                    // the peer ends its direction
  void break_with(Error error);                       // reads and writes fail from now on
  std::string take_written();                         // what was written since the last call
  [[nodiscard]] bool ended() const { return shut_; }  // our direction was ended in order
  [[nodiscard]] bool closed() const { return closed_; }
  [[nodiscard]] bool aborted() const { return aborted_; }
  size_t read_limit = SIZE_MAX;  // bytes shown by one lend()
  size_t write_room = SIZE_MAX;  // bytes taken until add_room()
  void add_room(size_t n);

  Status opened() override { return broken_.code != Errc::kNone ? Status(broken_) : Status(); }
  Result<MutableBytes> lend() override;
  void consume(size_t n) override { inbox_.erase(0, n); }
  size_t unread() const override { return inbox_.size(); }
  using Stream::write;
  Result<size_t> write(std::span<const iovec> data) override;
  Status shutdown_write() override;
  void close() override;
  void abort() override;
  void wait_readable(rt::Waiter* waiter) override { reader_ = waiter; }
  void wait_writable(rt::Waiter* waiter) override { writer_ = waiter; }
  Endpoint local() const override { return local_; }
  Endpoint remote() const override { return remote_; }

 private:
  void fire(rt::Waiter*& slot);
  std::string inbox_;
  std::string written_;
  Error broken_;
  bool end_ = false;
  bool shut_ = false;
  bool closed_ = false;
  bool aborted_ = false;
  rt::Waiter* reader_ = nullptr;
  rt::Waiter* writer_ = nullptr;
  Endpoint local_{IpAddress::v4(0xc0000201), 1};
  Endpoint remote_{IpAddress::v4(0xc0000202), 2};
};

// Packets in memory; the test plays the network.
class MemoryPacketChannel final : public PacketChannel {
 public:
  struct Sent {
    Endpoint peer;
    std::string host;
    std::string payload;
  };
  void feed(Endpoint from, std::string payload);
  void break_with(Error error) { broken_ = error; }
  std::vector<Sent> sent;
  size_t room = SIZE_MAX;     // packets taken before the rest is dropped
  size_t path_limit = 65507;  // larger ones are dropped

  Result<size_t> receive(std::span<Packet> out) override;
  Status send(std::span<const Packet> batch, std::span<PacketFate> fates) override;
  void wait_readable(rt::Waiter* waiter) override { reader_ = waiter; }
  uint64_t dropped() const override { return dropped_; }

 private:
  std::deque<std::pair<Endpoint, std::string>> inbox_;
  std::vector<std::string> shown_;
  Error broken_;
  uint64_t dropped_ = 0;
  rt::Waiter* reader_ = nullptr;
};

// Answers from a table, after a delay.
class TableResolver final : public Resolver {
 public:
  rt::Task<Result<AddressList>> resolve(std::string_view host, TimePoint deadline) override;
  std::map<std::string, std::vector<IpAddress>, std::less<>> table;
  std::map<std::string, Error, std::less<>> failures;
  Duration delay{0};
  int asked = 0;
};

// Hands out streams made by the test, or errors.
class ScriptedOutbound final : public Outbound {
 public:
  std::string_view name() const override { return "SCRIPTED"; }
  std::string_view type() const override { return "Scripted"; }
  Capabilities capabilities() const override { return {.stream = true, .udp = true}; }
  Task<Result<StreamPtr>> dial(const FlowMeta& meta, TimePoint deadline) override;
  Task<Result<std::unique_ptr<PacketChannel>>> open_packets(const FlowMeta& meta,
                                                            TimePoint deadline) override;
  std::deque<Result<StreamPtr>> streams;
  std::vector<std::string> dialled;  // destination_text()
  Duration delay{0};
};

// An engine of one page for inbound tests: dials into `upstreams`, relays with real Relays.
class TableAuthenticator final : public Authenticator {
 public:
  bool any() const override { return !users.empty(); }
  bool required(const IpAddress&) const override { return any() && !exempt; }
  std::optional<uint32_t> check(std::string_view user, std::string_view password) const override;
  std::vector<std::pair<std::string, std::string>> users;
  bool exempt = false;  // the client need not be one of them
};

class TestSink final : public FlowSink {
 public:
  const Authenticator& authenticator(const AcceptInfo&) override { return users; }
  Task<Result<Upstream>> open(FlowMeta& meta) override;
  void relay(StreamPtr client, Upstream upstream) override;

  TableAuthenticator users;

  struct Opened {
    std::string destination;
    FlowMeta meta;
    std::string user;
  };
  std::vector<Opened> opened;
  // Makes the upstream of the n-th flow; by default a MemoryStream that upstream(n) shows.
  std::function<Result<StreamPtr>(const FlowMeta& meta)> dial;
  [[nodiscard]] MemoryStream* upstream(size_t n) const {
    return n < memory_.size() ? memory_[n] : nullptr;
  }
  Relays relays;
  size_t live_trackers = 0;
  uint64_t uploaded = 0;
  uint64_t downloaded = 0;

 private:
  struct Tracker;
  std::vector<MemoryStream*> memory_;
};

// A layer that changes every byte, so that a test sees that it is there.
class FlippingLayer final : public StreamLayer {
 public:
  Task<Result<StreamPtr>> wrap(StreamPtr inner, const FlowMeta& meta, TimePoint deadline) override;
  Error fail_with;
};

class TableFetcher final : public Fetcher {
 public:
  Task<Result<FetchResponse>> fetch(FetchRequest request, Dialer& through,
                                    TimePoint deadline) override;
  std::map<std::string, FetchResponse> table;
};

class MemoryHttp2Session final : public Http2Session {
 public:
  Task<Result<StreamPtr>> open(const FetchRequest& head, TimePoint deadline) override;
  Task<Result<FetchResponse>> exchange(FetchRequest request, TimePoint deadline) override;
  bool usable() const override { return broken.code == Errc::kNone; }
  std::map<std::string, FetchResponse> table;
  std::vector<MemoryStream*> streams;
  Error broken;
};

}  // namespace culvert::flow::testing
