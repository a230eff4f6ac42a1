#include "config/loading.h"

#include <filesystem>

#include "base/format.h"
#include "yaml/text.h"

namespace culvert::config {
namespace {

bool is_below(const std::filesystem::path& path, const std::filesystem::path& folder) {
  const std::filesystem::path relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

std::filesystem::path made_absolute(const std::filesystem::path& path) {
  std::error_code ignored;
  std::filesystem::path out = std::filesystem::absolute(path, ignored).lexically_normal();
  // "/a/" and "/a" are one folder.
  return out.has_filename() || !out.has_relative_path() ? out : out.parent_path();
}

}  // namespace

std::optional<yaml::MapReader> named_element(yaml::MapReader& top, std::string_view list,
                                             size_t index, const yaml::Node& node) {
  if (!node.is_mapping()) return top.element(list, index, node);
  const yaml::Node* name = node.find("name");
  if (name == nullptr || !name->is_scalar()) return top.element(list, index, node);
  return yaml::MapReader(top.source(), node,
                         format("{}[{}]", top.path_of(list), yaml::quoted(name->text())),
                         top.diagnostics());
}

std::optional<Named> define_name(Loading& loading, yaml::MapReader& entry, Named::What what,
                                 size_t index) {
  const auto name = entry.string("name");
  if (!name) {
    if (entry.find("name") == nullptr) entry.refuse(entry.node(), entry.path(), "no name");
    return std::nullopt;
  }
  const yaml::Node& at = *entry.find("name");
  if (name->empty()) {
    entry.fail(at, entry.path_of("name"), "a name");
    return std::nullopt;
  }
  if (const auto other = loading.names.find(*name); other != loading.names.end()) {
    entry.fail(at, entry.path_of("name"),
               format("another name than the {} at {}:{} has",
                      other->second.what == Named::What::kProxy ? "proxy" : "group",
                      other->second.at->line(), other->second.at->column()));
    return std::nullopt;
  }
  if (const auto built_in = loading.targets.find(*name);
      built_in && *built_in < route::kBuiltInTargets &&
      (what == Named::What::kProxy || *built_in != route::kGlobal)) {
    entry.fail(at, entry.path_of("name"), "another name than a built-in target has");
    return std::nullopt;
  }
  const auto target = loading.targets.define(*name);
  if (!target) {
    entry.fail(at, entry.path_of("name"),
               format("at most {} names", route::TargetTable::kMaxTargets));
    return std::nullopt;
  }
  const Named named{what, *target, index, &at};
  loading.names.emplace(*name, named);
  return named;
}

std::optional<uint32_t> find_target(const Loading& loading, std::string_view name) {
  const auto target = loading.targets.find(name);
  if (!target || !loading.targets.defined(*target)) return std::nullopt;
  return target;
}

std::optional<std::string> allowed_path(const LoadOptions& options, std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return std::nullopt;
  const std::filesystem::path home = made_absolute(options.home.empty() ? "." : options.home);
  const std::filesystem::path path = made_absolute(home / std::filesystem::path(text));
  if (is_below(path, home)) return path.string();
  for (const std::string& safe : options.safe_paths) {
    if (!safe.empty() && is_below(path, made_absolute(safe))) return path.string();
  }
  return std::nullopt;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> words) {
  const auto meant = yaml::nearest(word, words);
  return meant ? format("; did you mean {}?", *meant) : std::string();
}

}  // namespace culvert::config
