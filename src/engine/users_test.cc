#include "engine/users.h"

#include <gtest/gtest.h>

#include "base/format.h"

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
  EXPECT_EQ(users.name(1), "u2");
  EXPECT_EQ(users.name(9), "");
}

// Lengths around the words in which credentials are hashed and compared, and every byte of both.
TEST(Users, EveryByteOfBothCounts) {
  std::vector<User> all;
  for (const size_t n : {0u, 1u, 2u, 3u, 4u, 7u, 8u, 9u, 15u, 16u, 17u, 31u, 255u, 300u}) {
    for (const size_t p : {0u, 1u, 3u, 4u, 8u, 9u, 16u, 17u, 255u}) {
      all.push_back({format("{}{}", std::string(n, 'n'), p), std::string(p, 'p')});
    }
  }
  const Users users(all, {});
  for (uint32_t i = 0; i < all.size(); ++i) {
    User u = all[i];
    ASSERT_EQ(users.check(u.name, u.password), i) << u.name;
    EXPECT_EQ(users.name(i), u.name);
    for (std::string* text : {&u.name, &u.password}) {
      for (char& c : *text) {
        c = static_cast<char>(c ^ 0x40);
        EXPECT_FALSE(users.check(u.name, u.password));
        c = static_cast<char>(c ^ 0x40);
      }
      const std::string whole = *text;
      *text += whole.empty() ? '\0' : whole.back();
      EXPECT_FALSE(users.check(u.name, u.password));
      *text = whole.substr(0, whole.size() - (whole.empty() ? 0 : 1));
      if (*text != whole) {
        EXPECT_FALSE(users.check(u.name, u.password));
      }
      *text = whole;
    }
  }
}

TEST(Users, TheBorderOfTheTwoCounts) {
  const Users users({{"ab", "cd"}, {"abc", ""}}, {});
  EXPECT_EQ(users.check("ab", "cd"), 0u);
  EXPECT_EQ(users.check("abc", ""), 1u);
  for (const auto& [name, password] :
       {std::pair{"abc", "d"}, {"a", "bcd"}, {"abcd", ""}, {"", "abcd"}, {"ab", "c"}}) {
    EXPECT_FALSE(users.check(name, password)) << name << " " << password;
  }
}

TEST(Users, ManyAreFoundAndOthersAreNot) {
  std::vector<User> all;
  for (uint32_t i = 0; i < 5000; ++i) all.push_back({format("user{}", i), format("p{}", i * 7)});
  const Users users(all, {});
  EXPECT_EQ(users.size(), all.size());
  for (uint32_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(users.check(all[i].name, all[i].password), i);
    ASSERT_FALSE(users.check(all[i].name, all[(i + 1) % all.size()].password));
  }
  EXPECT_FALSE(Users({}, {}).check("", ""));
}

TEST(Users, TheFirstOfOneNameCounts) {
  const Users users({{"u", "1"}, {"u", "2"}, {"u", "1"}, {"v", "2"}}, {});
  EXPECT_EQ(users.check("u", "1"), 0u);
  EXPECT_FALSE(users.check("u", "2"));
  EXPECT_EQ(users.check("v", "2"), 3u);
  EXPECT_EQ(users.size(), 4u);
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
