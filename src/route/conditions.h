// Conditions: what a rule asks of a flow beyond one comparison that can be looked up. Each is
// compiled to tests that jump: a test that holds, or does not, names the test to go on with, always
// one behind it, or the answer. So AND, OR and NOT cost nothing of their own, operands are judged
// from left to right and no further than the answer needs, and however deep they are nested judging
// is a loop. Tests and what they compare with lie in a few vectors for all conditions together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip.h"
#include "flow/meta.h"
#include "route/facts.h"
#include "route/rule_type.h"
#include "route/signature.h"

namespace culvert::route {

struct PortRange {
  uint16_t first = 0;
  uint16_t last = 0;
};

class Conditions {
 public:
  // Where a test may go on: an index within its condition, or one of these.
  using Next = uint16_t;
  static constexpr Next kNo = 0xfffe;
  static constexpr Next kYes = 0xffff;
  // Of one condition.
  static constexpr size_t kMaxTests = 16384;

  enum class Verdict : uint8_t { kNo, kYes, kNeedIp };

  // Whether the condition whose first test is `first` holds. kNeedIp when a test is reached that
  // needs an address which may still be found out.
  [[nodiscard]] Verdict judge(uint32_t first, const flow::FlowMeta& meta, const Facts& facts) const;
  // Whether that condition of `tests` tests can ask for an address at all.
  [[nodiscard]] bool may_ask(uint32_t first, uint32_t tests) const;
  // What a flow must be like for that condition to hold or to ask for its address.
  [[nodiscard]] Signature signature(uint32_t first, uint32_t tests) const;

  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(tests_.size()); }
  void clear();
  // Takes over the tests of `other`, which come behind its own.
  void append(const Conditions& other);
  void shrink_to_fit();

  // One test more. The jumps may be set later.
  // `type` is one of the three that compare names; `name` as it is compared.
  void add_name(RuleType type, std::string_view name, Next on_yes, Next on_no);
  // kIpCidr or kSrcIpCidr.
  void add_prefix(RuleType type, const Prefix& prefix, bool no_resolve, Next on_yes, Next on_no);
  // kSrcPort, kDstPort or kInPort; at least one range.
  void add_ports(RuleType type, const std::vector<PortRange>& ranges, Next on_yes, Next on_no);
  // kInName or kInUser: `alternatives` are separated by '/'.
  void add_alternatives(RuleType type, std::string_view alternatives, Next on_yes, Next on_no);
  // kInType or kNetwork: a bit for each value of the flow's that will do.
  void add_mask(RuleType type, uint32_t mask, Next on_yes, Next on_no);
  struct Jumps {
    Next on_yes;
    Next on_no;
  };
  [[nodiscard]] Jumps jumps(uint32_t test) const {
    return {tests_[test].on_yes, tests_[test].on_no};
  }
  void set_jumps(uint32_t test, Jumps jumps);

 private:
  struct Test {
    uint32_t value = 0;  // an IPv4 address, a mask, one range of ports, or a place in the vectors
    uint32_t count = 0;  // of bytes, of ranges, or the length of an IPv4 prefix
    Next on_yes = kYes;
    Next on_no = kNo;
    RuleType type = RuleType::kMatch;
    bool no_resolve = false;
    bool apart = false;  // the prefix or the ranges are in their vector
  };
  static_assert(sizeof(Test) == 16);

  [[nodiscard]] std::string_view text(const Test& test) const {
    return {texts_.data() + test.value, test.count};
  }
  [[nodiscard]] bool contains(const Test& test, const IpAddress& address) const;
  [[nodiscard]] bool has_port(const Test& test, uint16_t port) const;
  [[nodiscard]] bool has_alternative(const Test& test, std::string_view name) const;
  [[nodiscard]] bool has_source(const Test& test, const IpAddress& source) const;
  [[nodiscard]] uint64_t port_classes(const Test& test) const;
  [[nodiscard]] uint64_t source_classes(const Test& test) const;
  Test& add(RuleType type, Next on_yes, Next on_no);
  void keep_text(Test& test, std::string_view text);

  std::vector<Test> tests_;
  std::string texts_;
  std::vector<Prefix> prefixes_;
  std::vector<PortRange> ranges_;
};

// Whether `host` is the domain `suffix` or below it.
inline bool ends_with_domain(std::string_view host, std::string_view suffix) {
  if (host.size() < suffix.size()) return false;
  const size_t at = host.size() - suffix.size();
  return (at == 0 || host[at - 1] == '.') && host.substr(at) == suffix;
}

}  // namespace culvert::route
