// The far end of every load: a source, a sink and an echo, on one thread for streams and one for
// datagrams.
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "modes.h"

namespace culvert::load {
namespace {

constexpr size_t kChunk = size_t{256} << 10;
constexpr int kBacklog = 4096;
constexpr int kWritesPerTurn = 16;  // one connection's, before the others have theirs

struct Connection {
  Socket socket;
  char mode = 0;
  size_t received = 0;  // of the block that is coming in
  uint64_t owed = 0;    // of the blocks asked for
  std::string answer;   // what goes out before them
  bool waits_to_write = false;
};

class Server {
 public:
  explicit Server(const sockaddr_in& at) : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    datagrams_ = Socket(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const int buffer = 4 << 20;
    setsockopt(datagrams_.fd(), SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
    listener_ = Socket(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int one = 1;
    setsockopt(listener_.fd(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(datagrams_.fd(), generic(at), sizeof at) != 0 ||
        bind(listener_.fd(), generic(at), sizeof at) != 0 ||
        listen(listener_.fd(), kBacklog) != 0) {
      std::perror("bind");
      std::exit(1);
    }
    watch(listener_.fd(), EPOLL_CTL_ADD, EPOLLIN);
  }

  [[noreturn]] void run() {
    std::thread([this] { echo_datagrams(); }).detach();
    std::vector<epoll_event> events(512);
    for (;;) {
      const int n = epoll_wait(epoll_.fd(), events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < n; ++i) {
        if (events[i].data.fd == listener_.fd()) {
          accept_all();
        } else {
          serve(events[i].data.fd, events[i].events);
        }
      }
    }
  }

 private:
  void watch(int fd, int operation, uint32_t events) {
    epoll_event e{};
    e.events = events;
    e.data.fd = fd;
    epoll_ctl(epoll_.fd(), operation, fd, &e);
  }

  [[noreturn]] void echo_datagrams() const {
    std::vector<char> buffer(65536);
    for (;;) {
      sockaddr_in from{};
      socklen_t size = sizeof from;
      const ssize_t n = recvfrom(datagrams_.fd(), buffer.data(), buffer.size(), 0,
                                 reinterpret_cast<sockaddr*>(&from), &size);
      if (n > 0) {
        sendto(datagrams_.fd(), buffer.data(), static_cast<size_t>(n), 0, generic(from), size);
      }
    }
  }

  void accept_all() {
    for (;;) {
      Socket s(accept4(listener_.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!s) return;
      const int one = 1;
      setsockopt(s.fd(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
      const int fd = s.fd();
      watch(fd, EPOLL_CTL_ADD, EPOLLIN);
      auto made = std::make_unique<Connection>();
      made->socket = std::move(s);
      connections_[fd] = std::move(made);
    }
  }

  void serve(int fd, uint32_t events) {
    Connection& c = *connections_.at(fd);
    bool alive = true;
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) alive = take(c);
    if (!alive || !give(c)) connections_.erase(fd);
  }

  bool take(Connection& c) {
    const ptrdiff_t n = c.socket.read_some(in_.data(), in_.size());
    if (n == 0 || (n < 0 && errno != EAGAIN)) return false;
    if (n < 0) return true;
    std::string_view bytes(in_.data(), static_cast<size_t>(n));
    if (c.mode == 0) {
      c.mode = bytes.front();
      bytes.remove_prefix(1);
    }
    switch (c.mode) {
      case 'E':
        c.answer += bytes;
        return true;
      case 'D':
        c.owed += bytes.size() * kBlock;
        return true;
      case 'U':
        c.received += bytes.size();
        for (; c.received >= kBlock; c.received -= kBlock) c.answer += 'a';
        return true;
      default:
        return false;
    }
  }

  bool give(Connection& c) {
    for (int turn = 0; turn < kWritesPerTurn && (!c.answer.empty() || c.owed > 0); ++turn) {
      const bool answering = !c.answer.empty();
      const char* data = answering ? c.answer.data() : out_.data();
      const size_t size = answering ? c.answer.size() : std::min<uint64_t>(c.owed, out_.size());
      const ssize_t n = send(c.socket.fd(), data, size, MSG_NOSIGNAL);
      if (n < 0 && errno != EAGAIN) return false;
      if (n < 0) break;
      if (answering) {
        c.answer.erase(0, static_cast<size_t>(n));
      } else {
        c.owed -= static_cast<uint64_t>(n);
      }
    }
    const bool more = !c.answer.empty() || c.owed > 0;
    if (more != c.waits_to_write) {
      watch(c.socket.fd(), EPOLL_CTL_MOD, EPOLLIN | (more ? uint32_t{EPOLLOUT} : 0));
      c.waits_to_write = more;
    }
    return true;
  }

  Socket epoll_;
  Socket listener_;
  Socket datagrams_;
  std::unordered_map<int, std::unique_ptr<Connection>> connections_;
  std::vector<char> in_ = std::vector<char>(kChunk);
  const std::vector<char> out_ = std::vector<char>(kChunk, 'x');
};

}  // namespace

int serve(const Options& options) {
  Server server(parse_address(options.text("listen")));
  std::puts("READY");
  std::fflush(stdout);
  server.run();
}

}  // namespace culvert::load
