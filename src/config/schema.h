// Every key of mihomo's and Aster's profiles, and of our own section, with what this version makes
// of it: one table for the readers, for `culvert keys` and for docs/config.md. Rows are in
// schema_general.cc, schema_nodes.cc and schema_listeners.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flow/options.h"
#include "yaml/reader.h"

namespace culvert::config {

enum class State : uint8_t {
  kWorks,
  kIgnored,  // warned about once: nothing depends on it
  kRefused,  // its absence would change where traffic goes, who may enter or what is encrypted
};

// What is inside a key's value.
enum class Nesting : uint8_t {
  kNone,
  kMap,    // one mapping, or a list of them
  kNamed,  // a mapping from names to mappings
};

struct Key {
  std::string_view name;
  State state = State::kWorks;
  std::string_view note;
  Nesting nesting = Nesting::kNone;
  std::string_view section;  // of what is inside
};

// A row of the table: the keys of a section that share state and note.
struct KeyRow {
  std::string_view section;  // "" = the profile itself; "dns"; "proxies:ss" = of that type
  State state;
  // Words; "name:section" when the value is a mapping or a list of them with the keys of that
  // section, "name*section" for a mapping from names to such.
  std::string_view keys;
  std::string_view note = {};
};

struct KeywordRow {
  std::string_view keyword;
  State state;
  std::string_view note = {};
};

// The rows, in the order they are documented in.
std::vector<std::span<const KeyRow>> key_rows();
// The rule types.
std::span<const KeywordRow> rule_keywords();

// The `type` words of mihomo's proxies and listeners, whether this program has them or not.
std::span<const std::string_view> proxy_types();
std::span<const std::string_view> listener_types();
// What the API calls nodes of a `type`: "Shadowsocks" for ss. Empty for an unknown one.
std::string_view api_type_name(std::string_view proxy_type);

// Empty for a section that is not in the table.
std::span<const Key> keys_of(std::string_view section);

// Whether a value asks for nothing: empty, null, zero, false, or a section that is not enabled.
bool is_off(const yaml::Node& value, std::string_view section = {});
// Whether a section's own `enable` or `enabled` is true; true for one that has no such key.
bool is_enabled(const yaml::Node& value, std::string_view section);

// The end of a section's reader: what no reader asked for is dealt with by the table. A key that is
// off is fine; otherwise one that is ignored is warned about, one that is refused is an error; an
// unknown one is warned about with the nearest known key.
void finish_section(yaml::MapReader& map, std::string_view section);
// The same, for a mapping that has keys of another section as well: unknown ones are left alone.
void apply_section(yaml::MapReader& map, std::string_view section);
// The same for a node, where a key that would be refused makes the node unsupported. A key that is
// ignored is warned about at the first node that has it: `told` remembers.
void finish_node(yaml::MapReader& map, std::string_view section, flow::Unsupported& unsupported,
                 std::vector<const Key*>& told);
// Names misspelt keys in here and in all there is inside, and does nothing else.
void check_names(yaml::MapReader& map, std::string_view section);
// One warning a place and text, however often an anchor brings it in.
void warn_once(yaml::MapReader& map, const yaml::Node& at, std::string path, std::string what);

}  // namespace culvert::config
