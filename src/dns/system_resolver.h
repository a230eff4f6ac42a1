// SystemResolver: names to addresses with the system's own configuration: /etc/hosts first, then
// the servers of /etc/resolv.conf over UDP, over TCP when an answer is truncated. Our own code
// throughout: nothing blocks, and every query obeys its flow's deadline.
//
// Each UDP query leaves from a socket of its own, so from a fresh random port; id, server, port and
// question of an answer are checked. Both files are read again when they changed, looked at once
// every kFileCheck at most. Answers are cached, kCacheSize of them at most, no longer than their
// TTL.
//
// One object serves all workers; what it shares is behind a mutex that is held for a look-up in
// memory only, once for a name that is known. resolve() runs on the calling worker.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/keyed_hash.h"
#include "dns/answer_cache.h"
#include "flow/resolver.h"
#include "rt/worker.h"
#include "wire/resolv_conf.h"

namespace culvert::dns {

class SystemResolver final : public flow::Resolver {
 public:
  static constexpr size_t kCacheSize = 4096;
  static constexpr Duration kFileCheck = std::chrono::seconds(5);
  static constexpr Duration kMaxTtl = std::chrono::hours(1);

  struct Options {
    std::string resolv_conf = "/etc/resolv.conf";
    std::string hosts = "/etc/hosts";
    bool ipv6 = true;
    // Port asked at the servers; 53 but in tests.
    uint16_t port = 53;
    // The files named by CULVERT_RESOLV_CONF and CULVERT_HOSTS_FILE, where set.
    static Options from_environment(bool ipv6);
  };
  explicit SystemResolver(Options options);
  ~SystemResolver() override;

  rt::Task<Result<flow::AddressList>> resolve(std::string_view host, TimePoint deadline) override;

  // What resolve() would say of `host`, where one look-up of the name as it is spelt tells: its
  // addresses in `out`, which is empty before, or kNoName; kWouldBlock when resolve() must be
  // asked. No coroutine, and no more of the list is written than it holds. On a worker's thread.
  Status try_cached(std::string_view host, flow::AddressList& out) override;

  // Forgets all answers.
  void flush();
  // Whether IPv6 addresses are looked up, from the next question on; what is known is forgotten
  // when that changes. Any thread.
  void set_ipv6(bool on);
  [[nodiscard]] size_t cached() const;

 private:
  friend struct CacheBench;  // times store() by itself
  struct Files;
  struct Answer {
    flow::AddressList addresses;  // may be empty: the name exists, or not, without one
    Duration ttl{};
    bool no_name = false;
  };

  std::shared_ptr<const Files> files(TimePoint now);
  rt::Task<Result<flow::AddressList>> look_up(std::string_view host, TimePoint deadline);
  void store(std::string_view name, const Answer& answer, TimePoint now);
  rt::Task<Result<flow::AddressList>> ask_servers(std::string name,
                                                  std::shared_ptr<const Files> files,
                                                  TimePoint deadline);
  rt::Task<Result<Answer>> ask(std::string_view name, uint16_t type,
                               std::shared_ptr<const Files> files, TimePoint deadline);
  rt::Task<void> ask_into(std::string_view name, uint16_t type, std::shared_ptr<const Files> files,
                          TimePoint deadline, Result<Answer>* out);

  const Options options_;
  std::atomic<bool> ipv6_;
  const KeyedHash hash_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Files> files_;
  TimePoint next_check_{};
  AnswerCache cache_{kCacheSize};  // by the normal form of the name that was asked for
};

}  // namespace culvert::dns
