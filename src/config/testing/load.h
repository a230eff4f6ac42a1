// Profiles in tests: texts that load without a word, load with warnings, or are refused.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "config/settings.h"
#include "config/testing/registry.h"

namespace culvert::config::testing {

inline LoadOptions options() {
  LoadOptions out;
  out.registry = &registry();
  out.home = "/home-of-tests";
  return out;
}

inline Settings loaded(std::string text) {
  Diagnostics out;
  auto settings = load_text("c.yaml", std::move(text), options(), out);
  EXPECT_TRUE(settings);
  EXPECT_EQ(out.to_string(), "");
  return settings ? *std::move(settings) : Settings();
}

inline std::string refusal(std::string text, bool strict = false) {
  Diagnostics out;
  LoadOptions how = options();
  how.strict = strict;
  EXPECT_FALSE(load_text("c.yaml", std::move(text), how, out));
  EXPECT_TRUE(out.has_errors());
  return out.to_string();
}

inline std::string warnings(std::string text) {
  Diagnostics out;
  EXPECT_TRUE(load_text("c.yaml", std::move(text), options(), out)) << out.to_string();
  return out.to_string();
}

}  // namespace culvert::config::testing
