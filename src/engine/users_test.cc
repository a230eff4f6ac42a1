#include "engine/users.h"

#include <gtest/gtest.h>

namespace culvert::engine {
namespace {

TEST(Users, ChecksNameAndPassword) {
  const Users users({{"u1", "p:1"}, {"u2", ""}}, {*Prefix::parse("127.0.0.0/8")});
  EXPECT_EQ(users.check("u1", "p:1"), 0u);
  EXPECT_EQ(users.check("u2", ""), 1u);
  for (const auto& [name, password] : {std::pair{"u1", "p:2"},
                                       {"u1", "p:"},
                                       {"u1", "p:11"},
                                       {"u1", ""},
                                       {"u2", "x"},
                                       {"u3", "p:1"},
                                       {"", ""}}) {
    EXPECT_FALSE(users.check(name, password)) << name << " " << password;
  }
  EXPECT_EQ(users.user_name(1), "u2");
  EXPECT_EQ(users.user_name(9), "");
}

TEST(Users, ExemptSourcesNeedNone) {
  const Users users({{"u", "p"}}, {*Prefix::parse("127.0.0.0/8")});
  EXPECT_FALSE(users.required(*IpAddress::parse("127.0.0.1")));
  EXPECT_FALSE(users.required(*IpAddress::parse("::ffff:127.0.0.1")));
  EXPECT_TRUE(users.required(*IpAddress::parse("192.0.2.1")));
  EXPECT_FALSE(Users({}, {}).required(*IpAddress::parse("192.0.2.1")));
}

}  // namespace
}  // namespace culvert::engine
