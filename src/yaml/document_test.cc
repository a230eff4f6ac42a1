#include "yaml/document.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/format.h"

namespace culvert::yaml {
namespace {

std::optional<Document> parsed(std::string text, const Limits& limits = {}) {
  Diagnostics out;
  auto document = parse("t.yaml", std::move(text), out, limits);
  EXPECT_TRUE(document) << out.to_string();
  EXPECT_EQ(out.to_string(), "");
  return document;
}

// All diagnostics of a text that must be refused.
std::string refusal(std::string text, const Limits& limits = {}) {
  Diagnostics out;
  auto document = parse("t.yaml", std::move(text), out, limits);
  EXPECT_FALSE(document);
  EXPECT_TRUE(out.has_errors());
  return out.to_string();
}

// Flow form, quoted scalars in double quotes, so that a tree can be compared as a text.
std::string show(const Node& node) {
  std::string out;
  switch (node.kind()) {
    case Kind::kNull:
      return "~";
    case Kind::kScalar: {
      const std::string text(node.text());
      return node.is_plain() ? text : "\"" + text + "\"";
    }
    case Kind::kSequence:
      for (const Node* item : node.items()) out += (out.empty() ? "" : ", ") + show(*item);
      return "[" + out + "]";
    case Kind::kMapping:
      for (const Entry& e : node.entries()) {
        out += (out.empty() ? "" : ", ") + show(*e.key) + ": " + show(*e.value);
      }
      return "{" + out + "}";
  }
  return out;
}

std::string tree(std::string text) {
  const auto document = parsed(std::move(text));
  return document ? show(document->root()) : "";
}

std::string place(const Node& node) {
  return format("{}:{}", node.line(), node.column());
}

int64_t cpu_milliseconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1000 + t.tv_nsec / 1'000'000;
}

int64_t peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(YamlDocument, ReadsEveryStyle) {
  EXPECT_EQ(tree("a: 1\nb:\n  - x\n  - 'it''s'\n  - \"q\\n\\u00e9\"\nc: {d: [e, {f: g}], h: }\n"),
            "{a: 1, b: [x, \"it's\", \"q\n\xC3\xA9\"], c: {d: [e, {f: g}], h: ~}}");
  EXPECT_EQ(tree("l: |\n  one\n  two\nf: >-\n  one\n  two\np: one\n  two\n"),
            "{l: \"one\ntwo\n\", f: \"one two\", p: one two}");
  EXPECT_EQ(tree("{\"a\":1,\"b\":[true,null]}"), "{\"a\": 1, \"b\": [true, ~]}");
  EXPECT_EQ(tree("{\"a\": \"http://x.example/?q=1#f\", url: http://x.example:80/a}"),
            "{\"a\": \"http://x.example/?q=1#f\", url: http://x.example:80/a}");
  EXPECT_EQ(tree("dns: {\n  a: b\n}\nl: [\n  x,\n]\n"), "{dns: {a: b}, l: [x]}");
  EXPECT_EQ(tree("v6: 2001:db8::1\nr: [DOMAIN-SUFFIX,a]\nw: +.lan\n"),
            "{v6: 2001:db8::1, r: [DOMAIN-SUFFIX, a], w: +.lan}");
}

TEST(YamlDocument, ScalarsOfManyParts) {
  std::string twice, once, lines, text;
  for (int i = 0; i < 1000; ++i) {
    twice += "''";
    once += "'";
    lines += "  line\n\n";
    text += "line\n\n";
  }
  const auto document = parsed("a: 'x" + twice + "'\nb: \"" + twice + "\"\nc: |\n" + lines);
  EXPECT_EQ(document->root().find("a")->text(), "x" + once);
  EXPECT_EQ(document->root().find("b")->text(), twice);
  EXPECT_EQ(document->root().find("c")->text(), text.substr(0, text.size() - 1));
}

TEST(YamlDocument, BlockScalars) {
  EXPECT_EQ(tree("a: | # a > b\n  x\n\n# c\nb: >-\n  l # n\n  m\n # k\nc: &p !!str |2-\n    q\n"
                 "d:\n  >+\n  z\n\ne: |\n"),
            "{a: \"x\n\", b: \"l # n m\", c: \"  q\", d: \"z\n\n\", e: \"\"}");
  EXPECT_EQ(tree("- a # x | y\n- |\n  b\n- - &p|q |-\n    c\n  - >\n    d\n    e\n- {a: '|'}\n- "
                 "|+\n\n"),
            "[a, \"b\n\", [\"c\", \"d e\n\"], {a: \"|\"}, \"\n\"]");
  EXPECT_EQ(tree("--- >\n one\n two\n"), "\"one two\n\"");
  EXPECT_EQ(tree("a: |\r\n  k\r\n  l"), "{a: \"k\nl\"}");
  EXPECT_EQ(tree("m:\n  &x a: |2\n     q\n  b: 1\n"), "{m: {a: \" q\n\", b: 1}}");
}

TEST(YamlDocument, EmptyIsNull) {
  for (const char* text :
       {"", "\n\n", "# only\n", "---\n", "---\n# c\n...\n", "\xEF\xBB\xBF", "~"}) {
    EXPECT_EQ(tree(text), "~") << text;
  }
}

TEST(YamlDocument, NullIsPlainOnly) {
  EXPECT_EQ(tree("[~, null, Null, NULL, '~', \"null\", '', nULL, !!str null, !!str ]"),
            "[~, ~, ~, ~, \"~\", \"null\", \"\", nULL, \"null\", \"\"]");
  const auto document = parsed("a: null\nb:\n");
  EXPECT_EQ(document->root().find("a")->text(), "null");
  EXPECT_EQ(document->root().find("b")->text(), "");
}

// K02: digits and letters that some readers take for numbers stay as they were written.
TEST(YamlDocument, ScalarsKeepTheirText) {
  for (const char* text :
       {"2351e1", "0983e134", "09561058", "1234", "00000000", "38e92059", "1_000", "0x1F", "012",
        "1e3", "1.0", "TRUE", ".inf", "12:30:45", "2001-01-01"}) {
    const auto plain = parsed(std::string("short-id: ") + text);
    const auto in_quotes = parsed(std::string("short-id: \"") + text + "\"\n");
    EXPECT_EQ(plain->root().find("short-id")->text(), text);
    EXPECT_EQ(in_quotes->root().find("short-id")->text(), text);
  }
}

TEST(YamlDocument, TagsOfTextMakeText) {
  EXPECT_EQ(tree("[!!str 123, !<str> 0123, ! 1, !!int 5, !own x]"),
            "[\"123\", \"0123\", \"1\", 5, x]");
  EXPECT_EQ(refusal("a: !!binary QUJD\n"), "t.yaml:1:13: error: a binary value; values are text\n");
}

TEST(YamlDocument, Positions) {
  const auto document = parsed(
      "a: 1\n日本: 'q'\nlist:\n  - x\n  -\n  - {k: v}\nempty:\nblock: |\n  text\n? \"k\"\n: v\n");
  const Node& root = document->root();
  EXPECT_EQ(place(root), "1:1");
  EXPECT_EQ(place(*root.find("a")), "1:4");
  EXPECT_EQ(place(*root.find("日本")), "2:5");
  EXPECT_EQ(place(*root.entries()[1].key), "2:1");
  EXPECT_EQ(place(*root.find("list")), "4:3");
  EXPECT_EQ(place(*root.find("list")->items()[0]), "4:5");
  EXPECT_EQ(place(*root.find("list")->items()[2]->find("k")), "6:9");
  EXPECT_EQ(place(*root.find("empty")), "7:1");
  EXPECT_EQ(place(*root.entries()[5].key), "10:3");
  EXPECT_EQ(place(*parsed("[x, a: b]")->root().items()[1]), "1:5");
}

TEST(YamlDocument, LineEndsTabsAndByteOrderMark) {
  const char* const kTree = "{a: 1, b: [x, \"y z\"], t: \"l1\nl2\n\"}";
  EXPECT_EQ(tree("a: 1\r\nb:\r\n  - x\r\n  - 'y z'\r\nt: |\r\n  l1\r\n  l2\r\n"), kTree);
  EXPECT_EQ(tree("\xEF\xBB\xBF"
                 "a:\t1\t# c\nb: \n  - x\n  - \"y z\"\nt: |\n  l1\n  l2\n"),
            kTree);
  const auto document = parsed(
      "\xEF\xBB\xBF"
      "a: 1\r\nb: 2\r\n");
  EXPECT_EQ(place(*document->root().find("a")), "1:4");
  EXPECT_EQ(place(*document->root().find("b")), "2:4");
  EXPECT_EQ(refusal("a:\n\tb: 1\n").substr(0, 9), "t.yaml:2:");
}

TEST(YamlDocument, RefusesBrokenTextWithItsPlace) {
  testing::internal::CaptureStderr();
  for (const auto& [text, line] : {std::pair{"a: [1, 2\nb: 3\n", "3"},
                                   {"a: {b: 1\n", "2"},
                                   {"a: 'x\n", "1"},
                                   {"a: \"\\q\"\n", "1"},
                                   {"a: 1\n b: 2\n", "1"},
                                   {"a: b: c\n", "1"},
                                   {"- a\nb: 1\n", "2"},
                                   {"a: @x\n", "1"},
                                   {"a: %x\n", "1"},
                                   {"a: ]\n", "1"},
                                   {"a: &x &y z\n", "1"},
                                   {"%YAML 9.9.9\n---\na: 1\n", "1"}}) {
    const std::string message = refusal(text);
    EXPECT_TRUE(message.starts_with(std::string("t.yaml:") + line + ":")) << text << " " << message;
    EXPECT_NE(message.find("error: not valid YAML: "), std::string::npos) << message;
    EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 1) << message;
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(YamlDocument, RefusesWhatIsNotText) {
  EXPECT_EQ(refusal("a: 1\nb: x\xFFy\n"), "t.yaml:2:5: error: not UTF-8 text\n");
  EXPECT_EQ(refusal("é: \xC3"), "t.yaml:1:4: error: not UTF-8 text\n");
  for (const char* bad :
       {"\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\x80", "\xE4\xB8", "\xF0\x9F\x98"}) {
    EXPECT_EQ(refusal(std::string("'") + bad + "'"), "t.yaml:1:2: error: not UTF-8 text\n");
  }
  EXPECT_EQ(tree("[\xF0\x9F\x87\xAD\xF0\x9F\x87\xB0 香港, é]"),
            "[\xF0\x9F\x87\xAD\xF0\x9F\x87\xB0 香港, é]");
  EXPECT_EQ(refusal(std::string("a: b\0c\n", 7)),
            "t.yaml:1:5: error: a control character, which YAML does not allow\n");
  EXPECT_EQ(refusal("\xFF\xFE"
                    "a"),
            "t.yaml:1:1: error: not UTF-8 text\n");
}

TEST(YamlDocument, OneDocumentOnly) {
  const std::string tail = ": error: a second document; only one is read\n";
  EXPECT_EQ(refusal("---\na: 1\n---\nb: 1\n"), "t.yaml:3:1" + tail);
  EXPECT_EQ(refusal("a: 1\n--- b\n"), "t.yaml:2:1" + tail);
  EXPECT_EQ(refusal("a: 1\r\n...\r\n# c\r\nb: 1\r\n"), "t.yaml:4:1" + tail);
  EXPECT_EQ(tree("%YAML 1.2\n# c\n---\na: 1\n...\n\n# end\n...\n"), "{a: 1}");
  EXPECT_EQ(tree("a: |\n  ---\n  x\nb: '...'\nc: ---x\n"),
            "{a: \"---\nx\n\", b: \"...\", c: ---x}");
}

TEST(YamlDocument, RefusesRepeatedAndComplexKeys) {
  EXPECT_EQ(refusal("a: 1\nb: {x: 1,\n    'x': 2}\na: 2\n"),
            "t.yaml:3:5: error: key 'x' again; it is first written at 2:5\n"
            "t.yaml:4:1: error: key 'a' again; it is first written at 1:1\n");
  std::string many;
  for (int i = 0; i < 30; ++i) many += format("k{}: 1\n", i);
  EXPECT_EQ(refusal(many + "k7: 2\n"),
            "t.yaml:31:1: error: key 'k7' again; it is first written at 8:1\n");
  const std::string tail = ": error: a list or mapping as a key; keys are plain or quoted text\n";
  EXPECT_EQ(refusal("? [a, b]\n: 1\n"), "t.yaml:1:3" + tail);
  EXPECT_EQ(refusal("a: &x {b: c}\n*x : 1\n"), "t.yaml:1:7" + tail);
  EXPECT_EQ(tree("a: &k name\n*k : 1\n"), "{a: name, name: 1}");
}

TEST(YamlAlias, SharesItsNode) {
  const auto document = parsed("a: &x [1, &y {b: 2}]\nc: *x\nd: *y\n");
  const Node& root = document->root();
  EXPECT_EQ(root.find("a"), root.find("c"));
  EXPECT_EQ(root.find("d"), root.find("a")->items()[1]);
  EXPECT_TRUE(root.find("a")->holds_anchor());
  EXPECT_TRUE(root.holds_anchor());
  EXPECT_FALSE(root.find("d")->find("b")->holds_anchor());
  // An anchor defined again holds from there on.
  EXPECT_EQ(tree("- &x 1\n- *x\n- &x 2\n- *x\n"), "[1, 1, 2, 2]");
}

TEST(YamlAlias, RefusesUndefinedAndCyclicOnes) {
  EXPECT_EQ(refusal("a: 1\nb: [x, *nope]\n"),
            "t.yaml:2:8: error: alias 'nope' to an anchor that is not defined before it\n");
  EXPECT_EQ(refusal("a: *x\nb: &x 1\n"),
            "t.yaml:1:4: error: alias 'x' to an anchor that is not defined before it\n");
  const std::string tail = ": error: alias 'a' inside the value of its own anchor\n";
  EXPECT_EQ(refusal("x: &a\n  - 1\n  - *a\n"), "t.yaml:3:5" + tail);
  EXPECT_EQ(refusal("x: &a {y: {z: [*a]}}\n"), "t.yaml:1:16" + tail);
  EXPECT_EQ(refusal("x: &a {<<: *a, y: 1}\n"), "t.yaml:1:12" + tail);
  EXPECT_EQ(refusal("x: &b {y: 1}\nz: &a\n  <<: [*b, *a]\n"), "t.yaml:3:12" + tail);
}

// K01.
TEST(YamlMerge, ListOfAnchorsOwnKeyAndOrder) {
  const auto document = parsed(R"(
auto: &auto {type: url-test, interval: 300, tolerance: 50}
hk: &hk {filter: "HK", tolerance: 80}
0: &n {lazy: true}
proxies: [{name: HK-1, type: ss, server: 192.0.2.1, port: 8388, cipher: aes-128-gcm, password: p}]
proxy-groups:
  - {<<: [*auto, *hk, *n], name: G1, include-all: true, interval: 60}
rules: ["MATCH,G1"]
)");
  EXPECT_EQ(show(*document->root().find("proxy-groups")),
            "[{type: url-test, tolerance: 50, filter: \"HK\", lazy: true, name: G1, "
            "include-all: true, interval: 60}]");
  EXPECT_EQ(show(*document->root().find("0")), "{lazy: true}");
}

TEST(YamlMerge, SingleInlineChainedAndAtTheEnd) {
  EXPECT_EQ(tree("{a: 1, <<: {b: 2, a: 3}}"), "{a: 1, b: 2}");
  EXPECT_EQ(tree("{<<: [], a: 1}"), "{a: 1}");
  EXPECT_EQ(tree("{<<: {}}"), "{}");
  EXPECT_EQ(tree("a: &a {k: a, a: 1}\nb: &b {<<: *a, k: b, b: 1}\nc: &c {<<: *b, k: c, c: 1}\n"
                 "d: &d {<<: *c, d: 1}\ne: {<<: *d, k: e}\n"),
            "{a: {k: a, a: 1}, b: {a: 1, k: b, b: 1}, c: {a: 1, b: 1, k: c, c: 1}, "
            "d: {a: 1, b: 1, k: c, c: 1, d: 1}, e: {a: 1, b: 1, c: 1, d: 1, k: e}}");
  EXPECT_EQ(tree("l: &l [{a: 1}, {a: 2, b: 3}]\nm: {<<: *l}\n"),
            "{l: [{a: 1}, {a: 2, b: 3}], m: {a: 1, b: 3}}");
  // Only a plain << merges.
  EXPECT_EQ(tree("{'<<': {a: 1}}"), "{\"<<\": {a: 1}}");
}

TEST(YamlMerge, RefusesWhatIsNotAMapping) {
  const std::string tail = ": error: << takes a mapping or a list of mappings\n";
  EXPECT_EQ(refusal("a: &a 1\nb: {<<: *a}\n"), "t.yaml:1:7" + tail);
  EXPECT_EQ(refusal("b:\n  <<: [{a: 1}, x]\n"), "t.yaml:2:16" + tail);
  EXPECT_EQ(refusal("b:\n  <<:\n  a: 1\n"), "t.yaml:2:3" + tail);
  EXPECT_EQ(refusal("<<: {a: 1}\n<<: {b: 1}\n"),
            "t.yaml:2:1: error: a second << in one mapping; write one as <<: [*a, *b]\n");
}

// Ten lines, 10^9 nodes.
TEST(YamlBounds, BillionLaughs) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    text += format("a{}: &a{} [", i, i);
    for (int k = 0; k < 10; ++k) text += format("{}*a{}", k == 0 ? "" : ", ", i - 1);
    text += "]\n";
  }
  const int64_t time = cpu_milliseconds(), memory = peak_kib();
  EXPECT_EQ(
      refusal(text),
      "t.yaml:7:20: error: more than 4000000 nodes, counting each alias as what it stands for\n");
  EXPECT_LT(cpu_milliseconds() - time, 500);
  EXPECT_LT(peak_kib() - memory, 32 * 1024);
}

TEST(YamlBounds, MergeBombs) {
  // A mapping of 2000 keys merged by 20000 mappings: 600 kB that stand for 40 million entries.
  std::string text = "a: &a\n";
  for (int i = 0; i < 2000; ++i) text += format("  k{}: 1\n", i);
  text += "l:\n";
  for (int i = 0; i < 20000; ++i) text += "- {<<: *a}\n";
  const int64_t time = cpu_milliseconds(), memory = peak_kib();
  const std::string message = refusal(text);
  EXPECT_TRUE(message.starts_with("t.yaml:3001:8: error: more than 4000000 nodes")) << message;
  EXPECT_LT(cpu_milliseconds() - time, 5000);
  EXPECT_LT(peak_kib() - memory, 256 * 1024);

  // Doubling by merge lists: keys are few, the work would be 2^40.
  text = "m0: &m0 {a: 1}\n";
  for (int i = 1; i < 40; ++i) {
    text += format("m{}: &m{} {{<<: [*m{}, *m{}], k{}: 1}}\n", i, i, i - 1, i - 1, i);
  }
  EXPECT_NE(refusal(text).find("more than 4000000 nodes"), std::string::npos);
}

TEST(YamlBounds, DepthWrittenAndThroughAliases) {
  const auto nested = [](size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  EXPECT_TRUE(parsed(nested(256)));
  EXPECT_EQ(refusal(nested(257)),
            "t.yaml:1:257: error: more than 256 collections inside one another\n");
  const int64_t time = cpu_milliseconds(), memory = peak_kib();
  refusal(std::string(300'000, '['));
  std::string maps, blocks;
  for (int i = 0; i < 100'000; ++i) maps += "{a: ";
  for (int i = 0; i < 100'000; ++i) blocks += "- ";
  refusal(maps);
  refusal(blocks);
  EXPECT_LT(cpu_milliseconds() - time, 5000);
  EXPECT_LT(peak_kib() - memory, 512 * 1024);

  std::string chain = "- &a0 x\n";
  for (int i = 1; i < 1000; ++i) chain += format("- &a{} [*a{}]\n", i, i - 1);
  EXPECT_TRUE(refusal(chain).starts_with("t.yaml:257:")) << refusal(chain);
}

TEST(YamlBounds, SizeNodesDirectivesAndLines) {
  EXPECT_EQ(refusal(std::string(101, '#'), {.text_bytes = 100}),
            "t.yaml: error: found 101 bytes, expected at most 100\n");
  EXPECT_TRUE(parsed("[a, b]", {.nodes = 3}));
  EXPECT_TRUE(
      refusal("[a, b, c]", {.nodes = 3}).starts_with("t.yaml:1:8: error: more than 3 nodes"));
  std::string directives;
  for (int i = 0; i < 65; ++i) directives += format("%TAG !a{}! tag:x\n", i);
  EXPECT_EQ(refusal(directives + "---\na: 1\n"), "t.yaml:65:1: error: too many directives\n");
  EXPECT_EQ(refusal("%X " + std::string(2000, 'x') + "\n---\na: 1\n"),
            "t.yaml:1:1: error: a directive that is too long\n");
  std::string line = "a: [";
  for (int i = 0; i < 600'000; ++i) line += "x,";
  const std::string message = refusal(line + "]\n");
  EXPECT_NE(message.find("too much in one line; break it into several"), std::string::npos);
  // The same list over many lines is fine, and so is a long quoted line.
  std::string lines = "a:\n";
  for (int i = 0; i < 100'000; ++i) lines += "- x\n";
  EXPECT_EQ(parsed(lines)->root().find("a")->items().size(), 100'000u);
  EXPECT_EQ(parsed("a: '" + std::string(3'000'000, 'x') + "'")->root().find("a")->text().size(),
            3'000'000u);
}

TEST(YamlBounds, ProfileOfFiftyThousandLines) {
  std::string text = "mixed-port: 7890\nproxies:\n";
  for (int i = 0; i < 2000; ++i) {
    text += format(
        "  - {{name: \"node {}\", type: ss, server: 192.0.2.{}, port: {}, cipher: aes-128-gcm, "
        "password: secret{}}}\n",
        i, i % 256, 1000 + i, i);
  }
  text += "rules:\n";
  for (int i = 0; i < 48'000; ++i) text += format("  - DOMAIN-SUFFIX,host{}.example,PROXY\n", i);
  const size_t size = text.size();
  const int64_t time = cpu_milliseconds();
  const auto document = parsed(std::move(text));
  EXPECT_LT(cpu_milliseconds() - time, 2000);
  EXPECT_LE(size + document->tree_bytes(), 4 * size);
  const Node& rules = *document->root().find("rules");
  ASSERT_EQ(rules.items().size(), 48'000u);
  EXPECT_EQ(rules.items()[47'999]->text(), "DOMAIN-SUFFIX,host47999.example,PROXY");
  EXPECT_EQ(place(*rules.items()[47'999]), "50003:5");
}

TEST(YamlBounds, TruncatedAtEveryByte) {
  const std::string text =
      "%YAML 1.2\n---\n# c\nbase: &base {type: ss, 'k': \"v\\n\", n: ~}\nl:\n  - <<: *base\n"
      "    name: 香港\n  - !!str 12\n  - |\n    block\n    text\n  - >-\n    folded\n"
      "? key\n: [a, {b: c}, *base]\r\nend: plain\n  text\n...\n";
  EXPECT_TRUE(parsed(text));
  size_t accepted = 0;
  for (size_t n = 0; n < text.size(); ++n) {
    Diagnostics out;
    const auto document = parse("t.yaml", text.substr(0, n), out);
    ASSERT_NE(document.has_value(), out.has_errors()) << n;
    if (document) {
      ++accepted;
      show(document->root());
    } else {
      EXPECT_GT(out.entries()[0].line, 0u) << n;
      EXPECT_GT(out.entries()[0].column, 0u) << n;
    }
  }
  EXPECT_GT(accepted, 0u);
}

TEST(YamlDocument, MovesWithItsNodes) {
  auto first = parsed("a: b\n");
  const Node* node = first->root().find("a");
  const Document second = std::move(*first);
  first.reset();
  EXPECT_EQ(second.root().find("a"), node);
  EXPECT_EQ(node->text(), "b");
}

// A streamed list leaves nothing in the tree; one that something else may refer to stays there.
TEST(YamlStream, TakesTheElementsOfOneList) {
  const auto run = [](std::string text) {
    std::string taken;
    Diagnostics out;
    const Stream stream{"list", [&](const Node& node) {
                          taken += node.is_scalar() ? std::string(node.text()) : "?";
                          taken += ' ';
                        }};
    const auto document = parse("t.yaml", std::move(text), out, {}, &stream);
    if (!document) return "refused: " + out.to_string();
    const Node* list = document->root().find("list");
    taken += "| ";
    if (list != nullptr) taken += std::to_string(list->items().size());
    return taken;
  };
  EXPECT_EQ(run("list: [a, 'b', [c, [d]], {e: f}, ~, g]\nother: [h]\n"), "a b ? ? ? g | 0");
  EXPECT_EQ(run("other: [h]\nlist:\n- a\n- &x b\n- *x\nmore: *x\n"), "a b b | 0");
  EXPECT_EQ(run("list: &l [a, b]\nother: *l\n"), "| 2");
  EXPECT_EQ(run("other: {list: [a, b]}\n"), "| ");
  EXPECT_EQ(run("[list, [a, b]]\n"), "| ");
  EXPECT_EQ(run("list: a\n"), "| 0");
  EXPECT_EQ(run("list: []\n"), "| 0");
  EXPECT_EQ(run("list: [a]\nlist: [b]\n").substr(0, 8), "refused:");
}

}  // namespace
}  // namespace culvert::yaml
