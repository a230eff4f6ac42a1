// HitCounters: how often each rule of a list decided a flow, and when last. Each worker has its
// own, which it alone counts in, without a lock or a locked instruction; any thread may read it and
// add up those of all workers. Counts are by place in the list: a list that is replaced gets new
// counters.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "flow/tracker.h"

namespace culvert::route {

// Times are milliseconds since 1970, 0 = never.
struct RuleHits {
  uint64_t hits = 0;
  int64_t hit_at = 0;
  // Flows that came to the rule and went past it.
  uint64_t misses = 0;
  int64_t missed_at = 0;
};

class HitCounters {
 public:
  // Of the rules [0, rules). Costs a pointer for 64 rules; the rest is allocated when one of them
  // is hit.
  explicit HitCounters(uint32_t rules);
  ~HitCounters();
  HitCounters(const HitCounters&) = delete;
  HitCounters& operator=(const HitCounters&) = delete;

  // The three for the owning worker alone. A flow of which `rule` decides.
  void hit(uint32_t rule, int64_t now_ms) { ended_.add(rule, now_ms); }
  // A flow that falls under `rule`, but goes on with the rules behind it (kPass); hit() or
  // no_match() is called for it later.
  void pass(uint32_t rule, int64_t now_ms) { passed_.add(rule, now_ms); }
  // A flow that no rule decides.
  void no_match(int64_t now_ms) { unmatched_.add(now_ms); }

 private:
  friend std::vector<RuleHits> sum_hits(std::span<const HitCounters* const> workers,
                                        uint32_t rules);

  // Its two halves are not read as one: a reader may see a count whose time is still to come.
  struct Cell {
    flow::Counter count;
    std::atomic<int64_t> last{0};
    void add(int64_t now_ms) {
      last.store(now_ms, std::memory_order_relaxed);
      count.add(1);
    }
  };
  static constexpr uint32_t kPage = 64;
  struct Page {
    Cell cells[kPage];
  };
  class Pages {
   public:
    explicit Pages(uint32_t rules);
    ~Pages();
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    void add(uint32_t rule, int64_t now_ms) {
      Page* page = table_[rule / kPage].load(std::memory_order_relaxed);
      if (page == nullptr) [[unlikely]] {
        page = allocate(rule / kPage);
      }
      page->cells[rule % kPage].add(now_ms);
    }
    // Null when none of its rules was hit.
    [[nodiscard]] const Page* page(uint32_t index) const {
      return table_[index].load(std::memory_order_acquire);
    }
    [[nodiscard]] uint32_t pages() const { return pages_; }

   private:
    Page* allocate(uint32_t index);
    uint32_t pages_;
    std::unique_ptr<std::atomic<Page*>[]> table_;
  };

  Pages ended_;
  Pages passed_;
  Cell unmatched_;
};

// What the workers counted, added up, for the rules [0, rules); each has counters for at least so
// many. A rule is missed by every flow that a later rule decided or none did, and that did not fall
// under it on the way; the time is that of the last flow some later rule decided, which for a rule
// that passes flows on may be one of them. From any thread, while the counters exist; what workers
// count meanwhile may be in it in part.
std::vector<RuleHits> sum_hits(std::span<const HitCounters* const> workers, uint32_t rules);

}  // namespace culvert::route
