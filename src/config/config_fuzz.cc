#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "config/settings.h"
#include "config/testing/registry.h"

int culvert_fuzz_config(const uint8_t* data, size_t size) {
  culvert::Diagnostics out;
  culvert::config::LoadOptions options;
  options.registry = &culvert::config::testing::registry();
  options.home = "/home-of-fuzz";
  const auto settings = culvert::config::load_text(
      "fuzz", std::string(reinterpret_cast<const char*>(data), size), options, out);
  if (settings.has_value() == out.has_errors()) std::abort();
  return 0;
}
