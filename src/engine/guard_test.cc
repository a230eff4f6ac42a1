#include "engine/guard.h"

#include <gtest/gtest.h>

namespace culvert::engine {
namespace {

bool allows(const Guard& guard, const char* source, const char* to, bool named = false) {
  flow::FlowMeta meta;
  meta.source = *Endpoint::parse(source);
  meta.address_named = named;
  return guard.allows(meta, *Endpoint::parse(to));
}

TEST(Guard, KeepsOtherHostsFromThisOne) {
  const Guard guard({*Endpoint::parse("127.0.0.1:7890")});
  for (const char* to : {"127.0.0.1:22", "[::1]:22", "169.254.169.254:80", "[fe80::1%1]:80",
                         "0.0.0.0:22", "[::ffff:127.0.0.1]:22"}) {
    EXPECT_FALSE(allows(guard, "192.0.2.9:1000", to)) << to;
    EXPECT_TRUE(allows(guard, "192.0.2.9:1000", to, true)) << to << " named by a rule";
    EXPECT_TRUE(allows(guard, "127.0.0.1:1000", to)) << to << " from this host";
  }
  EXPECT_TRUE(allows(guard, "192.0.2.9:1000", "198.51.100.1:80"));
}

TEST(Guard, NoFlowReachesOurOwnListeners) {
  const Guard one({*Endpoint::parse("127.0.0.1:7890")});
  EXPECT_FALSE(allows(one, "127.0.0.1:1000", "127.0.0.1:7890"));
  EXPECT_FALSE(allows(one, "127.0.0.1:1000", "127.0.0.1:7890", true));
  EXPECT_FALSE(allows(one, "127.0.0.1:1000", "0.0.0.0:7890"));
  EXPECT_TRUE(allows(one, "127.0.0.1:1000", "127.0.0.2:7890"));
  const Guard all({*Endpoint::parse("0.0.0.0:7890")});
  EXPECT_FALSE(allows(all, "127.0.0.1:1000", "127.0.0.2:7890"));
  EXPECT_FALSE(allows(all, "127.0.0.1:1000", "[::1]:7890"));
  EXPECT_TRUE(allows(all, "127.0.0.1:1000", "198.51.100.1:7890"));
}

}  // namespace
}  // namespace culvert::engine
