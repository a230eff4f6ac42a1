#include "transport/http1/head_reader.h"

#include <gtest/gtest.h>

#include "flow/testing/twins.h"
#include "rt/testing/sim.h"

namespace culvert::transport {
namespace {

using namespace std::chrono_literals;

struct Answer {
  bool done = false;
  Errc code = Errc::kNone;
  std::string head;
};

rt::Task<void> read_head(HeadReader& reader, TimePoint deadline, Answer* out) {
  const Result<Bytes> raw = co_await reader.read(deadline);
  out->code = raw.code();
  if (raw.ok()) out->head = as_text(*raw);
  out->done = true;
}

class HeadReaderTest : public ::testing::Test {
 protected:
  void TearDown() override {
    worker.scope().cancel();
    world.run_until_idle(0s);
  }
  void begin(Duration time = 10s) {
    answer = {};
    worker.scope().spawn("read", read_head(reader, world.now() + time, &answer));
    world.run_until_idle(0s);
  }
  void feed(std::string_view bytes) {
    stream.feed(bytes);
    world.run_until_idle(0s);
  }
  rt::sim::World world{1};
  rt::Worker& worker = world.add_worker();
  rt::Worker::Enter enter{worker};
  flow::testing::MemoryStream stream;
  HeadReader reader{stream};
  Answer answer;
};

const std::string kHead = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

TEST_F(HeadReaderTest, LeavesWhatIsBehindTheHead) {
  stream.feed(kHead + "body");
  begin();
  ASSERT_TRUE(answer.done);
  EXPECT_EQ(answer.head, kHead);
  EXPECT_EQ(stream.unread(), 4u);
}

TEST_F(HeadReaderTest, InTwoPartsAtEveryByte) {
  for (size_t n = 1; n < kHead.size(); ++n) {
    begin();
    EXPECT_TRUE(reader.idle());
    feed(kHead.substr(0, n));
    ASSERT_FALSE(answer.done) << n;
    EXPECT_FALSE(reader.idle());
    feed(kHead.substr(n) + "xy");
    ASSERT_TRUE(answer.done) << n;
    ASSERT_EQ(answer.head, kHead) << n;
    ASSERT_EQ(stream.unread(), 2u) << n;
    stream.consume(2);
  }
}

TEST_F(HeadReaderTest, ByteByByte) {
  stream.read_limit = 1;
  stream.feed(kHead + kHead + "x");
  begin();
  EXPECT_EQ(answer.head, kHead);
  begin();
  EXPECT_EQ(answer.head, kHead);
  EXPECT_EQ(stream.unread(), 1u);
}

// RFC 9112 section 2.2.
TEST_F(HeadReaderTest, EmptyLinesInFrontArePassedOver) {
  begin();
  feed("\r\n");
  EXPECT_TRUE(reader.idle());
  feed("\r");
  feed("\n" + kHead);
  EXPECT_EQ(answer.head, kHead);
  EXPECT_EQ(reader.error(), wire::HttpError::kNone);
}

TEST_F(HeadReaderTest, EmptyLinesWithoutEndAreNoMessage) {
  for (int i = 0; i < 40; ++i) stream.feed("\r\n");
  begin();
  ASSERT_TRUE(answer.done);
  EXPECT_EQ(answer.head, "");
  EXPECT_EQ(reader.error(), wire::HttpError::kBadRequest);
}

TEST_F(HeadReaderTest, MalformedAndOversized) {
  stream.feed("GET / HTTP/1.1\nHost: a\n\n");
  begin();
  ASSERT_TRUE(answer.done);
  EXPECT_EQ(answer.code, Errc::kNone);
  EXPECT_EQ(answer.head, "");
  EXPECT_EQ(reader.error(), wire::HttpError::kBadRequest);
}

TEST_F(HeadReaderTest, ALineOf70KbEndsAtTheBound) {
  begin();
  const std::string line = "GET /" + std::string(70'000, 'a') + " HTTP/1.1\r\n\r\n";
  for (size_t at = 0; at < line.size() && !answer.done; at += 1000) feed(line.substr(at, 1000));
  ASSERT_TRUE(answer.done);
  EXPECT_EQ(reader.error(), wire::HttpError::kUriTooLong);
}

TEST_F(HeadReaderTest, ManyFieldsEndAtTheBound) {
  std::string head = "GET / HTTP/1.1\r\n";
  while (head.size() < 70'000) head += "A: b\r\n";
  stream.feed(head + "\r\n");
  begin();
  ASSERT_TRUE(answer.done);
  EXPECT_EQ(reader.error(), wire::HttpError::kHeadTooLarge);
}

TEST_F(HeadReaderTest, TheDeadlineIsForTheWholeHead) {
  begin(10s);
  for (int i = 0; i < 9; ++i) {
    world.run_for(1s);
    feed("x");
  }
  EXPECT_FALSE(answer.done);
  world.run_for(2s);
  ASSERT_TRUE(answer.done);
  EXPECT_EQ(answer.code, Errc::kTimedOut);
  EXPECT_FALSE(reader.idle());
}

TEST_F(HeadReaderTest, AnEndWithinAHeadIsNotIdle) {
  begin();
  stream.feed_end();
  world.run_until_idle(0s);
  EXPECT_EQ(answer.code, Errc::kEndOfStream);
  EXPECT_TRUE(reader.idle());
  stream.feed("GET");
  begin();
  EXPECT_EQ(answer.code, Errc::kEndOfStream);
  EXPECT_FALSE(reader.idle());
}

}  // namespace
}  // namespace culvert::transport
