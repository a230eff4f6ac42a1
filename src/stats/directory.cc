#include "stats/directory.h"

namespace culvert::stats {

uint32_t Directory::number(Dimension of, std::string_view name) {
  Book& book = books_[index(of)];
  if (const auto known = book.numbers.find(name); known != book.numbers.end()) return known->second;
  const auto number = static_cast<uint32_t>(book.names.size());
  const std::string& kept = book.names.add([&](std::string& s) { s = name; });
  book.numbers.emplace(kept, number);
  return number;
}

std::string_view Directory::name(Dimension of, uint32_t number) const {
  const AppendArray<std::string>& names = books_[index(of)].names;
  return number < names.size() ? std::string_view(names[number]) : std::string_view();
}

}  // namespace culvert::stats
