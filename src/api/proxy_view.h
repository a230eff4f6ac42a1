// Nodes and groups as JSON in mihomo's shapes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/json_writer.h"
#include "api/text_source.h"
#include "engine/generation.h"

namespace culvert::api {

// What is tested when neither the client nor the group names a URL.
inline constexpr std::string_view kDefaultTestUrl = "http://www.gstatic.com/generate_204";

// Writes entries of one generation, which it keeps alive. What nodes know of their delays is read
// as it is at that moment. Control worker.
class ProxyView {
 public:
  using GenerationPtr = std::shared_ptr<const engine::Generation>;
  explicit ProxyView(GenerationPtr generation);
  [[nodiscard]] const engine::Generation& generation() const { return *generation_; }

  // Whether the target is shown at all: GLOBAL is where the profile makes no group of it.
  [[nodiscard]] bool shows(uint32_t target) const;
  // The group of the profile behind a target, one that rejects its flows included; or nullptr.
  [[nodiscard]] const config::GroupSettings* group(uint32_t target) const;
  // {"name","type","alive","history",...}, with "now", "all" and the rest for a group. The delays
  // of a group are those of the node it gives flows to.
  void append(JsonWriter& w, uint32_t target) const;

 private:
  GenerationPtr generation_;
  std::vector<const config::GroupSettings*> groups_;  // by target
};

// A provider, as mihomo shows what is no file: "default", which has every node and group, and one
// for each group that names its nodes itself.
struct ProviderView {
  std::string name;
  std::string test_url;
  std::string expected;
  std::vector<uint32_t> targets;
};
std::vector<ProviderView> providers_of(const ProxyView& view);

// {"proxies":{name:...}}
class ProxiesText final : public TextSource {
 public:
  explicit ProxiesText(ProxyView::GenerationPtr generation);
  rt::Task<Status> next(TimePoint deadline) override;
  [[nodiscard]] std::string_view piece() const override { return text_; }
  [[nodiscard]] bool complete() const override { return complete_; }

 private:
  const ProxyView view_;
  uint32_t at_ = 0;
  std::string text_;
  JsonWriter writer_{text_};
  bool complete_ = false;
};

// {"proxies":[...]}, of the groups
class GroupsText final : public TextSource {
 public:
  explicit GroupsText(ProxyView::GenerationPtr generation);
  rt::Task<Status> next(TimePoint deadline) override;
  [[nodiscard]] std::string_view piece() const override { return text_; }
  [[nodiscard]] bool complete() const override { return complete_; }

 private:
  const ProxyView view_;
  uint32_t at_ = 0;
  std::string text_;
  JsonWriter writer_{text_};
  bool complete_ = false;
};

// {"providers":{name:{...}}}, or one provider alone
class ProvidersText final : public TextSource {
 public:
  // All of them when `only` is empty.
  ProvidersText(ProxyView view, std::vector<ProviderView> providers, bool alone);
  rt::Task<Status> next(TimePoint deadline) override;
  [[nodiscard]] std::string_view piece() const override { return text_; }
  [[nodiscard]] bool complete() const override { return complete_; }

 private:
  void begin(const ProviderView& provider);
  void end(const ProviderView& provider);
  const ProxyView view_;
  const std::vector<ProviderView> providers_;
  const bool alone_;
  size_t provider_ = 0;
  size_t at_ = 0;  // of its targets
  bool begun_ = false;
  std::string text_;
  JsonWriter writer_{text_};
  bool complete_ = false;
};

}  // namespace culvert::api
