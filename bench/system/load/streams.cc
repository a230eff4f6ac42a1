// Loads of TCP streams: bulk, short, held, and readers that stop.
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "modes.h"

namespace culvert::load {
namespace {

constexpr size_t kChunk = size_t{256} << 10;

// Calls work(i) for every i below n, on as many threads.
template <class Work>
void on_threads(int n, Work work) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) threads.emplace_back(work, i);
  for (std::thread& t : threads) t.join();
}

// Calls work(i) for every i below n, on a few threads that take the next one when they are free.
template <class Work>
void spread(int n, int workers, Work work) {
  std::atomic<int> next{0};
  on_threads(workers, [&](int) {
    for (int i = next++; i < n; i = next++) work(i);
  });
}

// Sends blocks until the time is up, at most `window` unanswered; counts the answered ones.
bool send_blocks(const Socket& s, Clock::time_point end, int window,
                 std::atomic<uint64_t>& blocks) {
  const std::vector<char> chunk(kChunk, 'y');
  int unanswered = 0;
  char answer = 0;
  const auto collect = [&] {
    if (!s.read(&answer, 1)) return false;
    ++blocks;
    --unanswered;
    return true;
  };
  if (!s.write("U", 1)) return false;
  while (Clock::now() < end) {
    for (size_t sent = 0; sent < kBlock; sent += chunk.size()) {
      if (!s.write(chunk.data(), chunk.size())) return false;
    }
    if (++unanswered >= window && !collect()) return false;
  }
  while (unanswered > 0) {
    if (!collect()) return false;
  }
  return true;
}

// Asks for blocks until the time is up, `window` at a time; counts those that came whole.
bool receive_blocks(const Socket& s, Clock::time_point end, int window,
                    std::atomic<uint64_t>& blocks) {
  std::vector<char> chunk(kChunk);
  if (!s.write("D", 1)) return false;
  const std::string first(static_cast<size_t>(window), 'r');
  if (!s.write(first.data(), first.size())) return false;
  for (int asked = window; asked > 0; --asked) {
    for (size_t got = 0; got < kBlock;) {
      const ptrdiff_t n = s.read_some(chunk.data(), std::min(chunk.size(), kBlock - got));
      if (n <= 0) return false;
      got += static_cast<size_t>(n);
    }
    ++blocks;
    if (Clock::now() < end) {
      if (!s.write("r", 1)) return false;
      ++asked;
    }
  }
  return true;
}

double quantile(const std::vector<float>& sorted, double q) {
  if (sorted.empty()) return 0;
  const auto at = static_cast<size_t>(q * static_cast<double>(sorted.size()));
  return sorted[std::min(sorted.size() - 1, at)];
}

bool next_line() {
  char line[64];
  return std::fgets(line, sizeof line, stdin) != nullptr;
}

}  // namespace

int run_streams(const Options& options) {
  const Route route(options);
  const bool up = options.text("dir", "up") == "up";
  const int window = static_cast<int>(options.number("window", 4));
  const auto start = Clock::now();
  const auto end = start + std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double>(options.number("secs", 2)));
  std::atomic<uint64_t> blocks{0};
  std::atomic<int> failed{0};
  on_threads(static_cast<int>(options.number("conns", 4)), [&](int) {
    const Socket s = route.dial();
    if (!s ||
        !(up ? send_blocks(s, end, window, blocks) : receive_blocks(s, end, window, blocks))) {
      ++failed;
    }
  });
  std::printf(R"({"bytes":%llu,"wall_s":%.4f,"failed":%d,"client_cpu_s":%.4f})"
              "\n",
              static_cast<unsigned long long>(blocks.load()) * kBlock, seconds_since(start),
              failed.load(), own_cpu_seconds());
  return 0;
}

int run_short(const Options& options) {
  const Route route(options);
  const auto size = static_cast<size_t>(options.number("size", 64));
  const auto most = static_cast<int64_t>(options.number("max", 60000));
  const double seconds = options.number("secs", 2);
  const auto start = Clock::now();
  std::atomic<int64_t> taken{0};
  std::atomic<int64_t> failed{0};
  std::mutex mutex;
  std::vector<float> latencies;
  on_threads(static_cast<int>(options.number("workers", 16)), [&](int) {
    std::string request(size + 1, 'q');
    request[0] = 'E';
    std::string reply(size, '\0');
    std::vector<float> mine;
    while (seconds_since(start) < seconds && taken++ < most) {
      const auto begun = Clock::now();
      Socket s = route.dial();
      const bool whole =
          s && s.write(request.data(), request.size()) && s.read(reply.data(), reply.size());
      s.reset();
      if (whole) {
        mine.push_back(static_cast<float>(seconds_since(begun) * 1e3));
      } else {
        ++failed;
      }
    }
    const std::lock_guard lock(mutex);
    latencies.insert(latencies.end(), mine.begin(), mine.end());
  });
  const double wall = seconds_since(start);
  std::sort(latencies.begin(), latencies.end());
  std::printf(
      R"({"conns":%zu,"failed":%lld,"wall_s":%.4f,"conn_per_s":%.1f,"p50_ms":%.3f,"p99_ms":%.3f,)"
      R"("client_cpu_s":%.4f})"
      "\n",
      latencies.size(), static_cast<long long>(failed), wall,
      static_cast<double>(latencies.size()) / wall, quantile(latencies, .5),
      quantile(latencies, .99), own_cpu_seconds());
  return 0;
}

int run_hold(const Options& options) {
  const Route route(options);
  const int n = static_cast<int>(options.number("n", 1000));
  const int workers = static_cast<int>(options.number("workers", 16));
  const int rounds = static_cast<int>(options.number("rounds", 128));
  const auto size = static_cast<size_t>(options.number("size", 4096));
  const double limit = options.number("limit", 25);
  std::vector<Socket> held(static_cast<size_t>(n));
  std::atomic<int> failed{0};
  auto start = Clock::now();
  spread(n, workers, [&](int i) {
    Socket s = route.dial();
    char answer = 0;
    if (s && s.write("Ep", 2) && s.read(&answer, 1)) {
      held[static_cast<size_t>(i)] = std::move(s);
    } else {
      ++failed;
    }
  });
  std::printf(R"({"phase":"open","open":%d,"failed":%d,"wall_s":%.3f})"
              "\n",
              n - failed, failed.load(), seconds_since(start));
  std::fflush(stdout);
  if (!next_line()) return 1;

  start = Clock::now();
  std::atomic<uint64_t> bytes{0};
  spread(n, workers, [&](int i) {
    const Socket& s = held[static_cast<size_t>(i)];
    const std::string request(size, 'h');
    std::string reply(size, '\0');
    for (int k = 0; s && k < rounds && seconds_since(start) < limit; ++k) {
      if (!s.write(request.data(), size) || !s.read(reply.data(), size)) return;
      bytes += size;
    }
  });
  const uint64_t expected =
      static_cast<uint64_t>(n - failed) * static_cast<uint64_t>(rounds) * size;
  std::printf(R"({"phase":"transfer","bytes_each_way":%llu,"wall_s":%.3f,"complete":%s})"
              "\n",
              static_cast<unsigned long long>(bytes), seconds_since(start),
              bytes == expected ? "true" : "false");
  std::fflush(stdout);
  if (!next_line()) return 1;

  held.clear();
  std::puts(R"({"phase":"closed"})");
  std::fflush(stdout);
  return next_line() ? 0 : 1;
}

int run_stopped(const Options& options) {
  const Route route(options);
  const int n = static_cast<int>(options.number("n", 2000));
  const std::string request =
      "D" + std::string(static_cast<size_t>(options.number("blocks", 8)), 'r');
  std::vector<Socket> held(static_cast<size_t>(n));
  std::atomic<int> failed{0};
  spread(n, 16, [&](int i) {
    // A small buffer here leaves the bytes where they are to be: with the proxy.
    Socket s = route.dial(4096);
    char first = 0;
    if (s && s.write(request.data(), request.size()) && s.read(&first, 1)) {
      held[static_cast<size_t>(i)] = std::move(s);
    } else {
      ++failed;
    }
  });
  std::printf(R"({"phase":"open","open":%d,"failed":%d})"
              "\n",
              n - failed, failed.load());
  std::fflush(stdout);
  while (next_line()) {
  }
  return 0;
}

}  // namespace culvert::load
