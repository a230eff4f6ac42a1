#include "protocol/reject/outbound.h"

namespace culvert::protocol::reject {
namespace {

class RejectOutbound final : public flow::Outbound {
 public:
  RejectOutbound(std::string_view node_name, bool silent) : name_(node_name), silent_(silent) {}
  std::string_view name() const override { return name_; }
  std::string_view type() const override { return silent_ ? "RejectDrop" : "Reject"; }
  flow::Capabilities capabilities() const override { return {.stream = true, .udp = true}; }

  flow::Task<Result<flow::StreamPtr>> dial(const flow::FlowMeta&, TimePoint) override {
    co_return Error(Errc::kRejected, Side::kLocal, silent_);
  }
  flow::Task<Result<std::unique_ptr<flow::PacketChannel>>> open_packets(const flow::FlowMeta&,
                                                                        TimePoint) override {
    co_return Error(Errc::kRejected, Side::kLocal, silent_);
  }

 private:
  std::string name_;
  bool silent_;
};

std::unique_ptr<flow::Outbound> make_reject(std::string_view name, const flow::Options*,
                                            const flow::BuildContext&) {
  return std::make_unique<RejectOutbound>(name, false);
}
std::unique_ptr<flow::Outbound> make_reject_drop(std::string_view name, const flow::Options*,
                                                 const flow::BuildContext&) {
  return std::make_unique<RejectOutbound>(name, true);
}

}  // namespace

void register_protocol(flow::Registry& registry) {
  registry.add(
      flow::OutboundKind{.name = "reject", .capabilities = {.udp = true}, .make = &make_reject});
  registry.add(flow::OutboundKind{
      .name = "reject-drop", .capabilities = {.udp = true}, .make = &make_reject_drop});
}

}  // namespace culvert::protocol::reject
