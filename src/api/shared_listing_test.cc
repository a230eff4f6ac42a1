#include "api/shared_listing.h"

#include <gtest/gtest.h>

#include <list>
#include <optional>

#include "api/testing/controller_fixture.h"
#include "wire/websocket.h"

namespace culvert::api {
namespace {

using namespace std::chrono_literals;
using namespace testing;

class SharedListingTest : public ControllerFixture {
 protected:
  // A client over WebSocket that is told when the test says so.
  struct Reader {
    explicit Reader(SharedListings& shared) : push(stream, "key", true), subscription(shared) {}
    flow::testing::MemoryStream stream;
    Push push;
    SharedListings::Subscription subscription;
    std::optional<Status> status;
    // The text of the message that was sent.
    std::string text() {
      std::string frames = stream.take_written(), out;
      for (bool fin = false; !fin;) {
        wire::WsHeader header;
        if (wire::parse_ws_header(as_bytes(frames), header) != wire::Parse::kDone) return "none";
        out += frames.substr(header.size, header.length);
        frames.erase(0, header.size + header.length);
        fin = header.fin;
      }
      return out;
    }
  };
  static flow::Task<void> run(SharedListings* shared, Reader* reader, TimePoint when) {
    const Status slept =
        co_await rt::sleep_until(when);  // in a turn of its own, which has the time
    if (!slept.ok()) co_return;
    reader->status = co_await shared->send(reader->push, 1s, when + 10s);
  }
  void tell(Reader& reader) {
    reader.status.reset();
    clients.spawn("test", run(&*shared, &reader, control.backend().clock().now()));
  }
  void tell_all() {
    for (Reader& reader : readers) tell(reader);
    world.run_for(500ms);
  }
  ~SharedListingTest() override {
    clients.cancel();
    listings.cancel();
    while (clients.running() != 0 || listings.running() != 0) control.turn(TimePoint::min());
  }

  rt::Scope listings{&control.scope()};
  rt::Scope clients{&control.scope()};
  std::optional<SharedListings> shared{std::in_place, *engine, listings};
  std::list<Reader> readers;
};

TEST_F(SharedListingTest, IsMadeOnceForAll) {
  const auto flows = open_flows(kMany);
  for (int i = 0; i < 3; ++i) readers.emplace_back(*shared);
  for (uint64_t tick = 1; tick <= 2; ++tick) {
    tell_all();
    EXPECT_EQ(shared->made(), tick);
    EXPECT_EQ(shared->alive(), 0u) << "it is gone with its last reader";
    std::set<std::string> texts;
    for (Reader& reader : readers) {
      ASSERT_TRUE(reader.status && reader.status->ok());
      texts.insert(reader.text());
    }
    ASSERT_EQ(texts.size(), 1u);
    expect_listing(*texts.begin(), kMany);
    world.run_for(500ms);
  }
}

TEST_F(SharedListingTest, OneAloneHasItsOwn) {
  const auto flows = open_flows(kMany);
  readers.emplace_back(*shared);
  tell_all();
  EXPECT_EQ(shared->made(), 0u);
  expect_listing(readers.front().text(), kMany);
}

TEST_F(SharedListingTest, WhoComesALittleLaterReadsTheSame) {
  const auto flows = open_flows(kMany);
  for (int i = 0; i < 3; ++i) readers.emplace_back(*shared);
  auto reader = readers.begin();
  Reader& slow = *reader++;
  slow.stream.write_room = 1000;  // so that it is still there
  tell(slow);
  world.run_for(400ms);
  tell(*reader);
  world.run_for(50ms);
  EXPECT_EQ(shared->made(), 1u);
  expect_listing((reader++)->text(), kMany);
  world.run_for(100ms);
  tell(*reader);
  world.run_for(50ms);
  EXPECT_EQ(shared->made(), 2u) << "more than half the interval has passed";
  expect_listing(reader->text(), kMany);
}

// K35: what there is of it at once is bounded, and who reads is told all the same.
TEST_F(SharedListingTest, SlowReadersHoldTwoAtMost) {
  const auto flows = open_flows(kMany);
  for (int i = 0; i < 5; ++i) readers.emplace_back(*shared);
  std::vector<Reader*> all;
  for (Reader& reader : readers) all.push_back(&reader);
  for (int slow = 0; slow < 3; ++slow) all[static_cast<size_t>(slow)]->stream.write_room = 1000;
  for (size_t tick = 0; tick < 3; ++tick) {
    tell(*all[tick]);
    tell(*all[3]);
    tell(*all[4]);
    world.run_for(1s);
    EXPECT_EQ(shared->made(), std::min<size_t>(tick + 1, SharedListings::kMaxAlive));
    EXPECT_EQ(shared->alive(), std::min<size_t>(tick + 1, SharedListings::kMaxAlive));
    expect_listing(all[3]->text(), kMany);
    expect_listing(all[4]->text(), kMany);
    EXPECT_FALSE(all[tick]->status.has_value());
  }
  all[0]->stream.add_room(1 << 30);
  world.run_for(100ms);
  ASSERT_TRUE(all[0]->status && all[0]->status->ok());
  expect_listing(all[0]->text(), kMany);
  EXPECT_EQ(shared->alive(), 1u);
  world.run_for(10s);
  EXPECT_EQ(all[1]->status.value_or(Status()).code(), Errc::kTimedOut);
  EXPECT_EQ(shared->alive(), 0u);
}

TEST_F(SharedListingTest, EndsInTheMiddle) {
  const auto flows = open_flows(kMany);
  for (int i = 0; i < 3; ++i) readers.emplace_back(*shared);
  for (Reader& reader : readers) tell(reader);
  world.run_until([&] { return shared->made() == 1; }, 1s);
  listings.cancel();
  world.run_for(100ms);
  for (Reader& reader : readers) {
    ASSERT_TRUE(reader.status.has_value());
    EXPECT_EQ(reader.status->code(), Errc::kCancelled);
  }
  EXPECT_EQ(shared->alive(), 0u);
}

TEST_F(SharedListingTest, ClientsOfOneIntervalAreToldTogether) {
  const TimePoint t{17s + 300ms};
  EXPECT_EQ(SharedListings::next_tick(t, 1s), TimePoint{18s});
  EXPECT_EQ(SharedListings::next_tick(t + 600ms, 1s), TimePoint{18s});
  EXPECT_EQ(SharedListings::next_tick(TimePoint{18s}, 1s), TimePoint{19s});
  EXPECT_EQ(SharedListings::next_tick(t, 200ms), TimePoint{17s + 400ms});
}

}  // namespace
}  // namespace culvert::api
