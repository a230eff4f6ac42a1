#include "rt/epoll_backend.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include "rt/fd_table.h"
#include "rt/socket_options.h"
#include "rt/unix_socket.h"
#include "rt/worker.h"

namespace culvert::rt {
namespace {

// Connections accepted from one listener before other events get their turn.
constexpr int kAcceptBatch = 64;
// How long accepting pauses when descriptors ran out.
constexpr Duration kAcceptPause = std::chrono::milliseconds(200);

class EpollBackend;

class SocketStream final : public Stream, private FdEvents {
 public:
  SocketStream(EpollBackend& backend, int fd, Endpoint remote, bool connecting)
      : backend_(backend), fd_(fd), remote_(remote), connecting_(connecting) {}
  ~SocketStream() override { close_socket(); }
  Status attach();
  // The kernel keeps the SYN back for the first bytes.
  void open_fast();

  Status opened() override;
  Result<MutableBytes> lend() override;
  void consume(size_t n) override;
  size_t unread() const override { return end_ - begin_; }
  Result<size_t> write(std::span<const iovec> data) override;
  Status shutdown_write() override;
  void close() override { close_socket(); }
  void abort() override;
  void wait_readable(Waiter* waiter) override {
    reader_ = waiter;
    if (waiter == nullptr) parked_.unlink();
  }
  void wait_writable(Waiter* waiter) override { writer_ = waiter; }
  Endpoint local() const override;
  Endpoint remote() const override { return remote_; }
  bool can_splice() const override { return true; }
  Result<size_t> splice_in(Pipe& pipe) override;
  Result<size_t> splice_out(Pipe& pipe) override;

 private:
  struct Parked : BufferPool::Parked {
    explicit Parked(SocketStream* s) : link(s) { waiter = &link; }
    struct Link : Waiter {
      explicit Link(SocketStream* s) : Waiter(&SocketStream::on_unparked), self(s) {}
      SocketStream* self;
    } link;
  };
  // Until the handshake is through: the SYN that waits for bytes, and an end that waits for it.
  struct FastOpen : Timer {
    explicit FastOpen(SocketStream* s) : Timer(&SocketStream::on_nothing_to_send), self(s) {}
    SocketStream* self;
    bool ends = false;
  };
  static void on_unparked(Waiter& waiter);
  static void on_nothing_to_send(Timer& timer);
  void send_syn();
  void on_events(uint32_t events) override;
  void release_buffer();
  void close_socket();
  Error fail(int os_errno);

  EpollBackend& backend_;
  int fd_;
  uint64_t key_ = 0;
  Waiter* reader_ = nullptr;
  Waiter* writer_ = nullptr;
  Buffer buffer_;
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
  uint32_t read_size_ = BufferPool::kFirst;
  Endpoint remote_;
  Error broken_;
  Parked parked_{this};
  std::unique_ptr<FastOpen> fast_open_;
  bool connecting_;
  // A receive may yield something. Registering a socket reports what is there already, so that the
  // first receive need not be a guess.
  bool readable_ = false;
  bool writable_ = true;     // a send may take something
  bool peer_ended_ = false;  // an event said so: a short read does not mean "drained"
  bool ended_ = false;       // lend() has seen the end
  bool shut_ = false;
};

class SocketListener final : public Listener, private FdEvents {
 public:
  SocketListener(EpollBackend& backend, int fd, Acceptor& acceptor, int highest)
      : backend_(backend), fd_(fd), highest_(highest), acceptor_(acceptor) {}
  ~SocketListener() override;
  Status attach();
  Endpoint local() const override;

 private:
  struct ResumeTimer : Timer {
    explicit ResumeTimer(SocketListener* l) : Timer(&SocketListener::on_resume), self(l) {}
    SocketListener* self;
  };
  static void on_resume(Timer& timer);
  void on_events(uint32_t events) override;

  EpollBackend& backend_;
  int fd_;
  const int highest_;  // descriptors above it are not taken
  uint64_t key_ = 0;
  Acceptor& acceptor_;
  ResumeTimer resume_{this};
};

class UnixListener final : public Listener {
 public:
  [[nodiscard]] Endpoint local() const override { return {}; }
  std::unique_ptr<SocketListener> socket;
  // Goes first: whoever finds it finds somebody listening.
  UnixSocketFile file;
};

class SocketDatagram final : public DatagramSocket, private FdEvents {
 public:
  SocketDatagram(EpollBackend& backend, int fd, bool connected)
      : backend_(backend), fd_(fd), connected_(connected) {}
  ~SocketDatagram() override;
  Status attach();
  Result<size_t> receive(std::span<Datagram> out) override;
  Result<size_t> send(std::span<const Datagram> batch) override;
  void wait_readable(Waiter* waiter) override { reader_ = waiter; }
  void wait_writable(Waiter* waiter) override { writer_ = waiter; }
  Endpoint local() const override;

 private:
  static constexpr size_t kBatch = 32;
  static constexpr uint32_t kSlot = 2048;  // what one datagram may be long
  void on_events(uint32_t events) override;

  EpollBackend& backend_;
  int fd_;
  uint64_t key_ = 0;
  Waiter* reader_ = nullptr;
  Waiter* writer_ = nullptr;
  Buffer buffer_;
  bool connected_;
  bool readable_ = true;
  bool writable_ = true;
};

class EpollBackend final : public Backend {
 public:
  EpollBackend();
  ~EpollBackend() override;
  const Clock& clock() const override { return system_clock(); }
  size_t poll(TimePoint until) override;
  void dispatch() override;
  void wake() override;
  Result<std::unique_ptr<Listener>> listen(const Endpoint& at, const ListenOptions& options,
                                           Acceptor& acceptor) override;
  Result<std::unique_ptr<Listener>> listen_unix(const std::string& path, mode_t mode,
                                                Acceptor& acceptor) override;
  Result<std::unique_ptr<Stream>> connect(const Endpoint& to,
                                          const ConnectOptions& options) override;
  Result<std::unique_ptr<Stream>> adopt(AcceptedSocket socket) override;
  Result<std::unique_ptr<DatagramSocket>> open_datagram(const Endpoint& at,
                                                        const Endpoint& peer) override;

  Status add(int fd, uint32_t events, FdEvents* handler, uint64_t& key);
  // The descriptor is about to be closed, which takes it out of the epoll set.
  void forget(uint64_t key) { table_.remove(key); }
  [[nodiscard]] bool alive(uint64_t key) const { return table_.find(key) != nullptr; }
  Status rearm(int fd, uint32_t events, uint64_t key);

 private:
  static constexpr uint64_t kWakeKey = UINT64_MAX;
  int highest_;  // the descriptor number that flows go up to
  int epoll_;
  int event_;
  int ready_ = 0;
  FdTable table_;
  std::array<epoll_event, 256> events_;
};

Endpoint local_of(int fd) {
  sockaddr_storage ss{};
  socklen_t n = sizeof ss;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&ss), &n) != 0) return {};
  return Endpoint::from_sockaddr(reinterpret_cast<sockaddr&>(ss));
}

int highest_for_flows() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > INT_MAX) return INT_MAX;
  const auto all = static_cast<int>(limit.rlim_cur);
  return all - 1 - std::min(kReserve, all / 8);
}

// ---------------------------------------------------------------- SocketStream

Status SocketStream::attach() {
  return backend_.add(fd_, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, this, key_);
}

void SocketStream::on_events(uint32_t events) {
  if (fast_open_ && !is_handshake_pending(fd_)) {
    if (fast_open_->ends) ::shutdown(fd_, SHUT_WR);
    fast_open_.reset();
  }
  // Waiters are taken before either is fired: the first may end this stream.
  Waiter* reader = nullptr;
  Waiter* writer = nullptr;
  if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
    readable_ = true;
    if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) peer_ended_ = true;
    reader = std::exchange(reader_, nullptr);
  }
  if ((events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0) {
    if (connecting_) {
      connecting_ = false;
      if ((events & (EPOLLHUP | EPOLLERR)) != 0) {
        int error = 0;
        socklen_t n = sizeof error;
        getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &n);
        broken_ = error_from_errno(error != 0 ? error : ECONNREFUSED);
      }
    }
    writable_ = true;
    writer = std::exchange(writer_, nullptr);
  }
  const uint64_t key = key_;
  EpollBackend& backend = backend_;
  if (writer != nullptr) writer->fire();
  if (reader != nullptr) {
    if (writer != nullptr && !backend.alive(key)) return;
    reader->fire();
  }
}

void SocketStream::open_fast() {
  fast_open_ = std::make_unique<FastOpen>(this);
  Worker& worker = Worker::here();
  worker.timers().arm(*fast_open_, worker.now() + kFastOpenWait);
}

void SocketStream::send_syn() {
  fast_open_->cancel();
  // No bytes to go along: the SYN of any connection. How that ends is an event.
  const ssize_t n = ::send(fd_, "", 0, MSG_NOSIGNAL);
  (void)n;
}

void SocketStream::on_nothing_to_send(Timer& timer) {
  static_cast<FastOpen&>(timer).self->send_syn();
}

Error SocketStream::fail(int os_errno) {
  broken_ = error_from_errno(os_errno);
  return broken_;
}

Status SocketStream::opened() {
  if (broken_.code != Errc::kNone) return broken_;
  if (fd_ < 0) return Errc::kReset;
  return connecting_ ? Status(Errc::kWouldBlock) : Status();
}

Result<MutableBytes> SocketStream::lend() {
  if (begin_ != end_) return MutableBytes(buffer_.data + begin_, end_ - begin_);
  if (ended_) return Errc::kEndOfStream;
  if (broken_.code != Errc::kNone) return broken_;
  if (fd_ < 0) return Errc::kReset;
  if (!readable_ || connecting_) return Errc::kWouldBlock;
  BufferPool& pool = Worker::here().buffers();
  if (!buffer_) {
    buffer_ = pool.try_acquire(pool.suggest(read_size_));
    if (!buffer_) {
      pool.park(parked_);
      return Errc::kWouldBlock;
    }
  }
  ssize_t n;
  do {
    n = recv(fd_, buffer_.data, buffer_.size, 0);
  } while (n < 0 && errno == EINTR);
  if (n > 0) {
    begin_ = 0;
    end_ = static_cast<uint32_t>(n);
    if (end_ == buffer_.size) {
      // The flow fills what it is given: give it more next time.
      if (read_size_ < BufferPool::kLargest) read_size_ *= 2;
    } else {
      // A short read has drained the socket: the next byte, or the end, is a new edge. An end that
      // was already announced is not.
      readable_ = peer_ended_;
      if (end_ < read_size_ / 4 && read_size_ > BufferPool::kFirst) read_size_ /= 2;
    }
    return MutableBytes(buffer_.data, end_);
  }
  const int error = errno;
  release_buffer();
  if (n == 0) {
    ended_ = true;
    return Errc::kEndOfStream;
  }
  if (error == EAGAIN) {
    readable_ = false;
    return Errc::kWouldBlock;
  }
  return fail(error);
}

void SocketStream::consume(size_t n) {
  begin_ += static_cast<uint32_t>(n);
  if (begin_ == end_) release_buffer();
}

void SocketStream::release_buffer() {
  begin_ = end_ = 0;
  if (buffer_) Worker::here().buffers().release(std::exchange(buffer_, {}));
}

void SocketStream::on_unparked(Waiter& waiter) {
  SocketStream& self = *static_cast<Parked::Link&>(waiter).self;
  if (Waiter* reader = std::exchange(self.reader_, nullptr); reader != nullptr) reader->fire();
}

Result<size_t> SocketStream::write(std::span<const iovec> data) {
  if (broken_.code != Errc::kNone) return broken_;
  if (fd_ < 0 || shut_) return Errc::kReset;
  if (!writable_ || connecting_) return Errc::kWouldBlock;
  ssize_t n;
  size_t total = 0;
  do {
    if (data.size() == 1) {
      total = data[0].iov_len;
      n = ::send(fd_, data[0].iov_base, total, MSG_NOSIGNAL);
    } else {
      msghdr m{};
      m.msg_iov = const_cast<iovec*>(data.data());
      m.msg_iovlen = std::min<size_t>(data.size(), IOV_MAX);
      for (size_t i = 0; i < m.msg_iovlen; ++i) total += data[i].iov_len;
      n = sendmsg(fd_, &m, MSG_NOSIGNAL);
    }
  } while (n < 0 && errno == EINTR);
  if (fast_open_) fast_open_->cancel();
  if (n >= 0) {
    // A short write has filled the socket: room is a new edge.
    if (static_cast<size_t>(n) < total) writable_ = false;
    return static_cast<size_t>(n);
  }
  if (errno == EAGAIN || errno == EINPROGRESS) {  // the latter of a SYN that took no bytes along
    writable_ = false;
    return Errc::kWouldBlock;
  }
  return fail(errno);
}

Result<size_t> SocketStream::splice_in(Pipe& pipe) {
  CULVERT_CHECK(unread() == 0);  // they would be overtaken
  if (ended_) return Errc::kEndOfStream;
  if (broken_.code != Errc::kNone) return broken_;
  if (fd_ < 0) return Errc::kReset;
  if (!readable_ || connecting_) return Errc::kWouldBlock;
  const ptrdiff_t n = pipe.fill_from(fd_);
  // How much came says nothing of what is left: a pipe holds pages, not bytes.
  if (n > 0) return static_cast<size_t>(n);
  if (n == 0) {
    ended_ = true;
    return Errc::kEndOfStream;
  }
  if (n == -EAGAIN) {
    readable_ = false;
    return Errc::kWouldBlock;
  }
  return fail(static_cast<int>(-n));
}

Result<size_t> SocketStream::splice_out(Pipe& pipe) {
  if (broken_.code != Errc::kNone) return broken_;
  if (fd_ < 0 || shut_) return Errc::kReset;
  if (!writable_ || connecting_) return Errc::kWouldBlock;
  const ptrdiff_t n = pipe.drain_to(fd_);
  if (fast_open_) fast_open_->cancel();
  if (n > 0) return static_cast<size_t>(n);
  if (n == -EAGAIN || n == -EINPROGRESS) {
    writable_ = false;
    return Errc::kWouldBlock;
  }
  return fail(n == 0 ? EPIPE : static_cast<int>(-n));
}

Status SocketStream::shutdown_write() {
  if (fd_ < 0 || shut_) return {};
  shut_ = true;
  if (fast_open_ && is_handshake_pending(fd_)) {
    // The kernel would give up the connection, and the bytes of the SYN with it.
    fast_open_->ends = true;
    if (fast_open_->armed()) send_syn();
    return {};
  }
  if (::shutdown(fd_, SHUT_WR) != 0) return error_from_errno(errno);
  return {};
}

void SocketStream::abort() {
  if (fd_ < 0) return;
  const linger hard{1, 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  close_socket();
}

void SocketStream::close_socket() {
  parked_.unlink();
  fast_open_.reset();
  if (buffer_) release_buffer();
  if (fd_ < 0) return;
  if (key_ != 0) backend_.forget(key_);
  ::close(fd_);
  fd_ = -1;
  reader_ = writer_ = nullptr;
}

Endpoint SocketStream::local() const {
  return fd_ < 0 ? Endpoint() : local_of(fd_);
}

// ---------------------------------------------------------------- SocketListener

Status SocketListener::attach() {
  return backend_.add(fd_, EPOLLIN, this, key_);
}

SocketListener::~SocketListener() {
  resume_.cancel();
  backend_.forget(key_);
  ::close(fd_);
}

Endpoint SocketListener::local() const {
  return local_of(fd_);
}

void SocketListener::on_events(uint32_t /*events*/) {
  for (int i = 0; i < kAcceptBatch; ++i) {
    sockaddr_storage ss{};
    socklen_t n = sizeof ss;
    const int fd = accept4(fd_, reinterpret_cast<sockaddr*>(&ss), &n, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0 && fd <= highest_) {
      acceptor_.accepted(
          AcceptedSocket(fd, Endpoint::from_sockaddr(reinterpret_cast<sockaddr&>(ss))));
      continue;
    }
    if (fd >= 0) {
      // The kernel gives the lowest free number, so this many are in use.
      ::close(fd);
      errno = EMFILE;
    }
    if (errno == EAGAIN) return;
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      const Error error = error_from_errno(errno);
      Status ignored = backend_.rearm(fd_, 0, key_);
      (void)ignored;  // a listener that cannot be paused is only polled more often
      Worker& worker = Worker::here();
      worker.timers().arm(resume_, worker.now() + kAcceptPause);
      acceptor_.accept_paused(error);
      return;
    }
    // Anything else is one connection's misfortune (ECONNABORTED, a pending network error).
  }
}

void SocketListener::on_resume(Timer& timer) {
  SocketListener& self = *static_cast<ResumeTimer&>(timer).self;
  Status ignored = self.backend_.rearm(self.fd_, EPOLLIN, self.key_);
  (void)ignored;
}

// ---------------------------------------------------------------- SocketDatagram

Status SocketDatagram::attach() {
  return backend_.add(fd_, EPOLLIN | EPOLLOUT | EPOLLET, this, key_);
}

SocketDatagram::~SocketDatagram() {
  if (buffer_) Worker::here().buffers().release(buffer_);
  if (key_ != 0) backend_.forget(key_);
  ::close(fd_);
}

Endpoint SocketDatagram::local() const {
  return local_of(fd_);
}

void SocketDatagram::on_events(uint32_t events) {
  Waiter* reader = nullptr;
  Waiter* writer = nullptr;
  if ((events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0) {
    readable_ = true;
    reader = std::exchange(reader_, nullptr);
  }
  if ((events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0) {
    writable_ = true;
    writer = std::exchange(writer_, nullptr);
  }
  const uint64_t key = key_;
  EpollBackend& backend = backend_;
  if (writer != nullptr) writer->fire();
  if (reader != nullptr && (writer == nullptr || backend.alive(key))) reader->fire();
}

Result<size_t> SocketDatagram::receive(std::span<Datagram> out) {
  BufferPool& pool = Worker::here().buffers();
  if (buffer_) pool.release(std::exchange(buffer_, {}));
  if (!readable_) return Errc::kWouldBlock;
  const size_t want = std::min(out.size(), kBatch);
  buffer_ = pool.try_acquire(static_cast<uint32_t>(want) * kSlot);
  if (!buffer_) return Errc::kExhausted;
  std::array<mmsghdr, kBatch> headers{};
  std::array<iovec, kBatch> parts;
  std::array<sockaddr_storage, kBatch> peers;
  for (size_t i = 0; i < want; ++i) {
    parts[i] = {buffer_.data + i * kSlot, kSlot};
    headers[i].msg_hdr.msg_iov = &parts[i];
    headers[i].msg_hdr.msg_iovlen = 1;
    headers[i].msg_hdr.msg_name = &peers[i];
    headers[i].msg_hdr.msg_namelen = sizeof peers[i];
  }
  int n;
  do {
    n = recvmmsg(fd_, headers.data(), static_cast<unsigned>(want), MSG_DONTWAIT, nullptr);
  } while (n < 0 && errno == EINTR);
  if (n <= 0) {
    const int error = errno;
    pool.release(std::exchange(buffer_, {}));
    if (error == EAGAIN) readable_ = false;
    return error_from_errno(error);
  }
  for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
    out[i] = {};
    out[i].peer = Endpoint::from_sockaddr(reinterpret_cast<sockaddr&>(peers[i]));
    out[i].payload = MutableBytes(buffer_.data + i * kSlot, headers[i].msg_len);
    out[i].truncated = (headers[i].msg_hdr.msg_flags & MSG_TRUNC) != 0;
  }
  return static_cast<size_t>(n);
}

Result<size_t> SocketDatagram::send(std::span<const Datagram> batch) {
  if (!writable_) return Errc::kWouldBlock;
  std::array<mmsghdr, kBatch> headers{};
  std::array<iovec, kBatch> parts;
  std::array<sockaddr_storage, kBatch> peers;
  const size_t want = std::min(batch.size(), kBatch);
  for (size_t i = 0; i < want; ++i) {
    parts[i] = {batch[i].payload.data(), batch[i].payload.size()};
    headers[i].msg_hdr.msg_iov = &parts[i];
    headers[i].msg_hdr.msg_iovlen = 1;
    if (!connected_) {
      headers[i].msg_hdr.msg_namelen = batch[i].peer.to_sockaddr(peers[i]);
      headers[i].msg_hdr.msg_name = &peers[i];
    }
  }
  int n;
  do {
    n = sendmmsg(fd_, headers.data(), static_cast<unsigned>(want), MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (n < 0 && errno == EINTR);
  if (n >= 0) return static_cast<size_t>(n);
  if (errno == EAGAIN || errno == ENOBUFS) {
    writable_ = false;
    return Errc::kWouldBlock;
  }
  if (errno == EMSGSIZE) return size_t{1};
  return error_from_errno(errno);
}

// ---------------------------------------------------------------- EpollBackend

EpollBackend::EpollBackend()
    : highest_(highest_for_flows()),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      event_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  CULVERT_CHECK(epoll_ >= 0 && event_ >= 0);
  epoll_event e{};
  e.events = EPOLLIN | EPOLLET;
  e.data.u64 = kWakeKey;
  CULVERT_CHECK(epoll_ctl(epoll_, EPOLL_CTL_ADD, event_, &e) == 0);
}

EpollBackend::~EpollBackend() {
  ::close(event_);
  ::close(epoll_);
}

void EpollBackend::wake() {
  const uint64_t one = 1;
  ssize_t ignored = ::write(event_, &one, sizeof one);  // full means: already awake
  (void)ignored;
}

size_t EpollBackend::poll(TimePoint until) {
  int timeout_ms = -1;
  if (until == TimePoint::min()) {
    timeout_ms = 0;  // any time subtracted from it would overflow
  } else if (until != kNever) {
    const Duration left = until - clock().now();
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    timeout_ms = static_cast<int>(std::clamp<int64_t>(ms, 0, 60'000));
  }
  ready_ = epoll_wait(epoll_, events_.data(), static_cast<int>(events_.size()), timeout_ms);
  if (ready_ < 0) ready_ = 0;  // EINTR
  return static_cast<size_t>(ready_);
}

void EpollBackend::dispatch() {
  for (int i = 0; i < ready_; ++i) {
    const uint64_t key = events_[static_cast<size_t>(i)].data.u64;
    // The eventfd is edge-triggered and never read: writing to it again is a new edge.
    if (key == kWakeKey) continue;
    if (FdEvents* handler = table_.find(key); handler != nullptr) {
      handler->on_events(events_[static_cast<size_t>(i)].events);
    }
  }
  ready_ = 0;
}

Status EpollBackend::add(int fd, uint32_t events, FdEvents* handler, uint64_t& key) {
  key = table_.add(handler);
  epoll_event e{};
  e.events = events;
  e.data.u64 = key;
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &e) != 0) return error_from_errno(errno);
  return {};
}

Status EpollBackend::rearm(int fd, uint32_t events, uint64_t key) {
  epoll_event e{};
  e.events = events;
  e.data.u64 = key;
  if (epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &e) != 0) return error_from_errno(errno);
  return {};
}

Result<std::unique_ptr<Listener>> EpollBackend::listen(const Endpoint& at,
                                                       const ListenOptions& options,
                                                       Acceptor& acceptor) {
  const Result<int> opened = open_tcp_socket(at.ip.is_v6() ? AF_INET6 : AF_INET, options.multipath);
  if (opened.error().os_errno == EAFNOSUPPORT && at.ip.is_v6() && at.ip.is_unspecified()) {
    // Every address of a host without IPv6 is every IPv4 address.
    return listen(Endpoint(IpAddress::v4(0), at.port), options, acceptor);
  }
  if (!opened.ok()) return opened.error();
  const int fd = *opened;
  set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  if (options.reuse_port) set_int(fd, SOL_SOCKET, SO_REUSEPORT, 1);
  if (at.ip.is_v6()) set_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, options.v6_only ? 1 : 0);
  // Accepted sockets inherit these, which saves a call each.
  set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_keep_alive(fd, options.keep_alive);
  if (options.fast_open) allow_fast_open_clients(fd);
  if (const Status marked = set_mark(fd, options.mark); !marked.ok()) {
    ::close(fd);
    return marked.error();
  }
  sockaddr_storage ss{};
  const socklen_t n = at.to_sockaddr(ss);
  if (bind(fd, reinterpret_cast<sockaddr*>(&ss), n) != 0 || ::listen(fd, options.backlog) != 0) {
    const Error error = error_from_errno(errno);
    ::close(fd);
    return error;
  }
  auto listener = std::make_unique<SocketListener>(*this, fd, acceptor,
                                                   options.leaves_reserve ? highest_ : INT_MAX);
  const Status attached = listener->attach();
  if (!attached.ok()) return attached.error();
  return std::unique_ptr<Listener>(std::move(listener));
}

Result<std::unique_ptr<Listener>> EpollBackend::listen_unix(const std::string& path, mode_t mode,
                                                            Acceptor& acceptor) {
  auto listener = std::make_unique<UnixListener>();
  const Result<int> fd = listen_at_path(path, mode, listener->file);
  if (!fd.ok()) return fd.error();
  listener->socket = std::make_unique<SocketListener>(*this, *fd, acceptor, INT_MAX);
  const Status attached = listener->socket->attach();
  if (!attached.ok()) return attached.error();
  return std::unique_ptr<Listener>(std::move(listener));
}

Result<std::unique_ptr<Stream>> EpollBackend::connect(const Endpoint& to,
                                                      const ConnectOptions& options) {
  const Result<int> opened = open_tcp_socket(to.ip.is_v6() ? AF_INET6 : AF_INET, options.multipath);
  if (!opened.ok()) return opened.error();
  const int fd = *opened;
  if (options.leaves_reserve && fd > highest_) {
    ::close(fd);
    return error_from_errno(EMFILE);
  }
  Status routed = set_mark(fd, options.mark);
  if (routed.ok()) routed = bind_to_interface(fd, options.interface);
  if (!routed.ok()) {
    ::close(fd);
    return routed.error();
  }
  if (options.no_delay) set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  if (options.fast_open) prefer_fast_open(fd);
  sockaddr_storage ss{};
  const socklen_t n = to.to_sockaddr(ss);
  bool connecting = false;
  if (::connect(fd, reinterpret_cast<sockaddr*>(&ss), n) != 0) {
    if (errno != EINPROGRESS && errno != EINTR) {
      const Error error = error_from_errno(errno);
      ::close(fd);
      return error;
    }
    connecting = true;
  }
  set_keep_alive(fd, options.keep_alive);
  auto stream = std::make_unique<SocketStream>(*this, fd, to, connecting);
  if (options.fast_open && !connecting && is_handshake_pending(fd)) stream->open_fast();
  const Status attached = stream->attach();
  if (!attached.ok()) return attached.error();
  return std::unique_ptr<Stream>(std::move(stream));
}

Result<std::unique_ptr<Stream>> EpollBackend::adopt(AcceptedSocket socket) {
  const Endpoint remote = socket.remote();
  auto stream = std::make_unique<SocketStream>(*this, socket.release(), remote, false);
  const Status attached = stream->attach();
  if (!attached.ok()) return attached.error();
  return std::unique_ptr<Stream>(std::move(stream));
}

Result<std::unique_ptr<DatagramSocket>> EpollBackend::open_datagram(const Endpoint& at,
                                                                    const Endpoint& peer) {
  const bool v6 = (peer.valid() ? peer.ip : at.ip).is_v6();
  const int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return error_from_errno(errno);
  auto datagram = std::make_unique<SocketDatagram>(*this, fd, peer.valid());
  sockaddr_storage ss{};
  if (at.valid() && (at.port != 0 || !at.ip.is_unspecified())) {
    const socklen_t n = at.to_sockaddr(ss);
    if (bind(fd, reinterpret_cast<sockaddr*>(&ss), n) != 0) return error_from_errno(errno);
  }
  if (peer.valid()) {
    const socklen_t n = peer.to_sockaddr(ss);
    if (::connect(fd, reinterpret_cast<sockaddr*>(&ss), n) != 0) return error_from_errno(errno);
  }
  const Status attached = datagram->attach();
  if (!attached.ok()) return attached.error();
  return std::unique_ptr<DatagramSocket>(std::move(datagram));
}

}  // namespace

AcceptedSocket::~AcceptedSocket() {
  if (handle_ < 0) return;
  if (closer_ != nullptr) {
    closer_->close_handle(handle_);
  } else {
    ::close(handle_);
  }
}

std::unique_ptr<Backend> make_epoll_backend() {
  return std::make_unique<EpollBackend>();
}

size_t raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  if (limit.rlim_cur < limit.rlim_max) {
    const rlimit raised{limit.rlim_max, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  return static_cast<size_t>(limit.rlim_cur);
}

}  // namespace culvert::rt
