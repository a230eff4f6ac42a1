#include "config/schema.h"

#include <algorithm>
#include <unordered_map>

#include "base/format.h"
#include "config/schema_table.h"
#include "yaml/scalar.h"

namespace culvert::config {
namespace {

using Index = std::unordered_map<std::string_view, std::vector<Key>>;

Key parse_key(std::string_view word, const KeyRow& row) {
  Key key;
  key.name = word;
  key.state = row.state;
  key.note = row.note;
  if (const size_t at = word.find_first_of(":*"); at != std::string_view::npos) {
    key.name = word.substr(0, at);
    key.nesting = word[at] == ':' ? Nesting::kMap : Nesting::kNamed;
    key.section = word.substr(at + 1);
  }
  return key;
}

const Index& index() {
  static const Index made = [] {
    Index out;
    for (const std::span<const KeyRow> rows : key_rows()) {
      for (const KeyRow& row : rows) {
        std::string_view rest = row.keys;
        while (!rest.empty()) {
          const size_t space = std::min(rest.find(' '), rest.size());
          out[row.section].push_back(parse_key(rest.substr(0, space), row));
          rest.remove_prefix(std::min(space + 1, rest.size()));
        }
      }
    }
    return out;
  }();
  return made;
}

// The key that turns a section on, or nothing.
std::string_view switch_of(std::string_view section) {
  if (section.empty()) return {};
  for (const Key& key : keys_of(section)) {
    if (key.name == "enable" || key.name == "enabled") return key.name;
  }
  return {};
}

void check_inside(yaml::MapReader& map, const Key& key, const yaml::Node& value) {
  const auto look = [&](const yaml::Node& inner, std::string path) {
    if (!inner.is_mapping()) return;
    yaml::MapReader reader(map.source(), inner, std::move(path), map.diagnostics());
    check_names(reader, key.section);
  };
  if (key.nesting == Nesting::kNone) return;
  const std::string path = map.path_of(key.name);
  if (key.nesting == Nesting::kNamed) {
    for (const yaml::Entry& e : value.entries()) {
      look(*e.value, format("{}['{}']", path, e.key->text()));
    }
    return;
  }
  look(value, path);
  for (size_t i = 0; i < value.items().size(); ++i) {
    look(*value.items()[i], format("{}[{}]", path, i));
  }
}

void warn_ignored(yaml::MapReader& map, const Key& key, const yaml::Entry& entry) {
  std::string what = "not supported yet, ignored";
  if (!key.note.empty()) what += format(" ({})", key.note);
  warn_once(map, *entry.key, map.path_of(key.name), std::move(what));
}

// Calls visit(key, entry) for the entries that are keys of the section and that nobody has asked
// for, in the order of the document. They count as known from now on, and as words that a misspelt
// one may have meant: so do the others when there is one. By entry: most sections have many more
// keys than a mapping has entries.
template <class Visit>
void each_unread(yaml::MapReader& map, std::string_view section, Visit visit) {
  const std::span<const Key> keys = keys_of(section);
  bool all_known = true;
  for (const yaml::Entry& entry : map.node().entries()) {
    const std::string_view name = entry.key->text();
    if (map.knows(name)) continue;
    const auto key = std::ranges::find(keys, name, &Key::name);
    if (key == keys.end()) {
      all_known = false;
      continue;
    }
    map.allow({key->name});
    visit(*key, entry);
  }
  if (all_known) return;
  for (const Key& key : keys) map.allow({key.name});
}

}  // namespace

std::vector<std::span<const KeyRow>> key_rows() {
  return {general_rows(), listener_rows(), node_rows()};
}

std::span<const Key> keys_of(std::string_view section) {
  const auto at = index().find(section);
  if (at == index().end()) return {};
  return at->second;
}

// Its depth is the document's, which is limited.
bool is_off(const yaml::Node& value, std::string_view section) {
  switch (value.kind()) {
    case yaml::Kind::kNull:
      return true;
    case yaml::Kind::kScalar:
      return value.text().empty() || value.text() == "false" ||
             yaml::parse_integer(value.text()) == 0;
    case yaml::Kind::kSequence:
      return value.items().empty();
    case yaml::Kind::kMapping:
      if (!switch_of(section).empty()) return !is_enabled(value, section);
      return std::ranges::all_of(value.entries(),
                                 [](const yaml::Entry& e) { return is_off(*e.value); });
  }
  return false;
}

bool is_enabled(const yaml::Node& value, std::string_view section) {
  const std::string_view key = switch_of(section);
  if (key.empty()) return true;
  const yaml::Node* node = value.find(key);
  if (node == nullptr || node->is_null()) return false;
  return !node->is_scalar() || yaml::parse_boolean(node->text()).value_or(true);
}

void warn_once(yaml::MapReader& map, const yaml::Node& at, std::string path, std::string what) {
  for (const Diagnostic& d : map.diagnostics().entries()) {
    if (d.line == at.line() && d.column == at.column() && d.found == what &&
        d.source == map.source()) {
      return;
    }
  }
  map.warn(at, std::move(path), std::move(what));
}

void check_names(yaml::MapReader& map, std::string_view section) {
  each_unread(map, section, [&](const Key& key, const yaml::Entry& entry) {
    check_inside(map, key, *entry.value);
  });
  map.report_unknown();
}

void apply_section(yaml::MapReader& map, std::string_view section) {
  each_unread(map, section, [&](const Key& key, const yaml::Entry& entry) {
    if (key.state == State::kWorks) return;
    const std::string_view enable = switch_of(key.section);
    if (!enable.empty() && !entry.value->is_null()) {
      // Says so when it is not a mapping, or its switch not a boolean.
      auto inner = map.map(key.name);
      if (!inner) return;
      check_inside(map, key, *entry.value);
      if (!inner->boolean(enable).value_or(false)) return;
      map.refuse(*entry.key, map.path_of(key.name),
                 format("not supported in this version; leave it out or set {}: false", enable));
      return;
    }
    check_inside(map, key, *entry.value);
    if (is_off(*entry.value, key.section)) return;
    if (key.state == State::kRefused) {
      map.refuse(*entry.key, map.path_of(key.name), "not supported in this version; leave it out");
    } else {
      warn_ignored(map, key, entry);
    }
  });
}

void finish_section(yaml::MapReader& map, std::string_view section) {
  apply_section(map, section);
  map.report_unknown();
}

void finish_node(yaml::MapReader& map, std::string_view section, flow::Unsupported& unsupported,
                 std::vector<const Key*>& told) {
  each_unread(map, section, [&](const Key& key, const yaml::Entry& entry) {
    check_inside(map, key, *entry.value);
    if (key.state == State::kWorks || is_off(*entry.value, key.section)) return;
    if (key.state == State::kRefused) {
      unsupported.say(format("{}: not supported in this version", key.name));
    } else if (std::ranges::find(told, &key) == told.end()) {
      told.push_back(&key);
      warn_ignored(map, key, entry);
    }
  });
}

}  // namespace culvert::config
