#include "protocol/mixed/inbound.h"

namespace culvert::protocol::mixed {
namespace {

class MixedInbound final : public flow::Inbound {
 public:
  MixedInbound(std::unique_ptr<flow::Inbound> socks, std::unique_ptr<flow::Inbound> http)
      : socks_(std::move(socks)), http_(std::move(http)) {}

  flow::Task<void> serve(flow::StreamPtr stream, flow::AcceptInfo info,
                         flow::FlowSink& sink) override {
    const Result<MutableBytes> first = co_await rt::read_some(*stream, info.deadline);
    if (!first.ok()) co_return;  // nothing was said, so nothing is answered
    const uint8_t byte = (*first)[0];
    flow::Inbound& inbound = byte == 4 || byte == 5 ? *socks_ : *http_;
    co_await inbound.serve(std::move(stream), info, sink);
  }

 private:
  std::unique_ptr<flow::Inbound> socks_;
  std::unique_ptr<flow::Inbound> http_;
};

}  // namespace

std::unique_ptr<flow::Inbound> make_inbound(const flow::Options*,
                                            const flow::BuildContext& context) {
  const flow::InboundKind* socks = context.registry->inbound("socks");
  const flow::InboundKind* http = context.registry->inbound("http");
  if (socks == nullptr || http == nullptr) return nullptr;
  return std::make_unique<MixedInbound>(socks->make(nullptr, context),
                                        http->make(nullptr, context));
}

void register_protocol(flow::Registry& registry) {
  registry.add(flow::InboundKind{.name = "mixed", .make = &make_inbound});
}

}  // namespace culvert::protocol::mixed
