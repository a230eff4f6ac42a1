#include "yaml/scalar.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

namespace culvert::yaml {
namespace {

template <size_t N>
bool is_one_of(std::string_view text, const std::string_view (&words)[N]) {
  return std::ranges::find(words, text) != std::end(words);
}

// Digits only, no sign.
std::optional<uint64_t> parse_digits(std::string_view text, int base) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value, base);
  if (text.empty() || error != std::errc() || at != end) return std::nullopt;
  return value;
}

std::optional<uint64_t> parse_decimal(std::string_view text) {
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  return parse_digits(text, 10);
}

struct Unit {
  std::string_view word;
  uint64_t factor;
};

// The number before a unit word, and the factor of that word; `plain` when there is none.
template <size_t N>
std::optional<uint64_t> parse_with_unit(std::string_view text, const Unit (&units)[N],
                                        uint64_t plain) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  std::string_view word = text.substr(digits);
  if (word.starts_with(' ')) word.remove_prefix(1);
  uint64_t factor = plain;
  if (digits != text.size()) {
    const auto unit = std::ranges::find(units, word, &Unit::word);
    if (unit == std::end(units)) return std::nullopt;
    factor = unit->factor;
  }
  const auto number = parse_decimal(text.substr(0, digits));
  if (!number || *number > std::numeric_limits<int64_t>::max() / factor) return std::nullopt;
  return *number * factor;
}

}  // namespace

bool is_null_text(std::string_view text) {
  constexpr std::string_view kWords[] = {"", "~", "null", "Null", "NULL"};
  return is_one_of(text, kWords);
}

std::optional<bool> parse_boolean(std::string_view text) {
  constexpr std::string_view kYes[] = {"true", "True", "TRUE", "y", "Y", "yes", "on", "1"};
  constexpr std::string_view kNo[] = {"false", "False", "FALSE", "n", "N", "no", "off", "0"};
  if (is_one_of(text, kYes)) return true;
  if (is_one_of(text, kNo)) return false;
  return std::nullopt;
}

std::optional<int64_t> parse_integer(std::string_view text) {
  bool negative = false;
  if (text.starts_with('-') || text.starts_with('+')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  std::string digits;
  if (text.find('_') != std::string_view::npos) {
    if (text.front() == '_' || text.back() == '_' || text.find("__") != std::string_view::npos) {
      return std::nullopt;
    }
    std::ranges::copy_if(text, std::back_inserter(digits), [](char c) { return c != '_'; });
    text = digits;
  }
  std::optional<uint64_t> value;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    value = parse_digits(text.substr(2), 16);
  } else if (text.starts_with("0o")) {
    value = parse_digits(text.substr(2), 8);
  } else if (text.starts_with("0b")) {
    value = parse_digits(text.substr(2), 2);
  } else {
    value = parse_decimal(text);
  }
  constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (!value || *value > kMax) return std::nullopt;
  return negative ? -static_cast<int64_t>(*value) : static_cast<int64_t>(*value);
}

std::optional<Duration> parse_duration(std::string_view text, Duration unit) {
  constexpr Unit kUnits[] = {{"ms", 1'000'000},
                             {"s", 1'000'000'000},
                             {"m", 60'000'000'000},
                             {"h", 3'600'000'000'000},
                             {"d", 86'400'000'000'000}};
  const auto nanoseconds = parse_with_unit(text, kUnits, static_cast<uint64_t>(unit.count()));
  if (!nanoseconds) return std::nullopt;
  return Duration(static_cast<int64_t>(*nanoseconds));
}

std::optional<uint64_t> parse_size(std::string_view text) {
  constexpr uint64_t kKi = 1024, kMi = kKi * 1024, kGi = kMi * 1024;
  constexpr Unit kUnits[] = {{"KiB", kKi}, {"MiB", kMi}, {"GiB", kGi}, {"KB", kKi}, {"MB", kMi},
                             {"GB", kGi},  {"K", kKi},   {"M", kMi},   {"G", kGi}};
  return parse_with_unit(text, kUnits, 1);
}

}  // namespace culvert::yaml
