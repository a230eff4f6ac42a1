#include "stats/conversations.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace culvert::stats {

struct Conversations::Conversation : flow::FlowTracker, FlowListEntry {
  Conversation(Conversations& o, const flow::FlowMeta& m, const FlowLabels& l, FlowId i,
               TimePoint t, uint32_t size)
      : FlowTracker(m),
        FlowListEntry(false),
        block_size(size),
        owner(&o),
        id(i),
        start(t),
        labels(l) {}
  uint32_t block_size;
  Conversations* owner;
  FlowId id;
  TimePoint start;
  FlowLabels labels;
};

namespace {

// The last index of a dimension, which has one at least.
uint32_t last(size_t count) {
  return static_cast<uint32_t>(std::max<size_t>(count, 1) - 1);
}

void insert_before(ListNode& at, ListNode& node) {
  node.prev = at.prev;
  node.next = &at;
  at.prev->next = &node;
  at.prev = &node;
}

}  // namespace

void FlowId::write(char (&out)[kTextSize]) const {
  const uint64_t h = (high & ~uint64_t{0xf000}) | 0x4000;
  const uint64_t l = (low & ~(uint64_t{3} << 62)) | uint64_t{1} << 63;
  char* at = out;
  const auto hex = [&at](uint64_t v, int from_bit, int to_bit) {
    for (int bit = from_bit; bit >= to_bit; bit -= 4) *at++ = "0123456789abcdef"[v >> bit & 15];
  };
  hex(h, 60, 32);
  *at++ = '-';
  hex(h, 28, 16);
  *at++ = '-';
  hex(h, 12, 0);
  *at++ = '-';
  hex(l, 60, 48);
  *at++ = '-';
  hex(l, 44, 0);
}

std::string FlowId::to_string() const {
  char text[kTextSize];
  write(text);
  return std::string(text, kTextSize);
}

Conversations::Conversations(rt::Worker& worker, size_t inbounds, size_t users, size_t outbounds)
    : worker_(worker),
      id_high_(worker.rng().next_u64()),
      next_id_(worker.rng().next_u64()),
      last_inbound_(last(inbounds)),
      last_user_(last(users + 1)),
      last_outbound_(last(outbounds)),
      table_(last_inbound_ + size_t{1}, last_user_ + size_t{1}, last_outbound_ + size_t{1}) {}

Conversations::~Conversations() {
  CULVERT_CHECK(count_ == 0);  // readers may be in the midst of it
}

flow::TrackerPtr Conversations::begin(const flow::FlowMeta& meta, const FlowLabels& labels) {
  const size_t payload = std::min(labels.rule_payload.size(), kMaxPayload);
  const size_t size = sizeof(Conversation) + meta.host_length + payload;
  auto* c = new (worker_.frames().allocate(size)) Conversation(
      *this, meta, labels, {id_high_, next_id_++}, worker_.now(), static_cast<uint32_t>(size));
  char* text = reinterpret_cast<char*>(c + 1);
  if (meta.host_length != 0) {
    std::memcpy(text, meta.host, meta.host_length);
    c->meta.host = text;
    text += meta.host_length;
  }
  if (payload != 0) std::memcpy(text, labels.rule_payload.data(), payload);
  c->labels.rule_payload = {text, payload};
  c->end = &Conversations::end;
  c->cell = table_.take(std::min<uint32_t>(meta.inbound_index, last_inbound_),
                        meta.user == flow::kNoUser ? 0 : std::min(meta.user + 1, last_user_),
                        std::min(meta.outbound, last_outbound_));
  list_.push_back(c);
  ++count_;
  return flow::TrackerPtr(c);
}

void Conversations::end(flow::FlowTracker& tracker) {
  auto& c = static_cast<Conversation&>(tracker);
  Conversations& owner = *c.owner;
  --owner.count_;
  owner.table_.give_back(static_cast<TrafficTable::Cell*>(c.cell));
  const size_t size = c.block_size;
  c.~Conversation();  // unlinks
  owner.worker_.frames().free(&c, size);
}

bool Conversations::collect(FlowCursor& cursor, FlowSnapshot& out) {
  FlowListEntry* at;
  if (cursor.begun_) {
    at = list_.after(&cursor);
    cursor.unlink();
  } else {
    cursor.begun_ = true;
    cursor.limit_ = next_id_;
    at = list_.front();
  }
  for (size_t n = 0; at != nullptr; at = list_.after(at)) {
    if (at->is_place) continue;
    const auto& c = *static_cast<const Conversation*>(at);
    // The numbers begin anywhere and may pass zero.
    if (static_cast<int64_t>(c.id.low - cursor.limit_) >= 0) break;
    if (n++ == kSlice) {
      insert_before(*at, cursor);
      return false;
    }
    FlowSnapshot::Item& item = out.items.emplace_back();
    item.meta = c.meta;
    item.meta.host = nullptr;
    item.id = c.id;
    item.start = c.start;
    item.upload = c.upload.value();
    item.download = c.download.value();
    item.outbound = c.labels.outbound;
    item.rule_type = c.labels.rule_type;
    item.text_at = static_cast<uint32_t>(out.text.size());
    item.payload_length = static_cast<uint16_t>(c.labels.rule_payload.size());
    out.text.append(c.meta.host_name());
    out.text.append(c.labels.rule_payload);
  }
  cursor.begun_ = false;
  return true;
}

flow::FlowTracker* Conversations::find(const FlowId& id) {
  for (FlowListEntry* e = list_.front(); e != nullptr; e = list_.after(e)) {
    if (e->is_place) continue;
    auto* c = static_cast<Conversation*>(e);
    if (c->id == id) return c;
  }
  return nullptr;
}

}  // namespace culvert::stats
