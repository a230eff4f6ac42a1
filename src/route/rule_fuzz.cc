#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "base/bytes.h"
#include "route/matcher.h"

namespace {

using namespace culvert;

// Whatever is accepted can be kept, shown and matched, and an index gives what a walk does.
void check_rule(const route::Rule& rule, const std::string& payload) {
  auto one = std::make_shared<route::RuleList>();
  auto many = std::make_shared<route::RuleList>();
  one->add(rule);
  for (int i = 0; i < 12; ++i) many->add(rule);
  route::RuleList::Text buffer;
  const std::string_view shown = one->payload(0, buffer);
  if (!one->payload(0).starts_with(shown) || many->payload(11) != one->payload(0)) std::abort();
  if (shown.empty() != (rule.type == route::RuleType::kMatch)) std::abort();
  if (!payload.starts_with(shown) && rule.type != route::RuleType::kIpCidr) std::abort();
  const route::Tables walked(one), looked_up(many);
  flow::FlowMeta meta;
  meta.destination.port = 443;
  meta.source = Endpoint(IpAddress::v4(0xc0000207), 1024);
  meta.set_host("www.a.example");
  for (int round = 0; round < 3; ++round) {
    const route::Facts facts{.ip_known = round == 1, .inbound_name = "in", .user_name = "joe"};
    if (round == 2) meta.destination.ip = IpAddress::v4(0xc0000201);
    const route::Decision a = walked.match(meta, facts, 0), b = looked_up.match(meta, facts, 0);
    if (a.kind != b.kind || a.rule != b.rule || a.outbound != b.outbound) std::abort();
    if (facts.ip_known && a.kind == route::Decision::Kind::kNeedIp) std::abort();
  }
}

}  // namespace

int culvert_fuzz_rule(const uint8_t* data, size_t size) {
  const std::string_view text = as_text({data, size});
  route::TargetTable targets;
  route::Rule rule;
  Diagnostics diagnostics;
  const bool good = route::parse_rule({text, 1, 1}, "fuzz", 0, targets, rule, diagnostics);
  if (good == diagnostics.has_errors()) std::abort();
  if (good) check_rule(rule, rule.payload);
  targets.report_undefined("fuzz", diagnostics);
  if (good && diagnostics.has_errors() != (targets.size() != route::kBuiltInTargets)) std::abort();
  return 0;
}
