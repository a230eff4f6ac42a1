// A controller, an engine of two workers and their clients in the simulated network, for the tests
// of this module.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/controller.h"
#include "api/text_source.h"
#include "config/settings.h"
#include "flow/testing/twins.h"
#include "rt/testing/sim.h"

namespace culvert::api::testing {

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

inline std::unique_ptr<flow::Inbound> make_one_flow(const flow::Options*,
                                                    const flow::BuildContext&) {
  return std::make_unique<OneFlowInbound>();
}

inline std::unique_ptr<flow::Outbound> make_scripted(std::string_view, const flow::Options*,
                                                     const flow::BuildContext&) {
  auto outbound = std::make_unique<flow::testing::ScriptedOutbound>();
  outbound->streams.emplace_back(flow::StreamPtr(std::make_unique<flow::testing::MemoryStream>()));
  return outbound;
}

inline const Endpoint kController{IpAddress::v4(0x7f000001), 9090};
inline const Endpoint kProxy{IpAddress::v4(0x7f000001), 7890};
inline const uint32_t kDirect = 0;  // the number of the first name, DIRECT
inline const std::string kHost = "Host: 127.0.0.1:9090\r\n";

class ControllerFixture : public ::testing::Test {
 protected:
  ControllerFixture() {
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
      EXPECT_LE(n, TextSource::kPiece + 1024);
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

}  // namespace culvert::api::testing
