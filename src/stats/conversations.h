// Conversations: the live flows of one worker, their accounts, and this worker's traffic sums.
//
// begin() and ending a flow cost no allocation once the worker's frame pool is warm. Reading
// happens from elsewhere without holding the worker up: sums are read as they are, and a list of
// flows is copied in slices of kSlice by the worker itself, one whenever the reader asks for it
// (see collect()).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/intrusive_list.h"
#include "flow/dialer.h"
#include "flow/tracker.h"
#include "rt/worker.h"
#include "stats/traffic_table.h"

namespace culvert::stats {

// A flow's identity, printed as a UUID.
struct FlowId {
  uint64_t high = 0;
  uint64_t low = 0;
  static constexpr size_t kTextSize = 36;
  // As it is printed, in version 4 form, which leaves no room for six of its bits.
  [[nodiscard]] FlowId as_written() const;
  void write(char (&out)[kTextSize]) const;
  [[nodiscard]] std::string to_string() const;
  // What write() has written, of any flow; false when `text` has another form.
  static bool parse(std::string_view text, FlowId& out);
  // Of two ids in the form that is written.
  friend bool operator==(const FlowId&, const FlowId&) = default;
};

// Copies of live flows, for listing: at most a slice of them. Views point into `text`.
struct FlowSnapshot {
  struct Item {
    flow::FlowMeta meta;  // without its host pointer: see host()
    FlowId id;
    TimePoint start;
    uint64_t upload = 0;
    uint64_t download = 0;
    std::string_view rule_type;  // a literal
    uint32_t text_at = 0;        // host, then rule payload
    uint32_t chain_at = 0;
    uint16_t payload_length = 0;
    uint16_t chain_length = 0;
  };
  std::vector<Item> items;
  std::string text;
  std::vector<uint32_t> chains;

  // Keeps the memory for the next slice.
  void clear() {
    items.clear();
    text.clear();
    chains.clear();
  }
  [[nodiscard]] std::string_view host(const Item& item) const {
    return std::string_view(text).substr(item.text_at, item.meta.host_length);
  }
  [[nodiscard]] std::span<const uint32_t> chain(const Item& item) const {
    return std::span(chains).subspan(item.chain_at, item.chain_length);
  }
  [[nodiscard]] std::string_view rule_payload(const Item& item) const {
    return std::string_view(text).substr(item.text_at + item.meta.host_length, item.payload_length);
  }
};

// What the engine knows about a flow when it opens.
struct FlowLabels {
  // Numbers of Dimension::kOutbound: the node, then the groups that chose it, the outermost last.
  // Copied, at most kMaxChain of them.
  std::span<const uint32_t> chain;
  std::string_view rule_type;     // a literal
  std::string_view rule_payload;  // copied, at most kMaxPayload bytes of it
};

// An element of the list of live flows: a flow, or a place that a reader comes back to.
struct FlowListEntry : ListNode {
  explicit FlowListEntry(bool p) : is_place(p) {}
  const bool is_place;
};

// How far a reader of the live flows is. While it is between two slices it stands in the list
// itself, so that flows around it may end and others be read without looking for it. It belongs to
// the worker whose flows it reads until they are all read or release() was called, both there.
class FlowCursor : private FlowListEntry {
 public:
  FlowCursor() : FlowListEntry(true) {}
  void release() {
    unlink();
    begun_ = false;
  }

 private:
  friend class Conversations;
  bool begun_ = false;
  uint64_t limit_ = 0;  // the first id that is not read
};

class Conversations {
 public:
  // A worker is held for as long as it takes to copy these: 10 to 20 us (list_10k_conversations).
  static constexpr size_t kSlice = 128;
  static constexpr size_t kMaxPayload = 255;

  static constexpr size_t kMaxChain = 32;

  // Sums are indexed by the numbers of a Directory.
  explicit Conversations(rt::Worker& worker);
  Conversations(const Conversations&) = delete;
  Conversations& operator=(const Conversations&) = delete;
  ~Conversations();

  // Opens the account of `meta`'s flow; the host is copied.
  [[nodiscard]] flow::TrackerPtr begin(const flow::FlowMeta& meta, const FlowLabels& labels);

  // Appends up to kSlice flows to `out`, the oldest first; true when that was all, and the cursor
  // is free again. Each flow that lives from the first slice to the last is seen once, one that
  // ends between at most once, and one that begins between never: a slow reader comes to an end
  // however busy the worker is. Any number of readers, each with its cursor.
  bool collect(FlowCursor& cursor, FlowSnapshot& out);
  // Ends the flow with this id; false when it is not one of these.
  bool interrupt(const FlowId& id);
  // Ends every flow that can be ended now.
  void interrupt_all();
  // The same for those with this number in their chain.
  void interrupt_through(uint32_t number);
  [[nodiscard]] size_t size() const { return count_; }

  // Any thread. User u's sum is at u + 1, those of flows without a user at 0.
  [[nodiscard]] std::vector<Traffic> sums(Dimension by) const { return table_.sums(by); }
  [[nodiscard]] uint64_t uploaded() const { return table_.total().upload; }
  [[nodiscard]] uint64_t downloaded() const { return table_.total().download; }

 private:
  struct Conversation;
  template <class Wanted>
  void interrupt_if(Wanted wanted);
  static void end(flow::FlowTracker& tracker);

  rt::Worker& worker_;
  IntrusiveList<FlowListEntry> list_;  // flows in the order of their ids, and places
  size_t count_ = 0;
  uint64_t id_high_;
  uint64_t next_id_;
  TrafficTable table_;
};

}  // namespace culvert::stats
