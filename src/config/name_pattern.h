// Patterns over the names of nodes, in PCRE2, which has the lookaround and the inline flags that
// people's patterns use. Internal to config/.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct pcre2_real_code_8;
struct pcre2_real_match_data_8;
struct pcre2_real_match_context_8;

namespace culvert::config {

// What a pattern cannot do to us: steps and depth of one match are limited.
class NamePattern {
 public:
  enum class Match : uint8_t { kNo, kYes, kTooMuchWork };

  // Nothing when `text` is not a pattern; `problem` then says why, and where in it.
  static std::optional<NamePattern> compile(std::string_view text, std::string& problem);
  // Whether the pattern is found anywhere in `name`, which is UTF-8.
  [[nodiscard]] Match match(std::string_view name) const;

 private:
  struct Free {
    void operator()(pcre2_real_code_8* code) const;
    void operator()(pcre2_real_match_data_8* data) const;
    void operator()(pcre2_real_match_context_8* context) const;
  };
  std::unique_ptr<pcre2_real_code_8, Free> code_;
  std::unique_ptr<pcre2_real_match_data_8, Free> data_;
  std::unique_ptr<pcre2_real_match_context_8, Free> context_;
};

// The patterns of a `filter`: a list with ` between them. Nothing after a bad one.
std::optional<std::vector<NamePattern>> compile_patterns(std::string_view list,
                                                         std::string& problem);

}  // namespace culvert::config
