#include "api/json_writer.h"

#include <gtest/gtest.h>

namespace culvert::api {
namespace {

TEST(JsonWriter, NestsAndSeparates) {
  std::string out;
  JsonWriter w(out);
  w.begin_object().field("a", 1).field("b", "x").key("c").begin_array();
  w.string("y").number(18446744073709551615ULL).null().boolean(true).begin_object().end_object();
  w.end_array().key("d").begin_array().end_array().end_object();
  EXPECT_EQ(out, R"({"a":1,"b":"x","c":["y",18446744073709551615,null,true,{}],"d":[]})");
}

TEST(JsonWriter, EscapesAndRepairs) {
  std::string out;
  JsonWriter(out).string(std::string_view("q\"\\\n\t\x01\x7f/\0z", 10));
  EXPECT_EQ(out, R"("q\"\\\n\u0009\u0001\u007f/\u0000z")");
  out.clear();
  JsonWriter(out).string("\xf0\x9f\x87\xad \xe9\xa6\x99 \xc3\xa9");
  EXPECT_EQ(out, "\"\xf0\x9f\x87\xad \xe9\xa6\x99 \xc3\xa9\"");
  out.clear();
  // Overlong, surrogate, truncated, stray.
  JsonWriter(out).string("\xc0\xaf|\xed\xa0\x80|\xe2\x82|\x80");
  EXPECT_EQ(
      out,
      "\"\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd|"
      "\xef\xbf\xbd\"");
}

TEST(JsonWriter, TakesWhatIsJsonAlready) {
  std::string out;
  JsonWriter w(out);
  w.begin_object().raw(R"("a":1,"b":null)").key("c").plain("::1").raw(R"("d":"")").end_object();
  EXPECT_EQ(out, R"({"a":1,"b":null,"c":"::1","d":""})");
}

// Members that are put together on the stack, and those too long for it.
TEST(JsonWriter, FieldsOfEveryLength) {
  for (size_t size = 0; size < 200; ++size) {
    const std::string text(size, 'x');
    std::string out;
    JsonWriter w(out);
    w.begin_object().field("a", text).plain_field("b", text).field("c", text + '\n').end_object();
    EXPECT_EQ(out, R"({"a":")" + text + R"(","b":")" + text + R"(","c":")" + text + R"(\n"})");
  }
}

// Text is looked at in blocks: what is odd in it is found at every place of strings of every length
// around a block's.
TEST(JsonWriter, FindsWhatIsOddAnywhere) {
  struct Case {
    std::string text, json;
  };
  const Case cases[] = {{"\"", "\\\""},
                        {"\\", "\\\\"},
                        {"\n", "\\n"},
                        {"\x1f", "\\u001f"},
                        {"\x7f", "\\u007f"},
                        {"\xff", "\xef\xbf\xbd"},
                        {"\x80", "\xef\xbf\xbd"},
                        {"\xc3\xa9", "\xc3\xa9"},
                        {" ", " "},
                        {"~", "~"},
                        {"!", "!"},
                        {"#", "#"},
                        {"[", "["},
                        {"]", "]"}};
  for (const Case& c : cases) {
    for (size_t size = 0; size < 40; ++size) {
      for (size_t at = 0; at <= size; ++at) {
        const std::string before(at, 'a'), after(size - at, 'z');
        std::string out;
        JsonWriter(out).string(before + c.text + after);
        ASSERT_EQ(out, '"' + before + c.json + after + '"');
        out.clear();
        JsonWriter(out).string(before + c.text + after + c.text);
        ASSERT_EQ(out, '"' + before + c.json + after + c.json + '"');
      }
    }
  }
}

}  // namespace
}  // namespace culvert::api
