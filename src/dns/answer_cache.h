// AnswerCache: names and their addresses for as long as they hold, at most `limit` of them; beyond,
// the one that was used least recently goes. A name without an address is remembered as such.
//
// Entries of one size in one block, found by a table of their numbers: a full cache of 4,096 takes
// 0.6 MB, and its memory is touched only as names come. A name that goes leaves its place to the
// one that comes, so that a full cache allocates for names or lists of unusual length only. Not
// thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "flow/resolver.h"

namespace culvert::dns {

class AnswerCache {
 public:
  static constexpr size_t kMaxName = 255;
  static constexpr size_t kMaxLimit = 8191;

  // `limit` from 1 to kMaxLimit.
  explicit AnswerCache(size_t limit);
  AnswerCache(const AnswerCache&) = delete;
  AnswerCache& operator=(const AnswerCache&) = delete;
  ~AnswerCache();

  // True when `name` is known at `now`; `out`, empty before, has its addresses then, if it has any.
  // `hash` is that of `name` by one KeyedHash throughout.
  bool find(uint64_t hash, std::string_view name, TimePoint now, flow::AddressList& out);
  // Known from now on, and used last; one longer than kMaxName is passed over.
  void store(uint64_t hash, std::string_view name, const flow::AddressList& addresses,
             TimePoint expires);
  void clear();
  [[nodiscard]] size_t size() const { return size_; }

 private:
  using Index = uint16_t;
  struct Entry;

  // Where in slots_ the name is; slots_.size() when it is not.
  [[nodiscard]] size_t slot_of(uint64_t hash, std::string_view name) const;
  void occupy(uint64_t hash, Index index);
  void vacate(size_t slot);
  void forget(size_t slot);
  Index take_entry();
  void link_newest(Index index);
  void unlink(Index index);
  [[nodiscard]] size_t home_of(uint32_t slot) const { return slot >> shift_; }

  const size_t limit_;
  // The upper half of a hash, its last bits replaced by the entry's number plus one; 0: empty. Open
  // addressing, half of them empty at least, at home where the first bits say.
  std::vector<uint32_t> slots_;
  unsigned shift_;  // from a slot's value to its home
  std::vector<Entry> entries_;
  size_t size_ = 0;
  Index newest_, oldest_, free_;
};

}  // namespace culvert::dns
