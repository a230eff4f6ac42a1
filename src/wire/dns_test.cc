#include "wire/dns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace culvert::wire::dns {
namespace {

using namespace std::string_literals;

std::string be16(unsigned v) {
  return {static_cast<char>(v >> 8), static_cast<char>(v)};
}
std::string be32(uint32_t v) {
  return be16(v >> 16) + be16(v & 0xffff);
}
// A name in labels; RFC 1035 section 4.1.4.
std::string labels(std::string_view name) {
  std::string out;
  while (!name.empty()) {
    const size_t dot = std::min(name.find('.'), name.size());
    out += static_cast<char>(dot);
    out += name.substr(0, dot);
    name.remove_prefix(std::min(dot + 1, name.size()));
  }
  return out + '\0';
}
std::string pointer(size_t to) {
  return be16(0xc000u | static_cast<unsigned>(to));
}
std::string record(const std::string& owner, unsigned type, uint32_t ttl, const std::string& data,
                   unsigned klass = 1) {
  return owner + be16(type) + be16(klass) + be32(ttl) + be16(static_cast<unsigned>(data.size())) +
         data;
}
constexpr unsigned kAnswerFlags = 0x8180;  // QR, RD, RA
std::string message(unsigned id, unsigned flags, std::string_view name, unsigned type,
                    const std::vector<std::string>& answers,
                    const std::vector<std::string>& authorities = {}) {
  std::string out = be16(id) + be16(flags) + be16(1) + be16(static_cast<unsigned>(answers.size())) +
                    be16(static_cast<unsigned>(authorities.size())) + be16(0) + labels(name) +
                    be16(type) + be16(1);
  for (const std::string& r : answers) out += r;
  for (const std::string& r : authorities) out += r;
  return out;
}
const std::string kAddress = "\xc0\x00\x02\x01"s;  // 192.0.2.1

Result<Addresses> parse(const std::string& m, std::string_view name, uint16_t type = kTypeA,
                        uint16_t id = 0x1234) {
  // An exact heap copy, so that a sanitizer sees a read past the end.
  const std::vector<uint8_t> exact(m.begin(), m.end());
  return parse_addresses(exact, id, name, type);
}

std::string found(const Result<Addresses>& r) {
  if (!r.ok()) return "error";
  std::string out;
  for (uint8_t i = 0; i < r->count; ++i) out += (i ? " " : "") + r->ip[i].to_string();
  return out;
}

// ---------------------------------------------------------------- queries

TEST(DnsQuery, Layout) {
  std::array<uint8_t, kMaxQuery> raw;
  const auto size = serialize_query(0xbeef, "F.ISI.arpa.", kTypeAaaa, raw);
  ASSERT_TRUE(size);
  EXPECT_EQ(as_text(Bytes(raw).first(*size)),
            // Header: id, RD, one question, one additional record.
            "\xbe\xef\x01\x00\x00\x01\x00\x00\x00\x00\x00\x01"s + "\x01"s + "F" + "\x03"s + "ISI" +
                "\x04"s + "arpa" + "\x00\x00\x1c\x00\x01"s +
                // OPT (RFC 6891 section 6.1.2): root, 41, 1232 bytes, no flags, no data.
                "\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x00"s);
}

TEST(DnsQuery, NamesThatDoNotFitAreRefused) {
  std::array<uint8_t, kMaxQuery> raw;
  const std::string label(63, 'a');
  const std::string longest = label + "." + label + "." + label + "." + std::string(61, 'a');
  ASSERT_EQ(longest.size(), kMaxName);
  EXPECT_EQ(serialize_query(1, longest, kTypeA, raw), kMaxQuery);
  EXPECT_EQ(serialize_query(1, longest + ".", kTypeA, raw), kMaxQuery);
  EXPECT_FALSE(serialize_query(1, longest + "a", kTypeA, raw));
  EXPECT_FALSE(serialize_query(1, label + "a.example", kTypeA, raw));
  for (const char* bad : {"", ".", "..", ".a", "a..b", "a.."}) {
    EXPECT_FALSE(serialize_query(1, bad, kTypeA, raw)) << bad;
  }
}

// ---------------------------------------------------------------- answers

TEST(DnsAnswer, AWholeMessageByteByByte) {
  // a.example A -> 192.0.2.1 with a pointer to the question's name at 12.
  const std::string m =
      "\x12\x34\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00"s
      "\x01"
      "a\x07"
      "example\x00\x00\x01\x00\x01"s
      "\xc0\x0c\x00\x01\x00\x01\x00\x00\x01\x2c\x00\x04\xc0\x00\x02\x01"s;
  const auto r = parse(m, "a.example");
  EXPECT_EQ(found(r), "192.0.2.1");
  EXPECT_EQ(r->ttl, 300u);
  EXPECT_TRUE(r->has_ttl);
  EXPECT_FALSE(r->truncated);
  for (size_t n = 0; n < m.size(); ++n) {
    EXPECT_EQ(parse(m.substr(0, n), "a.example").code(), Errc::kBadMessage) << "at byte " << n;
  }
}

TEST(DnsAnswer, Aaaa) {
  const std::string v6 = "\x20\x01\x0d\xb8"s + std::string(11, '\0') + "\x01"s;
  const auto m = message(0x1234, kAnswerFlags, "a.example", kTypeAaaa,
                         {record(pointer(12), kTypeAaaa, 60, v6)});
  EXPECT_EQ(found(parse(m, "a.example", kTypeAaaa)), "2001:db8::1");
}

// The tail of a name may be elsewhere: RFC 1035 section 4.1.4's F.ISI.ARPA and FOO.F.ISI.ARPA.
TEST(DnsAnswer, NamesMayEndInAPointer) {
  const auto m = message(0x1234, kAnswerFlags, "F.ISI.ARPA", kTypeA,
                         {record(pointer(12), kTypeCname, 60,
                                 "\x03"s
                                 "FOO" +
                                     pointer(12)),
                          record("\x03"s
                                 "foo" +
                                     pointer(12),
                                 kTypeA, 60, kAddress)});
  EXPECT_EQ(found(parse(m, "f.isi.arpa")), "192.0.2.1");
}

TEST(DnsAnswer, CaseDoesNotMatter) {
  const auto m = message(0x1234, kAnswerFlags, "WwW.eXaMpLe", kTypeA,
                         {record(labels("www.EXAMPLE"), kTypeA, 60, kAddress)});
  EXPECT_EQ(found(parse(m, "www.example")), "192.0.2.1");
  EXPECT_EQ(found(parse(m, "WWW.EXAMPLE.")), "192.0.2.1") << "a final dot too";
}

TEST(DnsAnswer, FollowsCnamesInAnyOrder) {
  const std::vector<std::string> records = {
      record(pointer(12), kTypeCname, 300, labels("b.example")),
      record(labels("b.example"), kTypeCname, 50, labels("c.example")),
      record(labels("c.example"), kTypeA, 200, kAddress),
  };
  std::vector<size_t> order = {0, 1, 2};
  do {
    const auto r = parse(message(0x1234, kAnswerFlags, "a.example", kTypeA,
                                 {records[order[0]], records[order[1]], records[order[2]]}),
                         "a.example");
    EXPECT_EQ(found(r), "192.0.2.1");
    EXPECT_EQ(r->ttl, 50u) << "the least of the chain";
  } while (std::next_permutation(order.begin(), order.end()));
}

std::string chain(int hops, bool close) {
  std::vector<std::string> records;
  const auto node = [](int i) { return labels("n" + std::to_string(i) + ".example"); };
  for (int i = 0; i < hops; ++i) {
    records.push_back(record(node(i), kTypeCname, 60, node(i + 1 == hops && close ? 0 : i + 1)));
  }
  records.push_back(record(node(hops), kTypeA, 60, kAddress));
  return message(0x1234, kAnswerFlags, "n0.example", kTypeA, records);
}

// K18.
TEST(DnsAnswer, AChainIsBounded) {
  EXPECT_EQ(found(parse(chain(3, false), "n0.example")), "192.0.2.1");
  EXPECT_EQ(found(parse(chain(16, false), "n0.example")), "192.0.2.1");
  EXPECT_EQ(parse(chain(17, false), "n0.example").code(), Errc::kBadMessage);
  EXPECT_EQ(parse(chain(1000, false), "n0.example").code(), Errc::kBadMessage);
  EXPECT_EQ(parse(chain(1, true), "n0.example").code(), Errc::kBadMessage);
  EXPECT_EQ(parse(chain(3, true), "n0.example").code(), Errc::kBadMessage);
}

TEST(DnsAnswer, RecordsOfOthersArePassedOver) {
  const std::string other = "\xcb\x00\x71\x09"s;
  const auto m = message(
      0x1234, kAnswerFlags, "a.example", kTypeA,
      {record(labels("b.example"), kTypeA, 1, other),
       record(labels("xa.example"), kTypeA, 1, other), record(labels("example"), kTypeA, 1, other),
       record(pointer(12), kTypeA, 1, other, 3),                 // class CH
       record(pointer(12), 16, 1, "\x03txt"s),                   // TXT
       record(pointer(12), kTypeAaaa, 1, std::string(16, 'x')),  // not asked
       record(pointer(12), kTypeA, 1, "\x01\x02\x03"s),          // three bytes
       record(pointer(12), kTypeA, 70, kAddress)});
  const auto r = parse(m, "a.example");
  EXPECT_EQ(found(r), "192.0.2.1");
  EXPECT_EQ(r->ttl, 70u);
  EXPECT_EQ(found(parse(message(0x1234, kAnswerFlags, "a.example", kTypeA,
                                {record(labels("b.example"), kTypeA, 1, other)}),
                        "a.example")),
            "");
}

// "a\.b" is one label: it is not the name a.b.
TEST(DnsAnswer, ADotInsideALabelIsNotASeparator) {
  const auto m = message(0x1234, kAnswerFlags, "a.b", kTypeA,
                         {record("\x03"s
                                 "a.b\0"s,
                                 kTypeA, 60, kAddress)});
  EXPECT_EQ(found(parse(m, "a.b")), "");
}

TEST(DnsAnswer, KeepsSixteenAddresses) {
  std::vector<std::string> records;
  for (int i = 1; i <= 20; ++i) {
    records.push_back(record(pointer(12), kTypeA, 60, "\xc0\x00\x02"s + static_cast<char>(i)));
  }
  const auto r = parse(message(0x1234, kAnswerFlags, "a.example", kTypeA, records), "a.example");
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->count, 16);
  EXPECT_EQ(r->ip[15], IpAddress::parse("192.0.2.16"));
}

TEST(DnsAnswer, TruncatedMeansAskAgain) {
  std::string m = message(0x1234, kAnswerFlags | 0x0200, "a.example", kTypeA, {});
  m[7] = 5;  // announces records that were cut off
  const auto r = parse(m, "a.example");
  ASSERT_TRUE(r.ok());
  EXPECT_TRUE(r->truncated);
  EXPECT_EQ(r->count, 0);
}

std::string soa(uint32_t minimum) {
  return labels("ns.example") + labels("admin.example") + be32(1) + be32(2) + be32(3) + be32(4) +
         be32(minimum);
}

// RFC 2308 section 5: the lesser of the SOA's TTL and its MINIMUM.
TEST(DnsAnswer, ANegativeAnswerLastsAsTheSoaSays) {
  auto r = parse(message(0x1234, kAnswerFlags | 3, "a.example", kTypeA, {},
                         {record(labels("example"), kTypeSoa, 900, soa(30))}),
                 "a.example");
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->rcode, Rcode::kNxDomain);
  EXPECT_EQ(r->count, 0);
  EXPECT_TRUE(r->has_ttl);
  EXPECT_EQ(r->ttl, 30u);
  r = parse(message(0x1234, kAnswerFlags, "a.example", kTypeA, {},
                    {record(labels("example"), 2, 5, labels("ns.example")),
                     record(labels("example"), kTypeSoa, 20, soa(3600))}),
            "a.example");
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->rcode, Rcode::kNoError);
  EXPECT_EQ(r->ttl, 20u);
  r = parse(message(0x1234, kAnswerFlags | 3, "a.example", kTypeA, {}), "a.example");
  ASSERT_TRUE(r.ok());
  EXPECT_FALSE(r->has_ttl);
}

// RFC 2181 section 8.
TEST(DnsAnswer, ATtlWithTheTopBitIsZero) {
  const auto r = parse(message(0x1234, kAnswerFlags, "a.example", kTypeA,
                               {record(pointer(12), kTypeA, 0x80000001u, kAddress)}),
                       "a.example");
  ASSERT_TRUE(r.ok());
  EXPECT_TRUE(r->has_ttl);
  EXPECT_EQ(r->ttl, 0u);
}

TEST(DnsAnswer, AnotherIdOrQuestionIsNoAnswer) {
  const std::vector<std::string> a = {record(pointer(12), kTypeA, 60, kAddress)};
  const auto code = [](const std::string& m) { return parse(m, "a.example").code(); };
  EXPECT_EQ(code(message(0x1235, kAnswerFlags, "a.example", kTypeA, a)), Errc::kInvalid);
  EXPECT_EQ(code(message(0x1234, kAnswerFlags, "b.example", kTypeA, a)), Errc::kInvalid);
  EXPECT_EQ(code(message(0x1234, kAnswerFlags, "a.example.x", kTypeA, a)), Errc::kInvalid);
  EXPECT_EQ(code(message(0x1234, kAnswerFlags, "a.example", kTypeAaaa, a)), Errc::kInvalid);
  EXPECT_EQ(code(message(0x1234, 0x0100, "a.example", kTypeA, a)), Errc::kInvalid) << "a query";
  EXPECT_EQ(code(message(0x1234, kAnswerFlags | 0x2000, "a.example", kTypeA, a)), Errc::kInvalid)
      << "another opcode";
  std::string klass = message(0x1234, kAnswerFlags, "a.example", kTypeA, {});
  klass.back() = 3;
  EXPECT_EQ(code(klass), Errc::kInvalid);
  std::string two = message(0x1234, kAnswerFlags, "a.example", kTypeA, a);
  two[5] = 2;
  EXPECT_EQ(code(two), Errc::kInvalid);
}

TEST(DnsAnswer, AnErrorMayLeaveTheQuestionOut) {
  const auto r = parse(be16(0x1234) + be16(kAnswerFlags | 5) + std::string(8, '\0'), "a.example");
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->rcode, Rcode::kRefused);
  EXPECT_EQ(parse(be16(0x1234) + be16(kAnswerFlags) + std::string(8, '\0'), "a.example").code(),
            Errc::kInvalid);
}

TEST(DnsAnswer, PointersLeadBackwardsOnly) {
  const auto with_owner = [](const std::string& owner) {
    return parse(message(0x1234, kAnswerFlags, "a.example", kTypeA,
                         {record(owner, kTypeA, 60, kAddress)}),
                 "a.example")
        .code();
  };
  const size_t at = 12 + labels("a.example").size() + 4;
  EXPECT_EQ(with_owner(pointer(at)), Errc::kBadMessage) << "to itself";
  EXPECT_EQ(with_owner(pointer(at + 2)), Errc::kBadMessage) << "forwards";
  EXPECT_EQ(with_owner("\x01x"s + pointer(at)), Errc::kBadMessage) << "to its own start";
  EXPECT_EQ(with_owner(pointer(0x3fff)), Errc::kBadMessage) << "past the end";
  EXPECT_EQ(with_owner("\x40x"s), Errc::kBadMessage) << "reserved label type";
  EXPECT_EQ(with_owner("\x80x"s), Errc::kBadMessage) << "reserved label type";
  EXPECT_EQ(with_owner(pointer(12)), Errc::kNone);
}

TEST(DnsAnswer, NamesOfMoreThan255OctetsAreMalformed) {
  const std::string label(63, 'a');
  const std::string name = label + "." + label + "." + label + ".";
  const auto code = [](const std::string& owner) {
    return parse(message(0x1234, kAnswerFlags, "a.example", kTypeA,
                         {record(labels(owner), kTypeA, 60, kAddress)}),
                 "a.example")
        .code();
  };
  EXPECT_EQ(code(name + std::string(61, 'a')), Errc::kNone);
  EXPECT_EQ(code(name + std::string(62, 'a')), Errc::kBadMessage);
}

// A pointer to a pointer costs no octets of the name, so the time it takes is bounded by itself.
TEST(DnsAnswer, AChainOfPointersIsBounded) {
  const std::string question = labels("a.example") + be16(kTypeA) + be16(1);
  const size_t first = 12 + question.size() + 1 + 10;  // of the data of a record owned by the root
  std::string pointers = pointer(12);
  for (size_t i = 1; i < 200; ++i) pointers += pointer(first + 2 * (i - 1));
  const auto with_owner = [&](size_t to) {
    return parse(
        message(0x1234, kAnswerFlags, "a.example", kTypeA,
                {record("\0"s, 16, 1, pointers), record(pointer(to), kTypeA, 1, kAddress)}),
        "a.example");
  };
  EXPECT_EQ(found(with_owner(first + 2 * 10)), "192.0.2.1");
  EXPECT_EQ(with_owner(first + 2 * 199).code(), Errc::kBadMessage);
}

TEST(DnsAnswer, TruncationAtEveryByteOfAChain) {
  const std::string m = chain(4, false);
  ASSERT_TRUE(parse(m, "n0.example").ok());
  for (size_t n = 0; n < m.size(); ++n) {
    EXPECT_EQ(parse(m.substr(0, n), "n0.example").code(), Errc::kBadMessage) << n;
  }
}

}  // namespace
}  // namespace culvert::wire::dns
