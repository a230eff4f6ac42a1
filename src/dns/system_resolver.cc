#include "dns/system_resolver.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/format.h"
#include "dns/hosts_table.h"
#include "rt/await.h"
#include "wire/dns.h"
#include "wire/host.h"

namespace culvert::dns {

using flow::AddressList;
using rt::Task;

namespace {

// A configuration file larger than this is not read.
constexpr std::streamoff kMaxFile = 16 << 20;
constexpr Duration kNegativeTtl = std::chrono::seconds(5);
// One wait for one server, however long resolv.conf would have it.
constexpr Duration kMaxServerWait = std::chrono::seconds(2);
// Datagrams of the wrong kind that one query looks at.
constexpr int kMaxStrays = 64;

struct Stamp {
  int64_t seconds = -1;
  int64_t nanos = 0;
  int64_t size = -1;
  friend bool operator==(const Stamp&, const Stamp&) = default;
};

Stamp stamp_of(const std::string& path) {
  struct stat st {};
  if (stat(path.c_str(), &st) != 0) return {};
  return {st.st_mtim.tv_sec, st.st_mtim.tv_nsec, st.st_size};
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return "";
  in.seekg(0, std::ios::end);
  if (in.tellg() > kMaxFile) return "";
  in.seekg(0);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Over TCP (RFC 1035 section 4.2.2): a length before each message.
Task<Result<wire::dns::Addresses>> ask_over_tcp(Endpoint server, Bytes query, uint16_t id,
                                                std::string_view name, uint16_t type,
                                                TimePoint deadline) {
  auto connected = rt::Worker::here().backend().connect(server, {});
  if (!connected.ok()) co_return connected.error();
  rt::Stream& stream = **connected;
  Status status = co_await rt::await_opened(stream, deadline);
  if (!status.ok()) co_return status.error();
  std::vector<uint8_t> message(2 + query.size());
  store_be16(message.data(), static_cast<uint16_t>(query.size()));
  std::copy(query.begin(), query.end(), message.begin() + 2);
  status = co_await rt::write_all(stream, message, deadline);
  if (!status.ok()) co_return status.error();
  message.clear();
  for (;;) {
    const Result<MutableBytes> bytes = co_await rt::read_some(stream, deadline);
    if (!bytes.ok()) co_return bytes.error();
    message.insert(message.end(), bytes->begin(), bytes->end());
    stream.consume(bytes->size());
    if (message.size() < 2) continue;
    const size_t whole = 2u + load_be16(message.data());
    if (message.size() < whole) continue;
    co_return wire::dns::parse_addresses(Bytes(message).subspan(2, whole - 2), id, name, type);
  }
}

class DatagramReady final : public rt::Suspension {
 public:
  DatagramReady(rt::DatagramSocket& socket, TimePoint deadline)
      : socket_(socket), deadline_(deadline) {}
  bool await_ready() const { return false; }
  template <class P>
  bool await_suspend(std::coroutine_handle<P> handle) {
    if (!begin(handle, handle.promise().scope, deadline_)) return false;
    socket_.wait_readable(&waiter_);
    return true;
  }
  Status await_resume() { return outcome(); }

 private:
  struct Link : rt::Waiter {
    explicit Link(DatagramReady* s) : Waiter(&DatagramReady::on_ready), self(s) {}
    DatagramReady* self;
  };
  static void on_ready(rt::Waiter& w) { static_cast<Link&>(w).self->finish({}); }
  void disarm() override { socket_.wait_readable(nullptr); }
  rt::DatagramSocket& socket_;
  TimePoint deadline_;
  Link waiter_{this};
};

// Over UDP, from a fresh socket connected to the server: the kernel drops what others send, and the
// port is a new random one each time.
Task<Result<wire::dns::Addresses>> ask_over_udp(Endpoint server, Bytes query, uint16_t id,
                                                std::string_view name, uint16_t type,
                                                TimePoint deadline) {
  auto opened = rt::Worker::here().backend().open_datagram({}, server);
  if (!opened.ok()) co_return opened.error();
  rt::DatagramSocket& socket = **opened;
  rt::Datagram out;
  // Sent, not changed.
  out.payload = MutableBytes(const_cast<uint8_t*>(query.data()), query.size());
  const Result<size_t> sent = socket.send({&out, 1});
  if (!sent.ok()) co_return sent.error();
  for (int strays = 0; strays < kMaxStrays;) {
    rt::Datagram in;
    const Result<size_t> n = socket.receive({&in, 1});
    if (n.ok()) {
      if (!in.truncated) {
        const auto parsed = wire::dns::parse_addresses(in.payload, id, name, type);
        // Not an answer to this question: somebody else's, or a guess. The right one may still
        // come.
        if (parsed.ok() || parsed.code() == Errc::kBadMessage) co_return parsed;
      }
      ++strays;
      continue;
    }
    if (n.code() != Errc::kWouldBlock) co_return n.error();
    const Status ready = co_await DatagramReady(socket, deadline);
    if (!ready.ok()) co_return ready.error();
  }
  co_return Errc::kBadMessage;
}

}  // namespace

struct SystemResolver::Files {
  wire::ResolvConf conf;
  HostsTable hosts;
  Stamp conf_stamp;
  Stamp hosts_stamp;
};

SystemResolver::Options SystemResolver::Options::from_environment(bool ipv6) {
  Options o;
  o.ipv6 = ipv6;
  if (const char* path = std::getenv("CULVERT_RESOLV_CONF")) o.resolv_conf = path;
  if (const char* path = std::getenv("CULVERT_HOSTS_FILE")) o.hosts = path;
  return o;
}

SystemResolver::SystemResolver(Options options)
    : options_(std::move(options)), ipv6_(options_.ipv6), hash_(KeyedHash::fresh()) {}
SystemResolver::~SystemResolver() = default;

std::shared_ptr<const SystemResolver::Files> SystemResolver::files(TimePoint now) {
  std::lock_guard lock(mutex_);
  if (files_ != nullptr && now < next_check_) return files_;
  next_check_ = now + kFileCheck;
  const Stamp conf = stamp_of(options_.resolv_conf);
  const Stamp hosts = stamp_of(options_.hosts);
  if (files_ != nullptr && files_->conf_stamp == conf && files_->hosts_stamp == hosts)
    return files_;
  auto fresh = std::make_shared<Files>();
  fresh->conf_stamp = conf;
  fresh->hosts_stamp = hosts;
  fresh->conf = wire::parse_resolv_conf(read_file(options_.resolv_conf));
  // resolv.conf(5): without a server, the one on this host.
  if (fresh->conf.servers.empty()) fresh->conf.servers.emplace_back(IpAddress::v4(0x7f000001), 0);
  for (Endpoint& server : fresh->conf.servers) server.port = options_.port;
  fresh->hosts = HostsTable(wire::parse_hosts(read_file(options_.hosts)), hash_, ipv6_);
  files_ = std::move(fresh);
  return files_;
}

// What is in the cache or of the hosts file is there in its normal form, and no literal is: a text
// that is found as it came needs no look at its letters.
Status SystemResolver::try_cached(std::string_view host, AddressList& out) {
  const uint64_t hash = hash_(host);
  const TimePoint now = rt::Worker::here().now();
  std::lock_guard lock(mutex_);
  if (files_ == nullptr || now >= next_check_) return Errc::kWouldBlock;
  if (!files_->hosts.find(hash, host, out) && !cache_.find(hash, host, now, out)) {
    return Errc::kWouldBlock;
  }
  if (out.empty()) return Errc::kNoName;
  return {};
}

void SystemResolver::store(std::string_view name, const Answer& answer, TimePoint now) {
  if (answer.ttl <= Duration(0)) return;
  const uint64_t hash = hash_(name);
  std::lock_guard lock(mutex_);
  cache_.store(hash, name, answer.addresses, now + std::min(answer.ttl, kMaxTtl));
}

void SystemResolver::flush() {
  std::lock_guard lock(mutex_);
  cache_.clear();
}

void SystemResolver::set_ipv6(bool on) {
  std::lock_guard lock(mutex_);
  if (ipv6_.exchange(on) == on) return;
  files_.reset();
  cache_.clear();
}

size_t SystemResolver::cached() const {
  std::lock_guard lock(mutex_);
  return cache_.size();
}

Task<Result<AddressList>> SystemResolver::resolve(std::string_view host, TimePoint deadline) {
  Result<AddressList> list = AddressList();
  const Status known = try_cached(host, *list);
  if (known.code() == Errc::kWouldBlock) {
    list = co_await look_up(host, deadline);
  } else if (!known.ok()) {
    list = known.error();
  }
  co_return list;
}

Task<Result<AddressList>> SystemResolver::look_up(std::string_view host, TimePoint deadline) {
  AddressList list;
  if (const auto ip = IpAddress::parse(host)) {
    list.add(*ip);
    co_return list;
  }
  wire::HostBuffer buffer;
  const auto normal = wire::normalize_host(host, buffer);
  if (!normal) co_return Errc::kNoName;
  const std::string name(*normal);
  // Read again if it is time to, for the look-up that follows.
  const std::shared_ptr<const Files> current = files(rt::Worker::here().now());
  const Status known = try_cached(name, list);
  if (known.ok()) co_return list;
  if (known.code() != Errc::kWouldBlock) co_return known.error();
  // RFC 6761 section 6.3: localhost is this host, whatever a server says.
  if (name == "localhost" || name.ends_with(".localhost")) {
    list.add(IpAddress::v4(0x7f000001));
    co_return list;
  }
  co_return co_await ask_servers(name, current, deadline);
}

Task<void> SystemResolver::ask_into(std::string_view name, uint16_t type,
                                    std::shared_ptr<const Files> files, TimePoint deadline,
                                    Result<Answer>* out) {
  *out = co_await ask(name, type, std::move(files), deadline);
}

Task<Result<AddressList>> SystemResolver::ask_servers(std::string name,
                                                      std::shared_ptr<const Files> files,
                                                      TimePoint deadline) {
  // resolv.conf(5): a name with fewer dots than ndots is tried with each search domain first.
  std::vector<std::string> candidates;
  const auto dots = static_cast<uint32_t>(std::count(name.begin(), name.end(), '.'));
  if (dots >= files->conf.ndots) candidates.push_back(name);
  for (const std::string& domain : files->conf.search) {
    if (name.size() + 1 + domain.size() <= wire::dns::kMaxName)
      candidates.push_back(format("{}.{}", name, domain));
  }
  if (dots < files->conf.ndots) candidates.push_back(name);

  const bool ipv6 = ipv6_;
  Error last = Errc::kNoName;
  Answer negative;
  negative.no_name = true;
  negative.ttl = kMaxTtl;
  for (const std::string& candidate : candidates) {
    Result<Answer> v4 = Errc::kNoName, v6 = Errc::kNoName;
    if (ipv6) {
      rt::Scope* outer = co_await rt::CurrentScope();
      rt::Scope both(outer);
      both.spawn("dns aaaa", ask_into(candidate, wire::dns::kTypeAaaa, files, deadline, &v6));
      v4 = co_await ask(candidate, wire::dns::kTypeA, files, deadline);
      co_await both.join();
    } else {
      v4 = co_await ask(candidate, wire::dns::kTypeA, files, deadline);
    }
    Answer merged;
    merged.ttl = kMaxTtl;
    bool complete = true;
    bool no_name = false;
    for (const Result<Answer>* part : {&v6, &v4}) {
      if (!part->ok()) {
        // No AAAA query was made where IPv6 is off.
        if (part == &v6 && !ipv6) continue;
        last = part->error();
        complete = false;
        continue;
      }
      no_name = no_name || (*part)->no_name;
      for (const IpAddress& ip : (*part)->addresses.view()) merged.addresses.add(ip);
      merged.ttl = std::min(merged.ttl, (*part)->ttl);
    }
    if (!merged.addresses.empty()) {
      // Half an answer serves now, and is asked for again soon.
      if (!complete) merged.ttl = std::min<Duration>(merged.ttl, kNegativeTtl);
      store(name, merged, rt::Worker::here().now());
      co_return merged.addresses;
    }
    // One family without an address says nothing about a name whose other family failed; that there
    // is no such name holds for both (RFC 2308 section 2.1).
    if (!complete && !no_name) co_return last.from(Side::kUpstream);
    last = Errc::kNoName;
    negative.ttl = std::min(negative.ttl, merged.ttl);
  }
  store(name, negative, rt::Worker::here().now());
  co_return last;
}

Task<Result<SystemResolver::Answer>> SystemResolver::ask(std::string_view name, uint16_t type,
                                                         std::shared_ptr<const Files> files,
                                                         TimePoint deadline) {
  Error last(Errc::kTimedOut, Side::kUpstream, true);
  const Duration wait =
      std::min<Duration>(std::chrono::seconds(files->conf.timeout_s), kMaxServerWait);
  for (uint32_t attempt = 0; attempt < files->conf.attempts; ++attempt) {
    for (const Endpoint& server : files->conf.servers) {
      const TimePoint now = rt::Worker::here().now();
      if (now >= deadline) co_return Error(Errc::kTimedOut, Side::kUpstream, true);
      const TimePoint until = std::min(deadline, now + wait);
      uint8_t raw[2];
      rt::Worker::here().rng().fill(raw);
      const uint16_t id = load_be16(raw);
      std::array<uint8_t, wire::dns::kMaxQuery> query;
      const auto size = wire::dns::serialize_query(id, name, type, query);
      if (!size) co_return Errc::kNoName;
      const Bytes message = Bytes(query).first(*size);
      Result<wire::dns::Addresses> got =
          co_await ask_over_udp(server, message, id, name, type, until);
      if (got.ok() && got->truncated) {
        got = co_await ask_over_tcp(server, message, id, name, type, until);
      }
      if (got.code() == Errc::kCancelled) co_return got.error();
      if (!got.ok()) {
        last = got.error();
        continue;
      }
      // NXDOMAIN and an empty answer are final; REFUSED, SERVFAIL and the like are this server's.
      if (got->rcode != wire::dns::Rcode::kNoError && got->rcode != wire::dns::Rcode::kNxDomain) {
        last = Error(Errc::kUnreachable, Side::kUpstream, true);
        continue;
      }
      Answer answer;
      for (uint8_t i = 0; i < got->count; ++i) answer.addresses.add(got->ip[i]);
      answer.ttl = got->has_ttl      ? Duration(std::chrono::seconds(got->ttl))
                   : got->count == 0 ? kNegativeTtl
                                     : Duration(0);
      answer.no_name = got->rcode == wire::dns::Rcode::kNxDomain;
      if (got->count == 0) answer.ttl = std::min<Duration>(answer.ttl, std::chrono::minutes(5));
      co_return answer;
    }
  }
  co_return last;
}

}  // namespace culvert::dns
