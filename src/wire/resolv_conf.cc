#include "wire/resolv_conf.h"

#include <algorithm>
#include <charconv>

namespace culvert::wire {
namespace {

std::string_view take_line(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

bool blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

std::string_view take_word(std::string_view& line) {
  while (!line.empty() && blank(line.front())) line.remove_prefix(1);
  size_t n = 0;
  while (n < line.size() && !blank(line[n])) ++n;
  const std::string_view word = line.substr(0, n);
  line.remove_prefix(n);
  return word;
}

std::string lowered(std::string_view word) {
  if (!word.empty() && word.back() == '.') word.remove_suffix(1);
  std::string out(word);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return out;
}

void read_option(std::string_view word, std::string_view name, uint32_t least, uint32_t most,
                 uint32_t& out) {
  if (word.substr(0, name.size()) != name) return;
  word.remove_prefix(name.size());
  uint32_t v = 0;
  const auto [end, ec] = std::from_chars(word.data(), word.data() + word.size(), v);
  if (ec == std::errc() && end == word.data() + word.size()) out = std::clamp(v, least, most);
}

}  // namespace

ResolvConf parse_resolv_conf(std::string_view text) {
  ResolvConf out;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const std::string_view key = take_word(line);
    if (key == "nameserver") {
      std::string_view address = take_word(line);
      uint32_t scope = 0;
      if (const size_t percent = address.find('%'); percent != std::string_view::npos) {
        const auto e = Endpoint::parse("[" + std::string(address) + "]:0");
        if (!e) continue;
        scope = e->scope_id;
        address = address.substr(0, percent);
      }
      const auto ip = IpAddress::parse(address);
      if (ip && out.servers.size() < ResolvConf::kMaxServers)
        out.servers.emplace_back(*ip, 0, scope);
    } else if (key == "domain" || key == "search") {
      out.search.clear();
      for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
        std::string name = lowered(word);
        if (!name.empty() && out.search.size() < ResolvConf::kMaxSearch) {
          out.search.push_back(std::move(name));
        }
      }
    } else if (key == "options") {
      for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
        read_option(word, "ndots:", 0, 15, out.ndots);
        read_option(word, "timeout:", 1, 30, out.timeout_s);
        read_option(word, "attempts:", 1, 5, out.attempts);
      }
    }
  }
  return out;
}

std::vector<HostsEntry> parse_hosts(std::string_view text, size_t limit) {
  std::vector<HostsEntry> out;
  while (!text.empty() && out.size() < limit) {
    std::string_view line = take_line(text);
    line = line.substr(0, line.find('#'));
    std::string_view address = take_word(line);
    const auto ip = IpAddress::parse(address.substr(0, address.find('%')));
    if (!ip) continue;
    for (std::string_view word = take_word(line); !word.empty() && out.size() < limit;
         word = take_word(line)) {
      std::string name = lowered(word);
      if (!name.empty()) out.push_back({*ip, std::move(name)});
    }
  }
  return out;
}

}  // namespace culvert::wire
