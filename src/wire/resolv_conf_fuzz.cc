#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "wire/resolv_conf.h"

namespace {

// Neither capitals nor a blank are left in a name.
void check_name(const std::string& name) {
  if (name.empty()) std::abort();
  for (const char c : name) {
    if ((c >= 'A' && c <= 'Z') || c == ' ' || c == '\t' || c == '\n') std::abort();
  }
}

}  // namespace

// The same text as either file.
int culvert_fuzz_resolv_conf(const uint8_t* data, size_t size) {
  using culvert::wire::ResolvConf;
  const std::string_view text = culvert::as_text({data, size});
  const ResolvConf conf = culvert::wire::parse_resolv_conf(text);
  if (conf.servers.size() > ResolvConf::kMaxServers ||
      conf.search.size() > ResolvConf::kMaxSearch || conf.ndots > 15 || conf.timeout_s < 1 ||
      conf.timeout_s > 30 || conf.attempts < 1 || conf.attempts > 5) {
    std::abort();
  }
  for (const culvert::Endpoint& server : conf.servers) {
    if (!server.valid() || server.port != 0) std::abort();
  }
  for (const std::string& domain : conf.search) check_name(domain);
  const auto hosts = culvert::wire::parse_hosts(text, 100);
  if (hosts.size() > 100) std::abort();
  for (const auto& entry : hosts) {
    if (!entry.ip.valid()) std::abort();
    check_name(entry.name);
  }
  return 0;
}
