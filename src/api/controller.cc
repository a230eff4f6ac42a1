#include "api/controller.h"

#include <cstring>
#include <utility>

#include "api/session.h"
#include "api/state.h"
#include "base/format.h"
#include "base/log.h"

namespace culvert::api {

using flow::StreamPtr;
using flow::Task;

class Controller::Gate final : public rt::Acceptor {
 public:
  Gate(Controller& controller, bool trusted) : controller_(controller), trusted_(trusted) {}
  void accepted(rt::AcceptedSocket socket) override {
    if (controller_.scope_.running() >= kMaxClients || controller_.scope_.cancelled()) {
      CULVERT_LOG_SAMPLED(kWarning, "controller: more than {} connections, one refused",
                          kMaxClients);
      return;
    }
    auto stream = rt::Worker::here().backend().adopt(std::move(socket));
    if (!stream.ok()) return;
    controller_.scope_.spawn("api session",
                             serve(*controller_.state_, *std::move(stream), trusted_));
  }
  std::unique_ptr<rt::Listener> listener;

 private:
  static Task<void> serve(ControllerState& state, StreamPtr stream, bool trusted) {
    Session session(state, std::move(stream), trusted);
    co_await session.run();
  }
  Controller& controller_;
  const bool trusted_;
};

Controller::Controller(Parts parts, Options options)
    : parts_(std::move(parts)),
      engine_(*parts_.engine),
      options_(std::move(options)),
      listing_scope_(&engine_.control().scope()),
      state_(new ControllerState{parts_, options_, {engine_, listing_scope_}, {}, {}}),
      scope_(&engine_.control().scope()) {}

Controller::~Controller() {
  stop();
  while (scope_.running() != 0 || listing_scope_.running() != 0) {
    engine_.control().turn(TimePoint::min());
  }
}

Status Controller::start() {
  const Status opened = open();
  const Status opened_unix = open_unix();
  return opened.ok() ? opened_unix : opened;
}

void Controller::change(Options options) {
  const bool moved = options.listen != options_.listen || options.secret != options_.secret;
  const bool unix_moved = options.unix_path != options_.unix_path;
  options_ = std::move(options);
  if (moved) {
    gate_.reset();
    const Status opened = open();
    (void)opened;  // it has said so
  }
  if (unix_moved) {
    unix_gate_.reset();
    const Status opened = open_unix();
    (void)opened;
  }
}

namespace {

void say_not_opened(std::string_view what, const Error& error) {
  const int e = error.os_errno;
  CULVERT_LOG(kError, "{} listen error: {}", what,
              e != 0 ? std::string_view(std::strerror(e)) : describe(error.code));
}

}  // namespace

Status Controller::open() {
  if (!options_.listen) return {};
  if (options_.secret.empty() && !options_.listen->ip.is_loopback()) {
    CULVERT_LOG(
        kError,
        "external-controller {} is not opened: it has no secret and is reachable from other hosts",
        options_.listen->to_string());
    return {};
  }
  auto gate = std::make_unique<Gate>(*this, false);
  auto listener =
      engine_.control().backend().listen(*options_.listen, {.reuse_port = false}, *gate);
  if (!listener.ok()) {
    say_not_opened("External controller", listener.error());
    return listener.error();
  }
  gate->listener = *std::move(listener);
  gate_ = std::move(gate);
  CULVERT_LOG(kInfo, "RESTful API listening at: {}", gate_->listener->local().to_string());
  return {};
}

Status Controller::open_unix() {
  if (options_.unix_path.empty()) return {};
  auto gate = std::make_unique<Gate>(*this, true);
  auto listener = engine_.control().backend().listen_unix(options_.unix_path, 0600, *gate);
  if (!listener.ok()) {
    say_not_opened("External controller unix", listener.error());
    return listener.error();
  }
  gate->listener = *std::move(listener);
  unix_gate_ = std::move(gate);
  CULVERT_LOG(kInfo, "RESTful API unix listening at: {}", options_.unix_path);
  return {};
}

std::optional<Endpoint> Controller::listening_at() const {
  if (gate_ == nullptr) return std::nullopt;
  return gate_->listener->local();
}

void Controller::stop_accepting() {
  gate_.reset();
  unix_gate_.reset();
}

void Controller::stop() {
  stop_accepting();
  scope_.cancel();
  listing_scope_.cancel();
}

}  // namespace culvert::api
