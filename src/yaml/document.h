// Reads YAML 1.2 (with the `<<` merge key of 1.1) into a tree, on libfyaml's event parser.
//
// Bounded in time and memory whatever the text holds: aliases share their node, and a document
// whose aliases and merge keys stand for more than Limits::nodes nodes is refused, so that walking
// the whole tree is bounded as well. Refused too: invalid UTF-8, a second document in the stream,
// keys that are not scalars, duplicate keys, aliases without an anchor or inside their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "base/diagnostics.h"
#include "yaml/node.h"

namespace culvert::yaml {

struct Limits {
  size_t text_bytes = 64u << 20;
  uint32_t depth = 256;        // collections inside one another, through aliases too
  uint32_t nodes = 4'000'000;  // counting each alias as the nodes it stands for
};

// A list that is used while it is read instead of kept: it may have very many elements, and a tree
// of them would be the most that loading needs.
struct Stream {
  std::string_view key;  // of the root, which is a mapping
  // Called with each element in turn, collections before they have any. The node is gone
  // afterwards, its text stays as long as the Document.
  std::function<void(const Node&)> take;
};

// Owns the text and the tree. Movable; nodes and their texts stay where they are.
class Document {
 public:
  // kNull for a document without content.
  [[nodiscard]] const Node& root() const { return *root_; }
  // The name given to parse(), for diagnostics.
  [[nodiscard]] const std::string& source() const { return source_; }
  // Bytes held beside the text.
  [[nodiscard]] size_t tree_bytes() const { return arena_.reserved(); }

 private:
  friend std::optional<Document> parse(std::string source, std::string text, Diagnostics& out,
                                       const Limits& limits, const Stream* stream);
  Document() = default;

  std::string source_;
  std::unique_ptr<const std::string> text_;
  Arena arena_{64 * 1024};
  const Node* root_ = nullptr;
};

// nullopt when the text is refused; then `out` has at least one error, with line and column.
// `source` names the text in diagnostics: a file name, "<stdin>", a provider. Writes nothing to
// standard error. Safe from any thread.
//
// A list under the stream's key goes to it and is empty in the tree, unless it has an anchor or
// comes from elsewhere, by an alias or a merge: then it is in the tree as any other.
std::optional<Document> parse(std::string source, std::string text, Diagnostics& out,
                              const Limits& limits = {}, const Stream* stream = nullptr);

}  // namespace culvert::yaml
