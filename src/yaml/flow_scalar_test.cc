#include "yaml/flow_scalar.h"

#include <gtest/gtest.h>

namespace culvert::yaml {
namespace {

std::string decoded(std::string_view raw, FlowStyle style) {
  std::string out = "left over";
  return decode_flow_scalar(raw, style, out) ? out : "(refused)";
}
std::string plain(std::string_view raw) {
  return decoded(raw, FlowStyle::kPlain);
}
std::string single(std::string_view raw) {
  return decoded(raw, FlowStyle::kSingleQuoted);
}
std::string twice(std::string_view raw) {
  return decoded(raw, FlowStyle::kDoubleQuoted);
}

// YAML 1.2.2 examples 7.4 to 7.12, with the texts the specification gives for them.
TEST(YamlFlowScalar, ExamplesOfTheSpecification) {
  EXPECT_EQ(twice("folded \nto a space,\t\n \nto a line feed, or \t\\\n \\ \tnon-content"),
            "folded to a space,\nto a line feed, or \t \tnon-content");
  EXPECT_EQ(twice(" 1st non-empty\n\n 2nd non-empty \n\t3rd non-empty "),
            " 1st non-empty\n2nd non-empty 3rd non-empty ");
  EXPECT_EQ(single("here''s to \"quotes\""), "here's to \"quotes\"");
  EXPECT_EQ(single(" 1st non-empty\n\n 2nd non-empty \n\t3rd non-empty "),
            " 1st non-empty\n2nd non-empty 3rd non-empty ");
  EXPECT_EQ(plain("1st non-empty\n\n 2nd non-empty \n\t3rd non-empty"),
            "1st non-empty\n2nd non-empty 3rd non-empty");
  // Example 5.13.
  EXPECT_EQ(
      twice("Fun with \\\\\n\\\" \\a \\b \\e \\f \\\n\\n \\r \\t \\v \\\n\\  \\_ \\N \\L \\P \\\n"
            "\\x41 \\u0041 \\U00000041"),
      "Fun with \x5C \" \x07 \x08 \x1B \x0C \x0A \x0D \x09 \x0B   \xC2\xA0 \xC2\x85 "
      "\xE2\x80\xA8 \xE2\x80\xA9 A A A");
}

TEST(YamlFlowScalar, FoldsEveryLineEnd) {
  EXPECT_EQ(plain("a\r\n  b\r\n\r\n  c\r  d"), "a b\nc d");
  EXPECT_EQ(twice("a \\\r\n   b"), "a b");
  EXPECT_EQ(twice("a\\\n\n\n b"), "a\n\nb");
  EXPECT_EQ(twice("a\\t \n b"), "a\t b");
  EXPECT_EQ(twice("  \n a"), " a");
  EXPECT_EQ(twice("a\n  "), "a ");
  EXPECT_EQ(single("\n"), " ");
}

TEST(YamlFlowScalar, QuotesInARow) {
  EXPECT_EQ(single("''''''"), "'''");
  EXPECT_EQ(single("x''''"), "x''");
  EXPECT_EQ(single("x'''"), "(refused)");
  EXPECT_EQ(twice("a\"b"), "(refused)");
}

TEST(YamlFlowScalar, Escapes) {
  EXPECT_EQ(twice("\\u00e9\\u9999\\U0001F600\\xe9"), "é香😀é");
  EXPECT_EQ(twice("\\ud83d\\ude00"), "😀");
  EXPECT_EQ(twice("\\/\\\t"), "/\t");
  for (const char* bad : {"\\", "\\q", "\\x", "\\x4", "\\xZZ", "\\u12", "\\u12G4", "\\U00110000",
                          "\\UFFFFFFFF", "\\ud83d", "\\ud83d\\u0041", "\\ude00", "\\ud83d\\ud",
                          "\\0", "\\x00", "\\x-1", "\\u+123"}) {
    EXPECT_EQ(twice(bad), "(refused)") << bad;
  }
  EXPECT_EQ(single("a\\n"), "a\\n");
  EXPECT_EQ(plain("a\\n'\""), "a\\n'\"");
}

TEST(YamlFlowScalar, LiteralWhenNothingIsUndone) {
  EXPECT_TRUE(is_literal("", FlowStyle::kPlain));
  EXPECT_TRUE(is_literal("it's \\ \"", FlowStyle::kPlain));
  EXPECT_TRUE(is_literal("a\\\"", FlowStyle::kSingleQuoted));
  EXPECT_FALSE(is_literal("it''s", FlowStyle::kSingleQuoted));
  EXPECT_TRUE(is_literal("it's", FlowStyle::kDoubleQuoted));
  EXPECT_FALSE(is_literal("\\n", FlowStyle::kDoubleQuoted));
  EXPECT_FALSE(is_literal("a\nb", FlowStyle::kPlain));
}

}  // namespace
}  // namespace culvert::yaml
