// Blocking sockets for the load generator: whole reads and writes, and the dial through a proxy.
#pragma once

#include <netinet/in.h>

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace culvert::load {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// User and system time of this process so far, in seconds.
double own_cpu_seconds();

// What stands behind the mode on the command line: `--name value` pairs.
class Options {
 public:
  Options(int count, char** values);
  [[nodiscard]] std::string text(std::string_view name, std::string_view otherwise = "") const;
  [[nodiscard]] double number(std::string_view name, double otherwise) const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

// "192.0.2.1:80"; ends the program with a message when it is anything else.
sockaddr_in parse_address(const std::string& text);
const sockaddr* generic(const sockaddr_in& address);

// Owns a descriptor.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() { reset(); }

  [[nodiscard]] int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset();
  // All of it, or false.
  [[nodiscard]] bool write(const void* data, size_t size) const;
  [[nodiscard]] bool read(void* data, size_t size) const;
  // What is there, as recv: 0 at the end, negative on error.
  [[nodiscard]] ptrdiff_t read_some(void* data, size_t size) const;

 private:
  int fd_ = -1;
};

// Where the load goes and by which way: --proxy none|socks5|http, --via IP:PORT, --target IP:PORT.
class Route {
 public:
  explicit Route(const Options& options);
  // A connection to the target, ready for its bytes; empty on any failure.
  // `receive_buffer`: SO_RCVBUF in bytes, 0 for the system's own.
  [[nodiscard]] Socket dial(int receive_buffer = 0) const;
  // A connected datagram socket to the target or to the proxy's relay. `header` is what every
  // datagram starts with; `control` must stay open as long as the association is used.
  struct Association {
    Socket control;
    Socket datagrams;
    std::string header;
  };
  [[nodiscard]] Association associate() const;

 private:
  [[nodiscard]] bool ask_socks5(const Socket& proxy) const;
  [[nodiscard]] bool ask_http(const Socket& proxy) const;

  std::string kind_;
  std::string target_text_;
  sockaddr_in target_{};
  sockaddr_in via_{};
};

Socket connected_datagrams(const sockaddr_in& to);

}  // namespace culvert::load
