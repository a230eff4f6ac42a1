#include "wire/host.h"

#include <gtest/gtest.h>

#include <string>

namespace culvert::wire {
namespace {

using namespace std::string_literals;

std::string normal(std::string_view text) {
  HostBuffer buffer;
  const auto host = normalize_host(text, buffer);
  return host ? std::string(*host) : "none";
}

std::string punycode(std::u32string_view points) {
  char out[256];
  const auto n = encode_punycode(points.data(), points.size(), out, sizeof out);
  return n ? std::string(out, *n) : "none";
}

// RFC 3492 section 7.1, A to S. Basic code points keep their case; the digits here are lower case.
TEST(Punycode, SamplesOfTheRfc) {
  EXPECT_EQ(punycode(U"\u0644\u064A\u0647\u0645\u0627\u0628\u062A\u0643\u0644\u0645\u0648\u0634"
                     U"\u0639\u0631\u0628\u064A\u061F"),
            "egbpdaj6bu4bxfgehfvwxn");
  EXPECT_EQ(punycode(U"\u4ED6\u4EEC\u4E3A\u4EC0\u4E48\u4E0D\u8BF4\u4E2D\u6587"),
            "ihqwcrb4cv8a8dqg056pqjye");
  EXPECT_EQ(punycode(U"\u4ED6\u5011\u7232\u4EC0\u9EBD\u4E0D\u8AAA\u4E2D\u6587"),
            "ihqwctvzc91f659drss3x8bo0yb");
  EXPECT_EQ(punycode(U"Pro\u010Dprost\u011Bnemluv\u00ED\u010Desky"),
            "Proprostnemluvesky-uyb24dma41a");
  EXPECT_EQ(punycode(U"\u05DC\u05DE\u05D4\u05D4\u05DD\u05E4\u05E9\u05D5\u05D8\u05DC\u05D0\u05DE"
                     U"\u05D3\u05D1\u05E8\u05D9\u05DD\u05E2\u05D1\u05E8\u05D9\u05EA"),
            "4dbcagdahymbxekheh6e0a7fei0b");
  EXPECT_EQ(punycode(U"\u092F\u0939\u0932\u094B\u0917\u0939\u093F\u0928\u094D\u0926\u0940\u0915"
                     U"\u094D\u092F\u094B\u0902\u0928\u0939\u0940\u0902\u092C\u094B\u0932\u0938"
                     U"\u0915\u0924\u0947\u0939\u0948\u0902"),
            "i1baa7eci9glrd9b2ae1bj0hfcgg6iyaf8o0a1dig0cd");
  EXPECT_EQ(punycode(U"\u306A\u305C\u307F\u3093\u306A\u65E5\u672C\u8A9E\u3092\u8A71\u3057\u3066"
                     U"\u304F\u308C\u306A\u3044\u306E\u304B"),
            "n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa");
  EXPECT_EQ(punycode(U"\uC138\uACC4\uC758\uBAA8\uB4E0\uC0AC\uB78C\uB4E4\uC774\uD55C\uAD6D\uC5B4"
                     U"\uB97C\uC774\uD574\uD55C\uB2E4\uBA74\uC5BC\uB9C8\uB098\uC88B\uC744\uAE4C"),
            "989aomsvi5e83db1d2a355cv1e0vak1dwrv93d5xbh15a0dt30a5jpsd879ccm6fea98c");
  EXPECT_EQ(punycode(U"\u043F\u043E\u0447\u0435\u043C\u0443\u0436\u0435\u043E\u043D\u0438\u043D"
                     U"\u0435\u0433\u043E\u0432\u043E\u0440\u044F\u0442\u043F\u043E\u0440\u0443"
                     U"\u0441\u0441\u043A\u0438"),
            "b1abfaaepdrnnbgefbadotcwatmq2g4l");
  EXPECT_EQ(punycode(U"Porqu\u00E9nopuedensimplementehablarenEspa\u00F1ol"),
            "PorqunopuedensimplementehablarenEspaol-fmd56a");
  EXPECT_EQ(punycode(U"T\u1EA1isaoh\u1ECDkh\u00F4ngth\u1EC3ch\u1EC9n\u00F3iti\u1EBFngVi\u1EC7t"),
            "TisaohkhngthchnitingVit-kjcr8268qyxafd2f1b9g");
  EXPECT_EQ(punycode(U"3\u5E74B\u7D44\u91D1\u516B\u5148\u751F"), "3B-ww4c5e180e575a65lsy2b");
  EXPECT_EQ(punycode(U"\u5B89\u5BA4\u5948\u7F8E\u6075-with-SUPER-MONKEYS"),
            "-with-SUPER-MONKEYS-pc58ag80a8qai00g7n9n");
  EXPECT_EQ(punycode(U"Hello-Another-Way-\u305D\u308C\u305E\u308C\u306E\u5834\u6240"),
            "Hello-Another-Way--fc4qua05auwb3674vfr0b");
  EXPECT_EQ(punycode(U"\u3072\u3068\u3064\u5C4B\u6839\u306E\u4E0B\u0032"), "2-u9tlzr9756bt3uc0v");
  EXPECT_EQ(punycode(U"Maji\u3067Koi\u3059\u308B5\u79D2\u524D"), "MajiKoi5-783gue6qz075azm5e");
  EXPECT_EQ(punycode(U"\u30D1\u30D5\u30A3\u30FCde\u30EB\u30F3\u30D0"), "de-jg4avhby1noc0d");
  EXPECT_EQ(punycode(U"\u305D\u306E\u30B9\u30D4\u30FC\u30C9\u3067"), "d9juau41awczczp");
  EXPECT_EQ(punycode(U"-> $1.00 <-"), "-> $1.00 <--");
}

TEST(Punycode, DoesNotWritePastItsRoom) {
  const std::u32string_view points = U"b\u00FCcher";
  std::string whole = punycode(points);
  ASSERT_EQ(whole, "bcher-kva");
  for (size_t room = 0; room < whole.size(); ++room) {
    std::string out(room, 0);
    EXPECT_FALSE(encode_punycode(points.data(), points.size(), out.data(), room)) << room;
  }
  char exact[9];
  EXPECT_EQ(encode_punycode(points.data(), points.size(), exact, sizeof exact), 9u);
}

// K10: one spelling for all that mean the same name.
TEST(Host, HasOneSpelling) {
  for (const char* text : {"a.xn--fiqs8s", "A.XN--FIQS8S", "a.中国", "A.中国."}) {
    EXPECT_EQ(normal(text), "a.xn--fiqs8s") << text;
  }
  for (const char* text :
       {"xn--bcher-kva.example", "Bücher.Example", "BÜCHER.example", "bücher.EXAMPLE."}) {
    EXPECT_EQ(normal(text), "xn--bcher-kva.example") << text;
  }
  EXPECT_EQ(normal("www.EXAMPLE.org"), "www.example.org");
  EXPECT_EQ(normal("ПРИМЕР.испытание"), normal("пример.ИСПЫТАНИЕ"));
  EXPECT_EQ(normal("пример.испытание"), "xn--e1afmkfd.xn--80akhbyknj4f");
  EXPECT_EQ(normal("ΠΑΡΆΔΕΙΓΜΑ"), normal("παράδειγμα"));
  EXPECT_EQ(normal("παράδειγμα"), "xn--hxajbheg2az3al");
}

// Capitals of more alphabets; the right side is what idna 3.13 (Python, Unicode 17, uts46=True)
// makes of the left one.
TEST(Host, LettersAreLowerCasedAsUts46HasThem) {
  const struct {
    const char* text;
    const char* host;
  } rows[] = {
      {"TIẾNGVIỆT.VN", "xn--tingvit-5t4cyc.vn"},
      {"ĐƯỜNG.vn", "xn--ng-pma05d708i.vn"},
      {"ƏLİ.az", "xn--li-tfb21e.az"},
      {"İSTANBUL.example", "xn--istanbul-o0e.example"},
      {"ȘTIRI-ȚARĂ.ro", "xn--tiri-ar-f4a80wza.ro"},
      {"ՀԱՅԱՍՏԱՆ.am", "xn--y9aaa1d0ai1cq.am"},
      {"ԵՐԵՒԱՆ.am", "xn--y9aha3e3bn.am"},
      {"երևան.am", "xn--y9aha3e3bn.am"},
      {"GROẞ.example", "xn--gro-7ka.example"},
      {"ǄUNGLA.example", "xn--dungla-3pb.example"},
      {"PARAĿLEL.cat", "xn--parallel-koa.cat"},
      {"ɃȺ.example", "xn--lha670t.example"},
      // Nothing outside ASCII is left of these.
      {"Ĳssel.nl", "ijssel.nl"},
      {"aſb.example", "asb.example"},
  };
  for (const auto& row : rows) EXPECT_EQ(normal(row.text), row.host) << row.text;
  // The bound is that of what comes out.
  std::string wide;
  for (int i = 0; i < 31; ++i) wide += "Ĳ";
  EXPECT_EQ(normal(wide + "a").size(), 63u);
  EXPECT_EQ(normal(wide + "Ĳ"), "none");
}

TEST(Host, AcceptsWhatIsInUse) {
  for (const char* text : {"a", "localhost", "_dmarc.a-b.example", "192.0.2.1", "1", "-a.b-"}) {
    EXPECT_EQ(normal(text), text);
  }
  EXPECT_EQ(normal("a.example."), "a.example");
}

TEST(Host, RefusesWhatIsNone) {
  for (const std::string& text :
       {""s, "."s, ".."s, "a.."s, ".a"s, "a..b"s, "a b"s, "a/b"s, "a:80"s, "[::1]"s, "::1"s, "*.a"s,
        "a\0b"s, "a\n"s, "a%41"s, "a@b"s, "ü..a"s, "ü b"s, "ü/b"s}) {
    EXPECT_EQ(normal(text), "none") << text;
  }
}

TEST(Host, RefusesWhatIsNotUtf8) {
  for (const std::string& text : {
           "\x80"s,              // a continuation byte alone
           "a\xc3"s,             // cut short
           "\xc3\x28"s,          // no continuation
           "\xc0\xaf"s,          // overlong
           "\xe0\x80\xaf"s,      // overlong
           "\xf0\x80\x80\xaf"s,  // overlong
           "\xed\xa0\x80"s,      // a surrogate
           "\xf4\x90\x80\x80"s,  // beyond U+10FFFF
           "\xf8\x88\x80\x80\x80"s, "\xff"s, "\xe4\xb8"s, "\xe4\xb8.\xad"s,
           "\xc2\x80"s,  // U+0080, a control character
           "\xc2\xa0"s,  // U+00A0, a blank
       }) {
    EXPECT_EQ(normal(text), "none") << testing::PrintToString(text);
    EXPECT_EQ(normal("a." + text + ".b"), "none") << testing::PrintToString(text);
  }
}

// RFC 1035 section 2.3.4.
TEST(Host, LengthsAreBounded) {
  const std::string label(63, 'a');
  EXPECT_EQ(normal(label), label);
  EXPECT_EQ(normal(label + "a"), "none");
  EXPECT_EQ(normal("x." + label + "a.y"), "none");
  const std::string name = label + "." + label + "." + label + ".";
  EXPECT_EQ(normal(name + std::string(61, 'a')).size(), 253u);
  EXPECT_EQ(normal(name + std::string(61, 'a') + "."), name + std::string(61, 'a'));
  EXPECT_EQ(normal(name + std::string(62, 'a')), "none");
  EXPECT_EQ(normal(name + label), "none");
  EXPECT_EQ(normal(std::string(100'000, 'a')), "none");
  std::string dots;
  for (int i = 0; i < 126; ++i) dots += "a.";
  EXPECT_EQ(normal(dots + "a"), dots + "a");
  EXPECT_EQ(normal(dots + "a.a"), "none");
  // It is the A-label that counts: xn-- and 59 more.
  std::string wide;
  for (int i = 0; i < 63; ++i) wide += "ü";
  EXPECT_EQ(normal(wide + "ü"), "none");
  const std::string most = normal(std::string(52, 'a') + "ü");
  EXPECT_LE(most.size(), 63u);
  EXPECT_EQ(most.substr(0, 4), "xn--");
  EXPECT_EQ(normal(std::string(60, 'a') + "ü"), "none");
}

}  // namespace
}  // namespace culvert::wire
