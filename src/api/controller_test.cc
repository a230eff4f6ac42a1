#include "api/controller.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>

#include "api/connections_text.h"
#include "base/log.h"
#include "config/settings.h"
#include "flow/testing/twins.h"
#include "rt/testing/sim.h"
#include "wire/http1.h"
#include "wire/websocket.h"

namespace culvert::api {
namespace {

using namespace std::chrono_literals;

// Every connection is a flow to a.example:80.
class OneFlowInbound final : public flow::Inbound {
 public:
  flow::Task<void> serve(flow::StreamPtr stream, flow::AcceptInfo info,
                         flow::FlowSink& sink) override {
    flow::FlowMeta meta;
    meta.source = info.source;
    meta.inbound_port = info.inbound_port;
    meta.inbound = info.inbound;
    meta.destination.port = 80;
    meta.set_host("a.example");
    Result<flow::Upstream> upstream = co_await sink.open(meta);
    if (upstream.ok()) sink.relay(std::move(stream), *std::move(upstream));
  }
};

std::unique_ptr<flow::Inbound> make_one_flow(const flow::Options*, const flow::BuildContext&) {
  return std::make_unique<OneFlowInbound>();
}

std::unique_ptr<flow::Outbound> make_scripted(std::string_view, const flow::Options*,
                                              const flow::BuildContext&) {
  auto outbound = std::make_unique<flow::testing::ScriptedOutbound>();
  outbound->streams.emplace_back(flow::StreamPtr(std::make_unique<flow::testing::MemoryStream>()));
  return outbound;
}

const Endpoint kController{IpAddress::v4(0x7f000001), 9090};
const Endpoint kProxy{IpAddress::v4(0x7f000001), 7890};
const uint32_t kDirect = 0;  // the number of the first name, DIRECT
const std::string kHost = "Host: 127.0.0.1:9090\r\n";

class ControllerTest : public ::testing::Test {
 protected:
  ControllerTest() {
    registry.add(flow::InboundKind{.name = "mixed", .make = &make_one_flow});
    for (const std::string_view name : {"direct", "reject", "reject-drop"}) {
      registry.add(flow::OutboundKind{.name = name, .make = &make_scripted});
    }
    std::vector<std::unique_ptr<rt::Worker>> workers;
    for (int i = 0; i < 2; ++i) workers.push_back(world.make_worker());
    surroundings.emplace(registry, resolver);
    engine.emplace(control, std::move(workers), *surroundings, false);
    Diagnostics diagnostics;
    auto settings = config::load_text("test", "mixed-port: 7890\nrules:\n  - MATCH,DIRECT\n",
                                      {.registry = &registry}, diagnostics);
    auto generation = settings ? engine::Generation::build(
                                     std::make_shared<config::Settings>(*std::move(settings)),
                                     *surroundings, nullptr, diagnostics)
                               : nullptr;
    const bool started =
        generation != nullptr && engine->start(std::move(generation), {}, diagnostics).ok();
    EXPECT_TRUE(started) << diagnostics.to_string();
  }
  void start(std::string secret = "", Endpoint at = kController) {
    Controller::Options options;
    options.listen = at;
    options.secret = std::move(secret);
    controller.emplace(Controller::Parts{.engine = &*engine}, std::move(options));
    ASSERT_TRUE(controller->start().ok());
  }

  // A client's connection.
  struct Client {
    std::unique_ptr<rt::Stream> stream;
    std::string got;
    Errc end = Errc::kNone;
    void read() {
      while (end == Errc::kNone) {
        const auto bytes = stream->lend();
        if (bytes.ok()) {
          got += as_text(*bytes);
          stream->consume(bytes->size());
        } else if (bytes.code() == Errc::kWouldBlock) {
          return;
        } else {
          end = bytes.code();
        }
      }
    }
  };
  Client connect(Endpoint to = kController) {
    Client c;
    auto stream = control.backend().connect(to, {});
    EXPECT_TRUE(stream.ok());
    if (stream.ok()) c.stream = *std::move(stream);
    EXPECT_TRUE(world.run_until([&] { return c.stream->opened().ok(); }, 1s));
    return c;
  }
  void send(Client& c, std::string_view text) {
    const auto n = c.stream->write(as_bytes(text));
    ASSERT_TRUE(n.ok());
    ASSERT_EQ(*n, text.size());
  }
  bool wait_for(Client& c, std::string_view text, Duration limit = 5s) {
    return world.run_until(
        [&] {
          c.read();
          return c.got.find(text) != std::string::npos;
        },
        limit);
  }
  bool wait_for_end(Client& c, Duration limit) {
    return world.run_until(
        [&] {
          c.read();
          return c.end != Errc::kNone;
        },
        limit);
  }
  // One request on a connection of its own, read until nothing more comes.
  std::string ask(std::string_view request) {
    Client c = connect();
    send(c, request);
    world.run_for(500ms);
    c.read();
    return c.got;
  }
  std::string get(std::string_view target, std::string_view fields = kHost) {
    return ask("GET " + std::string(target) + " HTTP/1.1\r\n" + std::string(fields) + "\r\n");
  }
  static std::string status(const std::string& answer) { return answer.substr(9, 3); }
  static std::string body(const std::string& answer) {
    return answer.substr(answer.find("\r\n\r\n") + 4);
  }
  static std::string upgrade(std::string_view target) {
    return "GET " + std::string(target) + " HTTP/1.1\r\n" + kHost +
           "Connection: Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\n"
           "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
  }

  // Live flows of both workers that nobody relays; to end before the engine.
  std::vector<flow::TrackerPtr> open_flows(size_t count) {
    std::vector<flow::TrackerPtr> out;
    for (size_t i = 0; i < count; ++i) {
      engine::WorkerCore& core = engine->core(i % 2);
      rt::Worker::Enter on(core.worker());
      flow::FlowMeta meta;
      meta.source = kProxy;
      meta.set_host("a.example");
      meta.outbound = 0;
      out.push_back(core.conversations().begin(meta, {std::span(&kDirect, 1), "Match", ""}));
      out.back()->count_upload(1);
    }
    return out;
  }
  static std::set<std::string> ids(const std::string& json) {
    std::set<std::string> out;
    for (size_t at = 0; (at = json.find("\"id\":\"", at)) != std::string::npos; ++at) {
      out.insert(json.substr(at + 6, 36));
    }
    return out;
  }
  static void expect_listing(const std::string& json, size_t count) {
    EXPECT_EQ(ids(json).size(), count);
    EXPECT_EQ(json.find(R"({"connections":[{"id":")"), 0u);
    size_t commas = 0;
    for (size_t at = 0; (at = json.find(R"(},{"id":")", at)) != std::string::npos; ++at) ++commas;
    EXPECT_EQ(commas + 1, count);
    EXPECT_NE(json.find(R"(}],"downloadTotal":0,"uploadTotal":)"), std::string::npos);
    EXPECT_EQ(json.back(), '}');
  }
  // A chunked body, put together.
  static std::string chunks(std::string body) {
    std::string out;
    for (;;) {
      size_t end = 0;
      const size_t n = std::stoul(body, &end, 16);
      if (n == 0) return out;
      EXPECT_LE(n, ConnectionsText::kPiece + 1024);
      out += body.substr(end + 2, n);
      body.erase(0, end + 2 + n + 2);
    }
  }
  static constexpr size_t kMany = 500;  // some six pieces of text

  rt::sim::World world{1};
  rt::Worker& control = world.add_worker(IpAddress::v4(0x7f000001));
  rt::Worker::Enter enter{control};
  flow::testing::TableResolver resolver;
  flow::Registry registry;
  std::optional<engine::Surroundings> surroundings;
  std::optional<engine::Engine> engine;
  std::optional<Controller> controller;
};

TEST_F(ControllerTest, AnswersAndKeepsTheConnection) {
  start();
  Client c = connect();
  send(c, "GET / HTTP/1.1\r\n" + kHost + "\r\nGET /version HTTP/1.1\r\n" + kHost + "\r\n");
  ASSERT_TRUE(wait_for(c, R"("version")"));
  EXPECT_NE(c.got.find(R"({"hello":"mihomo"})"), std::string::npos);
  EXPECT_NE(c.got.find(R"({"meta":true,"version":")"), std::string::npos);
  EXPECT_NE(c.got.find("Content-Type: application/json\r\n"), std::string::npos);
  EXPECT_EQ(c.end, Errc::kNone);
  send(c, "GET / HTTP/1.1\r\n" + kHost + "Connection: close\r\n\r\n");
  EXPECT_TRUE(wait_for_end(c, 1s));
  EXPECT_EQ(c.end, Errc::kEndOfStream);
}

TEST_F(ControllerTest, Refusals) {
  start();
  EXPECT_EQ(status(get("/nothing")), "404");
  EXPECT_EQ(status(get("/ui/../config.yaml")), "404");
  EXPECT_EQ(status(get("/", "Host: evil.example\r\n")), "403");
  const std::string post = ask("POST /version HTTP/1.1\r\n" + kHost + "\r\n");
  EXPECT_EQ(status(post), "405");
  EXPECT_NE(post.find("Allow: GET\r\n"), std::string::npos);
  EXPECT_EQ(
      status(ask("PATCH /configs HTTP/1.1\r\n" + kHost + "Content-Length: 1073741824\r\n\r\n")),
      "413");
  EXPECT_EQ(status(ask("POST / HTTP/1.1\r\n" + kHost +
                       "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n")),
            "400");
  EXPECT_EQ(status(ask("garbage\r\n\r\n")), "400");
  EXPECT_EQ(status(get("/logs?level=loud")), "400");
  EXPECT_EQ(status(ask("GET /" + std::string(wire::kMaxHttpHead - 5, 'x'))), "414");
}

// RFC 9112 section 3.2.
TEST_F(ControllerTest, ARequestOfHttp11NamesItsHost) {
  start("s3cret");
  const std::string bearer = "Authorization: Bearer s3cret\r\n";
  EXPECT_EQ(status(get("/version", bearer)), "400");
  EXPECT_EQ(status(get("/version", kHost + kHost + bearer)), "400");
  EXPECT_EQ(status(ask("GET /version HTTP/1.0\r\n" + bearer + "\r\n")), "200");
}

// RFC 9112 section 9.3: a client of HTTP/1.0 that asks for it has to be told.
TEST_F(ControllerTest, KeepsAClientOfHttp10) {
  start();
  Client c = connect();
  const std::string request =
      "GET /version HTTP/1.0\r\n" + kHost + "Connection: keep-alive\r\n\r\n";
  for (int i = 0; i < 2; ++i) {
    send(c, request);
    ASSERT_TRUE(wait_for(c, R"("version")"));
    EXPECT_NE(c.got.find("\r\nConnection: keep-alive\r\n"), std::string::npos) << c.got;
    EXPECT_EQ(c.end, Errc::kNone);
    c.got.clear();
  }
  const std::string closed = ask("GET /version HTTP/1.0\r\n" + kHost + "\r\n");
  EXPECT_NE(closed.find("\r\nConnection: close\r\n"), std::string::npos);
  EXPECT_EQ(get("/version").find("keep-alive"), std::string::npos);
}

TEST_F(ControllerTest, TheAnswerToAHeadHasNoBody) {
  start();
  for (const std::string_view target : {"/", "/nothing"}) {
    const std::string answer =
        ask("HEAD " + std::string(target) + " HTTP/1.1\r\n" + kHost + "\r\n");
    EXPECT_EQ(answer.find("HTTP/1.1 40"), 0u);
    EXPECT_EQ(body(answer), "");
  }
}

TEST_F(ControllerTest, TheSecret) {
  start("s3cret");
  const std::string denied = get("/version");
  EXPECT_EQ(status(denied), "401");
  EXPECT_EQ(body(denied), R"({"message":"Unauthorized"})");
  EXPECT_EQ(status(get("/version", kHost + "Authorization: Bearer wrong\r\n")), "401");
  EXPECT_EQ(status(get("/version?token=s3cret")), "401") << "tokens are for upgrades";
  EXPECT_EQ(status(get("/version", kHost + "Authorization: bearer s3cret\r\n")), "200");
  EXPECT_EQ(status(ask(upgrade("/traffic?token=s3cret"))), "101");
  EXPECT_EQ(status(ask(upgrade("/traffic?token=wrong"))), "401");
  EXPECT_EQ(status(ask("OPTIONS /version HTTP/1.1\r\n" + kHost +
                       "Origin: https://a.example\r\n"
                       "Access-Control-Request-Method: GET\r\n\r\n")),
            "204")
      << "preflights carry no secret";
}

TEST_F(ControllerTest, DoesNotOpenToOthersWithoutASecret) {
  const Endpoint any{IpAddress::v4(0), 9090};
  start("", any);
  EXPECT_FALSE(controller->listening_at().has_value());
  controller.reset();
  start("s", any);
  EXPECT_TRUE(controller->listening_at().has_value());
}

TEST_F(ControllerTest, ListsFlows) {
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
TEST_F(ControllerTest, AListedFlow) {
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
TEST_F(ControllerTest, ALongListingComesInChunks) {
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

TEST_F(ControllerTest, ALongListingForHttp10EndsWithTheConnection) {
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

TEST_F(ControllerTest, ALongListingIsOneMessageInFragments) {
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
    EXPECT_LE(header.length, ConnectionsText::kPiece + 1024);
    text += frames.substr(header.size, header.length);
    frames.erase(0, header.size + header.length);
    fin = header.fin;
  }
  EXPECT_GT(count, 2u);
  EXPECT_EQ(frames, "");
  expect_listing(text, kMany);
}

// What ends while the list is on its way is no longer waited for, and what begins is not in it.
TEST_F(ControllerTest, FlowsComeAndGoWhileTheyAreListed) {
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
TEST_F(ControllerTest, AClientThatStallsInAListingIsCutOff) {
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

TEST_F(ControllerTest, AClientMayVanishInAListing) {
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

TEST_F(ControllerTest, StopsInAListing) {
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

TEST_F(ControllerTest, TrafficIsALineASecond) {
  start();
  Client c = connect();
  send(c, "GET /traffic HTTP/1.1\r\n" + kHost + "\r\n");
  world.run_for(500ms);
  c.read();
  EXPECT_NE(c.got.find("Transfer-Encoding: chunked\r\n"), std::string::npos);
  EXPECT_EQ(body(c.got), "");
  Client flow = connect(kProxy);
  send(flow, "hello");
  world.run_for(3s);
  c.read();
  wire::ChunkedScanner chunks;
  const std::string lines = body(c.got);
  EXPECT_EQ(chunks.advance(as_bytes(lines)), lines.size());
  EXPECT_FALSE(chunks.failed());
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '{'), 3);
  EXPECT_NE(lines.find(R"({"up":5,"down":0,"upTotal":5,"downTotal":0})"), std::string::npos)
      << lines;
}

TEST_F(ControllerTest, AWebSocketAnswersPingsAndCloses) {
  start();
  Client c = connect();
  send(c, upgrade("/memory"));
  ASSERT_TRUE(wait_for(c, "\"inuse\":0"));
  // RFC 6455 section 1.3.
  EXPECT_NE(c.got.find("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"),
            std::string::npos);
  EXPECT_EQ(body(c.got)[0], '\x81');
  send(c, std::string("\x89\x82\0\0\0\0hi", 8));
  EXPECT_TRUE(wait_for(c, "\x8a\x02hi"));
  send(c, std::string("\x88\x82\0\0\0\0\x03\xe8", 8));
  EXPECT_TRUE(wait_for(c, "\x88\x02\x03\xe8"));
  EXPECT_TRUE(wait_for_end(c, 1s));
}

// RFC 6455 section 4.4 and, for what is no handshake, 4.2.1.
TEST_F(ControllerTest, AWebSocketHandshakeThatIsNoneIsTold) {
  start("s3cret");
  const std::string good = upgrade("/traffic?token=s3cret");
  const std::string version = "Sec-WebSocket-Version: 13\r\n";
  const size_t at = good.find(version);
  for (const std::string_view other : {"Sec-WebSocket-Version: 8\r\n", ""}) {
    std::string request = good;
    const std::string answer = ask(request.replace(at, version.size(), other));
    EXPECT_EQ(status(answer), "426") << other;
    EXPECT_NE(answer.find("\r\nSec-WebSocket-Version: 13\r\n"), std::string::npos);
    EXPECT_NE(answer.find("\r\nUpgrade: websocket\r\n"), std::string::npos);
  }
  std::string two = good;
  two.insert(at, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n");
  EXPECT_EQ(status(ask(two)), "400");
  two = good;
  two.insert(at, version);
  EXPECT_EQ(status(ask(two)), "400");
  std::string elsewhere = good;
  elsewhere.replace(at, version.size(), "Sec-WebSocket-Version: 8\r\n");
  elsewhere.replace(elsewhere.find("/traffic"), 8, "/version");
  EXPECT_EQ(status(ask(elsewhere)), "200") << "an upgrade may be declined";
}

TEST_F(ControllerTest, AWebSocketThatBreaksTheRulesIsTold) {
  start();
  Client c = connect();
  send(c, upgrade("/connections?interval=1000"));
  ASSERT_TRUE(wait_for(c, "\"connections\""));
  send(c, "\x81\x02hi");  // not masked
  EXPECT_TRUE(wait_for(c, "\x88\x02\x03\xea"));
  EXPECT_TRUE(wait_for_end(c, 1s));
}

TEST_F(ControllerTest, LogsArePassedOn) {
  start();
  Client c = connect();
  send(c, "GET /logs?level=warning HTTP/1.1\r\n" + kHost + "\r\n");
  ASSERT_TRUE(wait_for(c, "\r\n\r\n"));
  CULVERT_LOG(kWarning, "for the \"client\"");
  EXPECT_TRUE(wait_for(c, R"({"type":"warning","payload":"for the \"client\""})"));
}

TEST_F(ControllerTest, ASilentClientIsClosed) {
  start();
  Client c = connect();
  send(c, "GET / HT");
  world.run_for(Controller::Options().head_time - 1s);
  c.read();
  EXPECT_EQ(c.end, Errc::kNone);
  EXPECT_TRUE(wait_for_end(c, 2s));
}

TEST_F(ControllerTest, AClientThatDoesNotReadIsClosed) {
  start();
  Client c = connect();
  // Many answers, none of them taken.
  std::string many;
  while (many.size() < 60'000) many += "GET /version HTTP/1.1\r\n" + kHost + "\r\n";
  send(c, many);
  const size_t before = world.open_streams();
  world.run_for(Controller::kWriteTime + 5s);
  EXPECT_LT(world.open_streams(), before);
}

TEST_F(ControllerTest, AsManyClientsAsThereMayBe) {
  start();
  std::vector<Client> clients;
  for (size_t i = 0; i < Controller::kMaxClients; ++i) clients.push_back(connect());
  world.run_for(100ms);
  Client more = connect();
  EXPECT_TRUE(wait_for_end(more, 1s));
  clients.pop_back();
  world.run_for(100ms);
  EXPECT_EQ(status(get("/")), "200");
}

TEST_F(ControllerTest, StopsWithClientsConnected) {
  start();
  Client c = connect();
  send(c, upgrade("/traffic"));
  Client idle = connect();
  ASSERT_TRUE(wait_for(c, "101"));
  controller->stop();
  EXPECT_TRUE(wait_for_end(c, 1s));
  EXPECT_TRUE(wait_for_end(idle, 1s));
  controller.reset();
}

}  // namespace
}  // namespace culvert::api
