#include "dns/system_resolver.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "rt/await.h"
#include "rt/testing/sim.h"
#include "wire/dns.h"

namespace culvert::dns {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

constexpr uint16_t kPort = 5353;

IpAddress ip(const char* text) {
  return *IpAddress::parse(text);
}
std::string be16(unsigned v) {
  return {static_cast<char>(v >> 8), static_cast<char>(v)};
}
std::string be32(uint32_t v) {
  return be16(v >> 16) + be16(v & 0xffff);
}

// A query as it came, and what can be said to it.
struct Query {
  uint16_t id = 0;
  std::string name;
  uint16_t type = 0;
  bool tcp = false;
  std::string question;  // as it was sent

  static Query read(Bytes raw) {
    Query q;
    q.id = load_be16(raw.data());
    size_t at = 12;
    while (raw[at] != 0) {
      if (!q.name.empty()) q.name += '.';
      q.name += as_text(raw.subspan(at + 1, raw[at]));
      at += 1u + raw[at];
    }
    q.type = load_be16(raw.data() + at + 1);
    q.question = as_text(raw.subspan(12, at + 5 - 12));
    return q;
  }
  [[nodiscard]] std::string message(unsigned flags, const std::vector<std::string>& answers,
                                    const std::string& authority = "") const {
    std::string out = be16(id) + be16(0x8180u | flags) + be16(1) +
                      be16(static_cast<unsigned>(answers.size())) +
                      be16(authority.empty() ? 0 : 1) + be16(0) + question;
    for (const std::string& a : answers) out += a;
    return out + authority;
  }
  // The addresses among `all` that are of the type asked.
  [[nodiscard]] std::string addresses(const std::vector<IpAddress>& all, uint32_t ttl) const {
    std::vector<std::string> records;
    for (const IpAddress& a : all) {
      if (a.is_v4() != (type == wire::dns::kTypeA)) continue;
      records.push_back("\xc0\x0c"s + be16(type) + be16(1) + be32(ttl) +
                        be16(static_cast<unsigned>(a.size())) + std::string(as_text(a.view())));
    }
    return message(0, records, records.empty() ? soa(ttl) : "");
  }
  [[nodiscard]] std::string error(unsigned rcode) const { return message(rcode, {}); }
  [[nodiscard]] std::string no_name(uint32_t ttl) const { return message(3, {}, soa(ttl)); }
  [[nodiscard]] std::string truncated() const { return message(0x0200, {}); }
  static std::string soa(uint32_t ttl) {
    return "\0"s + be16(6) + be16(1) + be32(ttl) + be16(22) + "\0\0"s + std::string(16, '\0') +
           be32(ttl);
  }
};

// A name server on the simulated network. By default it knows nothing and says so.
class FakeServer final : public rt::Acceptor {
 public:
  using Answers = std::vector<std::string>;
  FakeServer(rt::Worker& worker, IpAddress address)
      : worker_(worker),
        socket_(*worker.backend().open_datagram({address, kPort}, {})),
        listener_(*worker.backend().listen({address, kPort}, {}, *this)) {
    socket_->wait_readable(&waiter_);
  }
  // What is sent back, one datagram each; the first one over TCP.
  std::function<Answers(const Query&)> answer = [](const Query& q) {
    return Answers{q.no_name(60)};
  };
  std::vector<Query> asked;
  std::vector<Endpoint> askers;
  bool tcp_open = true;

  [[nodiscard]] std::string names() const {
    std::string out;
    for (const Query& q : asked) {
      if (q.type == wire::dns::kTypeA) out += q.name + " ";
    }
    return out;
  }

  void accepted(rt::AcceptedSocket socket) override {
    if (!tcp_open) return;
    auto stream = worker_.backend().adopt(std::move(socket));
    if (stream.ok()) worker_.scope().spawn("fake tcp", serve(*std::move(stream)));
  }

 private:
  struct Link : rt::Waiter {
    explicit Link(FakeServer* s) : Waiter(&FakeServer::on_ready), self(s) {}
    FakeServer* self;
  };
  static void on_ready(rt::Waiter& w) {
    FakeServer& self = *static_cast<Link&>(w).self;
    rt::Datagram in;
    while (self.socket_->receive({&in, 1}).ok()) {
      const Query q = Query::read(in.payload);
      self.asked.push_back(q);
      self.askers.push_back(in.peer);
      for (std::string& bytes : self.answer(q)) {
        rt::Datagram out;
        out.peer = in.peer;
        out.payload = MutableBytes(reinterpret_cast<uint8_t*>(bytes.data()), bytes.size());
        EXPECT_TRUE(self.socket_->send({&out, 1}).ok());
      }
    }
    self.socket_->wait_readable(&self.waiter_);
  }
  rt::Task<void> serve(std::unique_ptr<rt::Stream> stream) {
    std::string got;
    while (got.size() < 2 ||
           got.size() < 2u + load_be16(reinterpret_cast<const uint8_t*>(got.data()))) {
      const Result<MutableBytes> bytes = co_await rt::read_some(*stream, kNever);
      if (!bytes.ok()) co_return;
      got += as_text(*bytes);
      stream->consume(bytes->size());
    }
    Query q = Query::read(as_bytes(got).subspan(2));
    q.tcp = true;
    asked.push_back(q);
    const Answers answers = answer(q);
    if (answers.empty()) co_return;
    const std::string out = be16(static_cast<unsigned>(answers[0].size())) + answers[0];
    const Status sent = co_await rt::write_all(*stream, as_bytes(out), kNever);
    (void)sent;
    // The client closes.
    const Result<MutableBytes> end = co_await rt::read_some(*stream, kNever);
    (void)end;
  }

  rt::Worker& worker_;
  Link waiter_{this};
  std::unique_ptr<rt::DatagramSocket> socket_;
  std::unique_ptr<rt::Listener> listener_;
};

rt::Task<void> resolve_into(SystemResolver& resolver, std::string host, TimePoint deadline,
                            Result<flow::AddressList>* out, bool* done) {
  *out = co_await resolver.resolve(host, deadline);
  *done = true;
}

class SystemResolverTest : public ::testing::Test {
 protected:
  SystemResolverTest() {
    folder = testing::TempDir() + "resolver_" + std::to_string(getpid()) + "_" +
             testing::UnitTest::GetInstance()->current_test_info()->name();
    mkdir(folder.c_str(), 0700);
    write("resolv.conf", "nameserver 192.0.2.53\nnameserver 192.0.2.54\n");
    write("hosts", "");
    start(true);
  }
  ~SystemResolverTest() override {
    worker.scope().cancel();
    while (worker.turn(TimePoint::min())) {
    }
    unlink((folder + "/resolv.conf").c_str());
    unlink((folder + "/hosts").c_str());
    rmdir(folder.c_str());
  }
  void write(const char* file, std::string_view text) {
    std::ofstream(folder + "/" + file) << text;
  }
  void start(bool ipv6) {
    SystemResolver::Options options;
    options.resolv_conf = folder + "/resolv.conf";
    options.hosts = folder + "/hosts";
    options.ipv6 = ipv6;
    options.port = kPort;
    resolver = std::make_unique<SystemResolver>(options);
  }
  // The addresses, or the code's words; `took` is the virtual time it took.
  std::string resolve(std::string host, Duration limit = 30s) {
    // The worker reads the clock once per turn.
    worker.turn(TimePoint::min());
    const TimePoint begun = world.now();
    Result<flow::AddressList> out = Errc::kInvalid;
    bool done = false;
    worker.scope().spawn("resolve",
                         resolve_into(*resolver, std::move(host), begun + limit, &out, &done));
    EXPECT_TRUE(world.run_until([&] { return done; }, 10min));
    took = world.now() - begun;
    if (!out.ok()) return std::string(describe(out.code()));
    std::string text;
    for (const IpAddress& a : out->view()) text += (text.empty() ? "" : " ") + a.to_string();
    return text;
  }
  static FakeServer::Answers always(const Query& q) {
    return {q.addresses({ip("192.0.2.1"), ip("2001:db8::1")}, 60)};
  }
  void use_second() { second.answer = always; }

  rt::sim::World world{5};
  rt::Worker& worker = world.add_worker();
  rt::Worker::Enter enter{worker};
  FakeServer first{worker, ip("192.0.2.53")};
  FakeServer second{worker, ip("192.0.2.54")};
  std::string folder;
  std::unique_ptr<SystemResolver> resolver;
  Duration took{};
};

const std::string kBoth = "2001:db8::1 192.0.2.1";
const std::string kNone = std::string(describe(Errc::kNoName));

TEST_F(SystemResolverTest, MergesBothFamilies) {
  first.answer = always;
  EXPECT_EQ(resolve("A.Example."), kBoth);
  ASSERT_EQ(first.asked.size(), 2u);
  EXPECT_EQ(first.asked[0].name, "a.example");
  EXPECT_NE(first.asked[0].type, first.asked[1].type);
  EXPECT_NE(first.askers[0].port, first.askers[1].port) << "a port for each query";
  EXPECT_TRUE(second.asked.empty());
}

TEST_F(SystemResolverTest, AsksForIpv6OnlyWhereItIsOn) {
  start(false);
  first.answer = always;
  write("hosts", "2001:db8::7 six.example\n192.0.2.7 both.example\n2001:db8::7 both.example\n");
  EXPECT_EQ(resolve("a.example"), "192.0.2.1");
  ASSERT_EQ(first.asked.size(), 1u);
  EXPECT_EQ(first.asked[0].type, wire::dns::kTypeA);
  EXPECT_EQ(resolve("both.example"), "192.0.2.7");
}

TEST_F(SystemResolverTest, Ipv6MayBeSwitched) {
  first.answer = always;
  EXPECT_EQ(resolve("a.example"), kBoth);
  resolver->set_ipv6(false);
  EXPECT_EQ(resolve("a.example"), "192.0.2.1") << "what was known is forgotten";
  resolver->set_ipv6(true);
  EXPECT_EQ(resolve("a.example"), kBoth);
}

TEST_F(SystemResolverTest, TheHostsFileComesFirst) {
  write("hosts", "192.0.2.7 A.Example\n2001:db8::7 a.example\n192.0.2.8 other\n");
  first.answer = always;
  EXPECT_EQ(resolve("a.example"), "192.0.2.7 2001:db8::7");
  EXPECT_EQ(resolve("OTHER"), "192.0.2.8");
  EXPECT_TRUE(first.asked.empty());
  EXPECT_EQ(resolve("b.example"), kBoth);
}

TEST_F(SystemResolverTest, AsksNobodyAboutLiteralsLocalhostAndNonsense) {
  first.answer = always;
  EXPECT_EQ(resolve("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(resolve("2001:db8::7"), "2001:db8::7");
  EXPECT_EQ(resolve("localhost"), "127.0.0.1");
  EXPECT_EQ(resolve("a.LOCALHOST."), "127.0.0.1");
  for (const char* bad : {"", ".", "a b", "a..b", "\xff"}) EXPECT_EQ(resolve(bad), kNone) << bad;
  EXPECT_TRUE(first.asked.empty());
}

TEST_F(SystemResolverTest, AsksInPunycode) {
  first.answer = always;
  EXPECT_EQ(resolve("BÜCHER.example"), kBoth);
  EXPECT_EQ(first.asked.at(0).name, "xn--bcher-kva.example");
}

TEST_F(SystemResolverTest, FilesThatChangedAreReadAgain) {
  first.answer = always;
  EXPECT_EQ(resolve("a.example"), kBoth);
  write("hosts", "192.0.2.7 a.example\n");
  EXPECT_EQ(resolve("a.example"), kBoth) << "looked at once in a while only";
  world.run_for(SystemResolver::kFileCheck);
  EXPECT_EQ(resolve("a.example"), "192.0.2.7");
  unlink((folder + "/hosts").c_str());
  world.run_for(SystemResolver::kFileCheck);
  EXPECT_EQ(resolve("a.example"), kBoth);
}

// ---------------------------------------------------------------- search

TEST_F(SystemResolverTest, ShortNamesAreTriedWithTheSearchDomains) {
  write("resolv.conf", "nameserver 192.0.2.53\nsearch corp.example lab.example\noptions ndots:2\n");
  first.answer = [](const Query& q) {
    return q.name == "a.lab.example" || q.name == "x.y.z" ? always(q)
                                                          : FakeServer::Answers{q.no_name(60)};
  };
  EXPECT_EQ(resolve("a"), kBoth);
  EXPECT_EQ(first.names(), "a.corp.example a.lab.example ");
  first.asked.clear();
  EXPECT_EQ(resolve("a"), kBoth);
  EXPECT_TRUE(first.asked.empty()) << "known by the name that was asked for";
  EXPECT_EQ(resolve("x.y.z"), kBoth);
  EXPECT_EQ(first.names(), "x.y.z ") << "dots enough: as it is";
  first.asked.clear();
  EXPECT_EQ(resolve("b.c"), kNone);
  EXPECT_EQ(first.names(), "b.c.corp.example b.c.lab.example b.c ");
}

// ---------------------------------------------------------------- servers that fail: K18

TEST_F(SystemResolverTest, RefusalsGarbageAndSilenceFallToTheNextServer) {
  struct Case {
    const char* what;
    std::function<FakeServer::Answers(const Query&)> answer;
    Duration most;
  };
  const Case cases[] = {
      {"refused", [](const Query& q) { return FakeServer::Answers{q.error(5)}; }, 100ms},
      {"servfail", [](const Query& q) { return FakeServer::Answers{q.error(2)}; }, 100ms},
      {"formerr", [](const Query& q) { return FakeServer::Answers{q.error(1)}; }, 100ms},
      {"notimp", [](const Query& q) { return FakeServer::Answers{q.error(4)}; }, 100ms},
      {"few bytes", [](const Query&) { return FakeServer::Answers{"garbage"}; }, 100ms},
      {"cut short",
       [](const Query& q) {
         const std::string whole = q.addresses({ip("192.0.2.9"), ip("2001:db8::9")}, 60);
         return FakeServer::Answers{whole.substr(0, whole.size() - 1)};
       },
       100ms},
      {"other bytes", [](const Query&) { return FakeServer::Answers{std::string(400, '\x5a')}; },
       2100ms},
      {"a flood of strays",
       [](const Query& q) {
         Query other = q;
         ++other.id;
         return FakeServer::Answers(100, other.error(0));
       },
       100ms},
      {"silence", [](const Query&) { return FakeServer::Answers{}; }, 2100ms},
  };
  use_second();
  for (const Case& c : cases) {
    first.answer = c.answer;
    EXPECT_EQ(resolve("a.example"), kBoth) << c.what;
    EXPECT_LT(took, c.most) << c.what;
    resolver->flush();
  }
}

TEST_F(SystemResolverTest, NoNameAndNoRecordAreFinal) {
  use_second();
  EXPECT_EQ(resolve("a.example"), kNone);
  first.answer = [](const Query& q) { return FakeServer::Answers{q.addresses({}, 60)}; };
  EXPECT_EQ(resolve("b.example"), kNone);
  EXPECT_TRUE(second.asked.empty());
}

TEST_F(SystemResolverTest, AnEndOfAllServersIsNoVerdictOnTheName) {
  for (FakeServer* s : {&first, &second}) {
    s->answer = [](const Query& q) { return FakeServer::Answers{q.error(2)}; };
  }
  EXPECT_EQ(resolve("a.example"), describe(Errc::kUnreachable));
  EXPECT_EQ(resolver->cached(), 0u);
  EXPECT_EQ(first.asked.size(), 4u) << "two families, two attempts";
  use_second();
  EXPECT_EQ(resolve("a.example"), kBoth);
}

// One family failed, the other has no address: that is not "no such name".
TEST_F(SystemResolverTest, AFailedHalfIsNoNegativeAnswer) {
  for (FakeServer* s : {&first, &second}) {
    s->answer = [](const Query& q) {
      return FakeServer::Answers{q.type == wire::dns::kTypeA ? q.error(2) : q.addresses({}, 300)};
    };
  }
  EXPECT_EQ(resolve("a.example"), describe(Errc::kUnreachable));
  EXPECT_EQ(resolver->cached(), 0u);
  first.answer = always;
  EXPECT_EQ(resolve("a.example"), kBoth);
}

// "No such name" holds for both families, whichever was asked: the search goes on.
TEST_F(SystemResolverTest, ADeniedNameIsDeniedForBothFamilies) {
  write("resolv.conf", "nameserver 192.0.2.53\nsearch corp.example lab.example\n");
  first.answer = [](const Query& q) {
    if (q.name == "a.lab.example") return always(q);
    return FakeServer::Answers{q.type == wire::dns::kTypeA ? q.no_name(60) : q.error(2)};
  };
  EXPECT_EQ(resolve("a"), kBoth);
}

// One family failed, the other has addresses: they are used, and the rest asked for again soon.
TEST_F(SystemResolverTest, HalfAnAnswerIsKeptForAMomentOnly) {
  for (FakeServer* s : {&first, &second}) {
    s->answer = [](const Query& q) {
      return q.type == wire::dns::kTypeA ? FakeServer::Answers{q.error(2)} : always(q);
    };
  }
  EXPECT_EQ(resolve("a.example"), "2001:db8::1");
  first.answer = always;
  world.run_for(6s);
  EXPECT_EQ(resolve("a.example"), kBoth);
}

TEST_F(SystemResolverTest, TheDeadlineEndsItAll) {
  for (FakeServer* s : {&first, &second}) {
    s->answer = [](const Query&) { return FakeServer::Answers{}; };
  }
  EXPECT_EQ(resolve("a.example", 3s), describe(Errc::kTimedOut));
  EXPECT_GE(took, 3s);
  EXPECT_LT(took, 3100ms);
  EXPECT_EQ(resolve("a.example", 1min), describe(Errc::kTimedOut));
  EXPECT_LT(took, 9s) << "two servers, two attempts, two seconds each";
  EXPECT_EQ(resolver->cached(), 0u);
}

TEST_F(SystemResolverTest, CancellationIsHeardAndNothingIsLearnt) {
  for (FakeServer* s : {&first, &second}) {
    s->answer = [](const Query& q) {
      return q.type == wire::dns::kTypeA ? FakeServer::Answers{}
                                         : FakeServer::Answers{q.addresses({}, 300)};
    };
  }
  rt::Scope scope(&worker.scope());
  Result<flow::AddressList> out = Errc::kInvalid;
  bool done = false;
  scope.spawn("resolve", resolve_into(*resolver, "a.example", world.now() + 1min, &out, &done));
  world.run_for(500ms);
  EXPECT_FALSE(done);
  scope.cancel();
  ASSERT_TRUE(world.run_until([&] { return scope.running() == 0; }, 1s));
  EXPECT_EQ(out.code(), Errc::kCancelled);
  EXPECT_EQ(resolver->cached(), 0u);
}

TEST_F(SystemResolverTest, ALossyNetworkIsAskedAgain) {
  write("resolv.conf",
        "nameserver 192.0.2.53\nnameserver 192.0.2.54\noptions attempts:5 timeout:1\n");
  first.answer = always;
  use_second();
  world.faults().lose = 0.3;
  world.faults().duplicate = 0.1;
  size_t asked = 0;
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(resolve("n" + std::to_string(i) + ".example", 1min), kBoth) << i;
  }
  asked = first.asked.size() + second.asked.size();
  EXPECT_GT(asked, 90u) << "nothing was lost";
}

// ---------------------------------------------------------------- answers that are not ours

TEST_F(SystemResolverTest, OnlyTheAnswerToTheQuestionIsTaken) {
  const std::vector<IpAddress> wrong = {ip("203.0.113.9"), ip("2001:db8::bad")};
  first.answer = [&](const Query& q) {
    Query other_id = q, other_name = q, other_type = q;
    other_id.id ^= 1;
    other_name.question[1] = 'b';
    other_type.question[other_type.question.size() - 3] = 16;
    std::string a_query = q.addresses(wrong, 60);
    a_query[2] = static_cast<char>(a_query[2] & 0x7f);
    return FakeServer::Answers{other_id.addresses(wrong, 60), other_name.addresses(wrong, 60),
                               other_type.addresses(wrong, 60), a_query, always(q)[0]};
  };
  // Datagrams of one sender may overtake each other.
  world.faults().latency_min = world.faults().latency_max = 1ms;
  EXPECT_EQ(resolve("a.example"), kBoth);
  EXPECT_LT(took, 100ms);
}

TEST_F(SystemResolverTest, AnAnswerFromElsewhereIsNotHeard) {
  auto liar = *worker.backend().open_datagram({ip("192.0.2.66"), kPort}, {});
  first.answer = [&](const Query& q) {
    std::string bytes = q.addresses({ip("203.0.113.9"), ip("2001:db8::bad")}, 60);
    rt::Datagram out;
    // The asker is noted before its question is answered.
    out.peer = first.askers.back();
    out.payload = MutableBytes(reinterpret_cast<uint8_t*>(bytes.data()), bytes.size());
    EXPECT_TRUE(liar->send({&out, 1}).ok());
    return FakeServer::Answers{};
  };
  use_second();
  EXPECT_EQ(resolve("a.example"), kBoth);
}

TEST_F(SystemResolverTest, RecordsOfOtherNamesAreDropped) {
  first.answer = [](const Query& q) {
    const std::string other = "\x01x\x07"s + "example\0"s + be16(q.type) + be16(1) + be32(60);
    const bool v4 = q.type == wire::dns::kTypeA;
    return FakeServer::Answers{
        q.message(0, {other + be16(v4 ? 4 : 16) + std::string(v4 ? 4 : 16, '\x09')})};
  };
  EXPECT_EQ(resolve("a.example"), kNone);
  first.answer = always;
  EXPECT_EQ(resolve("x.example"), kBoth) << "nothing was learnt about it";
}

// ---------------------------------------------------------------- TCP

TEST_F(SystemResolverTest, ATruncatedAnswerIsAskedForAgainOverTcp) {
  first.answer = [](const Query& q) {
    return q.tcp ? always(q) : FakeServer::Answers{q.truncated()};
  };
  world.faults().short_read = 0.9;
  world.faults().short_write = 0.9;
  EXPECT_EQ(resolve("a.example"), kBoth);
  EXPECT_EQ(first.asked.size(), 4u);
  EXPECT_TRUE(second.asked.empty());
  world.run_until_idle(1min);
  EXPECT_EQ(world.open_streams(), 0u);
}

TEST_F(SystemResolverTest, TcpThatFailsFallsToTheNextServer) {
  first.answer = [](const Query& q) {
    return q.tcp ? FakeServer::Answers{} : FakeServer::Answers{q.truncated()};
  };
  use_second();
  EXPECT_EQ(resolve("a.example"), kBoth) << "closed after the question";
  EXPECT_LT(took, 200ms);
  resolver->flush();
  first.tcp_open = false;
  EXPECT_EQ(resolve("a.example"), kBoth) << "closed at once";
  EXPECT_LT(took, 200ms);
  resolver->flush();
  world.faults().blackhole = 1;
  EXPECT_EQ(resolve("a.example"), kBoth) << "no answer to the connection";
  EXPECT_LT(took, 2100ms);
  world.run_until_idle(1min);
  EXPECT_EQ(world.open_streams(), 0u);
}

// ---------------------------------------------------------------- the cache

TEST_F(SystemResolverTest, AnAnswerIsKeptForItsTtl) {
  first.answer = always;  // 60 seconds
  EXPECT_EQ(resolve("a.example"), kBoth);
  const size_t once = first.asked.size();
  world.run_for(59s);
  EXPECT_EQ(resolve("A.EXAMPLE"), kBoth);
  EXPECT_EQ(first.asked.size(), once);
  EXPECT_EQ(took, 0s);
  world.run_for(1s);
  EXPECT_EQ(resolve("a.example"), kBoth);
  EXPECT_EQ(first.asked.size(), 2 * once);
}

TEST_F(SystemResolverTest, WhatIsKnownIsSaidAtOnce) {
  write("hosts", "192.0.2.7 own.example 192.0.2.8\n");
  first.answer = [](const Query& q) {
    return q.name == "a.example" ? always(q) : FakeServer::Answers{q.no_name(60)};
  };
  const auto at_once = [&](std::string_view host) {
    worker.turn(TimePoint::min());
    flow::AddressList list;
    const Status known = resolver->try_cached(host, list);
    if (!known.ok()) return std::string(describe(known.code()));
    return list.view()[0].to_string();
  };
  const std::string unknown(describe(Errc::kWouldBlock));
  EXPECT_EQ(at_once("own.example"), unknown) << "no file was read yet";
  EXPECT_EQ(resolve("a.example"), kBoth);
  EXPECT_EQ(resolve("none.example"), kNone);
  EXPECT_EQ(at_once("a.example"), "2001:db8::1");
  EXPECT_EQ(at_once("none.example"), kNone);
  EXPECT_EQ(at_once("own.example"), "192.0.2.7");
  for (const char* host : {"A.example", "a.example.", "b.example", "192.0.2.8", "localhost", ""}) {
    EXPECT_EQ(at_once(host), unknown) << host;
  }
  EXPECT_EQ(resolve("192.0.2.8"), "192.0.2.8") << "a literal, whatever the hosts file says";
  world.run_for(SystemResolver::kFileCheck);
  EXPECT_EQ(at_once("a.example"), unknown) << "the files are to be looked at again";
  EXPECT_EQ(resolve("a.example"), kBoth);
  EXPECT_EQ(at_once("a.example"), "2001:db8::1");
  resolver->flush();
  EXPECT_EQ(at_once("a.example"), unknown);
  EXPECT_EQ(at_once("own.example"), "192.0.2.7");
}

TEST_F(SystemResolverTest, TheShorterTtlOfTheTwoCounts) {
  first.answer = [](const Query& q) {
    return FakeServer::Answers{
        q.addresses({ip("192.0.2.1"), ip("2001:db8::1")}, q.type == wire::dns::kTypeA ? 1000 : 20)};
  };
  EXPECT_EQ(resolve("a.example"), kBoth);
  world.run_for(20s);
  EXPECT_EQ(resolve("a.example"), kBoth);
  EXPECT_EQ(first.asked.size(), 4u);
}

TEST_F(SystemResolverTest, TtlZeroIsNotKept) {
  first.answer = [](const Query& q) {
    return FakeServer::Answers{q.addresses({ip("192.0.2.1"), ip("2001:db8::1")}, 0)};
  };
  EXPECT_EQ(resolve("a.example"), kBoth);
  EXPECT_EQ(resolver->cached(), 0u);
  EXPECT_EQ(resolve("a.example"), kBoth);
  EXPECT_EQ(first.asked.size(), 4u);
}

TEST_F(SystemResolverTest, NothingIsKeptLongerThanAnHour) {
  first.answer = [](const Query& q) {
    return FakeServer::Answers{q.addresses({ip("192.0.2.1"), ip("2001:db8::1")}, 1'000'000'000)};
  };
  EXPECT_EQ(resolve("a.example"), kBoth);
  world.run_for(SystemResolver::kMaxTtl);
  EXPECT_EQ(resolve("a.example"), kBoth);
  EXPECT_EQ(first.asked.size(), 4u);
}

TEST_F(SystemResolverTest, ANegativeAnswerIsKeptAsTheSoaSays) {
  first.answer = [](const Query& q) { return FakeServer::Answers{q.no_name(30)}; };
  EXPECT_EQ(resolve("a.example"), kNone);
  world.run_for(29s);
  EXPECT_EQ(resolve("a.example"), kNone);
  EXPECT_EQ(first.asked.size(), 2u);
  first.answer = always;
  world.run_for(1s);
  EXPECT_EQ(resolve("a.example"), kBoth);
}

TEST_F(SystemResolverTest, TheCacheIsBoundedAndKeepsWhatIsUsed) {
  start(false);
  first.answer = [](const Query& q) {
    return FakeServer::Answers{q.addresses({ip("192.0.2.1")}, 3600)};
  };
  world.faults().latency_min = world.faults().latency_max = 1us;
  const auto name = [](size_t i) { return "n" + std::to_string(i) + ".example"; };
  for (size_t i = 0; i < SystemResolver::kCacheSize; ++i) {
    ASSERT_EQ(resolve(name(i)), "192.0.2.1");
  }
  EXPECT_EQ(resolver->cached(), SystemResolver::kCacheSize);
  EXPECT_EQ(resolve(name(0)), "192.0.2.1");
  EXPECT_EQ(first.asked.size(), SystemResolver::kCacheSize);
  EXPECT_EQ(resolve("one.more"), "192.0.2.1");
  EXPECT_EQ(resolver->cached(), SystemResolver::kCacheSize);
  first.asked.clear();
  EXPECT_EQ(resolve(name(0)), "192.0.2.1");
  EXPECT_TRUE(first.asked.empty()) << "it was used last";
  EXPECT_EQ(resolve(name(1)), "192.0.2.1");
  EXPECT_EQ(first.asked.size(), 1u) << "it was the oldest";
  resolver->flush();
  EXPECT_EQ(resolver->cached(), 0u);
}

}  // namespace
}  // namespace culvert::dns
