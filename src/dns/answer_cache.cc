#include "dns/answer_cache.h"

#include <bit>
#include <cstring>

namespace culvert::dns {

using flow::AddressList;

namespace {

constexpr unsigned kIndexBits = 13;
constexpr uint32_t kIndexMask = (1u << kIndexBits) - 1;
constexpr uint16_t kNone = UINT16_MAX;

// What a slot has of a hash.
uint32_t tag_of(uint64_t hash) {
  return static_cast<uint32_t>(hash >> 32) & ~kIndexMask;
}

template <class Word>
bool same_ends(const char* a, const char* b, size_t size) {
  const size_t last = size - sizeof(Word);
  return std::memcmp(a, b, sizeof(Word)) == 0 && std::memcmp(a + last, b + last, sizeof(Word)) == 0;
}

// As memcmp() says, without a call: names are short, and these are words in registers.
bool same(const char* a, const char* b, size_t size) {
  for (; size > 16; a += 8, b += 8, size -= 8) {
    if (std::memcmp(a, b, 8) != 0) return false;
  }
  if (size >= 8) return same_ends<uint64_t>(a, b, size);
  if (size >= 4) return same_ends<uint32_t>(a, b, size);
  return size == 0 || (a[0] == b[0] && a[size / 2] == b[size / 2] && a[size - 1] == b[size - 1]);
}

}  // namespace

// Two cache lines, of which a short name with an address or two needs the first only.
struct alignas(64) AnswerCache::Entry {
  static constexpr size_t kInside = 96;

  uint64_t hash = 0;
  TimePoint expires{};
  std::unique_ptr<char[]> longer;  // holds the text where it is more than `text` can hold
  Index newer = kNone, older = kNone;
  uint16_t v6 = 0;  // a bit for each address, set where it has 16 bytes instead of 4
  uint8_t name_size = 0;
  uint8_t count = 0;
  std::array<char, kInside> text;  // the name, then the addresses without a gap

  [[nodiscard]] const char* data() const { return longer ? longer.get() : text.data(); }
  void set(std::string_view name, const AddressList& addresses);
  void read(AddressList& out) const;
};

void AnswerCache::Entry::set(std::string_view name, const AddressList& addresses) {
  size_t size = name.size();
  v6 = 0;
  for (const IpAddress& ip : addresses.view()) size += ip.size();
  longer = size > kInside ? std::make_unique_for_overwrite<char[]>(size) : nullptr;
  char* p = longer ? longer.get() : text.data();
  name.copy(p, name.size());
  p += name.size();
  for (size_t i = 0; i < addresses.size(); ++i) {
    const IpAddress& ip = addresses.view()[i];
    if (ip.is_v6()) v6 = static_cast<uint16_t>(v6 | 1u << i);
    std::memcpy(p, ip.bytes.data(), ip.size());
    p += ip.size();
  }
  name_size = static_cast<uint8_t>(name.size());
  count = static_cast<uint8_t>(addresses.size());
}

void AnswerCache::Entry::read(AddressList& out) const {
  const char* p = data() + name_size;
  for (size_t i = 0; i < count; ++i) {
    IpAddress ip;
    const bool wide = (v6 >> i & 1) != 0;
    ip.family = wide ? Family::kV6 : Family::kV4;
    if (wide) {
      std::memcpy(ip.bytes.data(), p, 16);
      p += 16;
    } else {
      std::memcpy(ip.bytes.data(), p, 4);
      p += 4;
    }
    out.add(ip);
  }
}

AnswerCache::AnswerCache(size_t limit)
    : limit_(limit),
      slots_(std::bit_ceil(2 * limit)),
      shift_(32u - static_cast<unsigned>(std::countr_zero(slots_.size()))),
      newest_(kNone),
      oldest_(kNone),
      free_(kNone) {
  CULVERT_CHECK(limit > 0 && limit <= kMaxLimit);
}

AnswerCache::~AnswerCache() = default;

size_t AnswerCache::slot_of(uint64_t hash, std::string_view name) const {
  const uint32_t tag = tag_of(hash);
  const size_t mask = slots_.size() - 1;
  for (size_t i = home_of(tag);; i = (i + 1) & mask) {
    const uint32_t slot = slots_[i];
    if (slot == 0) return slots_.size();
    if (((slot ^ tag) & ~kIndexMask) != 0) continue;
    const Entry& e = entries_[(slot & kIndexMask) - 1];
    if (e.hash == hash && e.name_size == name.size() && same(e.data(), name.data(), name.size())) {
      return i;
    }
  }
}

void AnswerCache::occupy(uint64_t hash, Index index) {
  const uint32_t tag = tag_of(hash);
  const size_t mask = slots_.size() - 1;
  size_t i = home_of(tag);
  while (slots_[i] != 0) i = (i + 1) & mask;
  slots_[i] = tag | (index + 1u);
}

// Moves up what would no longer be found behind the gap.
void AnswerCache::vacate(size_t slot) {
  const size_t mask = slots_.size() - 1;
  for (size_t i = (slot + 1) & mask; slots_[i] != 0; i = (i + 1) & mask) {
    if (((i - home_of(slots_[i])) & mask) < ((i - slot) & mask)) continue;
    slots_[slot] = slots_[i];
    slot = i;
  }
  slots_[slot] = 0;
}

void AnswerCache::link_newest(Index index) {
  Entry& e = entries_[index];
  e.newer = kNone;
  e.older = newest_;
  if (newest_ != kNone) {
    entries_[newest_].newer = index;
  } else {
    oldest_ = index;
  }
  newest_ = index;
}

void AnswerCache::unlink(Index index) {
  const Entry& e = entries_[index];
  if (e.newer != kNone) {
    entries_[e.newer].older = e.older;
  } else {
    newest_ = e.older;
  }
  if (e.older != kNone) {
    entries_[e.older].newer = e.newer;
  } else {
    oldest_ = e.newer;
  }
}

void AnswerCache::forget(size_t slot) {
  const auto index = static_cast<Index>((slots_[slot] & kIndexMask) - 1);
  vacate(slot);
  unlink(index);
  entries_[index].longer = nullptr;
  entries_[index].older = free_;
  free_ = index;
  --size_;
}

AnswerCache::Index AnswerCache::take_entry() {
  if (size_ == limit_) {
    const size_t mask = slots_.size() - 1;
    size_t i = home_of(tag_of(entries_[oldest_].hash));
    while ((slots_[i] & kIndexMask) != oldest_ + 1u) i = (i + 1) & mask;
    forget(i);
  }
  ++size_;
  if (free_ != kNone) {
    const Index index = free_;
    free_ = entries_[index].older;
    return index;
  }
  // The whole block at once: it never moves, and the kernel gives its pages as they are written.
  if (entries_.capacity() == 0) entries_.reserve(limit_);
  entries_.emplace_back();
  return static_cast<Index>(entries_.size() - 1);
}

bool AnswerCache::find(uint64_t hash, std::string_view name, TimePoint now, AddressList& out) {
  const size_t slot = slot_of(hash, name);
  if (slot == slots_.size()) return false;
  const auto index = static_cast<Index>((slots_[slot] & kIndexMask) - 1);
  const Entry& e = entries_[index];
  if (e.expires <= now) {
    forget(slot);
    return false;
  }
  if (index != newest_) {
    unlink(index);
    link_newest(index);
  }
  e.read(out);
  return true;
}

void AnswerCache::store(uint64_t hash, std::string_view name, const AddressList& addresses,
                        TimePoint expires) {
  if (name.size() > kMaxName) return;
  const size_t slot = slot_of(hash, name);
  const bool known = slot != slots_.size();
  const Index index = known ? static_cast<Index>((slots_[slot] & kIndexMask) - 1) : take_entry();
  Entry& e = entries_[index];
  if (known) {
    unlink(index);
  } else {
    occupy(hash, index);
  }
  e.hash = hash;
  e.expires = expires;
  e.set(name, addresses);
  link_newest(index);
}

void AnswerCache::clear() {
  slots_.assign(slots_.size(), 0);
  std::vector<Entry>().swap(entries_);
  size_ = 0;
  newest_ = oldest_ = free_ = kNone;
}

}  // namespace culvert::dns
