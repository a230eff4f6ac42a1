// An outbound as a profile makes it, and its server, which the test plays.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "flow/registry.h"
#include "flow/testing/lent_stream.h"
#include "flow/testing/twins.h"
#include "rt/testing/sim.h"
#include "yaml/document.h"

namespace culvert::flow::testing {

class OutboundTrial {
 public:
  // `node`: the entry of `proxies`, as YAML.
  OutboundTrial(void (*register_protocol)(Registry&), std::string_view type, std::string node) {
    register_protocol(registry_);
    const OutboundKind& kind = *registry_.outbound(type);
    Diagnostics out;
    const auto document = yaml::parse("c.yaml", std::move(node), out);
    if (document) {
      yaml::MapReader reader = yaml::MapReader::of(*document, out);
      Unsupported unsupported;
      options = kind.read(reader, unsupported);
      unsupported_reason = unsupported.reason;
    }
    said = out.to_string();
    if (options == nullptr) return;
    context_.server_dialer = &way_;
    outbound = kind.make("N", options.get(), context_);
  }
  OutboundTrial(const OutboundTrial&) = delete;
  OutboundTrial& operator=(const OutboundTrial&) = delete;
  ~OutboundTrial() {
    worker.scope().cancel();
    settle();
  }

  // To "a.example:80" or "[2001:db8::1]:80".
  void dial(std::string_view to, Duration within = std::chrono::seconds(5)) {
    result.reset();
    worker.scope().spawn("dial", run(std::string(to), world.now() + within));
    settle();
  }
  void feed(std::string_view bytes) {
    server.feed(bytes);
    settle();
  }
  // Waiters resume their coroutines in the next turn; no virtual time passes.
  void settle() {
    while (worker.turn(TimePoint::min())) {
    }
  }
  // What the server has been sent since the last call.
  std::string sent() { return server.take_written(); }
  [[nodiscard]] bool over() const { return result.has_value(); }
  [[nodiscard]] bool open() const { return result && result->ok(); }
  [[nodiscard]] Error error() const { return open() || !result ? Error() : result->error(); }

  rt::sim::World world{1};
  rt::Worker& worker = world.add_worker();
  rt::Worker::Enter enter{worker};
  std::string said;  // what the reader has said of the node
  std::string unsupported_reason;
  std::shared_ptr<const Options> options;  // nullptr when it was refused
  std::unique_ptr<Outbound> outbound;
  MemoryStream server;
  Error unreachable;                        // of the server, when set
  std::vector<std::string> dialled;         // how the server was asked for
  std::vector<FlowMeta> asked;              // the same; their hosts are gone
  std::optional<Result<StreamPtr>> result;  // of the last dial, once it is over

 private:
  class Way final : public Dialer {
   public:
    explicit Way(OutboundTrial& trial) : trial_(trial) {}
    Task<Result<StreamPtr>> dial(const FlowMeta& meta, TimePoint) override {
      trial_.dialled.push_back(destination_text(meta));
      trial_.asked.push_back(meta);
      if (trial_.unreachable.code != Errc::kNone) co_return trial_.unreachable;
      co_return StreamPtr(std::make_unique<LentStream>(trial_.server));
    }
    Task<Result<std::unique_ptr<PacketChannel>>> open_packets(const FlowMeta&, TimePoint) override {
      co_return Errc::kUnsupported;
    }

   private:
    OutboundTrial& trial_;
  };

  Task<void> run(std::string to, TimePoint deadline) {
    FlowMeta meta;
    meta.source = Endpoint(IpAddress::v4(0xc0000264), 4711);
    const size_t colon = to.rfind(':');
    if (const auto endpoint = Endpoint::parse(to)) {
      meta.destination = *endpoint;
    } else {
      meta.destination.port = *parse_port(std::string_view(to).substr(colon + 1));
      meta.set_host(std::string_view(to).substr(0, colon));
    }
    Result<StreamPtr> dialled_now = co_await outbound->dial(meta, deadline);
    result.emplace(std::move(dialled_now));
  }

  Registry registry_;
  BuildContext context_;
  Way way_{*this};
};

}  // namespace culvert::flow::testing
