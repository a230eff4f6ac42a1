#include "route/matcher.h"

#include <gtest/gtest.h>

#include <iterator>
#include <optional>

#include "base/format.h"
#include "base/rng.h"

namespace culvert::route {
namespace {

constexpr const char* kTargets[] = {"DIRECT", "REJECT", "PASS", "P1", "P2", "P3"};

TargetTable& targets() {
  static TargetTable table;
  for (const char* name : kTargets) EXPECT_TRUE(table.define(name));
  return table;
}

Tables compile(std::initializer_list<const char*> lines) {
  std::vector<Rule> rules;
  Diagnostics diagnostics;
  size_t i = 0;
  for (const char* line : lines) {
    EXPECT_TRUE(parse_rule({line, 1, 1}, "test", i++, targets(), rules.emplace_back(), diagnostics))
        << diagnostics.to_string();
  }
  return Tables(rules);
}

flow::FlowMeta to_host(std::string_view host) {
  flow::FlowMeta meta;
  meta.destination.port = 443;
  meta.set_host(host);
  return meta;
}

flow::FlowMeta to_ip(const char* ip) {
  flow::FlowMeta meta;
  meta.destination = Endpoint(*IpAddress::parse(ip), 443);
  return meta;
}

std::string target(const Tables& t, const flow::FlowMeta& meta) {
  const Decision d = t.match(meta, {}, 0);
  switch (d.kind) {
    case Decision::Kind::kMatched:
      return targets().name(d.outbound);
    case Decision::Kind::kNeedIp:
      return "need ip";
    default:
      return "none";
  }
}

TEST(Matcher, DomainRules) {
  const Tables t =
      compile({"DOMAIN,a.example,P1", "DOMAIN-SUFFIX,b.example,P2", "DOMAIN-KEYWORD,Key,P3"});
  EXPECT_EQ(target(t, to_host("a.example")), "P1");
  EXPECT_EQ(target(t, to_host("x.a.example")), "none");
  EXPECT_EQ(target(t, to_host("b.example")), "P2");
  EXPECT_EQ(target(t, to_host("x.b.example")), "P2");
  EXPECT_EQ(target(t, to_host("xb.example")), "none");
  EXPECT_EQ(target(t, to_host("my-key.org")), "P3");
  EXPECT_EQ(target(t, to_ip("192.0.2.1")), "none") << "an address has no name";
}

// K10, first half: case and international spelling do not matter.
TEST(Matcher, NamesAreComparedInOneSpelling) {
  const Tables t = compile({"DOMAIN-SUFFIX,\xe4\xb8\xad\xe5\x9b\xbd,DIRECT",
                            "DOMAIN,B\xc3\xbc"
                            "cher.Example,P1"});
  EXPECT_EQ(target(t, to_host("a.xn--fiqs8s")), "DIRECT");
  EXPECT_EQ(target(t, to_host("xn--bcher-kva.example")), "P1");
}

TEST(Matcher, AddressRulesAskForAnAddressOnce) {
  const Tables t =
      compile({"DOMAIN,first.example,P1", "IP-CIDR,198.51.100.0/24,P2,no-resolve",
               "IP-CIDR,192.0.2.0/24,P3", "IP-CIDR6,2001:db8::/32,P1", "MATCH,REJECT"});
  EXPECT_EQ(target(t, to_host("first.example")), "P1") << "no lookup before it is needed";
  flow::FlowMeta meta = to_host("x.example");
  Decision d = t.match(meta, {}, 0);
  ASSERT_EQ(d.kind, Decision::Kind::kNeedIp);
  EXPECT_EQ(d.rule, 2u);
  meta.resolved = *IpAddress::parse("192.0.2.77");
  d = t.match(meta, {.ip_known = true}, d.rule);
  EXPECT_EQ(targets().name(d.outbound), "P3");
  meta.resolved = {};
  d = t.match(meta, {.ip_known = true}, 2);
  EXPECT_EQ(targets().name(d.outbound), "REJECT") << "no address: address rules do not apply";
  EXPECT_EQ(target(t, to_ip("198.51.100.3")), "P2");
  EXPECT_EQ(target(t, to_ip("2001:db8::5")), "P1");
  EXPECT_EQ(target(t, to_ip("203.0.113.1")), "REJECT");
}

TEST(Matcher, WhatAFlowCameBy) {
  const Tables t = compile({"SRC-IP-CIDR,192.0.2.0/24,P1", "IP-CIDR,2001:db8::/32,P2,src",
                            "SRC-PORT,1000-1999/7,P3", "IN-PORT,7891,REJECT", "IN-TYPE,socks,P1",
                            "IN-TYPE,tunnel/VMESS,P2", "IN-NAME,a/B b,P3", "IN-USER,joe/Ann,DIRECT",
                            "NETWORK,Udp,P2", "DST-PORT,22/80-90,P1"});
  const auto hit = [&](const auto& change) {
    flow::FlowMeta meta = to_host("a.example");
    Facts facts;
    change(meta, facts);
    const Decision d = t.match(meta, facts, 0);
    EXPECT_NE(d.kind, Decision::Kind::kNeedIp);
    return d.kind == Decision::Kind::kMatched ? static_cast<int>(d.rule) : -1;
  };
  using Meta = flow::FlowMeta;
  const auto from = [&](const char* ip) {
    return hit([&](Meta& m, Facts&) { m.source.ip = *IpAddress::parse(ip); });
  };
  EXPECT_EQ(hit([](Meta&, Facts&) {}), -1);
  EXPECT_EQ(from("192.0.2.255"), 0);
  EXPECT_EQ(from("::ffff:192.0.2.1"), 0) << "a listener for both families";
  EXPECT_EQ(from("192.0.3.1"), -1);
  EXPECT_EQ(from("2001:db8::1"), 1);
  for (const auto& [port, rule] :
       {std::pair{7, 2}, {8, -1}, {999, -1}, {1000, 2}, {1999, 2}, {2000, -1}}) {
    EXPECT_EQ(hit([p = port](Meta& m, Facts&) { m.source.port = static_cast<uint16_t>(p); }), rule)
        << port;
  }
  EXPECT_EQ(hit([](Meta& m, Facts&) { m.inbound_port = 7891; }), 3);
  for (const auto& [type, rule] : {std::pair{flow::InboundType::kSocks4, 4},
                                   {flow::InboundType::kSocks5, 4},
                                   {flow::InboundType::kTunnel, 5},
                                   {flow::InboundType::kHttp, -1}}) {
    EXPECT_EQ(hit([in = type](Meta& m, Facts&) { m.inbound_type = in; }), rule) << flow::name(type);
  }
  for (const auto& [name, rule] :
       {std::pair{"a", 6}, {"B b", 6}, {"A", -1}, {"", -1}, {"a/B b", -1}, {"b", -1}}) {
    EXPECT_EQ(hit([n = name](Meta&, Facts& f) { f.inbound_name = n; }), rule) << name;
  }
  EXPECT_EQ(hit([](Meta&, Facts& f) { f.user_name = "Ann"; }), 7);
  EXPECT_EQ(hit([](Meta&, Facts& f) { f.user_name = "ann"; }), -1);
  EXPECT_EQ(hit([](Meta& m, Facts&) { m.network = flow::Network::kUdp; }), 8);
  for (const auto& [port, rule] : {std::pair{22, 9}, {79, -1}, {80, 9}, {90, 9}, {91, -1}}) {
    EXPECT_EQ(hit([p = port](Meta& m, Facts&) { m.destination.port = static_cast<uint16_t>(p); }),
              rule)
        << port;
  }
}

// K12, the syntax of logic.
TEST(Matcher, Logic) {
  const Tables t =
      compile({"AND,((OR,((DOMAIN,a.example),(DOMAIN-SUFFIX,b.example))),(NOT,((DST-PORT,22/80-90)"
               "))),P1",
               "OR,((NETWORK,UDP),(DST-PORT,1)),P2"});
  flow::FlowMeta meta = to_host("a.example");
  EXPECT_EQ(target(t, meta), "P1");
  meta.destination.port = 85;
  EXPECT_EQ(target(t, meta), "none");
  meta = to_host("x.b.example");
  EXPECT_EQ(target(t, meta), "P1");
  meta = to_host("x.a.example");
  EXPECT_EQ(target(t, meta), "none");
  meta.network = flow::Network::kUdp;
  EXPECT_EQ(target(t, meta), "P2");
}

TEST(Matcher, LogicAsksOnlyForWhatDecides) {
  const Tables t = compile({"AND,((DST-PORT,80),(IP-CIDR,192.0.2.0/24)),P1",
                            "OR,((DST-PORT,22),(IP-CIDR,192.0.2.0/24)),P2",
                            "NOT,((IP-CIDR,10.0.0.0/8,no-resolve)),P3"});
  flow::FlowMeta meta = to_host("a.example");
  meta.destination.port = 22;
  EXPECT_EQ(target(t, meta), "P2") << "no operand that needs an address is reached";
  meta.destination.port = 80;
  Decision d = t.match(meta, {}, 0);
  ASSERT_EQ(d.kind, Decision::Kind::kNeedIp);
  EXPECT_EQ(d.rule, 0u);
  meta.resolved = *IpAddress::parse("192.0.2.7");
  d = t.match(meta, {.ip_known = true}, d.rule);
  EXPECT_EQ(targets().name(d.outbound), "P1");
  meta.resolved = {};
  d = t.match(meta, {.ip_known = true}, 0);
  EXPECT_EQ(targets().name(d.outbound), "P3")
      << "no address is in no prefix, and is not asked twice";
  meta.destination.port = 443;
  d = t.match(meta, {}, 0);
  EXPECT_EQ(d.kind, Decision::Kind::kNeedIp);
  EXPECT_EQ(d.rule, 1u);
}

// K13, for the rules of this version: of whom and where a look-up is asked for.
TEST(Matcher, AsksAtTheFirstRuleThatNeedsTheAddress) {
  const Tables t = compile({"DOMAIN-SUFFIX,p.example,P1", "IP-CIDR,198.51.100.0/24,P2,no-resolve",
                            "SRC-IP-CIDR,192.0.2.0/24,P3", "IP-CIDR,192.0.2.128/25,DIRECT,src",
                            "IP-CIDR,203.0.113.0/24,P1", "MATCH,P2"});
  flow::FlowMeta meta = to_host("x.p.example");
  EXPECT_EQ(target(t, meta), "P1");
  meta = to_host("other.example");
  meta.source.ip = *IpAddress::parse("192.0.2.7");
  EXPECT_EQ(target(t, meta), "P3");
  meta.source.ip = *IpAddress::parse("203.0.113.9");
  Decision d = t.match(meta, {}, 0);
  ASSERT_EQ(d.kind, Decision::Kind::kNeedIp);
  EXPECT_EQ(d.rule, 4u);
  meta.resolved = *IpAddress::parse("203.0.113.1");
  d = t.match(meta, {.ip_known = true}, d.rule);
  EXPECT_EQ(d.rule, 4u);
  EXPECT_EQ(targets().name(d.outbound), "P1");
}

// K08, its last part.
TEST(Matcher, PassGoesOn) {
  const Tables t = compile({"DOMAIN,a.example,PASS", "DOMAIN-SUFFIX,example,P1", "MATCH,PASS"});
  const flow::FlowMeta meta = to_host("a.example");
  Decision d = t.match(meta, {}, 0);
  EXPECT_EQ(d.rule, 0u);
  ASSERT_EQ(d.outbound, kPass);
  d = t.match(meta, {}, d.rule + 1);
  EXPECT_EQ(d.rule, 1u);
  EXPECT_EQ(targets().name(d.outbound), "P1");
  d = t.match(meta, {}, d.rule + 1);
  EXPECT_EQ(d.outbound, kPass);
  d = t.match(meta, {}, d.rule + 1);
  EXPECT_EQ(d.kind, Decision::Kind::kNoMatch) << "behind the last rule";
}

TEST(Matcher, DisabledRulesAreNotThere) {
  auto list = std::make_shared<RuleList>();
  Diagnostics diagnostics;
  Rule rule;
  for (const char* line : {"DOMAIN,a.example,P1", "IP-CIDR,192.0.2.0/24,P2", "DST-PORT,443,P3",
                           "MATCH,REJECT", "MATCH,DIRECT"}) {
    ASSERT_TRUE(parse_rule({line, 1, 1}, "test", list->size(), targets(), rule, diagnostics));
    list->add(rule);
  }
  const auto rule_of = [&](Disabled disabled) {
    return Tables(list, std::make_shared<const Disabled>(std::move(disabled)))
        .match(to_host("a.example"), {}, 0)
        .rule;
  };
  EXPECT_EQ(rule_of({}), 0u);
  EXPECT_EQ(rule_of({true, true}), 2u) << "a disabled rule does not ask";
  EXPECT_EQ(rule_of({true, true, true, false, false}), 3u);
  EXPECT_EQ(rule_of({true, true, true, true, false}), 4u);
  EXPECT_EQ(rule_of({true, true, true, true, true}), UINT32_MAX);
}

// A rule as the test understands it: what it says, and the line that says so.
struct Plain {
  enum class Answer { kNo, kYes, kAsk };
  std::string type;
  std::string payload;
  std::vector<Plain> operands;
  std::optional<Prefix> prefix;
  std::vector<std::pair<uint32_t, uint32_t>> ports;
  bool no_resolve = false;
  bool source = false;
  uint32_t outbound = 0;
  bool disabled = false;

  [[nodiscard]] std::string parameters() const {
    return std::string(no_resolve ? ",no-resolve" : "") + (source ? ",src" : "");
  }
  [[nodiscard]] std::string said() const {
    if (operands.empty()) return payload;
    std::string out;
    for (const Plain& operand : operands) {
      out += format("{}({},{}{})", out.empty() ? "(" : ",", operand.type, operand.said(),
                    operand.parameters());
    }
    return out + ")";
  }
  [[nodiscard]] std::string line() const {
    const std::string& name = targets().name(outbound);
    if (type == "MATCH") return "MATCH," + name;
    return format("{},{},{}{}", type, said(), name, parameters());
  }

  [[nodiscard]] Answer judge(const flow::FlowMeta& meta, const Facts& facts) const {
    const auto answer = [](bool yes) { return yes ? Answer::kYes : Answer::kNo; };
    const std::string host(meta.host_name());
    if (type == "MATCH") return Answer::kYes;
    if (type == "NOT" || type == "AND" || type == "OR") {
      for (const Plain& operand : operands) {
        const Answer part = operand.judge(meta, facts);
        if (part == Answer::kAsk) return part;
        if (type == "NOT") return answer(part == Answer::kNo);
        if ((type == "AND") == (part == Answer::kNo)) return part;
      }
      return answer(type == "AND");
    }
    if (type == "DOMAIN") return answer(!host.empty() && host == payload);
    if (type == "DOMAIN-SUFFIX") {
      return answer(!host.empty() && ("." + host).ends_with("." + payload));
    }
    if (type == "DOMAIN-KEYWORD") {
      return answer(!host.empty() && host.find(payload) != std::string::npos);
    }
    if (type == "SRC-IP-CIDR" || source) return answer(prefix->contains(meta.source.ip));
    if (type == "IP-CIDR") {
      if (meta.address().valid()) return answer(prefix->contains(meta.address()));
      return !host.empty() && !no_resolve && !facts.ip_known ? Answer::kAsk : Answer::kNo;
    }
    if (type == "NETWORK") return answer(flow::name(meta.network) == payload);
    if (type == "IN-NAME") return answer(facts.inbound_name == payload);
    if (type == "IN-USER") return answer(facts.user_name == payload);
    if (type == "IN-TYPE") return answer(flow::name(meta.inbound_type) == payload);
    const uint32_t port = type == "DST-PORT"   ? meta.destination.port
                          : type == "SRC-PORT" ? meta.source.port
                                               : meta.inbound_port;
    for (const auto& [first, last] : ports) {
      if (port >= first && port <= last) return Answer::kYes;
    }
    return Answer::kNo;
  }
};

// What the tables must agree with: each rule in turn.
Decision judge(const std::vector<Plain>& rules, const flow::FlowMeta& meta, const Facts& facts,
               uint32_t from) {
  for (uint32_t i = from; i < rules.size(); ++i) {
    if (rules[i].disabled) continue;
    const Plain::Answer answer = rules[i].judge(meta, facts);
    if (answer == Plain::Answer::kAsk) return {Decision::Kind::kNeedIp, i, UINT32_MAX};
    if (answer == Plain::Answer::kYes) return {Decision::Kind::kMatched, i, rules[i].outbound};
  }
  return {};
}

class RandomRules {
 public:
  explicit RandomRules(uint64_t seed) : rng_(seed) {}

  std::string name(size_t most) {
    static constexpr const char* kLabels[] = {"a", "b", "ab", "example", "x-a", "com", "org"};
    std::string out;
    for (size_t n = 1 + rng_.below(most); n > 0; --n) {
      out += (out.empty() ? "" : ".") + std::string(kLabels[rng_.below(std::size(kLabels))]);
    }
    return out;
  }
  // Few different ones, so that prefixes are often in one another and addresses often in prefixes.
  IpAddress address() {
    IpAddress out = rng_.below(3) == 0 ? *IpAddress::parse("2001:db8::") : IpAddress::v4(0);
    static constexpr uint8_t kBytes[] = {0, 1, 127, 128, 255};
    for (size_t i = 0; i < out.size(); i += out.is_v4() ? 1 : 5) {
      out.bytes[i] = kBytes[rng_.below(std::size(kBytes))];
    }
    return out;
  }
  // What can be an operand; without a target. Some of those that cannot be looked up where `plain`
  // is false.
  Plain condition(bool resolving, bool plain) {
    Plain out;
    switch (rng_.below(plain ? 11 : 19)) {
      case 0:
      case 1:
        out.type = "DOMAIN";
        out.payload = name(4);
        break;
      case 2:
      case 3:
        out.type = "DOMAIN-SUFFIX";
        out.payload = name(3);
        break;
      case 4: {
        const std::string text = name(2);
        out.type = "DOMAIN-KEYWORD";
        out.payload = text.substr(rng_.below(text.size()), 1 + rng_.below(6));
        break;
      }
      case 11:
        out.type = "SRC-IP-CIDR";
        break;
      case 12:
        out.type = "NETWORK";
        out.payload = rng_.below(2) == 0 ? "tcp" : "udp";
        break;
      case 13:
        out.type = "IN-NAME";
        out.payload = name(1);
        break;
      case 14:
        out.type = "IN-USER";
        out.payload = name(1);
        break;
      case 15:
        out.type = "IN-TYPE";
        out.payload = rng_.below(2) == 0 ? "HTTP" : "HTTPS";
        break;
      case 16:
      case 17:
      case 18: {
        static constexpr const char* kTypes[] = {"SRC-PORT", "DST-PORT", "IN-PORT"};
        out.type = kTypes[rng_.below(3)];
        for (size_t n = 1 + rng_.below(3); n > 0; --n) {
          const auto first = static_cast<uint32_t>(rng_.below(30));
          const auto last = first + static_cast<uint32_t>(rng_.below(3));
          out.ports.emplace_back(first, last);
          out.payload += out.payload.empty() ? "" : "/";
          out.payload += first == last ? format("{}", first) : format("{}-{}", first, last);
        }
        break;
      }
      default:
        out.type = "IP-CIDR";
        out.source = !plain && rng_.below(8) == 0;
        out.no_resolve = !resolving || rng_.below(8) != 0;
    }
    if (out.type.ends_with("IP-CIDR")) {
      const IpAddress ip = address();
      out.prefix = Prefix{ip, static_cast<uint8_t>(rng_.below(ip.size() * 8 + 1))};
      out.payload = out.prefix->to_string();
    }
    return out;
  }
  Plain logic(bool resolving, int depth) {
    static constexpr const char* kTypes[] = {"AND", "OR", "NOT"};
    Plain out;
    out.type = kTypes[rng_.below(3)];
    for (size_t n = out.type == "NOT" ? 1 : 1 + rng_.below(4); n > 0; --n) {
      const bool deeper = depth < 4 && rng_.below(3) == 0;
      out.operands.push_back(deeper ? logic(resolving, depth + 1) : condition(resolving, false));
    }
    return out;
  }
  Plain rule(bool resolving, bool match, bool plain) {
    Plain out;
    if (match && rng_.below(12) == 0) {
      out.type = "MATCH";
    } else {
      out = !plain && rng_.below(4) == 0 ? logic(resolving, 0) : condition(resolving, plain);
    }
    out.outbound = *targets().find(kTargets[rng_.below(std::size(kTargets))]);
    return out;
  }
  uint64_t below(uint64_t bound) { return rng_.below(bound); }

 private:
  SeededRng rng_;
};

// Whatever is looked up instead of walked gives what walking gives, and asks for an address exactly
// where walking asks.
TEST(Matcher, AgreesWithRulesInTurn) {
  size_t asked = 0, went_on = 0, matched = 0, passed = 0, of_conditions = 0;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    RandomRules random(seed);
    std::vector<Plain> rules;
    auto list = std::make_shared<RuleList>();
    Diagnostics diagnostics;
    Rule parsed;
    for (uint64_t n = random.below(seed % 4 == 0 ? 12 : seed % 32 == 1 ? 800 : 120); n > 0; --n) {
      rules.push_back(random.rule(seed % 3 != 0, seed % 5 == 0, seed % 7 == 0));
    }
    if (seed % 2 == 0) rules.emplace_back().type = "MATCH";
    auto disabled = seed % 3 == 1 ? std::make_shared<Disabled>() : nullptr;
    for (Plain& rule : rules) {
      const std::string line = rule.line();
      ASSERT_TRUE(parse_rule({line, 1, 1}, "test", 0, targets(), parsed, diagnostics))
          << diagnostics.to_string();
      list->add(parsed);
      rule.disabled = disabled != nullptr && random.below(4) == 0;
      if (disabled != nullptr) disabled->push_back(rule.disabled);
    }
    const Tables tables(list, disabled);
    for (int flow = 0; flow < 200; ++flow) {
      const std::string host = random.name(5);
      const std::string inbound = random.name(1), user = random.name(1);
      flow::FlowMeta meta;
      if (random.below(3) != 0) meta.set_host(host);
      if (meta.host_length == 0 || random.below(8) == 0) meta.destination.ip = random.address();
      meta.destination.port = static_cast<uint16_t>(random.below(32));
      meta.source = Endpoint(random.address(), static_cast<uint16_t>(random.below(32)));
      meta.inbound_port = static_cast<uint16_t>(random.below(32));
      meta.network = random.below(2) == 0 ? flow::Network::kUdp : flow::Network::kTcp;
      meta.inbound_type = static_cast<flow::InboundType>(random.below(3));
      Facts facts{.ip_known = random.below(6) == 0, .inbound_name = inbound, .user_name = user};
      if (facts.ip_known && random.below(2) == 0) meta.resolved = random.address();
      auto from = static_cast<uint32_t>(random.below(4) == 0 ? random.below(rules.size() + 2) : 0);
      while (true) {
        const Decision expected = judge(rules, meta, facts, from);
        const Decision found = tables.match(meta, facts, from);
        ASSERT_EQ(found.kind, expected.kind) << "seed " << seed << " flow " << flow;
        ASSERT_EQ(found.rule, expected.rule) << "seed " << seed << " flow " << flow;
        ASSERT_EQ(found.outbound, expected.outbound) << "seed " << seed << " flow " << flow;
        if (found.kind == Decision::Kind::kMatched) {
          ++matched;
          of_conditions += is_condition(list->type(found.rule)) ? 1 : 0;
          if (found.outbound != kPass) break;
          ++passed;
          from = found.rule + 1;
          continue;
        }
        if (found.kind != Decision::Kind::kNeedIp) break;
        ++asked;
        ASSERT_FALSE(facts.ip_known) << "asked twice";
        facts.ip_known = true;
        if (random.below(4) != 0) meta.resolved = random.address();
        from = random.below(8) == 0 ? 0 : found.rule;
        went_on += from != 0 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(asked, 1000u);
  EXPECT_GT(went_on, 500u);
  EXPECT_GT(matched, 10000u);
  EXPECT_GT(passed, 1000u);
  EXPECT_GT(of_conditions, 10000u);
}

TEST(Matcher, PrefixesAtBothEndsOfTheAddresses) {
  const char* const lines[] = {"IP-CIDR,255.255.255.255/32,P1", "IP-CIDR,255.0.0.0/8,P2",
                               "IP-CIDR,0.0.0.0/32,P3",         "IP-CIDR,0.0.0.0/9,REJECT",
                               "IP-CIDR,128.0.0.0/1,DIRECT",    "IP-CIDR,10.1.0.0/16,P1",
                               "IP-CIDR,10.0.0.0/8,P2",         "IP-CIDR,10.1.2.0/24,P3",
                               "IP-CIDR6,ffff::/16,P1",         "IP-CIDR6,::/0,P2"};
  std::vector<Rule> rules;
  Diagnostics diagnostics;
  for (const char* line : lines) {
    ASSERT_TRUE(parse_rule({line, 1, 1}, "test", 0, targets(), rules.emplace_back(), diagnostics));
  }
  const Tables t(rules);
  EXPECT_EQ(target(t, to_ip("255.255.255.255")), "P1");
  EXPECT_EQ(target(t, to_ip("255.255.255.254")), "P2");
  EXPECT_EQ(target(t, to_ip("254.255.255.255")), "DIRECT");
  EXPECT_EQ(target(t, to_ip("0.0.0.0")), "P3");
  EXPECT_EQ(target(t, to_ip("0.0.0.1")), "REJECT");
  EXPECT_EQ(target(t, to_ip("0.128.0.0")), "none");
  EXPECT_EQ(target(t, to_ip("10.1.2.3")), "P1") << "the first that matches, not the narrowest";
  EXPECT_EQ(target(t, to_ip("10.2.0.0")), "P2");
  EXPECT_EQ(target(t, to_ip("11.0.0.0")), "none");
  EXPECT_EQ(target(t, to_ip("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")), "P1");
  EXPECT_EQ(target(t, to_ip("fffe::")), "P2");
}

}  // namespace
}  // namespace culvert::route
