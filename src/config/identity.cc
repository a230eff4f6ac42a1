#include "config/identity.h"

#include <algorithm>
#include <vector>

#include "base/format.h"
#include "crypto/sha1.h"

namespace culvert::config {
namespace {

constexpr size_t kLongText = 256;

Bytes bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace

std::optional<std::string> IdentityMaker::make(const yaml::Node& node) {
  text_.clear();
  if (!append(node)) return std::nullopt;
  std::string out;
  for (const uint8_t byte : crypto::sha1(bytes_of(text_))) out += format("{:02x}", byte);
  return out;
}

void IdentityMaker::append_text(const yaml::Node& node) {
  const std::string_view text = node.text();
  text_ += format("{}{}:", node.is_null() ? 'n' : 's', text.size());
  if (text.size() <= kLongText) {
    text_ += text;
    return;
  }
  auto at = long_texts_.find(text.data());
  if (at == long_texts_.end()) {
    at = long_texts_.emplace(text.data(), crypto::sha1(bytes_of(text))).first;
  }
  text_.append(reinterpret_cast<const char*>(at->second.data()), at->second.size());
}

// Its depth is the document's, which is limited.
bool IdentityMaker::append(const yaml::Node& node) {
  if (text_.size() > kMaxBytes) return false;
  switch (node.kind()) {
    case yaml::Kind::kNull:
    case yaml::Kind::kScalar:
      append_text(node);
      return true;
    case yaml::Kind::kSequence:
      text_ += format("l{}:", node.items().size());
      return std::ranges::all_of(node.items(), [&](const yaml::Node* n) { return append(*n); });
    case yaml::Kind::kMapping:
      break;
  }
  std::vector<yaml::Entry> entries(node.entries().begin(), node.entries().end());
  std::ranges::sort(entries, {}, [](const yaml::Entry& e) { return e.key->text(); });
  text_ += format("m{}:", entries.size());
  return std::ranges::all_of(
      entries, [&](const yaml::Entry& e) { return append(*e.key) && append(*e.value); });
}

}  // namespace culvert::config
