#include "yaml/builder.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "yaml/scalar.h"
#include "yaml/text.h"

namespace culvert::yaml {
namespace {

// Up to here comparing every pair of keys is cheaper than sorting them.
constexpr size_t kFewEntries = 12;

bool is_merge_key(const Node& key) {
  return key.is_plain() && key.text() == "<<";
}

Position position_of(const Node& node) {
  return {node.line(), node.column()};
}

}  // namespace

void Builder::error(Position at, std::string found) {
  ok_ = false;
  out_.add({Severity::kError, source_, at.line, at.column, {}, std::move(found), {}});
}

bool Builder::count(uint64_t nodes, Position at) {
  nodes_ += nodes;
  if (nodes_ <= limits_.nodes) return true;
  error(at, format("more than {} nodes, counting each alias as what it stands for", limits_.nodes));
  return false;
}

size_t Builder::add_anchor(std::string_view name, const Node* node, bool open) {
  if (name.empty()) return kNoAnchor;
  anchors_.push_back({.node = node, .open = open});
  anchor_names_.insert_or_assign(std::string(name), anchors_.size() - 1);
  return anchors_.size() - 1;
}

void Builder::raise(uint32_t height_of_child) {
  if (frames_.empty()) return;
  frames_.back().height = std::max(frames_.back().height, height_of_child + 1);
}

void Builder::refuse_depth(Position at) {
  error(at, format("more than {} collections inside one another", limits_.depth));
}

bool Builder::attach(const Node* node, Position at) {
  if (frames_.empty()) {
    root_ = node;
    return true;
  }
  const Frame& frame = frames_.back();
  if (frame.streamed) {
    stream_->take(*node);
    return true;
  }
  const bool is_key = frame.node->is_mapping() && (pending_.size() - frame.first) % 2 == 0;
  if (is_key && (node->is_sequence() || node->is_mapping())) {
    error(position_of(*node), "a list or mapping as a key; keys are plain or quoted text");
    return false;
  }
  // libfyaml reports the mapping of `[a: b]` behind its key.
  if (is_key && pending_.size() == frame.first) {
    Node& mapping = *frame.node;
    if (std::pair(at.line, at.column) < std::pair(mapping.line(), mapping.column())) {
      mapping.line_ = at.line;
      mapping.column_ = std::min(at.column, Node::kMaxColumn);
    }
  }
  pending_.push_back(node);
  return true;
}

Position Builder::empty_position(Position after) const {
  if (frames_.empty() || !frames_.back().node->is_mapping()) return after;
  // An empty value is reported at its key.
  return (pending_.size() - frames_.back().first) % 2 == 1 ? position_of(*pending_.back()) : after;
}

bool Builder::scalar(std::string_view text, bool plain, std::string_view anchor, Position at) {
  if (!count(1, at)) return false;
  const Kind kind = plain && is_null_text(text) ? Kind::kNull : Kind::kScalar;
  if (anchor.empty() && !frames_.empty() && frames_.back().streamed) {
    const Node passing(kind, text, plain, at.line, at.column);
    return attach(&passing, at);
  }
  Node* node = arena_.make<Node>(kind, text, plain, at.line, at.column);
  if (!anchor.empty()) node->anchor_ = 1;
  add_anchor(anchor, node, false);
  return attach(node, at);
}

bool Builder::begin(Kind kind, std::string_view anchor, Position at) {
  if (frames_.size() >= limits_.depth) {
    refuse_depth(at);
    return false;
  }
  const uint64_t before = nodes_;
  if (!count(1, at)) return false;
  Node* node = arena_.make<Node>(kind, at.line, at.column);
  if (!anchor.empty()) node->anchor_ = 1;
  const bool streamed = begins_stream(kind, anchor);
  if (!attach(node, at)) return false;
  frames_.push_back({node, pending_.size(), add_anchor(anchor, node, true), before, 1, streamed});
  return true;
}

bool Builder::begins_stream(Kind kind, std::string_view anchor) const {
  if (stream_ == nullptr || kind != Kind::kSequence || !anchor.empty()) return false;
  return frames_.size() == 1 && frames_[0].node->is_mapping() && pending_.size() % 2 == 1 &&
         pending_.back()->text() == stream_->key;
}

bool Builder::alias(std::string_view name, Position at) {
  const auto found = anchor_names_.find(name);
  if (found == anchor_names_.end()) {
    error(at, format("alias {} to an anchor that is not defined before it", quoted(name)));
    return false;
  }
  const Anchor& anchor = anchors_[found->second];
  if (anchor.open) {
    error(at, format("alias {} inside the value of its own anchor", quoted(name)));
    return false;
  }
  // A chain of anchors, each holding an alias to the one before, is as deep as it is long.
  if (frames_.size() + anchor.height > limits_.depth) {
    refuse_depth(at);
    return false;
  }
  raise(anchor.height);
  return count(anchor.nodes, at) && attach(anchor.node, at);
}

bool Builder::end() {
  const Frame frame = frames_.back();
  Node& node = *frame.node;
  const size_t children = pending_.size() - frame.first;
  bool go_on = true;
  if (node.is_mapping()) {
    go_on = end_mapping(node, frame.first);
  } else if (children != 0) {
    using Item = const Node*;
    auto* items = static_cast<Item*>(arena_.allocate(children * sizeof(Item), alignof(Item)));
    std::copy(pending_.begin() + static_cast<ptrdiff_t>(frame.first), pending_.end(), items);
    node.data_ = items;
    node.size_ = static_cast<uint32_t>(children);
  }
  pending_.resize(frame.first);
  frames_.pop_back();
  raise(frame.height);
  if (frame.anchor != kNoAnchor) {
    anchors_[frame.anchor].open = false;
    anchors_[frame.anchor].height = frame.height;
    anchors_[frame.anchor].nodes = nodes_ - frame.nodes_before;
  }
  if (node.anchor_ != 0 && !frames_.empty()) frames_.back().node->anchor_ = 1;
  return go_on;
}

bool Builder::end_mapping(Node& node, size_t first) {
  const size_t written = (pending_.size() - first) / 2;
  bool merges = false;
  for (size_t i = 0; i < written; ++i) merges |= is_merge_key(*pending_[first + 2 * i]);
  const auto set = [&](size_t count) {
    auto* entries = static_cast<Entry*>(arena_.allocate(count * sizeof(Entry), alignof(Entry)));
    node.data_ = entries;
    node.size_ = static_cast<uint32_t>(count);
    return entries;
  };

  if (!merges && written <= kFewEntries) {
    Entry* entries = set(written);
    for (size_t i = 0; i < written; ++i) {
      entries[i] = {pending_[first + 2 * i], pending_[first + 2 * i + 1]};
    }
    refuse_repeated(first, written);
    return true;
  }
  std::vector<Candidate> candidates;
  if (!collect(first, written, candidates)) return false;
  drop_repeated(candidates);
  const auto kept = std::ranges::count_if(candidates, [](auto& c) { return !c.dropped; });
  Entry* next = set(static_cast<size_t>(kept));
  for (const Candidate& c : candidates) {
    if (!c.dropped) *next++ = c.entry;
  }
  return true;
}

bool Builder::collect(size_t first, size_t written, std::vector<Candidate>& into) {
  uint32_t rank = 0;
  bool merged = false;
  for (size_t i = 0; i < written; ++i) {
    const Entry entry{pending_[first + 2 * i], pending_[first + 2 * i + 1]};
    if (!is_merge_key(*entry.key)) {
      into.push_back({entry, 0, false});
      continue;
    }
    if (std::exchange(merged, true)) {
      error(position_of(*entry.key), "a second << in one mapping; write one as <<: [*a, *b]");
      return false;
    }
    if (!merge(*entry.value, into, rank)) return false;
  }
  return true;
}

bool Builder::merge(const Node& value, std::vector<Candidate>& into, uint32_t& rank) {
  if (!value.is_sequence()) return merge_one(value, into, ++rank);
  for (const Node* item : value.items()) {
    if (!merge_one(*item, into, ++rank)) return false;
  }
  return true;
}

bool Builder::merge_one(const Node& value, std::vector<Candidate>& into, uint32_t rank) {
  if (!value.is_mapping()) {
    error(position_of(value), "<< takes a mapping or a list of mappings");
    return false;
  }
  for (const Entry& entry : value.entries()) {
    into.push_back({entry, rank, false});
  }
  return true;
}

// Keeps the first of each key by rank: its own entries win, then the earlier merged mapping. Two of
// its own are an error. Sorted rather than hashed: no choice of keys makes it slow.
void Builder::drop_repeated(std::vector<Candidate>& candidates) {
  std::vector<uint32_t> sorted(candidates.size());
  for (uint32_t i = 0; i < sorted.size(); ++i) sorted[i] = i;
  std::ranges::sort(sorted, [&](uint32_t a, uint32_t b) {
    const Candidate &x = candidates[a], &y = candidates[b];
    const int by_text = x.entry.key->text().compare(y.entry.key->text());
    return by_text != 0 ? by_text < 0 : std::pair(x.rank, a) < std::pair(y.rank, b);
  });
  for (size_t i = 1; i < sorted.size(); ++i) {
    Candidate& one = candidates[sorted[i - 1]];
    Candidate& next = candidates[sorted[i]];
    if (one.entry.key->text() != next.entry.key->text()) continue;
    if (one.rank == 0 && next.rank == 0) repeated(*next.entry.key, *one.entry.key);
    next.dropped = true;
  }
}

void Builder::refuse_repeated(size_t first, size_t entries) {
  for (size_t i = 1; i < entries; ++i) {
    const Node& key = *pending_[first + 2 * i];
    for (size_t k = 0; k < i; ++k) {
      const Node& other = *pending_[first + 2 * k];
      if (key.text() != other.text()) continue;
      repeated(key, other);
      break;
    }
  }
}

void Builder::repeated(const Node& key, const Node& first) {
  error(position_of(key), format("key {} again; it is first written at {}:{}", quoted(key.text()),
                                 first.line(), first.column()));
}

}  // namespace culvert::yaml
