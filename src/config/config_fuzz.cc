#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "config/settings.h"

int culvert_fuzz_config(const uint8_t* data, size_t size) {
  culvert::Diagnostics out;
  const auto settings = culvert::config::load_text(
      "fuzz", std::string(reinterpret_cast<const char*>(data), size), {}, out);
  if (settings.has_value() == out.has_errors()) std::abort();
  return 0;
}
