#include "stats/conversations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "rt/testing/sim.h"

namespace culvert::stats {
namespace {

class ConversationsTest : public ::testing::Test {
 protected:
  flow::TrackerPtr begin(const char* host, uint32_t user = flow::kNoUser) {
    flow::FlowMeta meta;
    meta.destination.port = 443;
    meta.set_host(host);
    meta.user = user;
    meta.outbound = 1;
    return conversations.begin(meta, {std::span(&kNode, 1), "Domain", "payload"});
  }
  static size_t distinct(const FlowSnapshot& s) {
    std::set<std::string> ids;
    for (const auto& item : s.items) ids.insert(item.id.to_string());
    return ids.size();
  }
  rt::sim::World world{1};
  rt::Worker& worker = world.add_worker();
  rt::Worker::Enter enter{worker};
  Conversations conversations{worker};
  static constexpr uint32_t kNode = 1;
};

TEST_F(ConversationsTest, SumsOutliveTheirFlows) {
  {
    flow::TrackerPtr a = begin("a.example");
    flow::TrackerPtr b = begin("b.example", 1);
    a->count_upload(10);
    a->count_download(100);
    b->count_upload(1);
    EXPECT_EQ(a->upload.value(), 10u);
    EXPECT_EQ(conversations.size(), 2u);
    EXPECT_NE(a->cell, b->cell);
    EXPECT_EQ(b->cell->upload.value(), 1u);
  }
  EXPECT_EQ(conversations.size(), 0u);
  EXPECT_EQ(conversations.uploaded(), 11u);
  EXPECT_EQ(conversations.downloaded(), 100u);
  using Sums = std::vector<Traffic>;
  EXPECT_EQ(conversations.sums(Dimension::kInbound), (Sums{{11, 100}}));
  EXPECT_EQ(conversations.sums(Dimension::kUser), (Sums{{10, 100}, {}, {1, 0}}));
  EXPECT_EQ(conversations.sums(Dimension::kOutbound), (Sums{{}, {11, 100}}));
}

TEST_F(ConversationsTest, TextIsCopied) {
  char host[] = "c.example";
  flow::TrackerPtr t = begin(host);
  host[0] = 'X';
  FlowSnapshot s;
  FlowCursor cursor;
  EXPECT_TRUE(conversations.collect(cursor, s));
  ASSERT_EQ(s.items.size(), 1u);
  EXPECT_EQ(s.host(s.items[0]), "c.example");
  EXPECT_EQ(s.rule_payload(s.items[0]), "payload");
  EXPECT_EQ(s.items[0].rule_type, "Domain");
}

TEST_F(ConversationsTest, KeepsTextsOfEveryLength) {
  std::string text;
  for (size_t size = 0; size <= 255; ++size) {
    flow::FlowMeta meta;
    meta.set_host(text);
    const std::string payload(text.rbegin(), text.rend());
    const std::vector<uint32_t> chain(size % (Conversations::kMaxChain + 1), 7);
    const flow::TrackerPtr t = conversations.begin(meta, {chain, "Domain", payload});
    FlowSnapshot s;
    FlowCursor cursor;
    EXPECT_TRUE(conversations.collect(cursor, s));
    ASSERT_EQ(s.items.size(), 1u);
    EXPECT_EQ(s.host(s.items[0]), text);
    EXPECT_EQ(s.rule_payload(s.items[0]), payload);
    EXPECT_TRUE(std::ranges::equal(s.chain(s.items[0]), chain)) << size;
    text += static_cast<char>('a' + size % 26);
  }
}

// The list is taken in slices while flows end, those on either side of the next slice's beginning
// included.
TEST_F(ConversationsTest, CollectsInSlicesWhileFlowsEnd) {
  std::vector<flow::TrackerPtr> flows;
  for (size_t i = 0; i < 3 * Conversations::kSlice; ++i) flows.push_back(begin("h.example"));
  FlowSnapshot s;
  FlowCursor cursor;
  EXPECT_FALSE(conversations.collect(cursor, s));
  EXPECT_EQ(s.items.size(), Conversations::kSlice);
  for (size_t i = Conversations::kSlice - 2; i < 2 * Conversations::kSlice; ++i) flows[i].reset();
  EXPECT_TRUE(conversations.collect(cursor, s));
  EXPECT_EQ(s.items.size(), 2 * Conversations::kSlice);
  EXPECT_EQ(distinct(s), s.items.size());
  // The next one begins anew, with whatever cursor.
  s.clear();
  EXPECT_FALSE(conversations.collect(cursor, s));
  flows.clear();
  EXPECT_TRUE(conversations.collect(cursor, s));
  EXPECT_EQ(s.items.size(), Conversations::kSlice);
}

// However fast flows begin, a reader is done with those that were there.
TEST_F(ConversationsTest, ASlowReaderComesToAnEnd) {
  std::vector<flow::TrackerPtr> flows;
  FlowSnapshot s;
  FlowCursor cursor;
  for (size_t i = 0; i < 2 * Conversations::kSlice; ++i) flows.push_back(begin("h.example"));
  EXPECT_FALSE(conversations.collect(cursor, s));
  for (size_t i = 0; i < 2 * Conversations::kSlice; ++i) flows.push_back(begin("n.example"));
  EXPECT_TRUE(conversations.collect(cursor, s));
  EXPECT_EQ(s.items.size(), 2 * Conversations::kSlice);
  for (const auto& item : s.items) EXPECT_EQ(s.host(item), "h.example");
}

TEST_F(ConversationsTest, ManyReadersAtOnce) {
  std::vector<flow::TrackerPtr> flows;
  for (size_t i = 0; i < 2 * Conversations::kSlice; ++i) flows.push_back(begin("h.example"));
  constexpr size_t kReaders = 5;
  FlowSnapshot s[kReaders];
  FlowCursor cursors[kReaders];
  for (size_t i = 0; i < kReaders; ++i) EXPECT_FALSE(conversations.collect(cursors[i], s[i]));
  flow::FlowTracker* interrupted = nullptr;
  flow::FlowTracker* wanted = flows[Conversations::kSlice - 1].get();
  wanted->carrier = &interrupted;
  wanted->interrupt = [](flow::FlowTracker& t) {
    *static_cast<flow::FlowTracker**>(t.carrier) = &t;
  };
  EXPECT_TRUE(conversations.interrupt(s[0].items.back().id));
  EXPECT_EQ(interrupted, wanted);
  cursors[1].release();
  flows[Conversations::kSlice].reset();
  for (size_t i = kReaders; i-- > 0;) EXPECT_EQ(conversations.collect(cursors[i], s[i]), i != 1);
  cursors[1].release();
  for (const FlowSnapshot& one : s) {
    EXPECT_EQ(one.items.size(), 2 * Conversations::kSlice - (&one == &s[1] ? 0 : 1));
    EXPECT_EQ(distinct(one), one.items.size() - (&one == &s[1] ? Conversations::kSlice : 0));
  }
}

// A reader that is stopped with its worker.
TEST(FlowCursor, OutlivesTheFlows) {
  rt::sim::World world(1);
  rt::Worker& worker = world.add_worker();
  rt::Worker::Enter enter(worker);
  FlowCursor cursor;
  FlowSnapshot s;
  {
    Conversations conversations(worker);
    std::vector<flow::TrackerPtr> flows;
    for (size_t i = 0; i <= Conversations::kSlice; ++i) {
      flows.push_back(conversations.begin(flow::FlowMeta(), {}));
    }
    EXPECT_FALSE(conversations.collect(cursor, s));
  }
  cursor.release();
}

TEST_F(ConversationsTest, FindsById) {
  flow::TrackerPtr t = begin("a.example");
  FlowSnapshot s;
  FlowCursor cursor;
  EXPECT_TRUE(conversations.collect(cursor, s));
  EXPECT_TRUE(conversations.interrupt(s.items[0].id));
  EXPECT_FALSE(conversations.interrupt(FlowId{1, 2}));
  FlowId parsed;
  EXPECT_TRUE(FlowId::parse(s.items[0].id.to_string(), parsed));
  EXPECT_EQ(parsed, s.items[0].id.as_written());
  EXPECT_TRUE(conversations.interrupt(parsed));
  EXPECT_FALSE(FlowId::parse("", parsed));
  EXPECT_FALSE(FlowId::parse("00000000-0000-4000-8000-00000000000g", parsed));
  EXPECT_FALSE(FlowId::parse("00000000-0000-4000-8000_000000000000", parsed));
  const std::string text = s.items[0].id.to_string();
  EXPECT_EQ(text.size(), 36u);
  EXPECT_EQ(text[14], '4');
  EXPECT_NE(std::string("89ab").find(text[19]), std::string::npos);
}

// RFC 9562 section 4: the first half's and the second half's digits in order, and where the version
// and the variant go.
TEST(FlowId, IsWrittenAsAUuid) {
  EXPECT_EQ((FlowId{0x0123456789abcdef, 0xfedcba9876543210}).to_string(),
            "01234567-89ab-4def-bedc-ba9876543210");
  EXPECT_EQ((FlowId{0, 0}).to_string(), "00000000-0000-4000-8000-000000000000");
}

}  // namespace
}  // namespace culvert::stats
