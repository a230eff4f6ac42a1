#include "wire/url.h"

#include <cstdint>
#include <cstdlib>

#include "base/bytes.h"
#include "wire/base64.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

int culvert_fuzz_url(const uint8_t* data, size_t size) {
  using namespace culvert;
  using namespace culvert::wire;
  const std::string_view text = as_text({data, size});
  const PathAndQuery target = split_target(text);
  check(target.path.size() + target.query.size() <= size);
  check(target.path.find_first_of("?#") == std::string_view::npos);
  check(target.query.find('#') == std::string_view::npos);
  check(decode_percent(text, true).size() <= size);
  if (text.find_first_of("%+") == std::string_view::npos) check(decode_percent(text, true) == text);
  if (const auto value = query_value(target.query, "a")) check(value->size() <= size);

  check(decode_base64(encode_base64({data, size})) == text);
  if (const auto decoded = decode_base64(text)) {
    // Only the padding may differ.
    const std::string again = encode_base64(as_bytes(*decoded));
    check(again.substr(0, again.find('=')) == text.substr(0, text.find('=')));
  }
  return 0;
}
