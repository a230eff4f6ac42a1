#include "api/connections_text.h"

#include <gtest/gtest.h>

#include "api/testing/controller_fixture.h"
#include "wire/websocket.h"

namespace culvert::api {
namespace {

using namespace std::chrono_literals;
using namespace testing;

class ConnectionsTest : public ControllerFixture {};

TEST_F(ConnectionsTest, ListsFlows) {
  start();
  const std::string none = get("/connections");
  EXPECT_EQ(status(none), "200");
  EXPECT_NE(none.find(R"("connections":[])"), std::string::npos) << none;
  Client flow = connect(kProxy);
  send(flow, "hello");
  world.run_for(100ms);
  const std::string one = get("/connections");
  EXPECT_NE(one.find(R"("host":"a.example")"), std::string::npos) << one;
  EXPECT_NE(one.find(R"("destinationPort":"80")"), std::string::npos);
  EXPECT_NE(one.find(R"("chains":["DIRECT"])"), std::string::npos);
  EXPECT_NE(one.find(R"("upload":5)"), std::string::npos);
  EXPECT_NE(one.find(R"("uploadTotal":5)"), std::string::npos);
}

// The whole of it, in mihomo's shape.
TEST_F(ConnectionsTest, AListedFlow) {
  start();
  const auto listed = [this](const flow::FlowMeta& meta) {
    engine::WorkerCore& core = engine->core(0);
    rt::Worker::Enter on(core.worker());
    const flow::TrackerPtr flow =
        core.conversations().begin(meta, {std::span(&kDirect, 1), "Domain", "a\"b"});
    flow->count_upload(7);
    flow->count_download(18446744073709551608ULL);
    const std::string all = body(get("/connections"));
    return all.substr(all.find('[') + 1, all.rfind(']') - all.find('[') - 1);
  };
  const auto shape = [](std::string_view id, std::string_view source, std::string_view destination,
                        std::string_view host, std::string_view remote, std::string_view dscp) {
    std::string out = R"({"id":")";
    out.append(id).append(R"(","metadata":{"network":"tcp","type":"Socks5","sourceIP":")");
    out.append(source).append(R"(","destinationIP":")").append(destination);
    out += R"(","sourceGeoIP":null,"destinationGeoIP":null,"sourceIPASN":"","destinationIPASN":"",)"
           R"("sourcePort":"65535","destinationPort":"443","inboundIP":"127.0.0.1",)"
           R"("inboundPort":"7890","inboundName":"DEFAULT-MIXED","inboundUser":"",)"
           R"("rematchName":"","host":")";
    out.append(host);
    out += R"(","dnsMode":"normal","uid":0,"process":"","processPath":"","specialProxy":"",)"
           R"("specialRules":"","remoteDestination":")";
    out.append(remote).append(R"(","dscp":)").append(dscp);
    out += R"(,"sniffHost":""},"upload":7,"download":18446744073709551608,)"
           R"("start":"2023-11-14T22:30:00.000000000Z","chains":["DIRECT"],)"
           R"("providerChains":[""],"rule":"Domain","rulePayload":"a\"b"})";
    return out;
  };
  // Its identity and the moment are the run's.
  const auto same = [&](const flow::FlowMeta& meta, std::string_view source,
                        std::string_view destination, std::string_view host,
                        std::string_view remote, std::string_view dscp) {
    std::string got = listed(meta);
    const size_t at = got.find(R"("start":")") + 9;
    ASSERT_LT(at + 30, got.size());
    got.replace(at, 30, "2023-11-14T22:30:00.000000000Z");
    EXPECT_EQ(got, shape(got.substr(7, 36), source, destination, host, remote, dscp));
  };
  flow::FlowMeta meta;
  meta.network = flow::Network::kTcp;
  meta.inbound_type = flow::InboundType::kSocks5;
  meta.source = *Endpoint::parse("[::ffff:192.0.2.255]:65535");
  meta.destination = *Endpoint::parse("203.0.113.10:443");
  meta.inbound_port = 7890;
  meta.dscp = 46;
  same(meta, "192.0.2.255", "203.0.113.10", "", "203.0.113.10", "46");
  meta.destination = *Endpoint::parse("[2001:db8:1111:2222:3333:4444:5555:6666]:443");
  same(meta, "192.0.2.255", "2001:db8:1111:2222:3333:4444:5555:6666", "",
       "2001:db8:1111:2222:3333:4444:5555:6666", "46");
  meta.destination.ip = {};
  meta.source = *Endpoint::parse("[2001:db8::1]:65535");
  meta.set_host("xn--r8jz45g.example");
  same(meta, "2001:db8::1", "", "xn--r8jz45g.example", "xn--r8jz45g.example", "46");
}

// More than a piece of text is not put together first. The connection is kept all the same.
TEST_F(ConnectionsTest, ALongListingComesInChunks) {
  start();
  const auto flows = open_flows(kMany);
  Client c = connect();
  for (int i = 0; i < 2; ++i) {
    send(c, "GET /connections HTTP/1.1\r\n" + kHost + "\r\n");
    ASSERT_TRUE(wait_for(c, "\r\n0\r\n\r\n"));
    EXPECT_NE(c.got.find("Transfer-Encoding: chunked\r\n"), std::string::npos);
    EXPECT_EQ(c.got.find("Connection: close"), std::string::npos);
    expect_listing(chunks(body(c.got)), kMany);
    c.got.clear();
  }
  EXPECT_EQ(c.end, Errc::kNone);
}

TEST_F(ConnectionsTest, ALongListingForHttp10EndsWithTheConnection) {
  start();
  const auto flows = open_flows(kMany);
  Client c = connect();
  send(c, "GET /connections HTTP/1.0\r\nConnection: keep-alive\r\n" + kHost + "\r\n");
  ASSERT_TRUE(wait_for_end(c, 5s));
  EXPECT_EQ(c.end, Errc::kEndOfStream);
  EXPECT_NE(c.got.find("Connection: close\r\n"), std::string::npos);
  EXPECT_EQ(c.got.find("chunked"), std::string::npos);
  expect_listing(body(c.got), kMany);
}

TEST_F(ConnectionsTest, ALongListingIsOneMessageInFragments) {
  start();
  const auto flows = open_flows(kMany);
  Client c = connect();
  send(c, upgrade("/connections?interval=1000"));
  ASSERT_TRUE(wait_for(c, "\"memory\""));
  world.run_for(100ms);
  c.read();
  std::string frames = body(c.got), text;
  size_t count = 0;
  for (bool fin = false; !fin; ++count) {
    wire::WsHeader header;
    ASSERT_EQ(wire::parse_ws_header(as_bytes(frames), header), wire::Parse::kDone);
    ASSERT_LE(header.size + header.length, frames.size());
    EXPECT_EQ(header.opcode, count == 0 ? wire::WsOpcode::kText : wire::WsOpcode::kContinuation);
    EXPECT_LE(header.length, TextSource::kPiece + 1024);
    text += frames.substr(header.size, header.length);
    frames.erase(0, header.size + header.length);
    fin = header.fin;
  }
  EXPECT_GT(count, 2u);
  EXPECT_EQ(frames, "");
  expect_listing(text, kMany);
}

// What ends while the list is on its way is no longer waited for, and what begins is not in it.
TEST_F(ConnectionsTest, FlowsComeAndGoWhileTheyAreListed) {
  world.faults().window = 8 << 10;
  start();
  auto flows = open_flows(kMany);
  Client c = connect();
  send(c, "GET /connections HTTP/1.1\r\n" + kHost + "\r\n");
  world.run_for(100ms);
  flows.erase(flows.begin() + kMany / 4, flows.begin() + kMany / 2);
  const auto more = open_flows(kMany);
  ASSERT_TRUE(wait_for(c, "\r\n0\r\n\r\n"));
  const std::string json = chunks(body(c.got));
  const size_t seen = ids(json).size();
  EXPECT_GE(seen, kMany * 3 / 4);
  // The second worker was asked later than its new flows began.
  EXPECT_LE(seen, kMany * 3 / 2);
  expect_listing(json, seen);
}

// Neither is it told that it has everything.
TEST_F(ConnectionsTest, AClientThatStallsInAListingIsCutOff) {
  start();
  const auto flows = open_flows(kMany);
  const size_t before = world.open_streams();
  for (const bool websocket : {false, true}) {
    for (const bool old : {false, true}) {
      if (websocket && old) continue;
      Client c = connect();
      send(c, websocket ? upgrade("/connections")
                        : "GET /connections HTTP/1." + std::string(old ? "0" : "1") + "\r\n" +
                              kHost + "\r\n");
      world.run_for(Controller::kWriteTime - 1s);
      EXPECT_EQ(world.open_streams(), before + 2);
      EXPECT_EQ(status(get("/version")), "200") << "others are served";
      world.run_for(2s);
      c.read();
      EXPECT_EQ(c.end, Errc::kReset);
      EXPECT_EQ(c.got.find("\"memory\""), std::string::npos);
      c.stream.reset();
      world.run_for(100ms);
      EXPECT_EQ(world.open_streams(), before);
    }
  }
}

TEST_F(ConnectionsTest, AClientMayVanishInAListing) {
  start();
  auto flows = open_flows(kMany);
  const size_t before = world.open_streams();
  for (const bool websocket : {false, true}) {
    for (Duration after = 0ms; after < 30ms; after += 1ms) {
      Client c = connect();
      send(c,
           websocket ? upgrade("/connections") : "GET /connections HTTP/1.1\r\n" + kHost + "\r\n");
      world.run_for(after);
      c.read();
      c.stream->abort();
      c.stream.reset();
      world.run_for(200ms);
      EXPECT_EQ(world.open_streams(), before);
    }
  }
  flows.clear();
  EXPECT_NE(get("/connections").find(R"("connections":[])"), std::string::npos);
}

TEST_F(ConnectionsTest, StopsInAListing) {
  start();
  const auto flows = open_flows(kMany);
  std::vector<Client> clients;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(connect());
    send(clients.back(),
         i % 2 == 0 ? upgrade("/connections") : "GET /connections HTTP/1.1\r\n" + kHost + "\r\n");
    world.run_for(1ms);
  }
  controller->stop();
  for (Client& c : clients) EXPECT_TRUE(wait_for_end(c, 1s));
  controller.reset();
}

}  // namespace
}  // namespace culvert::api
