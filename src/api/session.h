// Session: one connection to the controller, request after request.
#pragma once

#include <string>
#include <string_view>

#include "api/access.h"
#include "api/feeds.h"
#include "api/routes.h"
#include "api/state.h"
#include "api/static_files.h"
#include "flow/stream.h"
#include "wire/http1.h"
#include "wire/url.h"

namespace culvert::api {

class Session {
 public:
  // `trusted`: who may reach the socket may do everything; it asks for no secret.
  Session(ControllerState& state, flow::StreamPtr stream, bool trusted)
      : state_(state),
        engine_(*state.parts.engine),
        stream_(std::move(stream)),
        trusted_(trusted) {}
  flow::Task<void> run();

 private:
  static TimePoint now() { return rt::Worker::here().now(); }
  [[nodiscard]] AccessRules rules() const;
  // Each true when the connection may carry another request.
  flow::Task<bool> serve(const wire::HttpHead& head);
  flow::Task<bool> serve_route(const wire::HttpHead& head, const wire::PathAndQuery& target,
                               const wire::BodyFraming& framing, std::string_view cors, bool keep);
  flow::Task<bool> serve_file(const wire::HttpHead& head, const wire::PathAndQuery& target,
                              bool keep);
  flow::Task<bool> serve_feed(const FeedRequest& request, std::string_view key, bool chunked,
                              std::string_view cors);
  flow::Task<bool> answer(int status, std::string_view fields, std::string_view json,
                          bool keep_alive);
  flow::Task<bool> answer_source(TextSource& source, std::string_view fields, bool keep);
  flow::Task<bool> refuse_upgrade(wire::WsUpgrade upgrade, std::string_view cors, bool keep);

  ControllerState& state_;
  engine::Engine& engine_;
  flow::StreamPtr stream_;
  const bool trusted_;
  bool head_request_ = false;  // its answers have no body (RFC 9110 section 9.3.2)
  bool http10_ = false;        // takes silence about the connection for its end
};

}  // namespace culvert::api
