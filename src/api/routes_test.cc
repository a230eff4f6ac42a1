#include "api/routes.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace culvert::api {
namespace {

TEST(Routes, AreFoundByMethodAndPath) {
  Match match = find_route("GET", {"proxies", "a/b", "delay"});
  ASSERT_NE(match.route, nullptr);
  EXPECT_EQ(match.route->path, "/proxies/{}/delay");
  EXPECT_EQ(match.names, std::vector<std::string>{"a/b"});
  match = find_route("GET", {"providers", "proxies", "p", "n"});
  ASSERT_NE(match.route, nullptr);
  EXPECT_EQ(match.names, (std::vector<std::string>{"p", "n"}));
  EXPECT_EQ(find_route("GET", {}).route->path, "/");
  match = find_route("POST", {"proxies", "a"});
  EXPECT_EQ(match.route, nullptr);
  EXPECT_EQ(match.allowed, "GET, PUT, DELETE");
  match = find_route("GET", {"proxies", "a", "delay", "b"});
  EXPECT_EQ(match.route, nullptr);
  EXPECT_EQ(match.allowed, "");
  EXPECT_EQ(find_route("GET", {"{}"}).allowed, "");
}

TEST(Routes, EachSaysWhatItDoes) {
  std::set<std::string> seen;
  for (const auto& table : {general_routes(), config_routes(), connection_routes(), proxy_routes(),
                            provider_routes(), rule_routes(), storage_routes(), culvert_routes()}) {
    for (const Route& route : table) {
      EXPECT_TRUE(seen.insert(std::string(route.method) + std::string(route.path)).second);
      EXPECT_EQ(route.path.front(), '/');
      const int ways = (route.now != nullptr ? 1 : 0) + (route.later != nullptr ? 1 : 0);
      EXPECT_TRUE(ways == 1 || (ways == 0 && route.feed != Feed::kNone)) << route.path;
    }
  }
}

}  // namespace
}  // namespace culvert::api
