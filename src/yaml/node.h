// The tree a YAML document becomes. Nodes live in their Document's arena and never change; a node
// reached through an alias is the anchored node itself, so one node may have several parents (never
// itself among them). Merge keys (`<<`) are already applied.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace culvert::yaml {

enum class Kind : uint8_t { kNull, kScalar, kSequence, kMapping };

class Node;

struct Entry {
  const Node* key = nullptr;  // kNull or kScalar
  const Node* value = nullptr;
};

// 24 bytes: a profile has one per scalar.
class Node {
 public:
  static constexpr uint32_t kMaxColumn = (1u << 27) - 1;

  // Of a scalar or null; `text` must outlive the node.
  Node(Kind kind, std::string_view text, bool plain, uint32_t line, uint32_t column)
      : data_(text.data()), size_(static_cast<uint32_t>(text.size())), line_(line) {
    set(kind, plain, column);
  }
  // Of a sequence or mapping, filled by its builder.
  Node(Kind kind, uint32_t line, uint32_t column) : line_(line) { set(kind, false, column); }

  [[nodiscard]] Kind kind() const { return static_cast<Kind>(kind_); }
  // A plain ~, null, Null, NULL or nothing at all. The quoted forms are scalars.
  [[nodiscard]] bool is_null() const { return kind() == Kind::kNull; }
  [[nodiscard]] bool is_scalar() const { return kind() == Kind::kScalar; }
  [[nodiscard]] bool is_sequence() const { return kind() == Kind::kSequence; }
  [[nodiscard]] bool is_mapping() const { return kind() == Kind::kMapping; }

  // The text as written, quotes and escapes undone, never reformatted: 2351e1 stays "2351e1", and a
  // null keeps its spelling. Empty for collections. Lives as long as the Document.
  [[nodiscard]] std::string_view text() const {
    return kind() > Kind::kScalar ? std::string_view()
                                  : std::string_view(static_cast<const char*>(data_), size_);
  }
  // Written without quotes and without a string tag.
  [[nodiscard]] bool is_plain() const { return plain_ != 0; }

  // In document order; empty for the other kinds.
  [[nodiscard]] std::span<const Node* const> items() const {
    if (kind() != Kind::kSequence) return {};
    return {static_cast<const Node* const*>(data_), size_};
  }
  // In document order, merged entries where their `<<` stands. Keys are unique.
  [[nodiscard]] std::span<const Entry> entries() const {
    if (kind() != Kind::kMapping) return {};
    return {static_cast<const Entry*>(data_), size_};
  }
  // Looks at every entry in turn; nullptr when absent.
  [[nodiscard]] const Node* find(std::string_view key) const {
    for (const Entry& entry : entries()) {
      if (entry.key->text() == key) return entry.value;
    }
    return nullptr;
  }

  // Both from 1; columns count characters. A node behind an alias keeps the place of its anchor.
  [[nodiscard]] uint32_t line() const { return line_; }
  [[nodiscard]] uint32_t column() const { return column_; }
  // This node or one written inside it has an anchor.
  [[nodiscard]] bool holds_anchor() const { return anchor_ != 0; }

 private:
  friend class Builder;
  void set(Kind kind, bool plain, uint32_t column) {
    column_ = column < kMaxColumn ? column : kMaxColumn;
    kind_ = static_cast<uint32_t>(kind);
    plain_ = plain ? 1 : 0;
    anchor_ = 0;
  }

  const void* data_ = nullptr;  // text, const Node*[] or Entry[], by kind
  uint32_t size_ = 0;
  uint32_t line_ = 0;
  uint32_t column_ : 27;
  uint32_t kind_ : 2;
  uint32_t plain_ : 1;
  uint32_t anchor_ : 1;
};
static_assert(sizeof(void*) != 8 || sizeof(Node) == 24);

}  // namespace culvert::yaml
