#include "wire/resolv_conf.h"

#include <gtest/gtest.h>

namespace culvert::wire {
namespace {

std::string servers(const ResolvConf& conf) {
  std::string out;
  for (const Endpoint& e : conf.servers) out += e.to_string() + " ";
  return out;
}
std::string search(const ResolvConf& conf) {
  std::string out;
  for (const std::string& s : conf.search) out += s + " ";
  return out;
}
std::string text(const std::vector<HostsEntry>& entries) {
  std::string out;
  for (const HostsEntry& e : entries) out += e.ip.to_string() + "=" + e.name + " ";
  return out;
}

TEST(ResolvConf, AnEmptyFileHasTheDefaults) {
  const ResolvConf c = parse_resolv_conf("");
  EXPECT_TRUE(c.servers.empty());
  EXPECT_TRUE(c.search.empty());
  EXPECT_EQ(c.ndots, 1u);
  EXPECT_EQ(c.timeout_s, 5u);
  EXPECT_EQ(c.attempts, 2u);
}

TEST(ResolvConf, AllThatIsUnderstood) {
  const ResolvConf c = parse_resolv_conf(
      "# written by something\n"
      "; the other comment\n"
      "nameserver 192.0.2.1\n"
      "\tnameserver\t2001:db8::1  \r\n"
      "nameserver fe80::1%3\n"
      "search Corp.Example. lab.example\n"
      "options ndots:2 timeout:3 attempts:4 rotate edns0\n"
      "sortlist 192.0.2.0\n"
      "nonsense\n");
  EXPECT_EQ(servers(c), "192.0.2.1:0 [2001:db8::1]:0 [fe80::1%3]:0 ");
  EXPECT_EQ(search(c), "corp.example lab.example ");
  EXPECT_EQ(c.ndots, 2u);
  EXPECT_EQ(c.timeout_s, 3u);
  EXPECT_EQ(c.attempts, 4u);
}

TEST(ResolvConf, WhatMakesNoSenseIsPassedOver) {
  const ResolvConf c = parse_resolv_conf(
      "nameserver\n"
      "nameserver dns.example\n"
      "nameserver 192.0.2.256\n"
      "nameserver fe80::1%no-such-interface\n"
      "#nameserver 192.0.2.9\n"
      "nameservers 192.0.2.9\n"
      "options ndots: timeout:x attempts:3x ndots:99999999999999999999 :\n"
      "nameserver 192.0.2.1");
  EXPECT_EQ(servers(c), "192.0.2.1:0 ") << "the last line needs no end";
  EXPECT_EQ(c.ndots, 1u);
  EXPECT_EQ(c.timeout_s, 5u);
  EXPECT_EQ(c.attempts, 2u);
}

TEST(ResolvConf, NumbersAreClampedAndTheLastCounts) {
  ResolvConf c = parse_resolv_conf("options ndots:100 timeout:100 attempts:100\n");
  EXPECT_EQ(c.ndots, 15u);
  EXPECT_EQ(c.timeout_s, 30u);
  EXPECT_EQ(c.attempts, 5u);
  c = parse_resolv_conf("options ndots:7\noptions ndots:0 timeout:0 attempts:0\n");
  EXPECT_EQ(c.ndots, 0u);
  EXPECT_EQ(c.timeout_s, 1u);
  EXPECT_EQ(c.attempts, 1u);
}

TEST(ResolvConf, TheLastOfDomainAndSearchCounts) {
  EXPECT_EQ(search(parse_resolv_conf("search a b\ndomain c\n")), "c ");
  EXPECT_EQ(search(parse_resolv_conf("domain c\nsearch a b\n")), "a b ");
  EXPECT_EQ(search(parse_resolv_conf("search a\nsearch .\n")), "") << "the root is no suffix";
}

TEST(ResolvConf, ListsAreBounded) {
  std::string in = "search";
  for (int i = 0; i < 100; ++i) in += " d" + std::to_string(i);
  in += "\n";
  for (int i = 0; i < 100; ++i) in += "nameserver 192.0.2." + std::to_string(i) + "\n";
  const ResolvConf c = parse_resolv_conf(in);
  EXPECT_EQ(c.servers.size(), ResolvConf::kMaxServers);
  EXPECT_EQ(c.search.size(), ResolvConf::kMaxSearch);
  EXPECT_EQ(c.search[0], "d0");
}

TEST(Hosts, AddressThenNames) {
  EXPECT_EQ(text(parse_hosts("127.0.0.1 localhost\n"
                             "::1\tip6-localhost  IP6-Loopback\r\n"
                             "\n"
                             "# 192.0.2.9 commented.example\n"
                             "192.0.2.1 a.example. # the printer\n"
                             "fe80::1%eth0 link.example\n"
                             "192.0.2.2")),
            "127.0.0.1=localhost ::1=ip6-localhost ::1=ip6-loopback 192.0.2.1=a.example "
            "fe80::1=link.example ");
}

TEST(Hosts, LinesWithoutAnAddressArePassedOver) {
  EXPECT_EQ(text(parse_hosts("localhost 127.0.0.1\n192.0.2.300 x\n192.0.2.1#x y\n192.0.2.1 b\n")),
            "192.0.2.1=b ");
}

TEST(Hosts, NoEntryWithoutAName) {
  EXPECT_EQ(text(parse_hosts("192.0.2.1 . a\n")), "192.0.2.1=a ");
}

TEST(Hosts, AreBounded) {
  std::string in;
  for (int i = 0; i < 50; ++i) in += "192.0.2.1 a b c\n";
  EXPECT_EQ(parse_hosts(in, 10).size(), 10u);
  EXPECT_EQ(parse_hosts(in, 0).size(), 0u);
  EXPECT_EQ(parse_hosts(in).size(), 150u);
}

}  // namespace
}  // namespace culvert::wire
