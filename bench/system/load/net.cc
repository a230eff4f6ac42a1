#include "net.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace culvert::load {
namespace {

constexpr int kTimeoutSeconds = 10;
constexpr int kDatagramBuffer = 4 << 20;

// The load comes from an address of its own: mihomo refuses a client whose address and port are
// those of one of its own connections, which happens by chance when both are 127.0.0.1.
bool bind_source(const Socket& s) {
  sockaddr_in from{};
  from.sin_family = AF_INET;
  from.sin_addr.s_addr = htonl(0x7f000002);
  const int one = 1;
  setsockopt(s.fd(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
  return bind(s.fd(), generic(from), sizeof from) == 0;
}

Socket connect_tcp(const sockaddr_in& to, int receive_buffer) {
  Socket s(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!s) return s;
  const timeval limit{kTimeoutSeconds, 0};
  setsockopt(s.fd(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(s.fd(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  if (receive_buffer > 0) {
    setsockopt(s.fd(), SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  }
  const int one = 1;
  setsockopt(s.fd(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (!bind_source(s) || connect(s.fd(), generic(to), sizeof to) != 0) return {};
  return s;
}

bool greet_socks5(const Socket& proxy) {
  std::array<unsigned char, 2> answer{};
  return proxy.write("\x05\x01\x00", 3) && proxy.read(answer.data(), answer.size()) &&
         answer[0] == 5 && answer[1] == 0;
}

std::string socks5_address(const sockaddr_in& a) {
  std::string out(1, '\x01');
  out.append(reinterpret_cast<const char*>(&a.sin_addr), sizeof a.sin_addr);
  out.append(reinterpret_cast<const char*>(&a.sin_port), sizeof a.sin_port);
  return out;
}

// Reads a SOCKS5 reply; true when it says that the request was granted.
bool read_socks5_reply(const Socket& proxy, sockaddr_in* bound) {
  std::array<unsigned char, 4> head{};
  if (!proxy.read(head.data(), head.size()) || head[1] != 0) return false;
  std::array<unsigned char, 258> rest{};
  size_t size = 0;
  if (head[3] == 1) {
    size = 6;
  } else if (head[3] == 4) {
    size = 18;
  } else if (head[3] == 3) {
    unsigned char length = 0;
    if (!proxy.read(&length, 1)) return false;
    size = length + size_t{2};
  }
  if (size == 0 || !proxy.read(rest.data(), size)) return false;
  if (bound != nullptr) {
    if (head[3] != 1) return false;
    bound->sin_family = AF_INET;
    std::memcpy(&bound->sin_addr, rest.data(), 4);
    std::memcpy(&bound->sin_port, rest.data() + 4, 2);
  }
  return true;
}

}  // namespace

double own_cpu_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return static_cast<double>(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
         static_cast<double>(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

Options::Options(int count, char** values) {
  for (int i = 0; i + 1 < count; i += 2) {
    const std::string_view name = values[i];
    if (!name.starts_with("--")) {
      std::fprintf(stderr, "not an option: %s\n", values[i]);
      std::exit(2);
    }
    values_.emplace(name.substr(2), values[i + 1]);
  }
}

std::string Options::text(std::string_view name, std::string_view otherwise) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::string(otherwise) : found->second;
}

double Options::number(std::string_view name, double otherwise) const {
  const auto found = values_.find(name);
  return found == values_.end() ? otherwise : std::strtod(found->second.c_str(), nullptr);
}

const sockaddr* generic(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

sockaddr_in parse_address(const std::string& text) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos ||
      inet_pton(AF_INET, text.substr(0, colon).c_str(), &out.sin_addr) != 1) {
    std::fprintf(stderr, "not an address: '%s'\n", text.c_str());
    std::exit(2);
  }
  out.sin_port = htons(static_cast<uint16_t>(std::strtoul(text.c_str() + colon + 1, nullptr, 10)));
  return out;
}

void Socket::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

bool Socket::write(const void* data, size_t size) const {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = send(fd_, at, size, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

bool Socket::read(void* data, size_t size) const {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ptrdiff_t n = read_some(at, size);
    if (n <= 0) return false;
    at += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

ptrdiff_t Socket::read_some(void* data, size_t size) const {
  ssize_t n = 0;
  do {
    n = recv(fd_, data, size, 0);
  } while (n < 0 && errno == EINTR);
  return n;
}

Route::Route(const Options& options)
    : kind_(options.text("proxy", "none")), target_text_(options.text("target")) {
  if (kind_ != "none" && kind_ != "socks5" && kind_ != "http") {
    std::fprintf(stderr, "--proxy is none, socks5 or http, not '%s'\n", kind_.c_str());
    std::exit(2);
  }
  target_ = parse_address(target_text_);
  via_ = kind_ == "none" ? target_ : parse_address(options.text("via"));
}

Socket Route::dial(int receive_buffer) const {
  Socket s = connect_tcp(via_, receive_buffer);
  if (!s) return s;
  const bool open = kind_ == "none" || (kind_ == "socks5" ? ask_socks5(s) : ask_http(s));
  return open ? std::move(s) : Socket{};
}

bool Route::ask_socks5(const Socket& proxy) const {
  const std::string request = std::string("\x05\x01\x00", 3) + socks5_address(target_);
  return greet_socks5(proxy) && proxy.write(request.data(), request.size()) &&
         read_socks5_reply(proxy, nullptr);
}

bool Route::ask_http(const Socket& proxy) const {
  const std::string request =
      "CONNECT " + target_text_ + " HTTP/1.1\r\nHost: " + target_text_ + "\r\n\r\n";
  if (!proxy.write(request.data(), request.size())) return false;
  std::string answer;
  while (!answer.ends_with("\r\n\r\n")) {
    char c = 0;
    if (answer.size() > 4096 || !proxy.read(&c, 1)) return false;
    answer += c;
  }
  return answer.starts_with("HTTP/1.") && answer.substr(8, 4) == " 200";
}

Socket connected_datagrams(const sockaddr_in& to) {
  Socket s(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!s) return s;
  setsockopt(s.fd(), SOL_SOCKET, SO_RCVBUF, &kDatagramBuffer, sizeof kDatagramBuffer);
  if (!bind_source(s) || connect(s.fd(), generic(to), sizeof to) != 0) return {};
  return s;
}

Route::Association Route::associate() const {
  Association out;
  if (kind_ == "none") {
    out.datagrams = connected_datagrams(target_);
    return out;
  }
  const std::string request = std::string("\x05\x03\x00", 3) + socks5_address(sockaddr_in{});
  sockaddr_in relay{};
  out.control = connect_tcp(via_, 0);
  if (kind_ != "socks5" || !out.control || !greet_socks5(out.control) ||
      !out.control.write(request.data(), request.size()) ||
      !read_socks5_reply(out.control, &relay)) {
    return {};
  }
  // A relay that names no address is at the proxy's.
  if (relay.sin_addr.s_addr == 0) relay.sin_addr = via_.sin_addr;
  out.datagrams = connected_datagrams(relay);
  out.header = std::string(3, '\0') + socks5_address(target_);
  return out;
}

}  // namespace culvert::load
