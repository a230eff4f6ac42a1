// Who may ask the controller: the secret, the Host field, and which web pages (CORS).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wire/http1.h"

namespace culvert::api {

struct AccessRules {
  std::string_view secret;
  const std::vector<std::string>* allow_origins = nullptr;
  bool allow_private_network = true;
};

// 0 when the request may go on, otherwise the status to answer: 401 for the secret, 403 for Host or
// Origin. `query` is the target's; a token in it counts for WebSocket upgrades only.
int check_access(const wire::HttpHead& head, std::string_view query, bool upgrade,
                 const AccessRules& rules);

// The Access-Control-* and Vary fields of the answer, "Name: value\r\n" each; for preflights too.
std::string cors_fields(const wire::HttpHead& head, const AccessRules& rules);

// Equality in a time that depends on the offered text's length only.
bool same_secret(std::string_view offered, std::string_view secret);

}  // namespace culvert::api
