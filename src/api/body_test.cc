#include "api/body.h"

#include <gtest/gtest.h>

#include <optional>

#include "flow/testing/twins.h"
#include "rt/testing/sim.h"

namespace culvert::api {
namespace {

using namespace std::chrono_literals;

class BodyTest : public ::testing::Test {
 protected:
  static rt::Task<void> run(BodyReader* reader, wire::BodyFraming framing, size_t limit,
                            TimePoint deadline, std::optional<Status>* out) {
    *out = co_await reader->read(framing, limit, deadline);
  }
  // Begins to read from the stream.
  void begin(wire::BodyFraming::Kind kind, uint64_t length, size_t limit) {
    reader.emplace(stream, room);
    status.reset();
    worker.scope().spawn("test", run(&*reader, {kind, length}, limit, worker.now() + 10s, &status));
  }
  Errc result() {
    world.run_for(1ms);
    return status ? status->code() : Errc::kWouldBlock;
  }

  rt::sim::World world{1};
  rt::Worker& worker = world.add_worker(IpAddress::v4(0x7f000001));
  rt::Worker::Enter enter{worker};
  flow::testing::MemoryStream stream;
  BodyRoom room;
  std::optional<BodyReader> reader;
  std::optional<Status> status;
  using Kind = wire::BodyFraming::Kind;
};

TEST_F(BodyTest, OfALength) {
  begin(Kind::kLength, 5, 5);
  for (const char c : std::string_view("hell")) {
    stream.feed({&c, 1});
    EXPECT_EQ(result(), Errc::kWouldBlock);
  }
  stream.feed("oGET ");
  EXPECT_EQ(result(), Errc::kNone);
  EXPECT_EQ(reader->body(), "hello");
  EXPECT_EQ(stream.unread(), 4u) << "what comes behind is another request's";
  begin(Kind::kLength, 6, 5);
  EXPECT_EQ(result(), Errc::kTooLarge);
  begin(Kind::kNone, 0, 5);
  EXPECT_EQ(result(), Errc::kNone);
  EXPECT_EQ(reader->body(), "");
}

TEST_F(BodyTest, InChunksCutAnywhere) {
  const std::string framed = "5;a=\"b\"\r\nhello\r\n1\r\n!\r\n0\r\nX: y\r\n\r\n";
  for (size_t cut = 0; cut <= framed.size(); ++cut) {
    begin(Kind::kChunked, 0, 6);
    stream.feed(std::string_view(framed).substr(0, cut));
    if (cut < framed.size()) {
      EXPECT_EQ(result(), Errc::kWouldBlock) << cut;
    }
    stream.feed(std::string_view(framed).substr(cut));
    EXPECT_EQ(result(), Errc::kNone) << cut;
    EXPECT_EQ(reader->body(), "hello!");
  }
  begin(Kind::kChunked, 0, 5);
  stream.feed(framed);
  EXPECT_EQ(result(), Errc::kTooLarge);
}

TEST_F(BodyTest, ThatIsNone) {
  begin(Kind::kChunked, 0, 5);
  stream.feed("zz\r\n");
  EXPECT_EQ(result(), Errc::kBadMessage);
}

TEST_F(BodyTest, OfChunksThatCarryLittle) {
  begin(Kind::kChunked, 0, 1 << 20);
  std::string framed;
  while (framed.size() < 64 << 10) framed += "1\r\nx\r\n";
  // Six bytes for each: the bound of what they carry comes later than that of the framing.
  for (int i = 0; i < 40 && !status; ++i) {
    stream.feed(framed);
    world.run_for(1ms);
  }
  EXPECT_EQ(result(), Errc::kTooLarge);
}

TEST_F(BodyTest, ComesInTimeOrNot) {
  begin(Kind::kLength, 2, 5);
  stream.feed("x");
  world.run_for(9s);
  EXPECT_EQ(result(), Errc::kWouldBlock);
  world.run_for(2s);
  EXPECT_EQ(result(), Errc::kTimedOut);
}

TEST_F(BodyTest, HoldsItsShareOfTheRoom) {
  ASSERT_TRUE(room.take(BodyRoom::kTotal - 3));
  begin(Kind::kLength, 4, 8);
  stream.feed("abc");
  EXPECT_EQ(result(), Errc::kWouldBlock);
  EXPECT_EQ(room.used(), BodyRoom::kTotal);
  stream.feed("d");
  EXPECT_EQ(result(), Errc::kExhausted);
  reader.reset();
  EXPECT_EQ(room.used(), BodyRoom::kTotal - 3);
}

}  // namespace
}  // namespace culvert::api
