#include "route/hit_counters.h"

#include <algorithm>

namespace culvert::route {

HitCounters::Pages::Pages(uint32_t rules)
    : pages_(rules / kPage + (rules % kPage != 0 ? 1 : 0)),
      table_(std::make_unique<std::atomic<Page*>[]>(pages_)) {}

HitCounters::Pages::~Pages() {
  for (uint32_t i = 0; i < pages_; ++i) delete table_[i].load(std::memory_order_relaxed);
}

HitCounters::Page* HitCounters::Pages::allocate(uint32_t index) {
  Page* page = new Page();
  table_[index].store(page, std::memory_order_release);
  return page;
}

HitCounters::HitCounters(uint32_t rules) : ended_(rules), passed_(rules) {}
HitCounters::~HitCounters() = default;

std::vector<RuleHits> sum_hits(std::span<const HitCounters* const> workers, uint32_t rules) {
  std::vector<RuleHits> out(rules);
  std::vector<uint64_t> passed(rules);
  uint64_t unmatched = 0;
  int64_t unmatched_at = 0;
  for (const HitCounters* worker : workers) {
    // Calls `take` with each rule that has a cell.
    const auto each = [&](const HitCounters::Pages& pages, const auto& take) {
      for (uint32_t p = 0; p < pages.pages(); ++p) {
        const HitCounters::Page* page = pages.page(p);
        if (page == nullptr) continue;
        const uint32_t first = p * HitCounters::kPage;
        for (uint32_t i = first; i < std::min(rules, first + HitCounters::kPage); ++i) {
          const HitCounters::Cell& cell = page->cells[i - first];
          const uint64_t count = cell.count.value();
          if (count != 0) take(i, count, cell.last.load(std::memory_order_relaxed));
        }
      }
    };
    each(worker->ended_, [&](uint32_t rule, uint64_t count, int64_t last) {
      out[rule].hits += count;
      out[rule].hit_at = std::max(out[rule].hit_at, last);
    });
    each(worker->passed_, [&](uint32_t rule, uint64_t count, int64_t last) {
      passed[rule] += count;
      out[rule].hit_at = std::max(out[rule].hit_at, last);
    });
    unmatched += worker->unmatched_.count.value();
    unmatched_at = std::max(unmatched_at, worker->unmatched_.last.load(std::memory_order_relaxed));
  }
  // From the last rule up: how many flows got past it, and when the last of them ended.
  uint64_t beyond = unmatched;
  int64_t beyond_at = unmatched_at;
  for (uint32_t i = rules; i > 0; --i) {
    RuleHits& rule = out[i - 1];
    const uint64_t fell = passed[i - 1];
    // Flows that passed and have not ended yet are not beyond.
    rule.misses = beyond - std::min(beyond, fell);
    rule.missed_at = rule.misses != 0 ? beyond_at : 0;
    beyond += rule.hits;
    if (rule.hits != 0) beyond_at = std::max(beyond_at, rule.hit_at);
    rule.hits += fell;
  }
  return out;
}

}  // namespace culvert::route
