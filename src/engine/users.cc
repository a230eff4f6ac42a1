#include "engine/users.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "base/result.h"

namespace culvert::engine {
namespace {

template <class Word>
Word load(const char* p) {
  Word v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

template <class Word>
uint64_t ends_differ(const char* a, const char* b, size_t size) {
  const size_t last = size - sizeof(Word);
  return (load<Word>(a) ^ load<Word>(b)) | (load<Word>(a + last) ^ load<Word>(b + last));
}

// Zero when the `size` bytes, more than 16, are the same. A function of its own, so that the
// compiler prepares its loop for long credentials only.
[[gnu::noinline]] uint64_t long_difference(const char* a, const char* b, size_t size) {
  uint64_t bits = 0;
  for (; size > 16; a += 8, b += 8, size -= 8) bits |= load<uint64_t>(a) ^ load<uint64_t>(b);
  return bits | ends_differ<uint64_t>(a, b, size);
}

// Zero when the `size` bytes are the same. Takes a time that depends on `size` only.
inline uint64_t difference(const char* a, const char* b, size_t size) {
  if (size > 16) [[unlikely]]
    return long_difference(a, b, size);
  if (size >= 8) return ends_differ<uint64_t>(a, b, size);
  if (size >= 4) return ends_differ<uint32_t>(a, b, size);
  if (size >= 2) return ends_differ<uint16_t>(a, b, size);
  return size == 0 ? 0 : ends_differ<uint8_t>(a, b, size);
}

}  // namespace

Users::Users(std::vector<User> users, std::vector<Prefix> exempt)
    : hash_(KeyedHash::fresh()),
      slots_(std::bit_ceil(users.size() + users.size() / 2 + 1)),
      mask_(slots_.size() - 1),
      exempt_(std::move(exempt)) {
  size_t bytes = 0;
  for (const User& u : users) bytes += sizeof(Record) + u.name.size() + u.password.size();
  CULVERT_CHECK(bytes < UINT32_MAX);
  texts_.reserve(bytes);
  records_.reserve(users.size());
  std::unordered_set<std::string_view> names;
  for (User& user : users) {
    // Gone once it is copied: ten thousand credentials are not there twice.
    const User u = std::move(user);
    const auto at = static_cast<uint32_t>(texts_.size());
    const Record record{static_cast<uint32_t>(records_.size()),
                        static_cast<uint32_t>(u.name.size()),
                        static_cast<uint32_t>(u.password.size())};
    const auto* raw = reinterpret_cast<const char*>(&record);
    texts_.insert(texts_.end(), raw, raw + sizeof record);
    texts_.insert(texts_.end(), u.name.begin(), u.name.end());
    texts_.insert(texts_.end(), u.password.begin(), u.password.end());
    records_.push_back(at);
    if (names.insert({texts_.data() + at + sizeof record, u.name.size()}).second) insert(at);
  }
}

Users::Record Users::record_at(uint32_t at) const {
  return load<Record>(texts_.data() + at);
}

void Users::insert(uint32_t at) {
  const Record record = record_at(at);
  const char* name = texts_.data() + at + sizeof record;
  const uint64_t hash =
      hash_({name, record.name_size}, {name + record.name_size, record.password_size});
  size_t i = hash & mask_;
  while (slots_[i].record != 0) i = (i + 1) & mask_;
  slots_[i] = {static_cast<uint32_t>(hash >> 32), at + 1};
}

bool Users::required(const IpAddress& source) const {
  if (records_.empty()) return false;
  const IpAddress ip = source.unmapped();
  return std::none_of(exempt_.begin(), exempt_.end(),
                      [&](const Prefix& p) { return p.contains(ip); });
}

bool Users::is_of(const char* record, std::string_view user, std::string_view password) {
  if (load<uint32_t>(record + offsetof(Record, name_size)) != user.size()) return false;
  if (load<uint32_t>(record + offsetof(Record, password_size)) != password.size()) return false;
  const char* name = record + sizeof(Record);
  return (difference(name, user.data(), user.size()) |
          difference(name + user.size(), password.data(), password.size())) == 0;
}

std::optional<uint32_t> Users::check(std::string_view user, std::string_view password) const {
  const uint64_t hash = hash_(user, password);
  const auto tag = static_cast<uint32_t>(hash >> 32);
  for (size_t i = hash & mask_;; i = (i + 1) & mask_) {
    const Slot slot = slots_[i];
    if (slot.record == 0) return std::nullopt;
    if (slot.tag != tag) continue;
    const char* record = texts_.data() + (slot.record - 1);
    if (is_of(record, user, password)) return load<uint32_t>(record + offsetof(Record, id));
  }
}

void Users::set_id(size_t index, uint32_t id) {
  std::memcpy(texts_.data() + records_[index] + offsetof(Record, id), &id, sizeof id);
}

std::string_view Users::name(size_t index) const {
  if (index >= records_.size()) return {};
  const Record record = record_at(records_[index]);
  return {texts_.data() + records_[index] + sizeof record, record.name_size};
}

}  // namespace culvert::engine
