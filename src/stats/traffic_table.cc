#include "stats/traffic_table.h"

#include <bit>
#include <memory>
#include <thread>
#include <utility>

namespace culvert::stats {
namespace {

// Written by the worker alone: a load and a store make an addition.
void add(std::atomic<uint64_t>& to, uint64_t n) {
  to.store(to.load(std::memory_order_relaxed) + n, std::memory_order_release);
}

}  // namespace

TrafficTable::TrafficTable() {
  for (Cell& c : first_.cells) {
    c.next = free_;
    free_ = &c;
  }
  cells_ = kChunk;
  rehash();
}

TrafficTable::~TrafficTable() {
  Chunk* chunk = first_.next.load(std::memory_order_relaxed);
  while (chunk != nullptr) {
    const std::unique_ptr<Chunk> gone(chunk);
    chunk = chunk->next.load(std::memory_order_relaxed);
  }
}

size_t TrafficTable::bucket_of(uint32_t inbound, uint32_t user, uint32_t outbound) const {
  // Indices are small and dense; a multiplication each spreads them into the high bits.
  const uint64_t hash = (uint64_t{user} << 32 | outbound) * 0x9e3779b97f4a7c15 +
                        uint64_t{inbound} * 0xbf58476d1ce4e5b9;
  return (hash ^ hash << 32) >> shift_;
}

size_t TrafficTable::bucket_of(const Cell& cell) const {
  return bucket_of(cell.at[0].load(std::memory_order_relaxed),
                   cell.at[1].load(std::memory_order_relaxed),
                   cell.at[2].load(std::memory_order_relaxed));
}

TrafficTable::Cell* TrafficTable::take(uint32_t inbound, uint32_t user, uint32_t outbound) {
  for (Cell* c = buckets_[bucket_of(inbound, user, outbound)]; c != nullptr; c = c->next) {
    if (c->at[0].load(std::memory_order_relaxed) == inbound &&
        c->at[1].load(std::memory_order_relaxed) == user &&
        c->at[2].load(std::memory_order_relaxed) == outbound) {
      if (c->flows++ == 0) --idle_;
      return c;
    }
  }
  return make(inbound, user, outbound);
}

TrafficTable::Cell* TrafficTable::make(uint32_t inbound, uint32_t user, uint32_t outbound) {
  if (free_ == nullptr && cells_ >= kBound && idle_ >= cells_ / kFoldedShare) fold();
  if (free_ == nullptr) add_chunk();
  // Before a reader can see the cell.
  bases_[0].grow_to(inbound + size_t{1});
  bases_[1].grow_to(user + size_t{1});
  bases_[2].grow_to(outbound + size_t{1});
  Cell* c = free_;
  free_ = c->next;
  c->at[0].store(inbound, std::memory_order_release);
  c->at[1].store(user, std::memory_order_release);
  c->at[2].store(outbound, std::memory_order_release);
  c->flows = 1;
  Cell*& bucket = buckets_[bucket_of(inbound, user, outbound)];
  c->next = bucket;
  bucket = c;
  return c;
}

void TrafficTable::add_chunk() {
  auto chunk = std::make_unique<Chunk>();
  for (Cell& c : chunk->cells) {
    c.next = free_;
    free_ = &c;
  }
  Chunk* added = chunk.release();
  last_->next.store(added, std::memory_order_release);
  last_ = added;
  cells_ += kChunk;
  if (cells_ > buckets_.size()) rehash();
}

void TrafficTable::rehash() {
  const std::vector<Cell*> old = std::exchange(buckets_, {});
  buckets_.resize(std::bit_ceil(2 * cells_));
  shift_ = 64 - static_cast<unsigned>(std::countr_zero(buckets_.size()));
  for (Cell* c : old) {
    while (c != nullptr) {
      Cell* after = c->next;
      Cell*& bucket = buckets_[bucket_of(*c)];
      c->next = bucket;
      bucket = c;
      c = after;
    }
  }
}

void TrafficTable::fold() {
  const uint64_t version = version_.load(std::memory_order_relaxed);
  version_.store(version + 1, std::memory_order_relaxed);  // seen before any release below
  for (size_t left = cells_ / kFoldedShare; left != 0;) {
    if (hand_at_ == kChunk) {
      hand_at_ = 0;
      hand_ = hand_->next.load(std::memory_order_relaxed);
      if (hand_ == nullptr) hand_ = &first_;
    }
    Cell& cell = hand_->cells[hand_at_++];
    // No cell is free while folding goes on but those it has just folded.
    if (cell.flows != 0 || cell.at[0].load(std::memory_order_relaxed) == kNobody) continue;
    fold(cell);
    --left;
  }
  version_.store(version + 2, std::memory_order_release);
}

void TrafficTable::fold(Cell& cell) {
  Cell** link = &buckets_[bucket_of(cell)];
  while (*link != &cell) link = &(*link)->next;
  *link = cell.next;
  const uint64_t upload = cell.upload.value();
  const uint64_t download = cell.download.value();
  for (size_t d = 0; d < bases_.size(); ++d) {
    Base& base = bases_[d][cell.at[d].load(std::memory_order_relaxed)];
    add(base.upload, upload - cell.settled[0].load(std::memory_order_relaxed));
    add(base.download, download - cell.settled[1].load(std::memory_order_relaxed));
    cell.at[d].store(kNobody, std::memory_order_release);
  }
  cell.settled[0].store(upload, std::memory_order_release);
  cell.settled[1].store(download, std::memory_order_release);
  cell.next = free_;
  free_ = &cell;
  --idle_;
}

Traffic TrafficTable::total() const {
  Traffic sum;
  for (const Chunk* chunk = &first_; chunk != nullptr;
       chunk = chunk->next.load(std::memory_order_acquire)) {
    for (const Cell& c : chunk->cells) {
      sum.upload += c.upload.value();
      sum.download += c.download.value();
    }
  }
  return sum;
}

std::vector<Traffic> TrafficTable::sums(Dimension by) const {
  const auto dimension = static_cast<size_t>(by);
  std::vector<Traffic> out;
  while (!try_sums(dimension, out)) std::this_thread::yield();
  return out;
}

bool TrafficTable::try_sums(size_t dimension, std::vector<Traffic>& out) const {
  const uint64_t version = version_.load(std::memory_order_acquire);
  if (version % 2 != 0) return false;
  out.assign(bases_[dimension].size(), {});
  for (size_t i = 0; i < out.size(); ++i) {
    out[i].upload = bases_[dimension][i].upload.load(std::memory_order_acquire);
    out[i].download = bases_[dimension][i].download.load(std::memory_order_acquire);
  }
  for (const Chunk* chunk = &first_; chunk != nullptr;
       chunk = chunk->next.load(std::memory_order_acquire)) {
    for (const Cell& c : chunk->cells) {
      const uint32_t at = c.at[dimension].load(std::memory_order_acquire);
      if (at == kNobody) continue;
      if (at >= out.size()) return false;  // new since
      out[at].upload += c.upload.value() - c.settled[0].load(std::memory_order_acquire);
      out[at].download += c.download.value() - c.settled[1].load(std::memory_order_acquire);
    }
  }
  return version_.load(std::memory_order_relaxed) == version;
}

}  // namespace culvert::stats
