// Loads of datagrams, a fixed number of them under way: echoes, and DNS questions.
#include <poll.h>
#include <sys/socket.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "modes.h"

namespace culvert::load {
namespace {

constexpr int kLostAfterMs = 100;  // what has not come when nothing comes for so long

struct Load {
  std::vector<std::string> packets;  // sent in turn
  size_t number_at = 0;              // where a packet's number goes
  size_t number_size = 4;
  bool dns = false;
};

bool is_good(const Load& load, const std::string& sent, const char* data, size_t size) {
  if (!load.dns) return size == sent.size();
  const auto* head = reinterpret_cast<const unsigned char*>(data);
  // No error, and at least one answer.
  return size >= 12 && (head[3] & 15) == 0 && (head[6] | head[7]) != 0;
}

int run(const Options& options, const Socket& s, Load load) {
  const int window = static_cast<int>(options.number("window", 32));
  const double seconds = options.number("secs", 2);
  std::vector<char> reply(65536);
  uint64_t sent = 0;
  uint64_t replies = 0;
  uint64_t lost = 0;
  uint64_t bad = 0;
  uint32_t number = 0;
  int under_way = 0;
  const auto start = Clock::now();
  while (seconds_since(start) < seconds) {
    for (; under_way < window; ++under_way) {
      std::string& packet = load.packets[number % load.packets.size()];
      ++number;
      std::memcpy(packet.data() + load.number_at, &number, load.number_size);
      if (send(s.fd(), packet.data(), packet.size(), 0) < 0) break;
      ++sent;
    }
    pollfd wait{s.fd(), POLLIN, 0};
    if (poll(&wait, 1, kLostAfterMs) <= 0) {
      lost += static_cast<uint64_t>(under_way);
      under_way = 0;
      continue;
    }
    for (;;) {
      const ssize_t n = recv(s.fd(), reply.data(), reply.size(), MSG_DONTWAIT);
      if (n < 0) break;
      if (!is_good(load, load.packets.front(), reply.data(), static_cast<size_t>(n))) ++bad;
      ++replies;
      if (under_way > 0) --under_way;
    }
  }
  const double wall = seconds_since(start);
  std::printf(R"({"sent":%llu,"replies":%llu,"lost":%llu,"bad":%llu,"wall_s":%.4f,"per_s":%.1f,)"
              R"("client_cpu_s":%.4f})"
              "\n",
              static_cast<unsigned long long>(sent), static_cast<unsigned long long>(replies),
              static_cast<unsigned long long>(lost), static_cast<unsigned long long>(bad), wall,
              static_cast<double>(replies) / wall, own_cpu_seconds());
  return 0;
}

// A question for the A records of a name, RFC 1035 section 4.1.
std::string question(const std::string& name) {
  std::string out("\0\0\1\0\0\1\0\0\0\0\0\0", 12);
  for (size_t at = 0; at <= name.size();) {
    const size_t dot = std::min(name.find('.', at), name.size());
    out += static_cast<char>(dot - at);
    out += name.substr(at, dot - at);
    at = dot + 1;
  }
  return out + std::string("\0\0\1\0\1", 5);
}

}  // namespace

int run_datagrams(const Options& options) {
  const Route::Association way = Route(options).associate();
  if (!way.datagrams) {
    std::puts(R"({"error":"the proxy refused the association"})");
    return 0;
  }
  Load load;
  load.number_at = way.header.size();
  load.packets = {way.header + std::string(static_cast<size_t>(options.number("size", 1400)), 'u')};
  return run(options, way.datagrams, std::move(load));
}

int run_dns(const Options& options) {
  Load load;
  load.number_size = 2;
  load.dns = true;
  std::ifstream names(options.text("names"));
  for (std::string name; std::getline(names, name);) {
    if (!name.empty()) load.packets.push_back(question(name));
  }
  if (load.packets.empty()) {
    std::fprintf(stderr, "--names: no names in '%s'\n", options.text("names").c_str());
    return 2;
  }
  return run(options, connected_datagrams(parse_address(options.text("target"))), std::move(load));
}

}  // namespace culvert::load
