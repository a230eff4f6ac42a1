// What the contracts promise, shown on their in-memory twins.
#include <gtest/gtest.h>

#include <optional>

#include "flow/registry.h"
#include "flow/testing/twins.h"
#include "rt/testing/sim.h"

namespace culvert::flow::testing {
namespace {

using namespace std::chrono_literals;

class ContractsTest : public ::testing::Test {
 protected:
  // Runs a task to its end in virtual time.
  template <class T>
  T run(Task<T> task) {
    std::optional<T> out;
    worker.scope().spawn("test", store(std::move(task), &out));
    world.run_until([&] { return out.has_value(); }, 1h);
    return *std::move(out);
  }
  template <class T>
  static Task<void> store(Task<T> task, std::optional<T>* out) {
    T value = co_await std::move(task);
    out->emplace(std::move(value));
  }
  rt::sim::World world{1};
  rt::Worker& worker = world.add_worker();
  rt::Worker::Enter enter{worker};
};

FetchRequest request(std::string url, size_t size_limit = 1000) {
  FetchRequest r;
  r.url = std::move(url);
  r.size_limit = size_limit;
  return r;
}

std::string text_of(const Result<MutableBytes>& bytes) {
  return bytes.ok() ? std::string(as_text(*bytes)) : std::string(describe(bytes.code()));
}

TEST(FlowMeta, IsSmallAndPrints) {
  EXPECT_LE(sizeof(FlowMeta), 128u);
  FlowMeta meta;
  meta.destination = *Endpoint::parse("[2001:db8::1]:443");
  EXPECT_EQ(destination_text(meta), "[2001:db8::1]:443");
  EXPECT_EQ(meta.address(), meta.destination.ip);
  FlowMeta named;
  named.destination.port = 80;
  named.set_host("a.example");
  EXPECT_EQ(destination_text(named), "a.example:80");
  EXPECT_FALSE(named.address().valid());
  named.resolved = *IpAddress::parse("192.0.2.1");
  EXPECT_EQ(named.address(), named.resolved);
}

TEST(Counter, AddsAndIsRead) {
  TrafficSum sum;
  sum.upload.add(3);
  sum.upload.add(4);
  EXPECT_EQ(sum.upload.value(), 7u);
  EXPECT_EQ(sum.download.value(), 0u);
}

TEST_F(ContractsTest, StreamLendsUntilConsumedAndEndsEachWay) {
  MemoryStream s;
  EXPECT_EQ(s.lend().code(), Errc::kWouldBlock);
  s.feed("abc");
  s.feed_end();
  EXPECT_EQ(text_of(s.lend()), "abc");
  s.consume(2);
  EXPECT_EQ(text_of(s.lend()), "c");
  s.consume(1);
  EXPECT_EQ(s.lend().code(), Errc::kEndOfStream);
  // The other direction is as before.
  EXPECT_EQ(*s.write(as_bytes("x")), 1u);
  EXPECT_TRUE(s.shutdown_write().ok());
  EXPECT_FALSE(s.write(as_bytes("y")).ok());
  EXPECT_EQ(s.take_written(), "x");
}

TEST_F(ContractsTest, VectoredWritesTakeAPrefix) {
  MemoryStream s;
  s.write_room = 5;
  std::string a = "abc", b = "defg";
  const iovec parts[2] = {{a.data(), a.size()}, {b.data(), b.size()}};
  EXPECT_EQ(*s.write(std::span<const iovec>(parts)), 5u);
  EXPECT_EQ(s.write(as_bytes("x")).code(), Errc::kWouldBlock);
  EXPECT_EQ(s.take_written(), "abcde");
}

TEST_F(ContractsTest, PacketChannelKeepsBoundariesAndCountsDrops) {
  MemoryPacketChannel c;
  Packet in[4];
  EXPECT_EQ(c.receive(in).code(), Errc::kWouldBlock);
  c.feed(*Endpoint::parse("192.0.2.1:53"), "one");
  c.feed(*Endpoint::parse("192.0.2.2:53"), "");
  const Result<size_t> n = c.receive(in);
  ASSERT_TRUE(n.ok());
  ASSERT_EQ(*n, 2u);
  EXPECT_EQ(as_text(in[0].payload), "one");
  EXPECT_EQ(in[1].payload.size(), 0u);
  EXPECT_EQ(in[1].peer.to_string(), "192.0.2.2:53");

  c.room = 1;
  c.path_limit = 10;
  std::string small = "small", large(11, 'x');
  Packet out[3];
  for (Packet& p : out)
    p.payload = MutableBytes(reinterpret_cast<uint8_t*>(small.data()), small.size());
  out[0].payload = MutableBytes(reinterpret_cast<uint8_t*>(large.data()), large.size());
  out[1].host = "a.example";
  PacketFate fates[3];
  EXPECT_TRUE(c.send(out, fates).ok());
  EXPECT_EQ(fates[0], PacketFate::kDropped) << "too large for the path";
  EXPECT_EQ(fates[1], PacketFate::kSent);
  EXPECT_EQ(fates[2], PacketFate::kDropped) << "the newest gives way";
  EXPECT_EQ(c.dropped(), 2u);
  EXPECT_EQ(c.sent.at(0).host, "a.example");
  c.break_with(Errc::kReset);
  EXPECT_EQ(c.send(out, fates).code(), Errc::kReset);
  EXPECT_EQ(c.receive(in).code(), Errc::kReset);
}

TEST_F(ContractsTest, StreamLayerWrapsOrClosesWhatItWasGiven) {
  FlippingLayer layer;
  FlowMeta meta;
  auto inner = std::make_unique<MemoryStream>();
  MemoryStream* raw = inner.get();
  Result<StreamPtr> wrapped = run(layer.wrap(std::move(inner), meta, kNever));
  ASSERT_TRUE(wrapped.ok());
  raw->feed("\x9e\x9d");  // "ab", flipped
  EXPECT_EQ(text_of((*wrapped)->lend()), "ab");
  (*wrapped)->consume(1);
  EXPECT_EQ(text_of((*wrapped)->lend()), "b") << "flipped once only";
  EXPECT_EQ(*(*wrapped)->write(as_bytes("a")), 1u);
  EXPECT_EQ(raw->take_written(), "\x9e");
  layer.fail_with = Errc::kUnauthorized;
  Result<StreamPtr> failed = run(layer.wrap(std::make_unique<MemoryStream>(), meta, kNever));
  EXPECT_EQ(failed.code(), Errc::kUnauthorized);
}

TEST_F(ContractsTest, ResolverAnswersFailsAndObeysItsDeadline) {
  TableResolver resolver;
  resolver.table["a.example"] = {*IpAddress::parse("192.0.2.1"), *IpAddress::parse("2001:db8::1")};
  resolver.failures["down.example"] = Errc::kUnreachable;
  resolver.delay = 2s;
  const Result<AddressList> found = run(resolver.resolve("a.example", worker.now() + 5s));
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->size(), 2u);
  EXPECT_EQ(run(resolver.resolve("b.example", worker.now() + 5s)).code(), Errc::kNoName);
  EXPECT_EQ(run(resolver.resolve("down.example", worker.now() + 5s)).code(), Errc::kUnreachable);
  EXPECT_EQ(run(resolver.resolve("a.example", worker.now() + 1s)).code(), Errc::kTimedOut);
}

TEST_F(ContractsTest, OutboundDialsOrSaysWhoIsToBlame) {
  ScriptedOutbound outbound;
  outbound.streams.emplace_back(StreamPtr(std::make_unique<MemoryStream>()));
  FlowMeta meta;
  meta.destination.port = 443;
  meta.set_host("a.example");
  EXPECT_TRUE(run(outbound.dial(meta, kNever)).ok());
  const Result<StreamPtr> refused = run(outbound.dial(meta, kNever));
  EXPECT_EQ(refused.error(), Error(Errc::kRefused, Side::kUpstream));
  EXPECT_EQ(outbound.dialled, (std::vector<std::string>{"a.example:443", "a.example:443"}));
  EXPECT_TRUE(run(outbound.open_packets(meta, kNever)).ok());
}

TEST_F(ContractsTest, FetcherAndHttp2SessionKeepTheirBounds) {
  TableFetcher fetcher;
  ScriptedOutbound through;
  fetcher.table["http://a.example/"] = {200, {}, "body"};
  EXPECT_EQ(run(fetcher.fetch(request("http://a.example/"), through, kNever))->body, "body");
  EXPECT_EQ(run(fetcher.fetch(request("http://a.example/", 3), through, kNever)).code(),
            Errc::kTooLarge);
  EXPECT_FALSE(run(fetcher.fetch(request("http://b.example/"), through, kNever)).ok());
  MemoryHttp2Session session;
  EXPECT_EQ(run(session.exchange(request("/x"), kNever))->status, 404);
  EXPECT_TRUE(run(session.open(request("/x"), kNever)).ok());
  session.broken = Errc::kReset;
  EXPECT_FALSE(session.usable());
  EXPECT_EQ(run(session.open(request("/x"), kNever)).code(), Errc::kReset);
}

TEST(Registry, KnowsWhatIsBuiltAndWhatIsNot) {
  Registry registry;
  registry.add(OutboundKind{"direct", {.stream = true, .udp = false}, nullptr});
  registry.add(InboundKind{"socks", nullptr});
  registry.add_missing("vmess");
  EXPECT_NE(registry.outbound("direct"), nullptr);
  EXPECT_EQ(registry.outbound("socks"), nullptr);
  EXPECT_NE(registry.inbound("socks"), nullptr);
  EXPECT_TRUE(registry.is_missing("vmess"));
  EXPECT_FALSE(registry.is_missing("direct"));
}

}  // namespace
}  // namespace culvert::flow::testing
