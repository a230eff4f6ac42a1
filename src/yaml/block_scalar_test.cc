#include "yaml/block_scalar.h"

#include <gtest/gtest.h>

namespace culvert::yaml {
namespace {

std::string decoded(std::string_view header, std::string_view raw, uint32_t parent_indent = 0) {
  const auto parsed = parse_block_header(header);
  if (!parsed) return "(no header)";
  std::string out = "left over";
  decode_block_scalar(raw, *parsed, parent_indent, out);
  return out;
}

// YAML 1.2.2 examples 8.1 to 8.12, with the texts the specification gives for them.
TEST(YamlBlockScalar, ExamplesOfTheSpecification) {
  EXPECT_EQ(decoded("- | # Empty header", " literal\n"), "literal\n");
  EXPECT_EQ(decoded("- >1 # Indentation indicator", "  folded\n"), " folded\n");
  EXPECT_EQ(decoded("- |+ # Chomping indicator", " keep\n\n"), "keep\n\n");
  EXPECT_EQ(decoded("- >1- # Both indicators", "  strip\n"), " strip");
  EXPECT_EQ(decoded("- |", " detected\n"), "detected\n");
  EXPECT_EQ(decoded("- >", " \n  \n  # detected\n"), "\n\n# detected\n");
  EXPECT_EQ(decoded("- >", " \t\n detected\n"), "\t\ndetected\n");
  EXPECT_EQ(decoded("strip: |-", "  text\n"), "text");
  EXPECT_EQ(decoded("clip: |", "  text\n"), "text\n");
  EXPECT_EQ(decoded("keep: |+", "  text\n"), "text\n");
  EXPECT_EQ(decoded("strip: >-", "\n"), "");
  EXPECT_EQ(decoded("clip: >", "\n"), "");
  EXPECT_EQ(decoded("keep: |+", "\n"), "\n");
  EXPECT_EQ(decoded("|", " \n  \n  literal\n   \n  \n  text\n\n"), "\n\nliteral\n \n\ntext\n");
  EXPECT_EQ(decoded(">",
                    "\n folded\n line\n\n next\n line\n   * bullet\n\n   * list\n   * lines\n\n"
                    " last\n line\n\n"),
            "\nfolded line\nnext line\n  * bullet\n\n  * list\n  * lines\n\nlast line\n");
}

TEST(YamlBlockScalar, LineEndsAndTheEndOfTheFile) {
  EXPECT_EQ(decoded("|", "  a\r\n\r\n   b\r\n"), "a\n\n b\n");
  EXPECT_EQ(decoded("|", "  a\r  b"), "a\nb");
  EXPECT_EQ(decoded("|", "  a\n  "), "a\n");
  EXPECT_EQ(decoded(">-", "  a\n  b\n\n\n  c\n "), "a b\n\nc");
  EXPECT_EQ(decoded("|", ""), "");
  EXPECT_EQ(decoded("|", " \n   \n"), "");
  EXPECT_EQ(decoded("|+", " \n   \n"), "\n\n");
}

TEST(YamlBlockScalar, IndentIsBeyondTheParents) {
  EXPECT_EQ(decoded("  &x a: |2", "     q\n", 2), " q\n");
  EXPECT_EQ(decoded("- |9-", "          q\n", 0), " q");
  // What stands left of the text is not part of it.
  EXPECT_EQ(decoded("|", "    a\n  # c\n    b\n"), "a\n");
  EXPECT_EQ(decoded("a: b", "  c\n"), "(no header)");
}

}  // namespace
}  // namespace culvert::yaml
