#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/bytes.h"
#include "wire/host.h"

namespace {

using culvert::wire::HostBuffer;

void check_shape(std::string_view host) {
  if (host.empty() || host.size() > culvert::wire::kMaxHost) std::abort();
  size_t label = 0;
  for (const char c : host) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    if (c == '.') {
      if (label == 0) std::abort();
      label = 0;
    } else if (!plain || ++label > 63) {
      std::abort();
    }
  }
  if (label == 0) std::abort();
}

}  // namespace

// A name that was made normal has the shape of one, and is its own normal form.
int culvert_fuzz_host(const uint8_t* data, size_t size) {
  const std::string_view text = culvert::as_text({data, size});
  HostBuffer buffer;
  const auto host = culvert::wire::normalize_host(text, buffer);
  if (!host) return 0;
  check_shape(*host);
  HostBuffer again_buffer;
  const auto again = culvert::wire::normalize_host(*host, again_buffer);
  if (again != host) std::abort();
  if (!text.empty() && text.back() != '.') {
    const auto dotted = culvert::wire::normalize_host(std::string(text) + ".", again_buffer);
    if (dotted != host) std::abort();
  }
  return 0;
}
