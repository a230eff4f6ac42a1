// Where flows go: groups, chains of nodes, listeners and modes, in the real engine with real
// protocols on the simulated network, and what explain() says of the same flows.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include "app/registry.h"
#include "base/log.h"
#include "config/settings.h"
#include "engine/engine.h"
#include "engine/explain.h"
#include "flow/testing/twins.h"
#include "group/group.h"
#include "route/targets.h"
#include "rt/testing/net.h"
#include "rt/testing/sim.h"
#include "wire/socks.h"

namespace culvert {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using rt::Task;

const IpAddress kHost = *IpAddress::parse("10.0.0.1");
const Endpoint kOrigin(*IpAddress::parse("10.0.0.9"), 80);

Task<Status> read_exactly(rt::Stream& s, MutableBytes out) {
  while (!out.empty()) {
    const Result<MutableBytes> bytes = co_await rt::read_some(s, kNever);
    if (!bytes.ok()) co_return bytes.error();
    const size_t take = std::min(out.size(), bytes->size());
    std::copy_n(bytes->begin(), take, out.begin());
    s.consume(take);
    out = out.subspan(take);
  }
  co_return Status();
}

// A SOCKS5 server at the end of a way: it grants every request and notes whom it was asked for.
// What comes behind is taken for the next server's handshake, since that is what a chain sends.
struct FakeServer final : rt::Acceptor {
  FakeServer(rt::Worker& w, std::string n, std::vector<std::string>& a)
      : worker(w), name(std::move(n)), asked(a) {}
  void accepted(rt::AcceptedSocket socket) override {
    auto stream = worker.backend().adopt(std::move(socket));
    worker.scope().spawn("server", serve(*std::move(stream)));
  }
  Task<void> serve(std::unique_ptr<rt::Stream> stream) {
    for (;;) {
      uint8_t raw[300];
      Status status = co_await read_exactly(*stream, MutableBytes(raw).first(3));
      if (!status.ok()) co_return;
      const uint8_t no_auth[2] = {5, 0};
      status = co_await rt::write_all(*stream, Bytes(no_auth), kNever);
      if (!status.ok()) co_return;
      status = co_await read_exactly(*stream, MutableBytes(raw).first(5));
      if (!status.ok()) co_return;
      const size_t size = raw[3] == 1 ? 10u : raw[3] == 4 ? 22u : 7u + raw[4];
      status = co_await read_exactly(*stream, MutableBytes(raw).subspan(5, size - 5));
      if (!status.ok()) co_return;
      wire::Socks5Request request;
      if (wire::parse_socks5_request(Bytes(raw).first(size), request) != wire::Parse::kDone) {
        co_return;
      }
      asked.push_back(
          name + ": " +
          (request.address.host.empty()
               ? Endpoint(request.address.ip, request.address.port).to_string()
               : std::string(request.address.host) + ":" + std::to_string(request.address.port)));
      const uint8_t granted[10] = {5, 0, 0, 1};
      status = co_await rt::write_all(*stream, Bytes(granted), kNever);
      if (!status.ok()) co_return;
    }
  }
  rt::Worker& worker;
  const std::string name;
  std::vector<std::string>& asked;
};

struct Accepting final : rt::Acceptor {
  explicit Accepting(rt::Worker& w) : worker(w) {}
  void accepted(rt::AcceptedSocket socket) override {
    ++count;
    streams.push_back(*worker.backend().adopt(std::move(socket)));
  }
  rt::Worker& worker;
  int count = 0;
  std::vector<std::unique_ptr<rt::Stream>> streams;
};

class Lines final : public log::Sink {
 public:
  Lines() { log::add_sink(this, log::Level::kInfo); }
  ~Lines() override { log::remove_sink(this); }
  void line(log::Level, WallTime, std::string_view text) override { lines.emplace_back(text); }
  [[nodiscard]] size_t count(std::string_view part) const {
    return static_cast<size_t>(std::ranges::count_if(
        lines, [&](const std::string& l) { return l.find(part) != std::string::npos; }));
  }
  std::vector<std::string> lines;
};

struct Flow {
  Error error;
  std::string text;  // "Domain(a.example) using G[N]", from the log
};

// `listener`: by name, the first when empty.
struct From {
  std::string listener = {};
  std::string source = "10.0.0.5:1234";
  std::string user = {};
};

class RoutingSim : public ::testing::Test {
 protected:
  RoutingSim() {
    log::set_level(log::Level::kSilent);
    resolver.table["origin.example"] = {kOrigin.ip};
    rt::Worker::Enter enter(outside);
    listeners.push_back(*outside.backend().listen(kOrigin, {}, origin));
    for (const auto& [name, at] :
         {std::pair("P1", "10.0.0.21:1080"), std::pair("P2", "10.0.0.22:1080")}) {
      servers.push_back(std::make_unique<FakeServer>(outside, name, asked));
      listeners.push_back(*outside.backend().listen(*Endpoint::parse(at), {}, *servers.back()));
    }
  }
  ~RoutingSim() override {
    if (engine != nullptr) engine->stop();
    engine.reset();
    rt::Worker::Enter enter(outside);
    outside.scope().cancel();
    while (outside.turn(TimePoint::min())) {
    }
    listeners.clear();
    origin.streams.clear();
  }

  std::shared_ptr<engine::Generation> build(const std::string& profile) {
    Diagnostics out;
    auto settings = config::load_text("sim.yaml", profile, {.registry = &registry}, out);
    EXPECT_TRUE(settings) << out.to_string();
    if (!settings) return nullptr;
    auto generation = engine::Generation::build(
        std::make_shared<config::Settings>(*std::move(settings)), surroundings,
        engine == nullptr ? nullptr : engine->generation_ptr().get(), out);
    EXPECT_NE(generation, nullptr) << out.to_string();
    return generation;
  }
  void start(const std::string& profile, const engine::Engine::Choices& remembered = {}) {
    std::vector<std::unique_ptr<rt::Worker>> workers;
    workers.push_back(world.make_worker(kHost));
    worker = workers[0].get();
    engine = std::make_unique<engine::Engine>(control, std::move(workers), surroundings, false);
    Diagnostics out;
    ASSERT_TRUE(engine->start(build(profile), remembered, out).ok()) << out.to_string();
  }
  static Task<void> applying(engine::Engine& engine, std::shared_ptr<engine::Generation> next,
                             std::optional<Status>* done) {
    Diagnostics out;
    Task<Status> task = engine.apply(std::move(next), out);
    *done = co_await std::move(task);
  }
  void reload(const std::string& profile) {
    std::optional<Status> done;
    {
      rt::Worker::Enter enter(control);
      control.scope().spawn("reload", applying(*engine, build(profile), &done));
    }
    ASSERT_TRUE(world.run_until([&] { return done.has_value(); }, 10s));
    ASSERT_TRUE(done->ok());
  }

  static Task<void> opening(engine::WorkerCore& core, flow::FlowMeta meta, std::string host,
                            std::optional<Error>* done) {
    if (!host.empty()) meta.set_host(host);
    Task<Result<flow::Upstream>> task = core.open(meta);
    Result<flow::Upstream> upstream = co_await std::move(task);
    *done = upstream.ok() ? Error() : upstream.error();
  }
  flow::FlowMeta meta_of(const std::string& to, const From& from, std::string& host) {
    const engine::Generation& g = engine->generation();
    flow::FlowMeta meta;
    meta.source = *Endpoint::parse(from.source);
    for (const auto& l : g.listeners) {
      if (!from.listener.empty() && l.name != from.listener) continue;
      meta.inbound = l.number;
      meta.inbound_port = l.at.port;
      break;
    }
    meta.inbound_type = flow::InboundType::kSocks5;
    if (!from.user.empty()) {
      meta.user = surroundings.directory().number(stats::Dimension::kUser, from.user);
    }
    if (const auto endpoint = Endpoint::parse(to)) {
      meta.destination = *endpoint;
    } else {
      const size_t colon = to.rfind(':');
      host = to.substr(0, colon);
      meta.destination.port = *parse_port(std::string_view(to).substr(colon + 1));
    }
    return meta;
  }
  Flow open(const std::string& to, const From& from = {}) {
    Lines log;
    std::string host;
    const flow::FlowMeta meta = meta_of(to, from, host);
    std::optional<Error> done;
    {
      rt::Worker::Enter enter(*worker);
      worker->scope().spawn("open", opening(engine->core(0), meta, host, &done));
    }
    EXPECT_TRUE(world.run_until([&] { return done.has_value(); }, 2min)) << to;
    Flow out{done.value_or(Error(Errc::kIo)), ""};
    for (const std::string& line : log.lines) {
      if (const size_t at = line.find(" match "); at != std::string::npos) {
        out.text = line.substr(at + 7);
      }
    }
    return out;
  }
  // Where a flow went, by the log; its error if it failed.
  std::string way(const std::string& to, const From& from = {}) {
    const Flow flow = open(to, from);
    const size_t at = flow.text.find(" using ");
    std::string node = at == std::string::npos ? "?" : flow.text.substr(at + 7);
    if (flow.error.code == Errc::kNone) return node;
    return std::string(describe(flow.error.code)) + " " + node;
  }
  engine::Explanation explain(const std::string& to, const From& from = {}) {
    engine::ExplainQuery query = *engine::query_of_url(to);
    query.source = *Endpoint::parse(from.source);
    query.listener = from.listener;
    query.user = from.user;
    std::optional<std::optional<engine::Explanation>> done;
    std::string error;
    {
      rt::Worker::Enter enter(*worker);
      worker->scope().spawn("explain", explaining(query, &error, &done));
    }
    EXPECT_TRUE(world.run_until([&] { return done.has_value(); }, 10s));
    EXPECT_EQ(error, "");
    return done && *done ? **done : engine::Explanation();
  }
  Task<void> explaining(engine::ExplainQuery query, std::string* error,
                        std::optional<std::optional<engine::Explanation>>* done) {
    Task<std::optional<engine::Explanation>> task =
        engine::explain(engine->generation_ptr(), surroundings, std::move(query),
                        rt::Worker::here().now() + 5s, *error);
    done->emplace(co_await std::move(task));
  }
  void choose(std::string_view group, std::string_view member) {
    const engine::Generation& g = engine->generation();
    group::Group* found = g.find_group(group);
    ASSERT_NE(found, nullptr);
    for (uint32_t i = 0; i < found->members().size(); ++i) {
      if (g.target_name(found->members()[i]) == member) return found->choose(i);
    }
    FAIL() << member << " is no member of " << group;
  }
  std::shared_ptr<engine::Node> node(std::string_view name) {
    for (const auto& n : engine->generation().nodes) {
      if (n->name == name) return n;
    }
    return nullptr;
  }
  std::vector<std::string> chain(std::string_view target) {
    const engine::Generation& g = engine->generation();
    std::vector<std::string> out;
    const engine::Path path = g.resolve(*g.find_target(target));
    for (const uint32_t n : path.chain()) {
      out.emplace_back(surroundings.directory().name(stats::Dimension::kOutbound, n));
    }
    return out;
  }

  rt::sim::World world{1};
  rt::Worker& outside = world.add_worker(*IpAddress::parse("10.0.0.5"));
  rt::Worker& control = world.add_worker();
  flow::testing::TableResolver resolver;
  const flow::Registry registry = app::make_registry();
  engine::Surroundings surroundings{registry, resolver};
  Accepting origin{outside};
  std::vector<std::string> asked;  // "P1: a.example:80"
  std::vector<std::unique_ptr<FakeServer>> servers;
  std::vector<std::unique_ptr<rt::Listener>> listeners;
  std::unique_ptr<engine::Engine> engine;
  rt::Worker* worker = nullptr;
};

const std::string kTop =
    "mixed-port: 7890\nallow-lan: true\nbind-address: 10.0.0.1\nlog-level: silent\n";
const std::string kNodes =
    "proxies:\n"
    "  - {name: A, type: socks5, server: 10.0.0.21, port: 1080}\n"
    "  - {name: B, type: socks5, server: 10.0.0.22, port: 1080}\n";

using Texts = std::vector<std::string>;

// ---------------------------------------------------------------- groups

TEST_F(RoutingSim, NestedGroups) {
  start(kTop + kNodes +
        "proxy-groups:\n"
        "  - {name: Outer, type: select, proxies: [Inner, B]}\n"
        "  - {name: Inner, type: select, proxies: [A, DIRECT]}\n"
        "rules: ['MATCH,Outer']\n");
  EXPECT_EQ(chain("Outer"), (Texts{"A", "Inner", "Outer"}));
  EXPECT_EQ(way("a.example:80"), "Outer[A]");
  EXPECT_EQ(asked, (Texts{"P1: a.example:80"}));
  choose("Inner", "DIRECT");
  EXPECT_EQ(chain("Outer"), (Texts{"DIRECT", "Inner", "Outer"}));
  EXPECT_EQ(way("origin.example:80"), "Outer[DIRECT]");
  EXPECT_EQ(origin.count, 1);
  choose("Outer", "B");
  EXPECT_EQ(chain("Outer"), (Texts{"B", "Outer"}));
  EXPECT_EQ(explain("a.example:80").chain, (Texts{"Outer", "B"}));
}

TEST_F(RoutingSim, MoreGroupsInARowThanAreListed) {
  std::string groups = "proxy-groups:\n";
  for (int i = 0; i < 100; ++i) {
    groups += "  - {name: G" + std::to_string(i) + ", type: select, proxies: [" +
              (i == 99 ? "A" : "G" + std::to_string(i + 1)) + "]}\n";
  }
  start(kTop + kNodes + groups + "rules: ['MATCH,G0']\n");
  const Texts all = chain("G0");
  EXPECT_EQ(all.size(), size_t{stats::Conversations::kMaxChain});
  EXPECT_EQ(all.front(), "A");
  EXPECT_EQ(all.back(), "G0");
  EXPECT_EQ(way("a.example:80"), "G0[A]");
}

TEST_F(RoutingSim, ChoicesOutliveAReload) {
  const std::string groups =
      "proxy-groups:\n"
      "  - {name: G, type: select, proxies: [A, B, DIRECT], default-selected: DIRECT}\n"
      "  - {name: H, type: select, proxies: [A, B]}\n";
  start(kTop + kNodes + groups, {{"H", "B"}, {"G", "gone"}, {"nothing", "A"}});
  EXPECT_EQ(chain("G"), (Texts{"DIRECT", "G"})) << "what is remembered is no member";
  EXPECT_EQ(chain("H"), (Texts{"B", "H"}));
  choose("G", "B");
  reload(kTop + kNodes + groups + "mode: global\n");
  EXPECT_EQ(chain("G"), (Texts{"B", "G"}));
  EXPECT_EQ(chain("H"), (Texts{"B", "H"}));
  // In another place of the list, and then gone.
  reload(kTop + kNodes +
         "proxy-groups:\n"
         "  - {name: G, type: select, proxies: [DIRECT, A, REJECT, B]}\n"
         "  - {name: H, type: select, proxies: [A]}\n");
  EXPECT_EQ(chain("G"), (Texts{"B", "G"}));
  EXPECT_EQ(chain("H"), (Texts{"A", "H"}));
}

TEST_F(RoutingSim, WhatIsRememberedCountsMoreThanTheDefault) {
  start(
      kTop + kNodes +
          "proxy-groups: [{name: G, type: select, proxies: [A, B, DIRECT], default-selected: B}]\n",
      {{"G", "DIRECT"}});
  EXPECT_EQ(chain("G"), (Texts{"DIRECT", "G"}));
}

TEST_F(RoutingSim, EqualNodesAreKept) {
  start(kTop + kNodes);
  const auto a = node("A"), b = node("B"), direct = node("DIRECT");
  reload(kTop +
         "proxies:\n"
         "  - {port: 1080, server: 10.0.0.21, name: A, type: socks5}\n"
         "  - {name: B, type: socks5, server: 10.0.0.22, port: 1080, username: u}\n");
  EXPECT_EQ(node("A"), a) << "the order of keys is no difference";
  EXPECT_NE(node("B"), b);
  EXPECT_EQ(node("DIRECT"), direct);
  for (const std::string general :
       {"ipv6: false\n", "routing-mark: 1\n", "interface-name: eth0\n", "keep-alive-idle: 9\n",
        "keep-alive-interval: 9\n", "disable-keep-alive: true\n", "tcp-concurrent: true\n"}) {
    const auto a_before = node("A"), direct_before = node("DIRECT");
    reload(kTop + kNodes + general);
    EXPECT_NE(node("A"), a_before) << "what shapes all sockets: " << general;
    EXPECT_NE(node("DIRECT"), direct_before) << general;
  }
  reload(kTop +
         "proxies: [{name: A, type: http, server: 10.0.0.21, port: 1080}]\n"
         "tcp-concurrent: true\n");
  EXPECT_EQ(node("A")->type, "Http");
  EXPECT_EQ(node("B"), nullptr);
}

TEST_F(RoutingSim, PassGoesOnWithTheNextRule) {
  start(kTop + kNodes +
        "proxy-groups: [{name: G, type: select, proxies: [PASS, A]}]\n"
        "rules:\n"
        "  - DOMAIN,a.example,PASS\n"
        "  - DOMAIN-SUFFIX,example,G\n"
        "  - MATCH,B\n");
  EXPECT_EQ(open("a.example:80").text, "Match() using B");
  engine::Explanation e = explain("a.example:80");
  ASSERT_EQ(e.passed.size(), 2u);
  EXPECT_EQ(e.passed[0].index, 0u);
  EXPECT_EQ(e.passed[1].target, "G");
  EXPECT_EQ(e.rule->index, 2u);
  EXPECT_EQ(e.rule->line, 12u);
  EXPECT_EQ(e.chain, (Texts{"B"}));
  EXPECT_FALSE(e.rejected);
  choose("G", "A");
  EXPECT_EQ(open("a.example:80").text, "DomainSuffix(example) using G[A]");
  e = explain("a.example:80");
  EXPECT_EQ(e.passed.size(), 1u);
  EXPECT_EQ(e.chain, (Texts{"G", "A"}));
}

TEST_F(RoutingSim, PassInTheLastRuleIsDirect) {
  start(kTop + "rules: ['MATCH,PASS']\n");
  EXPECT_EQ(way("origin.example:80"), "DIRECT");
  EXPECT_EQ(explain("origin.example:80").chain, (Texts{"DIRECT"}));
}

// ---------------------------------------------------------------- chains

TEST_F(RoutingSim, AChainOfNodes) {
  start(kTop +
        "proxies:\n"
        "  - {name: A, type: socks5, server: 10.0.0.21, port: 1080}\n"
        "  - {name: C, type: socks5, server: c.example, port: 4433, dialer-proxy: G}\n"
        "  - {name: D, type: socks5, server: 10.0.0.24, port: 1080, dialer-proxy: C}\n"
        "proxy-groups: [{name: G, type: select, proxies: [A, DIRECT]}]\n"
        "rules: ['DOMAIN,two.example,C', 'MATCH,D']\n");
  EXPECT_EQ(way("two.example:80"), "C");
  EXPECT_EQ(asked, (Texts{"P1: c.example:4433", "P1: two.example:80"}));
  EXPECT_EQ(resolver.asked, 0) << "names are the last one's to resolve";
  asked.clear();
  EXPECT_EQ(way("three.example:80"), "D");
  EXPECT_EQ(asked, (Texts{"P1: c.example:4433", "P1: 10.0.0.24:1080", "P1: three.example:80"}));
  EXPECT_EQ(explain("three.example:80").dialer_chain, (Texts{"C", "G", "A"}));
  // Which node a group in the way stands for is looked up for every flow.
  choose("G", "DIRECT");
  resolver.table["c.example"] = {*IpAddress::parse("10.0.0.22")};
  asked.clear();
  EXPECT_EQ(open("two.example:80").error.code, Errc::kRefused) << "nobody is at port 4433";
  EXPECT_EQ(resolver.asked, 1);
  EXPECT_TRUE(asked.empty());
}

// K07.
TEST_F(RoutingSim, AChainThatHasBecomeALoop) {
  start(kTop +
        "proxies:\n"
        "  - {name: N, type: socks5, server: 10.0.0.21, port: 1080, dialer-proxy: D}\n"
        "proxy-groups: [{name: D, type: select, proxies: [DIRECT, N]}]\n"
        "rules: ['DOMAIN,looped.example,N', 'DOMAIN,grouped.example,D', 'MATCH,DIRECT']\n");
  EXPECT_EQ(way("looped.example:80"), "N");
  EXPECT_EQ(asked, (Texts{"P1: looped.example:80"}));
  choose("D", "N");
  Lines log;
  EXPECT_EQ(way("looped.example:80"), "rejected N");
  // Sampled: none where another test has just had one.
  EXPECT_LE(log.count("dial loop"), 1u);
  EXPECT_EQ(log.count("dial loop"), log.count("dial loop: N -> D -> N"));
  EXPECT_EQ(way("grouped.example:80"), "rejected D[N]");
  EXPECT_EQ(way("origin.example:80"), "DIRECT") << "others go on";
  const engine::Explanation e = explain("looped.example:80");
  EXPECT_TRUE(e.rejected);
  EXPECT_NE(e.why.find("loop"), std::string::npos) << e.why;
  EXPECT_EQ(e.dialer_chain, (Texts{"D", "N"}));

  for (int i = 0; i < 100; ++i) (void)open("looped.example:80");
  log.lines.clear();
  log.lines.shrink_to_fit();
  const size_t memory = mallinfo2().uordblks;
  for (int i = 0; i < 1000; ++i) {
    const TimePoint before = world.now();
    ASSERT_EQ(open("looped.example:80").error.code, Errc::kRejected);
    ASSERT_EQ(world.now(), before) << "at once";
    log.lines.clear();
    world.run_for(1ms);
  }
  EXPECT_LT(mallinfo2().uordblks, memory + (64 << 10));
  EXPECT_EQ(asked.size(), 1u);
  choose("D", "DIRECT");
  EXPECT_EQ(way("looped.example:80"), "N");
}

// The node that is dialled need not be part of the loop, and the line names what is, once.
TEST_F(RoutingSim, ALoopBehindTheNode) {
  std::string nodes = "proxies:\n";
  for (int i = 0; i < 300; ++i) {
    nodes += "  - {name: F" + std::to_string(i) + ", type: socks5, server: 10.0.0.21, port: 1}\n";
  }
  start(kTop + nodes +
        "  - {name: N, type: socks5, server: 10.0.0.21, port: 1080, dialer-proxy: X}\n"
        "  - {name: X, type: socks5, server: 10.0.0.21, port: 1080, dialer-proxy: G}\n"
        "  - {name: Y, type: socks5, server: 10.0.0.21, port: 1080, dialer-proxy: X}\n"
        "proxy-groups: [{name: G, type: select, proxies: [DIRECT, Y]}]\n"
        "rules: ['MATCH,N']\n");
  EXPECT_EQ(way("a.example:80"), "N");
  choose("G", "Y");
  Lines log;
  EXPECT_EQ(way("a.example:80"), "rejected N");
  for (const std::string& line : log.lines) {
    // The line is sampled; whether it is there depends on who wrote the last one.
    if (line.find("dial loop") != std::string::npos) {
      EXPECT_EQ(line, "dial loop: N -> X -> G -> Y -> X");
    }
  }
}

// The profile names the server; the client would not get there by itself.
TEST_F(RoutingSim, AServerOfThisHostThroughDirect) {
  FakeServer here(outside, "here", asked);
  {
    rt::Worker::Enter enter(outside);
    listeners.push_back(*outside.backend().listen(*Endpoint::parse("127.0.0.1:1080"), {}, here));
  }
  start(kTop +
        "proxies:\n"
        "  - {name: S, type: socks5, server: 127.0.0.1, port: 1080}\n"
        "  - {name: T, type: socks5, server: 127.0.0.1, port: 1080, dialer-proxy: DIRECT}\n"
        "rules: ['DOMAIN,a.example,S', 'DOMAIN,b.example,T', 'MATCH,DIRECT']\n");
  const From other{.source = "192.0.2.9:1234"};
  EXPECT_EQ(way("a.example:80", other), "S");
  EXPECT_EQ(way("b.example:80", other), "T");
  EXPECT_EQ(asked, (Texts{"here: a.example:80", "here: b.example:80"}));
  EXPECT_EQ(way("127.0.0.1:1080", other), "rejected DIRECT");
  EXPECT_TRUE(explain("127.0.0.1:1080", other).rejected);
}

TEST_F(RoutingSim, AServerThatIsOurOwnListener) {
  start(
      "mixed-port: 7890\nlog-level: silent\n"
      "proxies:\n"
      "  - {name: S, type: socks5, server: 127.0.0.1, port: 7890}\n"
      "  - {name: T, type: http, server: 127.0.0.1, port: 7890, dialer-proxy: DIRECT}\n"
      "rules: ['DOMAIN,a.example,S', 'DOMAIN,b.example,T', 'MATCH,DIRECT']\n");
  EXPECT_EQ(way("a.example:80"), "rejected S");
  EXPECT_EQ(way("b.example:80"), "rejected T");
  const From local{.source = "127.0.0.1:1234"};
  EXPECT_EQ(way("127.0.0.1:7890", local), "rejected DIRECT");
  const engine::Explanation e = explain("127.0.0.1:7890", local);
  EXPECT_TRUE(e.rejected);
  EXPECT_EQ(e.why, "the destination is a listener of this program: a loop");
}

// ---------------------------------------------------------------- modes and listeners

TEST_F(RoutingSim, Modes) {
  const std::string rest = kNodes +
                           "proxy-groups: [{name: GLOBAL, type: select, proxies: [PASS, A, B]}]\n"
                           "rules: ['MATCH,REJECT']\n";
  start(kTop + rest);
  EXPECT_EQ(way("origin.example:80"), "rejected REJECT");
  reload(kTop + rest + "mode: direct\n");
  EXPECT_EQ(open("origin.example:80").text, "() using DIRECT");
  EXPECT_EQ(explain("origin.example:80").decided_by, "mode direct");
  reload(kTop + rest + "mode: global\n");
  choose("GLOBAL", "B");
  EXPECT_EQ(open("origin.example:80").text, "() using GLOBAL[B]");
  EXPECT_EQ(explain("origin.example:80").chain, (Texts{"GLOBAL", "B"}));
  EXPECT_EQ(asked, (Texts{"P2: origin.example:80"}));
  choose("GLOBAL", "PASS");
  EXPECT_EQ(way("origin.example:80"), "DIRECT") << "there is no next rule";
}

const std::string kListeners =
    "listeners:\n"
    "  - {name: by-proxy, type: socks, listen: 10.0.0.1, port: 7001, proxy: A}\n"
    "  - {name: by-rule, type: http, listen: 10.0.0.1, port: 7002, rule: mine}\n"
    "  - {name: plain, type: mixed, listen: 10.0.0.1, port: 7003}\n"
    "sub-rules:\n"
    "  mine: ['DOMAIN,mine.example,B', 'MATCH,REJECT']\n"
    "rules: ['IN-NAME,plain,B', 'IN-USER,u1/u2,A', 'MATCH,DIRECT']\n";

TEST_F(RoutingSim, ListenersOfTheirOwnWays) {
  start(kTop + kNodes + kListeners);
  EXPECT_EQ(open("origin.example:80", {.listener = "by-proxy"}).text, "() using A");
  EXPECT_EQ(explain("origin.example:80", {.listener = "by-proxy"}).decided_by,
            "the listener's proxy");
  EXPECT_EQ(open("mine.example:80", {.listener = "by-rule"}).text, "Domain(mine.example) using B");
  EXPECT_EQ(way("origin.example:80", {.listener = "by-rule"}), "rejected REJECT");
  const engine::Explanation e = explain("origin.example:80", {.listener = "by-rule"});
  EXPECT_EQ(e.sub_rules, "mine");
  EXPECT_EQ(e.rule->index, 1u);
  EXPECT_TRUE(e.rejected);
  EXPECT_EQ(open("origin.example:80", {.listener = "plain"}).text, "InName(plain) using B");
  EXPECT_EQ(way("origin.example:80", {.listener = "DEFAULT-MIXED"}), "DIRECT");
  EXPECT_EQ(way("origin.example:80", {.user = "u2"}), "A");
  EXPECT_EQ(explain("origin.example:80", {.user = "u2"}).chain, (Texts{"A"}));
  EXPECT_EQ(way("origin.example:80", {.user = "u3"}), "DIRECT");
}

TEST_F(RoutingSim, ClientsThatAreNotAdmitted) {
  start(kTop + "lan-allowed-ips: [10.0.0.0/24]\nlan-disallowed-ips: [10.0.0.66/32]\n" + kNodes +
        kListeners);
  for (const auto& [source, admitted] :
       {std::pair("10.0.0.5:1", true), std::pair("10.0.0.66:1", false),
        std::pair("192.0.2.1:1", false)}) {
    const From from{.listener = "DEFAULT-MIXED", .source = source};
    EXPECT_EQ(explain("origin.example:80", from).admitted, admitted) << source;
    EXPECT_EQ(explain("origin.example:80", from).rejected, !admitted) << source;
    EXPECT_TRUE(explain("origin.example:80", {.listener = "plain", .source = source}).admitted);
  }
}

TEST_F(RoutingSim, NodesThatAreNotSupported) {
  start(kTop +
        "proxies: [{name: V, type: vmess, server: a.example, port: 1, uuid: x, alterId: 0, "
        "cipher: auto}]\n"
        "rules: ['MATCH,V']\n");
  EXPECT_EQ(way("origin.example:80"), "rejected V");
  const engine::Explanation e = explain("origin.example:80");
  EXPECT_TRUE(e.rejected);
  EXPECT_NE(e.why.find("V rejects its flows: "), std::string::npos) << e.why;
  EXPECT_EQ(e.node_type, "Vmess");
}

// K13, without fake-ip.
TEST_F(RoutingSim, WhichRulesAskForTheAddress) {
  start(kTop + kNodes +
        "rules:\n"
        "  - DOMAIN-SUFFIX,p.example,A\n"
        "  - IP-CIDR,198.51.100.0/24,REJECT,no-resolve\n"
        "  - SRC-IP-CIDR,192.0.2.0/24,B\n"
        "  - IP-CIDR,192.0.2.128/25,REJECT,src\n"
        "  - IP-CIDR,203.0.113.0/24,REJECT\n"
        "  - MATCH,A\n");
  EXPECT_EQ(way("x.p.example:80"), "A");
  EXPECT_EQ(way("origin.example:80", {.source = "192.0.2.7:1"}), "B");
  EXPECT_EQ(resolver.asked, 0);
  EXPECT_EQ(way("198.51.100.7:80"), "rejected REJECT");
  EXPECT_EQ(resolver.asked, 0);
  EXPECT_EQ(open("origin.example:80").text, "Match() using A");
  EXPECT_EQ(resolver.asked, 1);
  resolver.table["in.example"] = {*IpAddress::parse("203.0.113.9")};
  EXPECT_EQ(way("in.example:80"), "rejected REJECT");
  const engine::Explanation e = explain("in.example:80");
  EXPECT_EQ(e.resolved_for, 4u);
  EXPECT_EQ(e.resolved.to_string(), "203.0.113.9");
  EXPECT_EQ(e.rule->index, 4u);
  EXPECT_EQ(explain("x.p.example:80").resolved_for, std::nullopt);
  // A name without an address matches no rule that needs one.
  EXPECT_EQ(open("nowhere.example:80").text, "Match() using A");
  EXPECT_EQ(explain("nowhere.example:80").resolved_for, 4u);
}

// A rule that sends everything does not name an address, however it is written.
TEST_F(RoutingSim, EverythingIsNoAddress) {
  start(kTop + "rules: ['IP-CIDR,127.0.0.9/32,DIRECT', 'IP-CIDR,0.0.0.0/0,DIRECT']\n");
  const From other{.source = "192.0.2.9:1234"};
  EXPECT_EQ(way("127.0.0.1:80", other), "rejected DIRECT");
  EXPECT_EQ(open("127.0.0.9:80", other).error.code, Errc::kRefused) << "nobody is there";
  EXPECT_FALSE(explain("127.0.0.9:80", other).rejected);
}

}  // namespace
}  // namespace culvert
