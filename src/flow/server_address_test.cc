#include "flow/server_address.h"

#include <gtest/gtest.h>

namespace culvert::flow {
namespace {

// K05.
TEST(ServerAddress, BothSpellingsAreOneAddress) {
  for (const char* text : {"2001:db8::1", "[2001:db8::1]", "2001:DB8:0::1"}) {
    const auto server = parse_server(text);
    ASSERT_TRUE(server) << text;
    EXPECT_EQ(server->host, "2001:db8::1");
    EXPECT_EQ(server->ip.to_string(), "2001:db8::1");
    EXPECT_EQ(server->zone, "");
    EXPECT_EQ(server->scope_id(), 0u);
  }
  const auto zoned = parse_server("[fe80::1%lo]");
  ASSERT_TRUE(zoned);
  EXPECT_EQ(zoned->ip.to_string(), "fe80::1");
  EXPECT_EQ(zoned->zone, "lo");
  EXPECT_EQ(zoned->scope_id(), 1u);
  EXPECT_EQ(parse_server("fe80::1%7")->scope_id(), 7u);
  EXPECT_FALSE(parse_server("fe80::1%no_such_if0")->scope_id());
}

TEST(ServerAddress, NamesAndGarbage) {
  EXPECT_EQ(parse_server("Node.Example.")->host, "node.example");
  EXPECT_EQ(parse_server("192.0.2.1")->ip.to_string(), "192.0.2.1");
  for (const char* bad : {"", "[192.0.2.1]", "192.0.2.1%eth0", "a b", "[]", "[a.example]",
                          "fe80::1%", "http://a.example", "a.example:443", "fe80::1%a/b"}) {
    EXPECT_FALSE(parse_server(bad)) << bad;
  }
}

std::string refusal(const std::string& text) {
  Diagnostics out;
  const auto document = yaml::parse("c.yaml", text, out);
  yaml::MapReader top = yaml::MapReader::of(*document, out);
  EXPECT_FALSE(read_server(top));
  return out.to_string();
}

TEST(ServerAddress, Reads) {
  Diagnostics out;
  const auto document = yaml::parse("c.yaml", "{server: '[2001:db8::1]', port: '34874'}", out);
  yaml::MapReader top = yaml::MapReader::of(*document, out);
  const auto server = read_server(top);
  ASSERT_TRUE(server) << out.to_string();
  EXPECT_EQ(server->to_string(), "[2001:db8::1]:34874");
  EXPECT_EQ(refusal("{server: a.example, port: 443.0}"),
            "c.yaml:1:27: error: port: found '443.0', expected a port from 1 to 65535\n");
  EXPECT_EQ(refusal("{server: 'a b', port: 1}"),
            "c.yaml:1:10: error: server: found 'a b', expected a host name or an IP address\n");
  EXPECT_EQ(refusal("{port: 1}"), "c.yaml:1:1: error: no server\n");
}

}  // namespace
}  // namespace culvert::flow
