#include "base/diagnostics.h"

#include <utility>

#include "base/format.h"

namespace culvert {

std::string Diagnostic::to_string() const {
  std::string out = source;
  if (line != 0) out += format(":{}:{}", line, column);
  out += severity == Severity::kError ? ": error: " : ": warning: ";
  if (!path.empty()) out += path + ": ";
  if (!found.empty() && !expected.empty()) {
    out += format("found {}, expected {}", found, expected);
  } else {
    out += found.empty() ? expected : found;
  }
  return out;
}

void Diagnostics::add(Diagnostic d) {
  (d.severity == Severity::kError ? errors_ : warnings_)++;
  if (entries_.size() < kLimit) entries_.push_back(std::move(d));
}

std::string Diagnostics::to_string() const {
  std::string out;
  for (const Diagnostic& d : entries_) {
    out += d.to_string();
    out += '\n';
  }
  if (const size_t all = errors_ + warnings_; all > entries_.size()) {
    out += format("... and {} more\n", all - entries_.size());
  }
  return out;
}

}  // namespace culvert
