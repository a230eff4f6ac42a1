#include "api/change.h"

#include <string>

namespace culvert::api {

Reply reply_of(const engine::Reloader::Outcome& outcome) {
  if (outcome.status.ok()) return no_content();
  if (outcome.status.code() == Errc::kExhausted) {
    return failure(503, "Too many changes of the profile wait already");
  }
  std::string text;
  size_t told = 0;
  for (const Diagnostic& d : outcome.diagnostics.entries()) {
    if (d.severity != Severity::kError || told == kErrorsTold) continue;
    if (told++ != 0) text += '\n';
    text += d.to_string();
  }
  return failure(400, text.empty() ? "Body invalid" : text);
}

}  // namespace culvert::api
