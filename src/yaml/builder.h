// Turns parser events into nodes: collections, anchors, aliases, merge keys, duplicate keys,
// limits. Knows nothing of libfyaml. Internal to yaml/.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/diagnostics.h"
#include "yaml/document.h"
#include "yaml/node.h"

namespace culvert::yaml {

struct Position {
  uint32_t line = 1;
  uint32_t column = 1;
};

// Feed it the events of one document in order. Each call returns false when reading cannot go on;
// the reason is then in `out`. Texts must be in the arena or outlive it, anchor names are copied.
class Builder {
 public:
  Builder(const std::string& source, Arena& arena, Diagnostics& out, const Limits& limits,
          const Stream* stream)
      : source_(source), arena_(arena), out_(out), limits_(limits), stream_(stream) {}

  bool scalar(std::string_view text, bool plain, std::string_view anchor, Position at);
  bool begin(Kind kind, std::string_view anchor, Position at);
  bool end();
  bool alias(std::string_view name, Position at);

  // Where to report a node with no text, which has no place of its own; `after` is what precedes
  // it.
  [[nodiscard]] Position empty_position(Position after) const;
  // Column of the innermost collection, from 0.
  [[nodiscard]] uint32_t block_indent() const {
    return frames_.empty() ? 0 : frames_.back().node->column() - 1;
  }
  void error(Position at, std::string found);
  // nullptr before the document is complete.
  [[nodiscard]] const Node* root() const { return frames_.empty() ? root_ : nullptr; }
  // False once anything was refused.
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  struct Anchor {
    const Node* node = nullptr;
    bool open = false;    // its collection is not complete
    uint32_t height = 0;  // collections inside one another, itself included
    uint64_t nodes = 1;   // what an alias to it stands for
  };
  static constexpr size_t kNoAnchor = ~size_t{0};
  struct Frame {
    Node* node;
    size_t first;           // of its children in pending_
    size_t anchor;          // in anchors_
    uint64_t nodes_before;  // nodes_ when it began
    uint32_t height = 1;
    bool streamed = false;  // its elements go to stream_
  };
  // A candidate entry of a mapping that has a merge key or many entries.
  struct Candidate {
    Entry entry;
    uint32_t rank;  // 0 = its own, then the merged mappings in order
    bool dropped;
  };

  bool count(uint64_t nodes, Position at);
  [[nodiscard]] bool begins_stream(Kind kind, std::string_view anchor) const;
  bool attach(const Node* node, Position at);
  size_t add_anchor(std::string_view name, const Node* node, bool open);
  void raise(uint32_t height_of_child);
  void refuse_depth(Position at);
  bool end_mapping(Node& node, size_t first);
  bool collect(size_t first, size_t written, std::vector<Candidate>& into);
  bool merge(const Node& value, std::vector<Candidate>& into, uint32_t& rank);
  bool merge_one(const Node& value, std::vector<Candidate>& into, uint32_t rank);
  void drop_repeated(std::vector<Candidate>& candidates);
  void refuse_repeated(size_t first, size_t entries);
  void repeated(const Node& key, const Node& first);

  const std::string& source_;
  Arena& arena_;
  Diagnostics& out_;
  const Limits& limits_;
  const Stream* stream_;  // nullptr: none
  std::vector<Frame> frames_;
  std::vector<const Node*> pending_;  // children of the open frames, keys and values in turn
  std::vector<Anchor> anchors_;
  std::map<std::string, size_t, std::less<>> anchor_names_;
  const Node* root_ = nullptr;
  uint64_t nodes_ = 0;
  bool ok_ = true;
};

}  // namespace culvert::yaml
