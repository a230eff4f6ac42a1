#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/format.h"
#include "config/name_pattern.h"
#include "yaml/text.h"

namespace culvert::config {
namespace {

constexpr size_t kMaxPattern = 16 * 1024;
constexpr size_t kMaxPatterns = 64;
// A match of a sane pattern with a name takes some hundred steps.
constexpr uint32_t kMaxSteps = 100'000;
constexpr uint32_t kMaxDepth = 1'000;

PCRE2_SPTR8 bytes_of(std::string_view text) {
  // A view of nothing may have no address, which pcre2 10.42 takes for an error.
  return reinterpret_cast<PCRE2_SPTR8>(text.empty() ? "" : text.data());
}

}  // namespace

void NamePattern::Free::operator()(pcre2_real_code_8* code) const {
  pcre2_code_free_8(code);
}
void NamePattern::Free::operator()(pcre2_real_match_data_8* data) const {
  pcre2_match_data_free_8(data);
}
void NamePattern::Free::operator()(pcre2_real_match_context_8* context) const {
  pcre2_match_context_free_8(context);
}

std::optional<NamePattern> NamePattern::compile(std::string_view text, std::string& problem) {
  if (text.size() > kMaxPattern) {
    problem = format("a pattern of at most {} bytes", kMaxPattern);
    return std::nullopt;
  }
  int error = 0;
  PCRE2_SIZE at = 0;
  NamePattern out;
  out.code_.reset(pcre2_compile_8(bytes_of(text), text.size(),
                                  PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &at,
                                  nullptr));
  if (out.code_ == nullptr) {
    PCRE2_UCHAR8 words[256] = {};
    pcre2_get_error_message_8(error, words, sizeof words);
    problem = format("a pattern: {} is not one, {} (byte {})", yaml::quoted(text),
                     reinterpret_cast<const char*>(words), at);
    return std::nullopt;
  }
  out.data_.reset(pcre2_match_data_create_8(1, nullptr));
  out.context_.reset(pcre2_match_context_create_8(nullptr));
  pcre2_set_match_limit_8(out.context_.get(), kMaxSteps);
  pcre2_set_depth_limit_8(out.context_.get(), kMaxDepth);
  return out;
}

NamePattern::Match NamePattern::match(std::string_view name) const {
  const int found = pcre2_match_8(code_.get(), bytes_of(name), name.size(), 0, PCRE2_NO_UTF_CHECK,
                                  data_.get(), context_.get());
  if (found >= 0) return Match::kYes;
  return found == PCRE2_ERROR_NOMATCH ? Match::kNo : Match::kTooMuchWork;
}

std::optional<std::vector<NamePattern>> compile_patterns(std::string_view list,
                                                         std::string& problem) {
  std::vector<NamePattern> out;
  for (;;) {
    const size_t end = list.find('`');
    if (out.size() == kMaxPatterns) {
      problem = format("at most {} patterns", kMaxPatterns);
      return std::nullopt;
    }
    auto pattern = NamePattern::compile(list.substr(0, end), problem);
    if (!pattern) return std::nullopt;
    out.push_back(*std::move(pattern));
    if (end == std::string_view::npos) return out;
    list.remove_prefix(end + 1);
  }
}

}  // namespace culvert::config
