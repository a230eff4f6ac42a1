#include "route/targets.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "route/rule.h"

namespace culvert::route {
namespace {

TEST(Targets, BuiltInsComeFirst) {
  TargetTable table;
  EXPECT_EQ(table.size(), kBuiltInTargets);
  EXPECT_EQ(table.find("DIRECT"), kDirect);
  EXPECT_EQ(table.find("REJECT"), kReject);
  EXPECT_EQ(table.find("REJECT-DROP"), kRejectDrop);
  EXPECT_EQ(table.find("PASS"), kPass);
  EXPECT_EQ(table.find("COMPATIBLE"), kCompatible);
  EXPECT_EQ(table.find("GLOBAL"), kGlobal);
  EXPECT_EQ(table.find("direct"), std::nullopt);
  for (uint32_t i = 0; i < table.size(); ++i) EXPECT_TRUE(table.defined(i)) << table.name(i);
}

TEST(Targets, KeepsTheOrderOfTheFirstMention) {
  TargetTable table;
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back(format("node {}", i * 7));
  for (uint32_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(table.intern(names[i]), kBuiltInTargets + i);
    EXPECT_EQ(table.intern(names[i / 2]), kBuiltInTargets + i / 2);
  }
  for (uint32_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(table.name(kBuiltInTargets + i), names[i]);
    EXPECT_EQ(table.find(names[i]), kBuiltInTargets + i);
    EXPECT_FALSE(table.defined(kBuiltInTargets + i));
  }
  EXPECT_EQ(table.define("node 7"), kBuiltInTargets + 1);
  EXPECT_TRUE(table.defined(kBuiltInTargets + 1));
  EXPECT_EQ(table.define("new"), kBuiltInTargets + 1000);
  EXPECT_TRUE(table.defined(kBuiltInTargets + 1000));
  EXPECT_EQ(table.size(), kBuiltInTargets + 1001);
}

std::string reported(const TargetTable& table) {
  Diagnostics diagnostics;
  table.report_undefined("config.yaml", diagnostics);
  return diagnostics.to_string();
}

// K08: names that are missing are told with the rule's place, text and reason.
TEST(Targets, ReportsWhatWasNeverDefined) {
  TargetTable table;
  Diagnostics diagnostics;
  Rule rule;
  uint32_t index = 0;
  for (const char* line : {"DOMAIN,a.example,NOPE", "DOMAIN,b.example,later", "MATCH,GLOBAL",
                           "IP-CIDR,192.0.2.0/24,no-resolve", "DOMAIN,c.example,NOPE"}) {
    EXPECT_TRUE(parse_rule({line, index + 10, 5}, "config.yaml", index, table, rule, diagnostics));
    ++index;
  }
  EXPECT_FALSE(diagnostics.has_errors());
  table.define("later");
  EXPECT_EQ(
      reported(table),
      "config.yaml:10:5: error: rules[0]: found 'DOMAIN,a.example,NOPE', expected an existing "
      "target instead of 'NOPE'\n"
      "config.yaml:13:5: error: rules[3]: found 'IP-CIDR,192.0.2.0/24,no-resolve', expected a "
      "target before 'no-resolve': the target is missing\n"
      "config.yaml:14:5: error: rules[4]: found 'DOMAIN,c.example,NOPE', expected an existing "
      "target instead of 'NOPE'\n");
  for (const char* name : {"NOPE", "no-resolve"}) table.define(name);
  EXPECT_EQ(reported(table), "") << "a target may have any name";
}

TEST(Targets, RemembersSomeUsesAndCountsTheRest) {
  TargetTable table;
  const uint32_t target = *table.intern("X");
  for (uint32_t i = 0; i < TargetTable::kMaxUses + 5; ++i) {
    table.note_use(target, {"MATCH,X", i + 1, 1}, i);
  }
  Diagnostics diagnostics;
  table.report_undefined("c.yaml", diagnostics);
  ASSERT_EQ(diagnostics.errors(), TargetTable::kMaxUses + 1);
  EXPECT_EQ(diagnostics.entries()[15].line, 16u);
  EXPECT_EQ(diagnostics.entries()[16].to_string(),
            "c.yaml: error: rules: found 5 more rules with it, expected an existing target instead "
            "of 'X'");
}

}  // namespace
}  // namespace culvert::route
