// A pass over the bytes before the parser sees them: encoding, and what would cost libfyaml memory
// or time out of proportion (see scan.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace culvert::yaml {

struct Scan {
  // The part to parse: without the byte order mark, up to the end of the first document.
  std::string_view body;
  // Set when the text is refused. Line and column from 1.
  struct Fault {
    uint32_t line = 0;
    uint32_t column = 0;
    std::string_view what;
  };
  std::optional<Fault> fault;
};

// Indicator characters one line may have. libfyaml keeps every token of a line that begins a flow
// collection (it may turn out to be a key) at about 200 bytes each.
inline constexpr uint32_t kMaxLineIndicators = 512 * 1024;
// Directives (`%TAG ...`) before the document: libfyaml compares each with all before it.
inline constexpr uint32_t kMaxDirectives = 64;
inline constexpr size_t kMaxDirectiveBytes = 1024;

Scan scan(std::string_view text);

}  // namespace culvert::yaml
