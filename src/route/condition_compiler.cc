#include "route/condition_compiler.h"

#include "base/format.h"
#include "route/names.h"
#include "route/rule_words.h"
#include "route/syntax.h"

namespace culvert::route {
namespace {

struct InWord {
  std::string_view word;
  uint32_t mask;  // of InboundType; 0 = no listener of this version lets such flows in
};
constexpr uint32_t bit(flow::InboundType type) {
  return uint32_t{1} << static_cast<uint32_t>(type);
}
constexpr InWord kInWords[] = {
    {"HTTP", bit(flow::InboundType::kHttp)},
    {"HTTPS", bit(flow::InboundType::kHttps)},
    {"SOCKS", bit(flow::InboundType::kSocks4) | bit(flow::InboundType::kSocks5)},
    {"SOCKS4", bit(flow::InboundType::kSocks4)},
    {"SOCKS5", bit(flow::InboundType::kSocks5)},
    {"TUNNEL", bit(flow::InboundType::kTunnel)},
    {"INNER", bit(flow::InboundType::kInner)},
    {"SHADOWSOCKS", 0},
    {"SNELL", 0},
    {"VMESS", 0},
    {"VLESS", 0},
    {"REDIR", 0},
    {"TPROXY", 0},
    {"TROJAN", 0},
    {"TUN", 0},
    {"TUIC", 0},
    {"HYSTERIA2", 0},
    {"ANYTLS", 0},
    {"MIERU", 0},
    {"SUDOKU", 0},
    {"TRUSTTUNNEL", 0},
    {"SHADOWQUIC", 0},
};

constexpr std::string_view kOperandForm = "(TYPE,payload)";

// The parts of a list separated by '/', or by one of two characters. False as soon as `take` is.
template <class Take>
bool each_alternative(std::string_view list, std::string_view separators, const Take& take) {
  while (true) {
    const size_t end = list.find_first_of(separators);
    if (!take(trim(list.substr(0, end)))) return false;
    if (end == std::string_view::npos) return true;
    list.remove_prefix(end + 1);
  }
}

bool parse_ranges(std::string_view text, std::vector<PortRange>& out) {
  return each_alternative(text, "/,", [&](std::string_view part) {
    const size_t dash = part.find('-');
    const auto first = parse_port(trim(part.substr(0, dash)));
    const auto last =
        dash == std::string_view::npos ? first : parse_port(trim(part.substr(dash + 1)));
    if (!first || !last || *first > *last) return false;
    out.push_back({*first, *last});
    return true;
  });
}

// Clients of IPv4 are compared as such, in whichever form a listener sees them.
Prefix of_clients(const Prefix& prefix) {
  const IpAddress ip = prefix.ip.unmapped();
  if (prefix.ip.is_v4() || !ip.is_v4() || prefix.length < 96) return prefix;
  return {ip, static_cast<uint8_t>(prefix.length - 96)};
}

// More brackets in one another than any rule that is accepted has: two for each AND, OR and NOT,
// and some that a name may have.
constexpr size_t kMaxBrackets = 2 * kMaxLogicDepth + 32;
// What closing() returns when it finds none.
constexpr size_t kOpen = std::string_view::npos;
constexpr size_t kTooDeep = kOpen - 1;

// The place of the bracket that closes the one `text` begins with.
size_t closing(std::string_view text) {
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' && ++depth > kMaxBrackets) return kTooDeep;
    if (text[i] == ')' && --depth == 0) return i;
  }
  return kOpen;
}

// Where a test goes on is known when what comes behind it is: until then its jumps name labels,
// each for one place.
class Compiler {
 public:
  Compiler(Conditions& out, std::string& shown, std::string& expected)
      : out_(out), shown_(shown), expected_(expected) {}

  bool run(RuleType type, std::string_view payload) {
    if (!compile(type, payload, {}, kYesLabel, kNoLabel, 0)) return false;
    for (uint32_t i = 0; i < out_.size(); ++i) {
      const Conditions::Jumps labels = out_.jumps(i);
      out_.set_jumps(i, {places_[labels.on_yes], places_[labels.on_no]});
    }
    return true;
  }

 private:
  using Label = Conditions::Next;
  static constexpr Label kYesLabel = 0;
  static constexpr Label kNoLabel = 1;

  struct Parameters {
    bool no_resolve = false;
    bool source = false;
  };

  bool fail(std::string expected) {
    expected_ = std::move(expected);
    return false;
  }

  bool compile(RuleType type, std::string_view payload, Parameters parameters, Label yes, Label no,
               size_t depth) {
    if (is_logic(type)) return logic(type, payload, yes, no, depth);
    if (out_.size() == Conditions::kMaxTests) {
      return fail(format("at most {} conditions in one rule", Conditions::kMaxTests));
    }
    switch (type) {
      case RuleType::kDomain:
      case RuleType::kDomainSuffix: {
        std::string name;
        if (!normal_name(payload, name)) return fail(expected_name(payload));
        shown_ += name;
        out_.add_name(type, name, yes, no);
        return true;
      }
      case RuleType::kDomainKeyword: {
        if (payload.empty()) return fail("a keyword");
        const std::string keyword = small_letters(payload);
        shown_ += keyword;
        out_.add_name(type, keyword, yes, no);
        return true;
      }
      case RuleType::kIpCidr:
      case RuleType::kSrcIpCidr: {
        auto prefix = parse_rule_prefix(payload);
        if (!prefix) return fail(expected_prefix(payload));
        shown_ += payload;
        if (type == RuleType::kSrcIpCidr) prefix = of_clients(*prefix);
        out_.add_prefix(type, *prefix, parameters.no_resolve, yes, no);
        return true;
      }
      case RuleType::kSrcPort:
      case RuleType::kDstPort:
      case RuleType::kInPort: {
        std::vector<PortRange> ranges;
        if (!parse_ranges(payload, ranges)) {
          return fail(
              format("ports from 0 to 65535 such as 80/443/8000-9000 instead of '{}'", payload));
        }
        shown_ += payload;
        out_.add_ports(type, ranges, yes, no);
        return true;
      }
      case RuleType::kInType:
        return in_type(payload, yes, no);
      case RuleType::kNetwork:
        return network(payload, yes, no);
      case RuleType::kInName:
      case RuleType::kInUser:
        return alternatives(type, payload, yes, no);
      default:
        return fail("a condition");
    }
  }

  bool in_type(std::string_view payload, Label yes, Label no) {
    uint32_t mask = 0;
    std::string_view unknown;
    std::string words;
    const bool known = each_alternative(payload, "/", [&](std::string_view part) {
      for (const InWord& in : kInWords) {
        if (!same_word(part, in.word)) continue;
        mask |= in.mask;
        if (!words.empty()) words += '/';
        words += in.word;
        return true;
      }
      unknown = part;
      return false;
    });
    if (!known) {
      return fail(
          format("types of listeners such as HTTP, SOCKS5 or TUNNEL instead of '{}'", unknown));
    }
    shown_ += words;
    out_.add_mask(RuleType::kInType, mask, yes, no);
    return true;
  }

  bool network(std::string_view payload, Label yes, Label no) {
    const bool tcp = same_word(payload, "TCP");
    if (!tcp && !same_word(payload, "UDP"))
      return fail(format("tcp or udp instead of '{}'", payload));
    const flow::Network network = tcp ? flow::Network::kTcp : flow::Network::kUdp;
    shown_ += flow::name(network);
    out_.add_mask(RuleType::kNetwork, uint32_t{1} << static_cast<uint32_t>(network), yes, no);
    return true;
  }

  bool alternatives(RuleType type, std::string_view payload, Label yes, Label no) {
    std::string names;
    const bool good = each_alternative(payload, "/", [&](std::string_view part) {
      if (part.empty()) return false;
      if (!names.empty()) names += '/';
      names += part;
      return true;
    });
    if (!good) return fail(format("names with '/' between them instead of '{}'", payload));
    shown_ += names;
    out_.add_alternatives(type, names, yes, no);
    return true;
  }

  // `payload` is "((TYPE,payload),(TYPE,payload))". Each operand but the last leads to the next
  // where it does not decide.
  bool logic(RuleType type, std::string_view payload, Label yes, Label no, size_t depth) {
    const std::string_view word = api_name(type);
    payload = trim(payload);
    if (!payload.starts_with('(')) return fail(format("{},({}),target", word, kOperandForm));
    const size_t end = closing(payload);
    if (depth == kMaxLogicDepth || end == kTooDeep) {
      return fail(format("AND, OR and NOT at most {} deep", kMaxLogicDepth));
    }
    if (end == kOpen) return fail("a ')' for each '('");
    if (end + 1 != payload.size()) {
      return fail(format("nothing behind the ')' of {} but '{}'", word, payload.substr(end + 1)));
    }
    std::string_view rest = trim(payload.substr(1, end - 1));
    shown_ += type == RuleType::kNot ? "(!" : "(";
    for (bool last = false; !last;) {
      if (!rest.starts_with('(')) {
        return fail(format("operands in brackets, {}, for {}", kOperandForm, word));
      }
      // Brackets are even within those around.
      const size_t close = closing(rest);
      const std::string_view text = rest.substr(1, close - 1);
      rest = trim(rest.substr(close + 1));
      last = rest.empty();
      if (!last) {
        if (!rest.starts_with(',')) return fail(format("a comma between the operands of {}", word));
        rest = trim(rest.substr(1));
      }
      if (type == RuleType::kNot) {
        if (!last) return fail("one operand for NOT");
        if (!operand(text, no, yes, depth)) return false;
      } else if (last) {
        if (!operand(text, yes, no, depth)) return false;
      } else {
        const auto next = static_cast<Label>(places_.size());
        places_.push_back(0);
        const bool good = type == RuleType::kAnd ? operand(text, next, no, depth)
                                                 : operand(text, yes, next, depth);
        if (!good) return false;
        places_[next] = static_cast<Conditions::Next>(out_.size());
        shown_ += type == RuleType::kAnd ? " && " : " || ";
      }
    }
    shown_ += ')';
    return true;
  }

  // What is within the brackets of an operand: "TYPE,payload[,parameters]".
  bool operand(std::string_view text, Label yes, Label no, size_t depth) {
    text = without_trailing_commas(text);
    const size_t comma = find_comma(text);
    const std::string_view word = trim(text.substr(0, comma));
    const RuleType* known = find_type(word);
    if (known == nullptr) {
      if (same_word(word, "SUB-RULE")) return fail("no SUB-RULE within AND, OR or NOT");
      return fail(expected_type(word));
    }
    RuleType type = *known;
    if (type == RuleType::kMatch) return fail("no MATCH within AND, OR or NOT");
    if (comma == text.size()) return fail(format("{} instead of '({})'", kOperandForm, text));
    std::string_view payload = trim(text.substr(comma + 1));
    Parameters parameters;
    const bool lists_ports =
        type == RuleType::kSrcPort || type == RuleType::kDstPort || type == RuleType::kInPort;
    if (!is_logic(type) && !lists_ports) {
      Parts parts(payload);
      payload = parts.next();
      while (parts.more()) {
        const std::string_view parameter = parts.next();
        const bool takes = type == RuleType::kIpCidr || type == RuleType::kSrcIpCidr;
        if (takes && parameter == "no-resolve") {
          parameters.no_resolve = true;
        } else if (takes && parameter == "src") {
          parameters.source = true;
        } else {
          return fail(format("no parameter '{}' for {}", parameter, word));
        }
      }
      if (parameters.source) type = RuleType::kSrcIpCidr;
    }
    shown_ += '(';
    shown_ += api_name(type);
    shown_ += ',';
    if (!compile(type, payload, parameters, yes, no, depth + 1)) return false;
    shown_ += ')';
    return true;
  }

  Conditions& out_;
  std::string& shown_;
  std::string& expected_;
  // Of the labels.
  std::vector<Conditions::Next> places_{Conditions::kYes, Conditions::kNo};
};

}  // namespace

std::string small_letters(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return out;
}

std::optional<Prefix> parse_rule_prefix(std::string_view text) {
  if (text.find('/') == std::string_view::npos) return std::nullopt;
  return Prefix::parse(text);
}

std::string expected_name(std::string_view text) {
  return format("a domain name instead of '{}'", text);
}

std::string expected_prefix(std::string_view text) {
  return format("a prefix such as 192.0.2.0/24 instead of '{}'", text);
}

bool compile_condition(RuleType type, std::string_view payload, Conditions& out, std::string& shown,
                       std::string& expected) {
  out.clear();
  shown.clear();
  return Compiler(out, shown, expected).run(type, payload);
}

}  // namespace culvert::route
