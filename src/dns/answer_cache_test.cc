#include "dns/answer_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>

#include "base/format.h"
#include "base/keyed_hash.h"

namespace culvert::dns {
namespace {

using namespace std::chrono_literals;
using flow::AddressList;

std::string text(const AddressList& list) {
  std::string out;
  for (const IpAddress& ip : list.view()) out += ip.to_string() + " ";
  return out;
}

AddressList random_list(Rng& rng, size_t count) {
  AddressList list;
  while (list.size() < count) {
    uint8_t raw[16];
    rng.fill(raw);
    list.add(raw[0] < 128 ? IpAddress::v4(Bytes(raw).first(4)) : IpAddress::v6(raw));
  }
  return list;
}

class AnswerCacheTest : public ::testing::Test {
 protected:
  void store(const std::string& name, const AddressList& list, TimePoint expires) {
    cache.store(hash(name), name, list, expires);
  }
  // The addresses, or "none".
  std::string find(const std::string& name, TimePoint now) {
    AddressList out;
    return cache.find(hash(name), name, now, out) ? text(out) : "none";
  }

  SeededRng rng{7};
  KeyedHash hash{rng};
  AnswerCache cache{8};
  const TimePoint start{};
};

TEST_F(AnswerCacheTest, ListsAndNamesOfEveryLength) {
  for (const size_t length : {0u, 1u, 32u, 92u, 93u, 96u, 97u, 253u, 255u}) {
    for (size_t count = 0; count <= AddressList::kMax; ++count) {
      const std::string name(length, 'n');
      const AddressList list = random_list(rng, count);
      store(name, list, start + 1s);
      EXPECT_EQ(find(name, start), text(list)) << length << " " << count;
      EXPECT_EQ(find(name + "n", start), "none");
      cache.clear();
    }
  }
  store(std::string(256, 'n'), random_list(rng, 1), start + 1s);
  EXPECT_EQ(cache.size(), 0u);
}

TEST_F(AnswerCacheTest, WhatExpiresIsForgottenWhenItIsAskedFor) {
  store("a", random_list(rng, 1), start + 1s);
  EXPECT_NE(find("a", start + 999ms), "none");
  EXPECT_EQ(find("a", start + 1s), "none");
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_EQ(find("a", start), "none");
}

// All names in one bucket: only the whole comparison tells them apart.
TEST_F(AnswerCacheTest, OneHashForAllNames) {
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 20; ++i) {
      AddressList list;
      list.add(IpAddress::v4(static_cast<uint32_t>(i)));
      cache.store(~0ull, format("n{}", i), list, start + 1s);
    }
    EXPECT_EQ(cache.size(), 8u);
    for (int i = 0; i < 20; ++i) {
      AddressList out;
      EXPECT_EQ(cache.find(~0ull, format("n{}", i), start, out), i >= 12);
      if (i >= 12) {
        EXPECT_EQ(out.view()[0].v4_value(), static_cast<uint32_t>(i));
      }
    }
  }
}

// Against a list that is searched from one end to the other, at several limits.
TEST_F(AnswerCacheTest, DoesWhatAListWouldDo) {
  struct Known {
    std::string name, addresses;
    TimePoint expires;
  };
  for (const size_t limit : {1u, 2u, 3u, 8u, 100u}) {
    AnswerCache small(limit);
    std::list<Known> model;  // used last first
    TimePoint now = start;
    for (int step = 0; step < 20'000; ++step) {
      now += std::chrono::milliseconds(rng.below(3));
      const std::string name = format("{}.example", rng.below(3 * limit));
      const auto at =
          std::find_if(model.begin(), model.end(), [&](const Known& k) { return k.name == name; });
      if (rng.below(2) == 0) {
        const AddressList list = random_list(rng, rng.below(8));
        const TimePoint expires = now + std::chrono::milliseconds(1 + rng.below(20 * limit));
        small.store(hash(name), name, list, expires);
        if (at != model.end()) model.erase(at);
        model.push_front({name, text(list), expires});
        if (model.size() > limit) model.pop_back();
      } else {
        AddressList out;
        const bool found = small.find(hash(name), name, now, out);
        const bool known = at != model.end() && at->expires > now;
        ASSERT_EQ(found, known) << step;
        if (known) {
          ASSERT_EQ(text(out), at->addresses) << step;
          model.splice(model.begin(), model, at);
        } else if (at != model.end()) {
          model.erase(at);
        }
      }
      ASSERT_EQ(small.size(), model.size()) << step;
      if (step % 5'000 == 4'999) {
        small.clear();
        model.clear();
      }
    }
  }
}

}  // namespace
}  // namespace culvert::dns
