#include "config/key_list.h"

#include <algorithm>
#include <vector>

#include "base/format.h"
#include "config/schema.h"

namespace culvert::config {
namespace {

constexpr std::string_view kHead =
    R"(# Keys of a profile

This page is what `culvert keys` prints; `make docs` writes it.

Culvert reads mihomo's and Aster's profiles. Each key they have is one of these:

- **works**;
- **ignored**: nothing but appearance depends on it, so it is named in a warning and passed over;
- **refused**: without it traffic would go elsewhere, other clients could enter, or less would be
  encrypted. A profile that has it is not loaded, unless its value is off: empty, `null`, `0`,
  `false`, or a section that is not enabled.

A node whose type or option is refused does not keep the profile from loading: the node rejects its
flows, and `culvert -t` lists it; with `--strict` it is an error. A key that is none of these is named
in a warning with the nearest one that is. Keys of the profile itself that start with `x-` or whose
value holds an anchor are yours.
)";

std::string_view word_of(State state) {
  switch (state) {
    case State::kWorks:
      return "works";
    case State::kIgnored:
      return "ignored";
    case State::kRefused:
      return "refused";
  }
  return {};
}

// "`proxies`, type `ss`"
std::string title_of(std::string_view section) {
  if (section.empty()) return "The profile itself";
  const size_t colon = section.find(':');
  if (colon == std::string_view::npos) return format("`{}`", section);
  return format("`{}`, type `{}`", section.substr(0, colon), section.substr(colon + 1));
}

// "a, b (see `c`)"
std::string names_of(std::string_view keys) {
  std::string out;
  while (!keys.empty()) {
    const size_t space = std::min(keys.find(' '), keys.size());
    const std::string_view word = keys.substr(0, space);
    out += format("{}`{}`", out.empty() ? "" : ", ", word.substr(0, word.find_first_of(":*")));
    keys.remove_prefix(std::min(space + 1, keys.size()));
  }
  return out;
}

}  // namespace

std::string keys_markdown() {
  std::string out(kHead);
  std::vector<std::string_view> done;
  std::vector<KeyRow> rows;
  for (const auto part : key_rows()) rows.insert(rows.end(), part.begin(), part.end());
  for (const KeyRow& first : rows) {
    if (std::ranges::find(done, first.section) != done.end()) continue;
    done.push_back(first.section);
    out += format("\n## {}\n\n| keys | state | note |\n|---|---|---|\n", title_of(first.section));
    for (const KeyRow& row : rows) {
      if (row.section != first.section) continue;
      std::string note(row.note);
      for (size_t at = 0; (at = note.find('|', at)) != std::string::npos; at += 2) {
        note.insert(at, 1, '\\');
      }
      out += format("| {} | {} | {} |\n", names_of(row.keys), word_of(row.state), note);
    }
  }
  out += "\n## Rule types\n\n| type | state | note |\n|---|---|---|\n";
  for (const KeywordRow& row : rule_keywords()) {
    out += format("| `{}` | {} | {} |\n", row.keyword, word_of(row.state), row.note);
  }
  return out;
}

}  // namespace culvert::config
