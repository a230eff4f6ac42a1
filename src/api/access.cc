#include "api/access.h"

#include <algorithm>

#include "base/ip.h"
#include "wire/url.h"

namespace culvert::api {
namespace {

// Where the dashboards people use are served from.
constexpr std::string_view kDashboards[] = {
    "https://metacubex.github.io",  "https://d.metacubex.one", "https://yacd.metacubex.one",
    "https://board.zash.run.place", "https://yacd.haishan.me", "http://yacd.haishan.me",
    "https://clash.razord.top",     "http://clash.razord.top"};

bool is_local_host(std::string_view text) {
  const auto authority = wire::parse_authority(text);
  if (!authority) return false;
  return IpAddress::parse(authority->host).has_value() ||
         wire::equal_ignoring_case(authority->host, "localhost");
}

// "http://127.0.0.1:9090", "http://localhost": a page this host serves.
bool is_local_origin(std::string_view origin) {
  const auto target = wire::parse_absolute_target(origin);
  if (!target || !target->path.empty()) return false;
  if (wire::equal_ignoring_case(target->to.host, "localhost")) return true;
  const auto ip = IpAddress::parse(target->to.host);
  return ip && ip->is_loopback();
}

bool is_known_dashboard(std::string_view origin) {
  return std::find(std::begin(kDashboards), std::end(kDashboards), origin) != std::end(kDashboards);
}

bool listed(const std::vector<std::string>& origins, std::string_view origin) {
  return std::any_of(origins.begin(), origins.end(),
                     [&](const std::string& o) { return wire::equal_ignoring_case(o, origin); });
}

// The Access-Control-Allow-Origin value for a page's origin; empty when it may read nothing.
std::string allowed_origin(std::string_view origin, const AccessRules& rules) {
  const bool any = listed(*rules.allow_origins, "*");
  if (!any) return listed(*rules.allow_origins, origin) ? std::string(origin) : "";
  if (!rules.secret.empty()) return "*";
  // Nothing but the origin keeps a foreign page out.
  return is_known_dashboard(origin) || is_local_origin(origin) ? std::string(origin) : "";
}

}  // namespace

bool same_secret(std::string_view offered, std::string_view secret) {
  unsigned difference = offered.size() == secret.size() ? 0 : 1;
  for (size_t i = 0; i < offered.size(); ++i) {
    const char other = secret.empty() ? '\0' : secret[i % secret.size()];
    difference |= static_cast<unsigned char>(offered[i]) ^ static_cast<unsigned char>(other);
  }
  return difference == 0;
}

int check_access(const wire::HttpHead& head, std::string_view query, bool upgrade,
                 const AccessRules& rules) {
  if (!rules.secret.empty()) {
    if (upgrade) {
      if (const auto token = wire::query_value(query, "token"); token && !token->empty()) {
        return same_secret(*token, rules.secret) ? 0 : 401;
      }
    }
    const wire::HttpField* field = head.find("authorization");
    if (field == nullptr || field->value.size() < 7 ||
        !wire::equal_ignoring_case(field->value.substr(0, 7), "bearer ")) {
      return 401;
    }
    return same_secret(field->value.substr(7), rules.secret) ? 0 : 401;
  }
  const wire::HttpField* host = head.find("host");
  if (host == nullptr || !is_local_host(host->value)) return 403;
  if (const wire::HttpField* origin = head.find("origin"); origin != nullptr) {
    const bool reads = head.method == "GET" || head.method == "HEAD" || head.method == "OPTIONS";
    // A WebSocket is not bound by CORS: its origin is judged here.
    if ((!reads || upgrade) && allowed_origin(origin->value, rules).empty()) return 403;
  }
  return 0;
}

std::string cors_fields(const wire::HttpHead& head, const AccessRules& rules) {
  std::string out = "Vary: Origin\r\n";
  const wire::HttpField* origin = head.find("origin");
  if (origin == nullptr) return out;
  const std::string allowed = allowed_origin(origin->value, rules);
  if (allowed.empty()) return out;
  out += "Access-Control-Allow-Origin: " + allowed + "\r\n";
  if (head.method != "OPTIONS" || head.find("access-control-request-method") == nullptr) return out;
  out +=
      "Access-Control-Allow-Methods: GET, POST, PUT, PATCH, DELETE\r\n"
      "Access-Control-Allow-Headers: Content-Type, Authorization\r\n"
      "Access-Control-Max-Age: 300\r\n";
  if (rules.allow_private_network &&
      head.find("access-control-request-private-network") != nullptr) {
    out += "Access-Control-Allow-Private-Network: true\r\n";
  }
  return out;
}

}  // namespace culvert::api
