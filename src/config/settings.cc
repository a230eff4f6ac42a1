#include "config/settings.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/format.h"
#include "config/address.h"
#include "config/loading.h"
#include "config/rules_reader.h"
#include "config/schema.h"
#include "yaml/document.h"
#include "yaml/text.h"

namespace culvert::config {
namespace {

using yaml::Node;

// The sections, each after those it needs: what a node is made of, then nodes, then groups over
// them, then who names them all.
void read_sections(Loading& loading, RuleReader& rules) {
  read_access(loading);
  read_general(loading);
  read_controller(loading);
  read_proxies(loading);
  read_groups(loading);
  check_dialers(loading);
  order_groups(loading);
  // Those that did not go to the reader while the document was read.
  for (const Node* node : loading.top.list(RuleReader::kKey)) rules.take(*node);
  loading.out.rules = rules.done();
  loading.targets.report_undefined(loading.top.source(), loading.top.diagnostics());
  read_sub_rules(loading);
  read_listeners(loading);
  check_domain_patterns(loading);
  finish_section(loading.top, {});
  for (uint32_t i = 0; i < loading.targets.size(); ++i) {
    loading.out.targets.push_back(loading.targets.name(i));
  }
}

bool is_age_file(std::string_view text) {
  return text.starts_with("age-encryption.org/v1") ||
         text.starts_with("-----BEGIN AGE ENCRYPTED FILE-----");
}

std::nullopt_t refuse(const std::string& source, std::string what, Diagnostics& out) {
  out.add({Severity::kError, source, 0, 0, {}, std::move(what), {}});
  return std::nullopt;
}

}  // namespace

std::optional<Settings> load_text(std::string source_name, std::string text,
                                  const LoadOptions& options, Diagnostics& out) {
  if (is_age_file(text)) {
    return refuse(source_name, "a profile encrypted with age: not supported in this version", out);
  }
  const size_t errors_before = out.errors();
  route::TargetTable targets;
  RuleReader rules(source_name, targets, out);
  const yaml::Stream stream{RuleReader::kKey, [&](const Node& node) { rules.take(node); }};
  auto document = yaml::parse(std::move(source_name), std::move(text), out, {}, &stream);
  if (!document) return std::nullopt;
  if (document->root().is_null()) {
    return refuse(document->source(), "an empty profile", out);
  }
  Settings settings;
  settings.source_name = document->source();
  {
    yaml::MapReader top = yaml::MapReader::of(*document, out);
    Loading loading{top, options, targets, settings, {}, {}};
    read_sections(loading, rules);
  }
  if (out.errors() != errors_before) return std::nullopt;
  // First the text goes: the list is for a moment there twice.
  document.reset();
  rules.give_back_room();
  return settings;
}

std::optional<Settings> load_file(const std::string& path, const LoadOptions& options,
                                  Diagnostics& out) {
  constexpr size_t kLimit = yaml::Limits{}.text_bytes;
  const auto fail = [&] {
    return refuse(path, format("cannot be read: {}", std::strerror(errno)), out);
  };
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail();
  std::string text;
  size_t size = 0;
  // As much at once as the file says it has, and a byte to meet its end: a text that grows is for a
  // moment there twice.
  struct stat about {};
  if (::fstat(fd, &about) == 0 && about.st_size > 0) {
    text.resize(std::min(static_cast<size_t>(about.st_size), kLimit) + 1);
  }
  // One byte beyond the limit is enough for the reader to refuse it.
  while (size <= kLimit) {
    if (size == text.size())
      text.resize(std::min(std::max<size_t>(64 * 1024, size * 2), kLimit + 1));
    const ssize_t n = ::read(fd, text.data() + size, text.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const auto refused = fail();
      ::close(fd);
      return refused;
    }
    if (n == 0) break;
    size += static_cast<size_t>(n);
  }
  ::close(fd);
  text.resize(size);
  return load_text(path, std::move(text), options, out);
}

std::string unsupported_report(const Settings& settings) {
  std::string out;
  const auto add = [&](std::string_view what, std::string_view name, std::string_view why) {
    if (!why.empty()) out += format("unsupported {} '{}': {}\n", what, name, why);
  };
  for (const ProxySettings& proxy : settings.proxies) add("node", proxy.name, proxy.unsupported);
  for (const GroupSettings& group : settings.groups) add("group", group.name, group.unsupported);
  return out;
}

std::string default_profile() {
  return R"(mixed-port: 7890
allow-lan: false
mode: rule
log-level: info
external-controller: 127.0.0.1:9090
rules:
  - MATCH,DIRECT
)";
}

std::optional<Endpoint> parse_controller(std::string_view text, std::string_view source,
                                         Diagnostics& out) {
  auto endpoint = parse_controller_endpoint(text);
  if (!endpoint) {
    out.add({Severity::kError,
             std::string(source),
             0,
             0,
             {},
             yaml::quoted(text),
             std::string(kControllerForm)});
  }
  return endpoint;
}

}  // namespace culvert::config
