// Which object an epoll event belongs to. Events carry (index, generation) instead of a pointer, so
// that an event of the same batch that was overtaken by the object's end finds nobody, and nothing
// has to outlive its last event.
#pragma once

#include <cstdint>
#include <vector>

namespace culvert::rt {

// Receives the readiness of one descriptor.
class FdEvents {
 public:
  virtual void on_events(uint32_t events) = 0;

 protected:
  ~FdEvents() = default;
};

class FdTable {
 public:
  uint64_t add(FdEvents* handler) {
    uint32_t index;
    if (free_head_ != kNone) {
      index = free_head_;
      free_head_ = slots_[index].next_free;
    } else {
      index = static_cast<uint32_t>(slots_.size());
      slots_.emplace_back();
    }
    Slot& slot = slots_[index];
    slot.handler = handler;
    return static_cast<uint64_t>(slot.generation) << 32 | index;
  }
  void remove(uint64_t key) {
    const auto index = static_cast<uint32_t>(key);
    Slot& slot = slots_[index];
    ++slot.generation;
    slot.handler = nullptr;
    slot.next_free = free_head_;
    free_head_ = index;
  }
  [[nodiscard]] FdEvents* find(uint64_t key) const {
    const auto index = static_cast<uint32_t>(key);
    if (index >= slots_.size()) return nullptr;
    const Slot& slot = slots_[index];
    return slot.generation == static_cast<uint32_t>(key >> 32) ? slot.handler : nullptr;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Slot {
    FdEvents* handler = nullptr;
    uint32_t generation = 1;  // so that no key is 0
    uint32_t next_free = kNone;
  };
  std::vector<Slot> slots_;
  uint32_t free_head_ = kNone;
};

}  // namespace culvert::rt
