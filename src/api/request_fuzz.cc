#include <cstdint>
#include <cstdlib>

#include "api/body.h"
#include "api/config_patch.h"
#include "api/json_value.h"
#include "api/path.h"
#include "api/routes.h"
#include "wire/http1.h"
#include "wire/url.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

// One text as a target, as a JSON body and as a chunked body.
int culvert_fuzz_request(const uint8_t* data, size_t size) {
  using namespace culvert;
  using namespace culvert::api;
  const std::string_view text = as_text({data, size});
  const wire::PathAndQuery target = wire::split_target(text);
  if (auto segments = split_path(target.path); segments.ok()) {
    size_t total = 0;
    for (const std::string& s : *segments) total += s.size();
    check(segments->size() <= kMaxSegments && total <= size);
    const Match match = find_route("GET", *std::move(segments));
    check(match.route != nullptr || match.names.empty());
  }
  std::string why;
  const auto patch = parse_config_patch(text, why);
  check(patch.has_value() == why.empty());
  if (patch) {
    check(parse_json_object(text).has_value());
    Diagnostics out;
    const auto settings = apply_config_patch({}, *patch, out);
    check(settings.has_value() != out.has_errors());
  }
  wire::ChunkedScanner scanner;
  const size_t used = scanner.advance({data, size});
  if (scanner.done()) {
    const auto joined = join_chunks(text.substr(0, used), size);
    check(joined.has_value() && joined->size() < used);
  }
  (void)join_chunks(text, 16);
  return 0;
}
