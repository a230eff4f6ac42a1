#include "rt/socket_options.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "rt/await.h"
#include "rt/testing/net.h"

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

namespace culvert::rt::testing {
namespace {

// A network namespace of this thread's own, with nothing but loopback.
class PrivateNetwork {
 public:
  PrivateNetwork() : before_(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)) {
    entered_ = before_ >= 0 && unshare(CLONE_NEWNET) == 0;
    if (!entered_) return;
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ifreq up{};
    std::strcpy(up.ifr_name, "lo");
    up.ifr_flags = IFF_UP;
    made_ = fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &up) == 0;
    ::close(fd);
  }
  PrivateNetwork(const PrivateNetwork&) = delete;
  PrivateNetwork& operator=(const PrivateNetwork&) = delete;
  ~PrivateNetwork() {
    if (entered_ && setns(before_, CLONE_NEWNET) != 0) std::abort();
    if (before_ >= 0) ::close(before_);
  }
  [[nodiscard]] bool made() const { return made_; }

 private:
  int before_;
  bool entered_ = false;
  bool made_ = false;
};

// A counter of /proc/net/netstat; -1 when there is none of that name.
int64_t tcp_counter(const std::string& name) {
  std::ifstream file("/proc/thread-self/net/netstat");
  std::string names, values;
  while (std::getline(file, names) && std::getline(file, values)) {
    std::istringstream n(names), v(values);
    std::string key, value;
    while (n >> key && v >> value) {
      if (key == name) return std::stoll(value);
    }
  }
  return -1;
}

// This process's socket at `local`: the listening one, or the other.
int descriptor_at(const Endpoint& local, bool listening) {
  for (int fd = 0; fd < 1024; ++fd) {
    sockaddr_storage ss{};
    socklen_t n = sizeof ss;
    if (getsockname(fd, reinterpret_cast<sockaddr*>(&ss), &n) != 0) continue;
    if (Endpoint::from_sockaddr(reinterpret_cast<sockaddr&>(ss)) != local) continue;
    int accepts = 0;
    n = sizeof accepts;
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &n) == 0 && (accepts != 0) == listening)
      return fd;
  }
  return -1;
}

uint32_t option_of(int fd, int name) {
  uint32_t value = 0;
  socklen_t n = sizeof value;
  EXPECT_EQ(getsockopt(fd, SOL_SOCKET, name, &value, &n), 0) << std::strerror(errno);
  return value;
}

class SocketOptions : public ::testing::Test {
 protected:
  void TearDown() override {
    Worker::Enter enter(worker());
    worker().scope().cancel();
    EXPECT_TRUE(net_->run_until([&] { return worker().scope().running() == 0; }));
    server_.reset();
    client_.reset();
    listener_.reset();
  }
  Worker& worker() { return net_->worker(); }
  Endpoint loopback(uint16_t port = 0) { return {IpAddress::v4(0x7f000001), port}; }

  Status listen(const ListenOptions& options) {
    Worker::Enter enter(worker());
    auto listener = worker().backend().listen(loopback(), options, accepted_);
    if (!listener.ok()) return listener.error();
    listener_ = *std::move(listener);
    return {};
  }
  Status connect(const ConnectOptions& options) {
    Worker::Enter enter(worker());
    server_.reset();
    client_.reset();
    auto stream = worker().backend().connect(listener_->local(), options);
    if (!stream.ok()) return stream.error();
    client_ = *std::move(stream);
    return {};
  }
  Status open(const ConnectOptions& options) {
    const Status status = connect(options);
    if (!status.ok()) return status;
    EXPECT_TRUE(net_->run_until([&] { return client_->opened().code() != Errc::kWouldBlock; }));
    return client_->opened();
  }
  void spawn(Task<void> task) {
    Worker::Enter enter(worker());
    worker().scope().spawn("test", std::move(task));
  }
  bool take_server() {
    if (!net_->run_until([&] { return !accepted_.streams.empty(); })) return false;
    server_ = std::move(accepted_.streams.front());
    accepted_.streams.clear();
    return true;
  }
  // Both directions, the client's first, to their ends.
  void expect_bytes_both_ways(size_t size) {
    const std::string up = pattern(size, 1), down = pattern(size / 2, 2);
    std::string got_up, got_down;
    Errc end_up{}, end_down{}, sent_up = Errc::kIo, sent_down = Errc::kIo;
    spawn(send_all(*client_, up, true, &sent_up, kNever));
    ASSERT_TRUE(take_server());
    spawn(read_all(*server_, &got_up, &end_up, kNever));
    spawn(read_all(*client_, &got_down, &end_down, kNever));
    ASSERT_TRUE(net_->run_until([&] { return end_up != Errc{}; }));
    spawn(send_all(*server_, down, true, &sent_down, kNever));
    ASSERT_TRUE(net_->run_until([&] { return end_down != Errc{}; }));
    EXPECT_EQ(end_up, Errc::kEndOfStream);
    EXPECT_EQ(end_down, Errc::kEndOfStream);
    EXPECT_EQ(sent_up, Errc::kNone);
    EXPECT_EQ(sent_down, Errc::kNone);
    EXPECT_TRUE(got_up == up);
    EXPECT_TRUE(got_down == down);
  }

  std::unique_ptr<Net> net_ = make_net("epoll");
  Accepted accepted_{worker()};
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<Stream> client_, server_;
};

ListenOptions fast_listener() {
  ListenOptions options;
  options.fast_open = true;
  return options;
}

ConnectOptions fast_connection() {
  ConnectOptions options;
  options.fast_open = true;
  return options;
}

// Fast open for both sides, in a network where it is allowed and whose listener has given this
// host its cookie.
#define WITH_FAST_OPEN()                                                      \
  const PrivateNetwork network;                                               \
  if (!network.made()) GTEST_SKIP() << "needs CAP_SYS_ADMIN for a namespace"; \
  std::ofstream("/proc/sys/net/ipv4/tcp_fastopen") << "3";                    \
  ASSERT_TRUE(listen(fast_listener()).ok());                                  \
  ASSERT_TRUE(open(fast_connection()).ok());                                  \
  expect_bytes_both_ways(10)

TEST(InterfaceNameText, HoldsWhatAnInterfaceCanBeCalled) {
  InterfaceName name;
  EXPECT_TRUE(name.empty());
  EXPECT_TRUE(name.assign("eth0.100"));
  EXPECT_EQ(name.view(), "eth0.100");
  EXPECT_TRUE(name.assign("a23456789012345"));
  EXPECT_EQ(name.view(), "a23456789012345");
  EXPECT_FALSE(name.assign("a234567890123456"));
  EXPECT_FALSE(name.assign(std::string_view("a\0b", 3)));
  EXPECT_EQ(name.view(), "a23456789012345");
  EXPECT_TRUE(name.assign("lo"));
  EXPECT_EQ(name.view(), "lo");
  EXPECT_TRUE(name.assign(""));
  EXPECT_TRUE(name.empty());
}

TEST_F(SocketOptions, FastOpenCarriesBytesWhateverTheKernelAllows) {
  ASSERT_TRUE(listen(fast_listener()).ok());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(open(fast_connection()).ok());
    expect_bytes_both_ways(1'000'000);
  }
}

TEST_F(SocketOptions, FastOpenSendsBytesWithTheSyn) {
  WITH_FAST_OPEN();
  EXPECT_EQ(tcp_counter("TCPFastOpenActive"), 0);
  // The first shook hands as usual and brought the cookie.
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(connect(fast_connection()).ok());
    EXPECT_TRUE(client_->opened().ok()) << "open at once";
    // Short, then more than a SYN holds.
    expect_bytes_both_ways(i == 1 ? 100 : 300'000);
    EXPECT_EQ(tcp_counter("TCPFastOpenActive"), i);
    EXPECT_EQ(tcp_counter("TCPFastOpenPassive"), i);
  }
}

TEST_F(SocketOptions, AFastOpenWithoutBytesConnectsAllTheSame) {
  WITH_FAST_OPEN();
  // The server speaks first.
  ASSERT_TRUE(connect(fast_connection()).ok());
  std::string got;
  Errc end{}, sent = Errc::kIo;
  spawn(read_all(*client_, &got, &end, kNever));
  ASSERT_TRUE(take_server());
  spawn(send_all(*server_, "greeting", true, &sent, kNever));
  ASSERT_TRUE(net_->run_until([&] { return end != Errc{}; }));
  EXPECT_EQ(end, Errc::kEndOfStream);
  EXPECT_EQ(got, "greeting");
  std::string answer;
  Errc answer_end{}, answered = Errc::kIo;
  spawn(send_all(*client_, "answer", true, &answered, kNever));
  spawn(read_all(*server_, &answer, &answer_end, kNever));
  ASSERT_TRUE(net_->run_until([&] { return answer_end != Errc{}; }));
  EXPECT_EQ(answer, "answer");
}

TEST_F(SocketOptions, AFastOpenThatOnlyEndsItsDirectionStays) {
  WITH_FAST_OPEN();
  ASSERT_TRUE(connect(fast_connection()).ok());
  EXPECT_TRUE(client_->shutdown_write().ok());
  std::string up, down;
  Errc end_up{}, end_down{}, sent = Errc::kIo;
  spawn(read_all(*client_, &down, &end_down, kNever));
  ASSERT_TRUE(take_server());
  spawn(read_all(*server_, &up, &end_up, kNever));
  ASSERT_TRUE(net_->run_until([&] { return end_up != Errc{}; }));
  EXPECT_EQ(end_up, Errc::kEndOfStream);
  spawn(send_all(*server_, "answer", true, &sent, kNever));
  ASSERT_TRUE(net_->run_until([&] { return end_down != Errc{}; }));
  EXPECT_EQ(down, "answer");
}

TEST_F(SocketOptions, AFastOpenThatIsRefusedSaysSoLater) {
  WITH_FAST_OPEN();
  const Endpoint dead = listener_->local();
  {
    Worker::Enter enter(worker());
    listener_.reset();
  }
  for (const bool writes : {true, false}) {
    Worker::Enter enter(worker());
    auto stream = worker().backend().connect(dead, fast_connection());
    ASSERT_TRUE(stream.ok());
    client_ = *std::move(stream);
    EXPECT_TRUE(client_->opened().ok());
    if (writes) {
      EXPECT_TRUE(client_->write(as_bytes("bytes")).ok());
    }
    std::string got;
    Errc end{};
    spawn(read_all(*client_, &got, &end, kNever));
    ASSERT_TRUE(net_->run_until([&] { return end != Errc{}; }));
    EXPECT_EQ(end, Errc::kRefused);
    EXPECT_FALSE(client_->write(as_bytes("more")).ok());
  }
}

TEST_F(SocketOptions, AFastOpenMayBeClosedBeforeItsSyn) {
  WITH_FAST_OPEN();
  ASSERT_TRUE(connect(fast_connection()).ok());
  const size_t timers = worker().timers().size();
  EXPECT_GT(timers, 0u);
  Worker::Enter enter(worker());
  client_->close();
  EXPECT_LT(worker().timers().size(), timers);
  EXPECT_EQ(client_->write(as_bytes("bytes")).code(), Errc::kReset);
}

TEST_F(SocketOptions, MultipathCarriesBytesWhateverTheKernelHas) {
  ListenOptions listener;
  listener.multipath = true;
  ConnectOptions connection;
  connection.multipath = true;
  ASSERT_TRUE(listen(listener).ok());
  ASSERT_TRUE(open(connection).ok());
  expect_bytes_both_ways(1'000'000);
  // A client that has none.
  ASSERT_TRUE(open({}).ok());
  expect_bytes_both_ways(1'000'000);
  // A server that has none.
  {
    Worker::Enter enter(worker());
    server_.reset();
    client_.reset();
    listener_.reset();
  }
  ASSERT_TRUE(listen({}).ok());
  ASSERT_TRUE(open(connection).ok());
  expect_bytes_both_ways(1'000'000);
}

TEST_F(SocketOptions, MultipathIsSpokenWhereTheKernelHasIt) {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_MPTCP);
  if (probe < 0) GTEST_SKIP() << "no MPTCP here: " << std::strerror(errno);
  ::close(probe);
  ListenOptions listener;
  listener.multipath = true;
  ConnectOptions connection;
  connection.multipath = true;
  ASSERT_TRUE(listen(listener).ok());
  EXPECT_EQ(option_of(descriptor_at(listener_->local(), true), SO_PROTOCOL), IPPROTO_MPTCP);
  ASSERT_TRUE(open(connection).ok());
  EXPECT_EQ(option_of(descriptor_at(client_->local(), false), SO_PROTOCOL), IPPROTO_MPTCP);
  ASSERT_TRUE(take_server());
  // A socket that was accepted from a client without it is a plain one.
  EXPECT_EQ(option_of(descriptor_at(server_->local(), false), SO_PROTOCOL), IPPROTO_MPTCP);
}

TEST_F(SocketOptions, AResetPassesOverMultipath) {
  ListenOptions listener;
  listener.multipath = true;
  ConnectOptions connection;
  connection.multipath = true;
  ASSERT_TRUE(listen(listener).ok());
  ASSERT_TRUE(open(connection).ok());
  ASSERT_TRUE(take_server());
  std::string got;
  Errc end{};
  spawn(read_all(*server_, &got, &end, kNever));
  {
    Worker::Enter enter(worker());
    client_->abort();
  }
  ASSERT_TRUE(net_->run_until([&] { return end != Errc{}; }));
  EXPECT_EQ(end, Errc::kReset);
}

TEST_F(SocketOptions, MarksAreSet) {
  ListenOptions listener;
  listener.mark = 0x1234;
  const Status listening = listen(listener);
  if (listening.error().os_errno == EPERM) GTEST_SKIP() << "needs CAP_NET_ADMIN";
  ASSERT_TRUE(listening.ok());
  EXPECT_EQ(option_of(descriptor_at(listener_->local(), true), SO_MARK), 0x1234u);
  ConnectOptions connection;
  connection.mark = 0xffffffff;
  ASSERT_TRUE(open(connection).ok());
  EXPECT_EQ(option_of(descriptor_at(client_->local(), false), SO_MARK), 0xffffffffu);
  expect_bytes_both_ways(1000);
  EXPECT_EQ(option_of(descriptor_at(listener_->local(), false), SO_MARK), 0x1234u)
      << "what is accepted inherits it";
}

TEST_F(SocketOptions, NothingLeavesUnmarked) {
  ASSERT_TRUE(listen({}).ok());
  if (geteuid() == 0 && seteuid(65534) != 0) GTEST_SKIP() << "cannot give up root's rights";
  ConnectOptions connection;
  connection.mark = 1;
  const Status marked = connect(connection);
  ListenOptions listener;
  listener.mark = 1;
  Accepted nobody(worker());
  Errc listening = Errc::kNone;
  {
    Worker::Enter enter(worker());
    listening = worker().backend().listen(loopback(), listener, nobody).code();
  }
  if (getuid() == 0) {
    ASSERT_EQ(seteuid(0), 0);
  }
  EXPECT_EQ(marked.error().os_errno, EPERM);
  EXPECT_EQ(listening, Errc::kIo);
  net_->settle();
  EXPECT_TRUE(accepted_.streams.empty());
}

TEST_F(SocketOptions, AnInterfaceThatIsNotThereIsAnError) {
  ASSERT_TRUE(listen({}).ok());
  ConnectOptions connection;
  ASSERT_TRUE(connection.interface.assign("culvert-none"));
  const Status status = connect(connection);
  if (status.error().os_errno == EPERM) GTEST_SKIP() << "needs CAP_NET_RAW";
  EXPECT_EQ(status.code(), Errc::kUnreachable);
  EXPECT_EQ(status.error().os_errno, ENODEV);
  EXPECT_TRUE(status.error().retry);
  net_->settle();
  EXPECT_TRUE(accepted_.streams.empty());
}

TEST_F(SocketOptions, ConnectionsLeaveByTheirInterface) {
  ASSERT_TRUE(listen({}).ok());
  ConnectOptions connection;
  ASSERT_TRUE(connection.interface.assign("lo"));
  const Status status = open(connection);
  if (status.error().os_errno == EPERM) GTEST_SKIP() << "needs CAP_NET_RAW";
  ASSERT_TRUE(status.ok());
  char name[IFNAMSIZ] = {};
  socklen_t n = sizeof name;
  const int fd = descriptor_at(client_->local(), false);
  ASSERT_EQ(getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, &n), 0);
  EXPECT_STREQ(name, "lo");
  expect_bytes_both_ways(100'000);
}

TEST_F(SocketOptions, AnInterfaceThatCameBackIsFound) {
  const PrivateNetwork network;
  if (!network.made()) GTEST_SKIP() << "needs CAP_SYS_ADMIN for a namespace";
  const auto make_interface = [] {
    const int fd = ::open("/dev/net/tun", O_RDWR | O_CLOEXEC);
    ifreq request{};
    std::strcpy(request.ifr_name, "culvert-t0");
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    if (fd >= 0 && ioctl(fd, TUNSETIFF, &request) == 0) return fd;
    ::close(fd);
    return -1;
  };
  ASSERT_TRUE(listen({}).ok());
  ConnectOptions connection;
  ASSERT_TRUE(connection.interface.assign("culvert-t0"));
  unsigned before = 0;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(connect(connection).error().os_errno, ENODEV);
    const int device = make_interface();
    if (device < 0) GTEST_SKIP() << "no interface can be made here: " << std::strerror(errno);
    const unsigned index = if_nametoindex("culvert-t0");
    EXPECT_NE(index, before) << "another one of the same name";
    before = index;
    // It leads nowhere, and least of all to loopback.
    EXPECT_EQ(connect(connection).error().os_errno, ENETUNREACH);
    ::close(device);
  }
  EXPECT_TRUE(accepted_.streams.empty());
}

}  // namespace
}  // namespace culvert::rt::testing
