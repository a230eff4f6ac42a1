// Directory: names of listeners, users and nodes to numbers and back. A number belongs to its name
// as long as the program runs, so that sums and live conversations outlive reloads; it grows with
// the different names that profiles have had, not with the number of reloads.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/append_array.h"
#include "stats/traffic_table.h"

namespace culvert::stats {

class Directory {
 public:
  // The control thread only.
  uint32_t number(Dimension of, std::string_view name);
  // Any thread. Empty when there is no such number.
  [[nodiscard]] std::string_view name(Dimension of, uint32_t number) const;
  [[nodiscard]] size_t size(Dimension of) const { return books_[index(of)].names.size(); }

 private:
  static size_t index(Dimension of) { return static_cast<size_t>(of); }
  struct Book {
    AppendArray<std::string> names;
    std::unordered_map<std::string_view, uint32_t> numbers;  // views of names
  };
  std::array<Book, 3> books_;
};

}  // namespace culvert::stats
