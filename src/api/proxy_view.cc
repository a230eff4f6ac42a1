#include "api/proxy_view.h"

#include <utility>

#include "api/views.h"
#include "route/targets.h"

namespace culvert::api {

using rt::Task;

namespace {

void append_history(JsonWriter& w, const engine::DelayBook::State& state) {
  w.key("history").begin_array();
  for (const engine::DelayRecord& record : state.history) {
    char when[kRfc3339Size];
    write_rfc3339(record.when, when);
    w.begin_object().plain_field("time", {when, sizeof when});
    w.field("delay", uint64_t{record.milliseconds}).end_object();
  }
  w.end_array();
}

}  // namespace

ProxyView::ProxyView(GenerationPtr generation)
    : generation_(std::move(generation)), groups_(generation_->targets.size()) {
  for (const config::GroupSettings& group : generation_->settings->groups) {
    groups_[group.target] = &group;
  }
}

bool ProxyView::shows(uint32_t target) const {
  return target != route::kGlobal || groups_[target] != nullptr;
}

const config::GroupSettings* ProxyView::group(uint32_t target) const {
  return groups_[target];
}

void ProxyView::append(JsonWriter& w, uint32_t target) const {
  const engine::Generation& g = *generation_;
  const config::GroupSettings* group = groups_[target];
  const std::shared_ptr<engine::Node> node = g.resolve(target).node;
  const engine::DelayBook::State& delays = node->delays.overall();
  const bool is_group = g.targets[target].kind == engine::Target::Kind::kGroup;
  w.begin_object().flag("alive", delays.alive);
  if (group != nullptr) {
    w.key("all").begin_array();
    for (const uint32_t member : group->members) w.string(g.target_name(member));
    w.end_array();
    w.raw(R"("emptyFallback":"COMPATIBLE")");
    w.field("expectedStatus", group->expected_status.empty() ? "*" : group->expected_status);
  }
  w.key("extra").begin_object();
  for (const auto& [url, state] : node->delays.by_url()) {
    w.member(url).begin_object().flag("alive", state.alive);
    append_history(w, state);
    w.end_object();
  }
  w.end_object();
  if (group != nullptr) {
    w.raw(R"("fixed":"")").flag("hidden", group->hidden);
  }
  append_history(w, delays);
  if (group != nullptr) w.field("icon", group->icon);
  w.field("name", g.target_name(target));
  bool udp = node->capabilities.udp && node->unsupported.empty();
  if (group != nullptr) {
    const std::string_view now =
        is_group ? std::string_view(g.target_name(g.groups[g.targets[target].index]->pick())) : "";
    w.field("now", now);
    w.field("testUrl", group->url.empty() ? kDefaultTestUrl : std::string_view(group->url));
    w.field("type", engine::api_type(group->type));
    udp = udp && !group->disable_udp;
    w.raw(R"("dialer-proxy":"","interface":"","mptcp":false,"provider-name":"")"
          R"(,"routing-mark":0,"smux":false,"tfo":false)");
  } else {
    const flow::CommonOptions& common = node->common;
    w.field("type", node->type);
    w.field("dialer-proxy", common.dialer_proxy).field("interface", common.interface_name);
    w.flag("mptcp", common.mptcp).raw(R"("provider-name":"")");
    w.field("routing-mark", uint64_t{common.routing_mark}).raw(R"("smux":false)");
    w.flag("tfo", common.tfo);
  }
  w.flag("udp", udp).raw(R"("uot":false,"xudp":false)").end_object();
}

std::vector<ProviderView> providers_of(const ProxyView& view) {
  const engine::Generation& g = view.generation();
  std::vector<ProviderView> out;
  ProviderView& all = out.emplace_back();
  all.name = "default";
  all.test_url = kDefaultTestUrl;
  all.expected = "*";
  for (uint32_t t = 0; t < g.targets.size(); ++t) {
    // In mihomo's order: what a profile may name, but for PASS and what is only made for groups.
    if (t == route::kDirect || t == route::kReject || t >= route::kBuiltInTargets) {
      all.targets.push_back(t);
    }
  }
  for (const config::GroupSettings& group : g.settings->groups) {
    if (group.target == route::kGlobal) continue;
    ProviderView& own = out.emplace_back();
    own.name = group.name;
    own.test_url = group.url.empty() ? kDefaultTestUrl : std::string_view(group.url);
    own.expected = group.expected_status.empty() ? "*" : group.expected_status;
    own.targets = group.members;
  }
  return out;
}

ProxiesText::ProxiesText(ProxyView::GenerationPtr generation) : view_(std::move(generation)) {
  writer_.begin_object().key("proxies").begin_object();
}

Task<Status> ProxiesText::next(TimePoint) {
  if (at_ != 0) text_.clear();
  const auto& g = view_.generation();
  for (; at_ < g.targets.size() && text_.size() < kPiece; ++at_) {
    if (!view_.shows(at_)) continue;
    writer_.member(g.target_name(at_));
    view_.append(writer_, at_);
  }
  if (at_ == g.targets.size()) {
    writer_.end_object().end_object();
    complete_ = true;
  }
  co_return Status();
}

GroupsText::GroupsText(ProxyView::GenerationPtr generation) : view_(std::move(generation)) {
  writer_.begin_object().key("proxies").begin_array();
}

Task<Status> GroupsText::next(TimePoint) {
  if (at_ != 0) text_.clear();
  const auto& groups = view_.generation().settings->groups;
  for (; at_ < groups.size() && text_.size() < kPiece; ++at_) {
    view_.append(writer_, groups[at_].target);
  }
  if (at_ == groups.size()) {
    writer_.end_array().end_object();
    complete_ = true;
  }
  co_return Status();
}

ProvidersText::ProvidersText(ProxyView view, std::vector<ProviderView> providers, bool alone)
    : view_(std::move(view)), providers_(std::move(providers)), alone_(alone) {
  if (!alone_) writer_.begin_object().key("providers").begin_object();
}

void ProvidersText::begin(const ProviderView& provider) {
  if (!alone_) writer_.member(provider.name);
  writer_.begin_object().field("expectedStatus", provider.expected).field("name", provider.name);
  writer_.key("proxies").begin_array();
}

void ProvidersText::end(const ProviderView& provider) {
  writer_.end_array().field("testUrl", provider.test_url);
  writer_.raw(R"("type":"Proxy","vehicleType":"Compatible")").end_object();
}

Task<Status> ProvidersText::next(TimePoint) {
  if (begun_ || provider_ != 0) text_.clear();
  while (provider_ < providers_.size() && text_.size() < kPiece) {
    const ProviderView& provider = providers_[provider_];
    if (!begun_) begin(provider);
    begun_ = true;
    for (; at_ < provider.targets.size() && text_.size() < kPiece; ++at_) {
      view_.append(writer_, provider.targets[at_]);
    }
    if (at_ < provider.targets.size()) break;
    end(provider);
    begun_ = false;
    at_ = 0;
    ++provider_;
  }
  if (provider_ == providers_.size()) {
    if (!alone_) writer_.end_object().end_object();
    complete_ = true;
  }
  co_return Status();
}

}  // namespace culvert::api
