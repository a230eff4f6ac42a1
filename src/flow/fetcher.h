// Fetcher and Http2Session: contracts for what lower layers need from HTTP above them (DNS over
// HTTPS, provider downloads, delay tests). Supplied by app/ when the program has such users.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flow/dialer.h"

namespace culvert::flow {

struct FetchRequest {
  std::string method = "GET";
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  size_t size_limit = 64 << 20;  // bytes of body accepted; more is kTooLarge
  bool follow_redirects = true;
};

struct FetchResponse {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

// A URL through a Dialer.
class Fetcher {
 public:
  virtual ~Fetcher() = default;
  virtual Task<Result<FetchResponse>> fetch(FetchRequest request, Dialer& through,
                                            TimePoint deadline) = 0;
};

// One HTTP/2 connection over a stream; requests run side by side on it. Worker-local.
class Http2Session {
 public:
  virtual ~Http2Session() = default;
  // A request whose body and response are one stream: what gRPC-like transports and CONNECT use.
  virtual Task<Result<StreamPtr>> open(const FetchRequest& head, TimePoint deadline) = 0;
  virtual Task<Result<FetchResponse>> exchange(FetchRequest request, TimePoint deadline) = 0;
  [[nodiscard]] virtual bool usable() const = 0;
};

}  // namespace culvert::flow
