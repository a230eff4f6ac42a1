// Explain: what would become of a flow, and why, without opening it: the listener it came in by,
// the rule that decides, the choices of groups, and the node. It asks the generation as a worker
// does; a name is resolved only where a rule would have it resolved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/generation.h"
#include "engine/surroundings.h"
#include "rt/task.h"

namespace culvert::engine {

struct ExplainQuery {
  std::string host;  // a name or an address
  uint16_t port = 0;
  flow::Network network = flow::Network::kTcp;
  Endpoint source;       // invalid: this host
  std::string listener;  // by name; empty = the mixed one, or the first
  std::string user;
};

// Fills in host and port from "http://a.example:8080/", "https://..." or "a.example:443"; nothing
// when it is none of these.
std::optional<ExplainQuery> query_of_url(std::string_view url);

struct ExplainedRule {
  uint32_t index = 0;
  std::string_view type;  // the API's word
  std::string payload;
  std::string target;
  std::string file;
  uint32_t line = 0;
};

struct Explanation {
  std::string destination;
  std::string listener;  // name; empty when the profile has none
  std::string listener_type;
  Endpoint listening_at;
  bool admitted = true;  // false: lan-allowed-ips or lan-disallowed-ips refuse the client
  std::string_view mode;
  // Why no rule was asked: the mode, or the listener's proxy. Empty when rules decided.
  std::string decided_by;
  std::string sub_rules;  // the listener's list; empty = rules
  // The name was resolved, because of the rule with this index; no address when that failed.
  std::optional<uint32_t> resolved_for;
  IpAddress resolved;
  std::vector<ExplainedRule> passed;  // matched, but their target is PASS
  std::optional<ExplainedRule> rule;  // none: no rule matched, which is DIRECT
  std::vector<std::string> chain;     // from the target, through groups, to the node
  std::string node_type;
  std::vector<std::string> dialer_chain;  // how the node's server is reached, if not directly
  bool rejected = false;                  // the flow would not be carried
  std::string why;                        // a sentence that sums it up

  // For people: a few lines.
  [[nodiscard]] std::string to_text() const;
};

// `error` says why the query cannot be answered: no such listener, no host name. On a worker.
rt::Task<std::optional<Explanation>> explain(std::shared_ptr<const Generation> generation,
                                             const Surroundings& surroundings, ExplainQuery query,
                                             TimePoint deadline, std::string& error);

}  // namespace culvert::engine
