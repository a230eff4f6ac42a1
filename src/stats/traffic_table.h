// TrafficTable: one worker's bytes by inbound, user and outbound.
//
// A packet is added to one cell, that of its flow's (inbound, user, outbound); the sums of a
// dimension are added up from the cells by whoever asks. A cell is made when a flow first needs it
// and stays where it is. Past kBound cells, those without a live flow are folded: their bytes move
// to base sums, one for each index of each dimension, and the cells go to other combinations. So,
// up to a chunk, there are never more cells than combinations, nor more than the larger of kBound
// and 8/7 of what live flows need.
//
// take() and give_back() are the worker's, the sums are anybody's, with no lock. What a reader may
// rely on, and why:
//
// - A total never goes backwards and holds no byte twice. A cell's counters never shrink, also
//   when the cell changes hands; a total is the plain sum of them all, and cells are never taken
//   away. It needs no more than that a reader sees each counter move one way.
// - The same is true for the sums of a dimension. A cell's share is what its counters gained since
//   `settled`; folding moves the share to the base sums and `settled` up, while version_ is odd.
//   All the stores of a fold, and all that the worker stores after it, adds to counters included,
//   are releases, and a reader's loads acquires: a reader that has seen any of it sees version_
//   changed when it looks again, and starts over. One that sees version_ unchanged has seen all
//   folds before it and none after.
// - A folded cell is nobody's until a flow takes it. A reader that does not see the new owner yet
//   leaves the cell out: later it finds more, never less.
// - A reader of a dimension seldom starts over, and total() never does: a fold takes an eighth of
//   the cells at once, so that the next one is as many new combinations away, each of them a flow
//   to accept and dial. Reading 4,096 cells took 7 us; with 430,000 flows a second, each of another
//   user, it still did, and 27 us in one case of a hundred. A fold itself takes microseconds.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/append_array.h"
#include "flow/tracker.h"

namespace culvert::stats {

struct Traffic {
  uint64_t upload = 0;
  uint64_t download = 0;
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

enum class Dimension : uint8_t { kInbound, kUser, kOutbound };

class TrafficTable {
 public:
  static constexpr size_t kBound = 4096;
  static constexpr size_t kFoldedShare = 8;  // a fold takes one cell in so many

  // One cache line, so that no other worker's cell is on it.
  struct alignas(64) Cell : flow::TrafficSum {
    std::array<std::atomic<uint64_t>, 2> settled{};                        // upload, download
    std::array<std::atomic<uint32_t>, 3> at{{kNobody, kNobody, kNobody}};  // by Dimension
    uint32_t flows = 0;
    Cell* next = nullptr;  // in its bucket, or among the free ones
  };
  static_assert(sizeof(Cell) == 64);

  TrafficTable();
  TrafficTable(const TrafficTable&) = delete;
  TrafficTable& operator=(const TrafficTable&) = delete;
  ~TrafficTable();

  // The cell of a combination, for one flow more or less. Indices are small: what they index has
  // room for the largest.
  Cell* take(uint32_t inbound, uint32_t user, uint32_t outbound);
  void give_back(Cell* cell) {
    if (--cell->flows == 0) ++idle_;
  }
  [[nodiscard]] size_t cells() const { return cells_; }

  // Any thread.
  [[nodiscard]] Traffic total() const;
  // One for each index that a flow had. Waits for a fold that is going on.
  [[nodiscard]] std::vector<Traffic> sums(Dimension by) const;

 private:
  static constexpr uint32_t kNobody = UINT32_MAX;
  static constexpr size_t kChunk = 64;
  struct Chunk {
    std::array<Cell, kChunk> cells;
    std::atomic<Chunk*> next{nullptr};
  };
  struct Base {
    std::atomic<uint64_t> upload{0};
    std::atomic<uint64_t> download{0};
  };

  [[nodiscard]] size_t bucket_of(uint32_t inbound, uint32_t user, uint32_t outbound) const;
  [[nodiscard]] size_t bucket_of(const Cell& cell) const;
  Cell* make(uint32_t inbound, uint32_t user, uint32_t outbound);
  void add_chunk();
  void rehash();
  void fold();
  void fold(Cell& cell);
  bool try_sums(size_t dimension, std::vector<Traffic>& out) const;

  // Chunks are only ever added, at the end.
  Chunk first_;
  Chunk* last_ = &first_;
  size_t cells_ = 0;  // of all chunks
  size_t idle_ = 0;   // with an owner and no flow
  Cell* free_ = nullptr;
  std::vector<Cell*> buckets_;  // as many as a power of two
  unsigned shift_ = 0;          // from a hash to a bucket
  Chunk* hand_ = &first_;       // where the next fold looks first
  size_t hand_at_ = 0;
  std::atomic<uint64_t> version_{0};  // odd while folding
  std::array<AppendArray<Base>, 3> bases_;
};

}  // namespace culvert::stats
