#include "yaml/reader.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/format.h"

namespace culvert::yaml {
namespace {

using std::chrono::seconds;

// A document, its diagnostics and a reader over its root.
struct Profile {
  explicit Profile(std::string text)
      : document(*parse("p.yaml", std::move(text), out)), top(MapReader::of(document, out)) {}
  Diagnostics out;
  Document document;
  MapReader top;
};

enum class Mode { kRule, kGlobal };
constexpr Choice<Mode> kModes[] = {{"rule", Mode::kRule}, {"global", Mode::kGlobal}};

TEST(YamlReader, ReadsEachType) {
  Profile p(
      "s: 2351e1\nq: '1'\nb: yes\ni: \"300\"\nport: '34874'\noff: 0\nt: 30\nt2: 2m\nz: 64KiB\n"
      "m: Rule\nl: [a, 1, true]\none: a\nsub: {k: v}\n");
  EXPECT_EQ(p.top.string("s"), "2351e1");
  EXPECT_EQ(p.top.string("q"), "1");
  EXPECT_EQ(p.top.boolean("b"), true);
  EXPECT_EQ(p.top.integer("i", 0, 1000), 300);
  EXPECT_EQ(p.top.port("port", PortZero::kRefused), 34874);
  EXPECT_EQ(p.top.port("off", PortZero::kOff), 0);
  EXPECT_EQ(p.top.duration("t", seconds(1), seconds(0), seconds(60)), seconds(30));
  EXPECT_EQ(p.top.duration("t2", seconds(1), seconds(0), seconds(600)), seconds(120));
  EXPECT_EQ(p.top.size("z", 0, 1 << 20), 65536u);
  EXPECT_EQ(p.top.choice("m", kModes), Mode::kRule);
  EXPECT_EQ(p.top.strings("l"), (std::vector<std::string_view>{"a", "1", "true"}));
  EXPECT_EQ(p.top.strings("one", ListForm::kListOrScalar), std::vector<std::string_view>{"a"});
  auto sub = p.top.map("sub");
  ASSERT_TRUE(sub);
  EXPECT_EQ(sub->string("k"), "v");
  EXPECT_EQ(sub->path_of("k", 3), "sub.k[3]");
  p.top.report_unknown();
  EXPECT_EQ(p.out.to_string(), "");
}

TEST(YamlReader, AbsentAndNullAreNothing) {
  Profile p("s: ~\nb:\ni: null\nl:\nm: ~\n");
  EXPECT_FALSE(p.top.string("s"));
  EXPECT_FALSE(p.top.boolean("b"));
  EXPECT_FALSE(p.top.integer("i", 0, 1));
  EXPECT_TRUE(p.top.list("l").empty());
  EXPECT_FALSE(p.top.map("m"));
  EXPECT_FALSE(p.top.string("none"));
  EXPECT_FALSE(p.top.choice("none", kModes));
  EXPECT_NE(p.top.find_entry("s"), nullptr);
  EXPECT_EQ(p.top.find_entry("none"), nullptr);
  p.top.report_unknown();
  EXPECT_EQ(p.out.to_string(), "");
}

TEST(YamlReader, FailuresNamePlacePathFoundAndExpected) {
  Profile p(
      "s: [a]\nb: maybe\ni: 1.5\nport: 70000\nt: soon\nz: 1TB\nm: rul\nl: {a: b}\n"
      "sub:\n  - 1\n  - k: [~, x, {}]\n");
  EXPECT_FALSE(p.top.string("s"));
  EXPECT_FALSE(p.top.boolean("b"));
  EXPECT_FALSE(p.top.integer("i", 1, std::numeric_limits<int64_t>::max()));
  EXPECT_FALSE(p.top.port("port", PortZero::kRefused));
  EXPECT_FALSE(p.top.duration("t", seconds(1), std::chrono::milliseconds(1500), seconds(60)));
  EXPECT_FALSE(p.top.size("z", 0, 1024));
  EXPECT_FALSE(p.top.choice("m", kModes));
  EXPECT_TRUE(p.top.list("l").empty());
  const auto items = p.top.list("sub");
  ASSERT_EQ(items.size(), 2u);
  EXPECT_FALSE(p.top.element("sub", 0, *items[0]));
  auto second = p.top.element("sub", 1, *items[1]);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->strings("k"), std::vector<std::string_view>{"x"});
  EXPECT_EQ(
      p.out.to_string(),
      "p.yaml:1:4: error: s: found a list, expected text\n"
      "p.yaml:2:4: error: b: found 'maybe', expected true or false\n"
      "p.yaml:3:4: error: i: found '1.5', expected a whole number from 1 up\n"
      "p.yaml:4:7: error: port: found '70000', expected a port from 1 to 65535\n"
      "p.yaml:5:4: error: t: found 'soon', expected a time from 1500ms to 60s\n"
      "p.yaml:6:4: error: z: found '1TB', expected a size from 0 to 1024 bytes, such as 64MiB\n"
      "p.yaml:7:4: error: m: found 'rul', expected rule or global\n"
      "p.yaml:8:4: error: l: found a mapping, expected a list\n"
      "p.yaml:10:5: error: sub[0]: found '1', expected a mapping\n"
      "p.yaml:11:9: error: sub[1].k[0]: found nothing, expected text\n"
      "p.yaml:11:15: error: sub[1].k[2]: found a mapping, expected text\n");
}

// K05.
TEST(YamlReader, PortsAreNeverWrapped) {
  for (const char* text :
       {"70000", "-1", "443.0", "\"443 \"", "65536", "4294967297", "4e2", "x", "0"}) {
    Profile p(format("port: {}\n", text));
    EXPECT_FALSE(p.top.port("port", PortZero::kRefused)) << text;
    EXPECT_EQ(p.out.errors(), 1u) << text;
  }
}

TEST(YamlReader, HidesWhatMustNotBeShown) {
  Profile p("secret: hunter2\n");
  p.top.fail_hidden(*p.top.find("secret"), "secret", "something else");
  EXPECT_EQ(p.out.to_string(),
            "p.yaml:1:9: error: secret: found (not shown), expected something else\n");
}

// K04.
TEST(YamlReader, UnknownKeysGetOneWarningWithTheNearestKnownKey) {
  Profile p(
      "dns: {enabled: true, zzz: 1}\nx-my-tool: {a: b}\ntpl: &t {intervall: 1}\n"
      "tpls:\n  - &u {a: 1}\nmod: rule\n'odd key': 1\ngroups:\n  - <<: *t\n  - <<: *t\n    x-y: "
      "1\n");
  auto dns = p.top.map("dns");
  dns->boolean("enable");
  dns->report_unknown();
  const auto groups = p.top.list("groups");
  for (size_t i = 0; i < groups.size(); ++i) {
    auto group = p.top.element("groups", i, *groups[i]);
    group->integer("interval", 0, 10);
    group->report_unknown();
  }
  p.top.allow({"mode"});
  p.top.report_unknown();
  EXPECT_EQ(
      p.out.to_string(),
      "p.yaml:1:7: warning: dns.enabled: unknown key, ignored; did you mean enable?\n"
      "p.yaml:1:22: warning: dns.zzz: unknown key, ignored\n"
      "p.yaml:3:10: warning: groups[0].intervall: unknown key, ignored; did you mean interval?\n"
      "p.yaml:11:5: warning: groups[1].x-y: unknown key, ignored\n"
      "p.yaml:6:1: warning: mod: unknown key, ignored; did you mean mode?\n"
      "p.yaml:7:1: warning: ['odd key']: unknown key, ignored\n");
  EXPECT_FALSE(p.out.has_errors());
}

TEST(YamlReader, ManyUnknownKeysAreCounted) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += format("key{}: 1\n", i);
  Profile p(std::move(text));
  p.top.report_unknown();
  EXPECT_EQ(p.out.warnings(), 33u);
  EXPECT_EQ(p.out.entries().back().to_string(),
            "p.yaml:1:1: warning: 9968 more unknown keys, ignored");
}

TEST(YamlReader, RootThatIsNotAMapping) {
  Profile list("- a\n");
  EXPECT_EQ(list.out.to_string(),
            "p.yaml:1:1: error: found a list, expected a mapping of settings\n");
  EXPECT_FALSE(list.top.string("a"));
  Profile empty("");
  EXPECT_EQ(empty.out.to_string(), "");
  EXPECT_FALSE(empty.top.string("a"));
}

}  // namespace
}  // namespace culvert::yaml
