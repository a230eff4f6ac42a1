#include "stats/conversations.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace culvert::stats {

struct Conversations::Conversation : flow::FlowTracker, FlowListEntry {
  Conversation(Conversations& o, const flow::FlowMeta& m, FlowId i, TimePoint t, uint32_t size)
      : FlowTracker(m), FlowListEntry(false), block_size(size), owner(&o), id(i), start(t) {}
  uint32_t block_size;
  Conversations* owner;
  FlowId id;
  TimePoint start;
  FlowLabels labels;  // its chain and payload, and the host, stand behind this
};

namespace {

void insert_before(ListNode& at, ListNode& node) {
  node.prev = at.prev;
  node.next = &at;
  at.prev->next = &node;
  at.prev = &node;
}

// Returns the end of the copy. By hand: memcpy() of what can only be short becomes `rep movs`,
// whose start takes longer than a host name.
char* copy_short(std::string_view text, char* to) {
  const size_t n = text.size();
  const auto copy = [&]<class Word>(Word word, size_t at) {
    std::memcpy(&word, text.data() + at, sizeof word);
    std::memcpy(to + at, &word, sizeof word);
  };
  if (n >= sizeof(uint64_t)) {
    for (size_t at = 0; at + sizeof(uint64_t) < n; at += sizeof(uint64_t)) copy(uint64_t{}, at);
    copy(uint64_t{}, n - sizeof(uint64_t));
  } else if (n >= sizeof(uint32_t)) {
    copy(uint32_t{}, 0);
    copy(uint32_t{}, n - sizeof(uint32_t));
  } else {
    for (size_t at = 0; at < n; ++at) copy(char{}, at);
  }
  return to + n;
}

}  // namespace

FlowId FlowId::as_written() const {
  return {(high & ~uint64_t{0xf000}) | 0x4000, (low & ~(uint64_t{3} << 62)) | uint64_t{1} << 63};
}

void FlowId::write(char (&out)[kTextSize]) const {
  const FlowId id = as_written();
  char* at = out;
  const auto hex = [&at](uint64_t v, int from_bit, int to_bit) {
    for (int bit = from_bit; bit >= to_bit; bit -= 4) *at++ = "0123456789abcdef"[v >> bit & 15];
  };
  hex(id.high, 60, 32);
  *at++ = '-';
  hex(id.high, 28, 16);
  *at++ = '-';
  hex(id.high, 12, 0);
  *at++ = '-';
  hex(id.low, 60, 48);
  *at++ = '-';
  hex(id.low, 44, 0);
}

bool FlowId::parse(std::string_view text, FlowId& out) {
  if (text.size() != kTextSize) return false;
  uint64_t halves[2] = {0, 0};
  size_t digits = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      if (text[i] != '-') return false;
      continue;
    }
    const char c = text[i];
    const int v = c >= '0' && c <= '9'   ? c - '0'
                  : c >= 'a' && c <= 'f' ? c - 'a' + 10
                  : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                         : -1;
    if (v < 0) return false;
    uint64_t& half = halves[digits++ / 16];
    half = half << 4 | static_cast<uint64_t>(v);
  }
  out = {halves[0], halves[1]};
  return true;
}

std::string FlowId::to_string() const {
  char text[kTextSize];
  write(text);
  return std::string(text, kTextSize);
}

Conversations::Conversations(rt::Worker& worker)
    : worker_(worker), id_high_(worker.rng().next_u64()), next_id_(worker.rng().next_u64()) {}

Conversations::~Conversations() {
  CULVERT_CHECK(count_ == 0);  // readers may be in the midst of it
}

flow::TrackerPtr Conversations::begin(const flow::FlowMeta& meta, const FlowLabels& labels) {
  const size_t payload = std::min(labels.rule_payload.size(), kMaxPayload);
  const auto chain = labels.chain.first(std::min(labels.chain.size(), kMaxChain));
  const size_t size = sizeof(Conversation) + chain.size_bytes() + meta.host_length + payload;
  auto* c = new (worker_.frames().allocate(size))
      Conversation(*this, meta, {id_high_, next_id_++}, worker_.now(), static_cast<uint32_t>(size));
  auto* numbers = reinterpret_cast<uint32_t*>(c + 1);
  // Mostly one, which is worth no call.
  if (!chain.empty()) numbers[0] = chain.front();
  if (chain.size() > 1) std::copy(chain.begin() + 1, chain.end(), numbers + 1);
  c->labels.chain = {numbers, chain.size()};
  char* text = reinterpret_cast<char*>(numbers + chain.size());
  if (meta.host_length != 0) {
    c->meta.host = text;
    text = copy_short(meta.host_name(), text);
  }
  copy_short(labels.rule_payload.substr(0, payload), text);
  c->labels.rule_type = labels.rule_type;
  c->labels.rule_payload = {text, payload};
  c->end = &Conversations::end;
  c->cell = table_.take(meta.inbound, meta.user == flow::kNoUser ? 0 : meta.user + 1,
                        meta.outbound == UINT32_MAX ? 0 : meta.outbound);
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
    item.rule_type = c.labels.rule_type;
    item.text_at = static_cast<uint32_t>(out.text.size());
    item.payload_length = static_cast<uint16_t>(c.labels.rule_payload.size());
    item.chain_at = static_cast<uint32_t>(out.chains.size());
    item.chain_length = static_cast<uint16_t>(c.labels.chain.size());
    out.chains.insert(out.chains.end(), c.labels.chain.begin(), c.labels.chain.end());
    out.text.append(c.meta.host_name());
    out.text.append(c.labels.rule_payload);
  }
  cursor.begun_ = false;
  return true;
}

bool Conversations::interrupt(const FlowId& id) {
  for (FlowListEntry* e = list_.front(); e != nullptr; e = list_.after(e)) {
    if (e->is_place) continue;
    auto& c = *static_cast<Conversation*>(e);
    if (c.id.as_written() != id.as_written()) continue;
    if (c.interrupt != nullptr) c.interrupt(c);
    return true;
  }
  return false;
}

template <class Wanted>
void Conversations::interrupt_if(Wanted wanted) {
  for (FlowListEntry* e = list_.front(); e != nullptr;) {
    FlowListEntry* after = list_.after(e);
    if (!e->is_place) {
      auto& c = *static_cast<Conversation*>(e);
      if (c.interrupt != nullptr && wanted(c)) c.interrupt(c);
    }
    e = after;
  }
}

void Conversations::interrupt_all() {
  interrupt_if([](const Conversation&) { return true; });
}

void Conversations::interrupt_through(uint32_t number) {
  interrupt_if([number](const Conversation& c) {
    return std::ranges::find(c.labels.chain, number) != c.labels.chain.end();
  });
}

}  // namespace culvert::stats
