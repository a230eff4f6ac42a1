#include "dns/hosts_table.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace culvert::dns {
namespace {

class HostsTableTest : public ::testing::Test {
 protected:
  std::string find(const HostsTable& table, std::string_view name) {
    flow::AddressList out;
    if (!table.find(hash(name), name, out)) return "none";
    std::string text;
    for (const IpAddress& ip : out.view()) text += (text.empty() ? "" : " ") + ip.to_string();
    return text;
  }
  SeededRng rng{7};
  KeyedHash hash{rng};
};

TEST_F(HostsTableTest, AddressesInTheFilesOrder) {
  const HostsTable table(wire::parse_hosts("192.0.2.9 b a\n"
                                           "2001:db8::1 a\n"
                                           "192.0.2.1 a b\n"),
                         hash, true);
  EXPECT_EQ(find(table, "a"), "192.0.2.9 2001:db8::1 192.0.2.1");
  EXPECT_EQ(find(table, "b"), "192.0.2.9 192.0.2.1");
  EXPECT_EQ(find(table, "c"), "none");
  EXPECT_EQ(find(table, ""), "none");
  EXPECT_EQ(find(HostsTable(), "a"), "none");
}

TEST_F(HostsTableTest, KeepsWhatCanBeAskedFor) {
  const HostsTable table(wire::parse_hosts("192.0.2.9 192.0.2.1 a..b bücher.example UPPER dot.\n"
                                           "2001:db8::1 six upper\n"),
                         hash, false);
  for (const char* name : {"192.0.2.1", "a..b", "bücher.example", "UPPER", "dot.", "six"}) {
    EXPECT_EQ(find(table, name), "none") << name;
  }
  EXPECT_EQ(find(table, "upper"), "192.0.2.9");
  EXPECT_EQ(find(table, "dot"), "192.0.2.9");
}

TEST_F(HostsTableTest, ManyNamesAndMoreAddressesThanAListHolds) {
  std::vector<wire::HostsEntry> entries;
  for (uint32_t i = 0; i < 5000; ++i) entries.push_back({IpAddress::v4(i), format("n{}", i)});
  for (uint32_t i = 0; i < 40; ++i) entries.push_back({IpAddress::v4(i), "many"});
  const HostsTable table(entries, hash, true);
  for (const auto& e : entries) {
    if (e.name != "many") {
      ASSERT_EQ(find(table, e.name), e.ip.to_string());
    }
  }
  flow::AddressList out;
  EXPECT_TRUE(table.find(hash("many"), "many", out));
  EXPECT_EQ(out.size(), flow::AddressList::kMax);
  EXPECT_EQ(find(table, "n5000"), "none");
}

}  // namespace
}  // namespace culvert::dns
