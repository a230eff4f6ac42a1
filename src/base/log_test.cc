#include "base/log.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace culvert::log {
namespace {

class Captured : public Sink {
 public:
  void line(Level level, WallTime, std::string_view text) override {
    lines.push_back(std::string(name(level)) + " " + std::string(text));
  }
  std::vector<std::string> lines;
};

TEST(Log, LevelsAndExtraSinks) {
  Captured main, extra;
  const Level before = level();
  set_default_sink(&main);
  set_level(Level::kWarning);
  int evaluated = 0;
  auto count = [&] { return ++evaluated; };
  CULVERT_LOG(kInfo, "not written {}", count());
  EXPECT_EQ(evaluated, 0);
  CULVERT_LOG(kError, "written {}", count());
  ASSERT_TRUE(add_sink(&extra, Level::kDebug));
  CULVERT_LOG(kDebug, "only for the subscriber {}", count());
  remove_sink(&extra);
  CULVERT_LOG(kDebug, "for nobody {}", count());
  set_default_sink(nullptr);
  set_level(before);
  EXPECT_EQ(main.lines, std::vector<std::string>{"error written 1"});
  EXPECT_EQ(extra.lines, std::vector<std::string>{"debug only for the subscriber 2"});
  EXPECT_EQ(evaluated, 2);
}

TEST(Log, SamplerAdmitsOneLineInTenSeconds) {
  Sampler sampler;
  uint64_t left_out = 0;
  const TimePoint t{std::chrono::seconds(100)};
  EXPECT_TRUE(sampler.admit(t, left_out));
  EXPECT_EQ(left_out, 0u);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(sampler.admit(t + std::chrono::seconds(9), left_out));
  EXPECT_TRUE(sampler.admit(t + std::chrono::seconds(10), left_out));
  EXPECT_EQ(left_out, 5u);
}

TEST(Log, LineFormAndPrintable) {
  char out[256];
  const WallTime when{std::chrono::seconds(1700000000) + std::chrono::nanoseconds(5)};
  EXPECT_EQ(format_line(out, sizeof out, Level::kInfo, when, "hello"),
            "time=\"2023-11-14T22:13:20.000000005Z\" level=info msg=\"hello\"\n");
  EXPECT_EQ(printable("a\r\nb\"c\x7f"), "a..b.c.");
  EXPECT_EQ(printable("abcdef", 3), "abc...");
}

}  // namespace
}  // namespace culvert::log
