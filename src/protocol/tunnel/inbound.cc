#include "protocol/tunnel/inbound.h"

#include "flow/tunnel_options.h"

namespace culvert::protocol::tunnel {
namespace {

class TunnelInbound final : public flow::Inbound {
 public:
  explicit TunnelInbound(const flow::TunnelTarget& target) : target_(target) {}

  flow::Task<void> serve(flow::StreamPtr stream, flow::AcceptInfo info,
                         flow::FlowSink& sink) override {
    flow::FlowMeta meta;
    meta.source = info.source;
    meta.destination = Endpoint(target_.ip, target_.port);
    if (!target_.host.empty()) meta.set_host(target_.host);
    meta.inbound_type = flow::InboundType::kTunnel;
    meta.inbound_port = info.inbound_port;
    meta.inbound = info.inbound;
    Result<flow::Upstream> upstream = co_await sink.open(meta);
    if (upstream.ok()) {
      sink.relay(std::move(stream), *std::move(upstream));
    } else if (upstream.code() != Errc::kRejected || !upstream.error().retry) {
      // There is nobody to tell: a reset says that this was no ordinary end.
      stream->abort();
    }
  }

 private:
  const flow::TunnelTarget& target_;
};

}  // namespace

std::unique_ptr<flow::Inbound> make_inbound(const flow::Options* options,
                                            const flow::BuildContext&) {
  if (options == nullptr) return nullptr;
  return std::make_unique<TunnelInbound>(static_cast<const flow::TunnelTarget&>(*options));
}

void register_protocol(flow::Registry& registry) {
  registry.add(flow::InboundKind{.name = "tunnel", .make = &make_inbound});
}

}  // namespace culvert::protocol::tunnel
