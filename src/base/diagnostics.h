// What is wrong or doubtful in a document, collected while it is loaded: every entry names the
// source, line and column, the path of the key, what was found and what was expected.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace culvert {

enum class Severity : uint8_t { kWarning, kError };

struct Diagnostic {
  Severity severity = Severity::kError;
  std::string source;    // file name, or "<stdin>", "<built-in>"
  uint32_t line = 0;     // from 1; 0 = the whole document
  uint32_t column = 0;   // from 1
  std::string path;      // "rules[3]", "dns.nameserver[0]"
  std::string found;     // as written, shortened
  std::string expected;  // "a port from 1 to 65535"

  // "config.yaml:12:9: error: rules[3]: found 'FOO', expected a rule type"
  [[nodiscard]] std::string to_string() const;
};

// Bounded: past kLimit entries the rest is only counted.
class Diagnostics {
 public:
  static constexpr size_t kLimit = 200;

  void add(Diagnostic d);
  [[nodiscard]] bool has_errors() const { return errors_ != 0; }
  [[nodiscard]] size_t errors() const { return errors_; }
  [[nodiscard]] size_t warnings() const { return warnings_; }
  [[nodiscard]] const std::vector<Diagnostic>& entries() const { return entries_; }
  // One line an entry, and "... and N more" when the limit was passed.
  [[nodiscard]] std::string to_string() const;

 private:
  std::vector<Diagnostic> entries_;
  size_t errors_ = 0;
  size_t warnings_ = 0;
};

}  // namespace culvert
