#include "protocol/direct/outbound.h"

#include <utility>

#include "transport/tcp/dial.h"

namespace culvert::protocol::direct {
namespace {

constexpr flow::Capabilities kCapabilities{};

class DirectOutbound final : public flow::Outbound {
 public:
  DirectOutbound(std::string_view node_name, const flow::BuildContext& context)
      : name_(node_name),
        resolver_(*context.resolver),
        guard_(*context.guard),
        connect_(context.connect),
        version_(context.ip_version),
        delay_(context.tcp_concurrent ? Duration(0) : transport::kAttemptDelay) {}
  std::string_view name() const override { return name_; }
  std::string_view type() const override { return "Direct"; }
  flow::Capabilities capabilities() const override { return kCapabilities; }

  flow::Task<Result<flow::StreamPtr>> dial(const flow::FlowMeta& meta,
                                           TimePoint deadline) override {
    if (meta.host_length == 0) {
      if (!fits(meta.destination.ip)) co_return Error(Errc::kNoName, Side::kUpstream);
      if (!guard_.allows(meta, meta.destination)) co_return Errc::kRejected;
      co_return co_await transport::dial_one(meta.destination, connect_, deadline);
    }
    flow::AddressList addresses;
    Status known = resolver_.try_cached(meta.host_name(), addresses);
    if (known.code() == Errc::kWouldBlock) {
      const Result<flow::AddressList> found =
          co_await resolver_.resolve(meta.host_name(), deadline);
      known = found.ok() ? Status() : Status(found.error());
      if (found.ok()) addresses = *found;
    }
    if (!known.ok()) co_return known.error().from(Side::kUpstream);
    addresses = preferred(addresses);
    if (addresses.empty()) co_return Error(Errc::kNoName, Side::kUpstream);
    flow::AddressList allowed;
    for (const IpAddress& ip : addresses.view()) {
      if (guard_.allows(meta, Endpoint(ip, meta.destination.port))) allowed.add(ip);
    }
    if (allowed.empty()) co_return Errc::kRejected;
    co_return co_await transport::dial_any(allowed, meta.destination.port, connect_, delay_,
                                           deadline);
  }

  flow::Task<Result<std::unique_ptr<flow::PacketChannel>>> open_packets(const flow::FlowMeta&,
                                                                        TimePoint) override {
    co_return Errc::kUnsupported;
  }

 private:
  using Version = flow::IpVersion;
  [[nodiscard]] bool fits(const IpAddress& ip) const {
    return (version_ != Version::kV4 || ip.unmapped().is_v4()) &&
           (version_ != Version::kV6 || ip.is_v6());
  }
  // Those of the families that are dialled, the preferred one first.
  [[nodiscard]] flow::AddressList preferred(const flow::AddressList& all) const {
    if (version_ == Version::kDual) return all;
    const bool v4_first = version_ == Version::kV4 || version_ == Version::kV4Prefer;
    flow::AddressList out;
    for (const bool first : {true, false}) {
      for (const IpAddress& ip : all.view()) {
        if (fits(ip) && (ip.is_v4() == v4_first) == first) out.add(ip);
      }
    }
    return out;
  }

  std::string name_;
  flow::Resolver& resolver_;
  const flow::DestinationGuard& guard_;
  const rt::ConnectOptions connect_;
  const Version version_;
  const Duration delay_;  // between attempts
};

}  // namespace

std::unique_ptr<flow::Outbound> make_outbound(std::string_view node_name, const flow::Options*,
                                              const flow::BuildContext& context) {
  return std::make_unique<DirectOutbound>(node_name, context);
}

void register_protocol(flow::Registry& registry) {
  registry.add(
      flow::OutboundKind{.name = "direct", .capabilities = kCapabilities, .make = &make_outbound});
}

}  // namespace culvert::protocol::direct
