// ConnectionsText: the answer of /connections, made a piece at a time as the client takes it.
//
//   {"connections":[...],"downloadTotal","uploadTotal","memory"}
//
// Memory: one slice of flows (engine/flow_listing.h) and one piece of text, whatever there is to
// list. The totals come behind the flows they are the totals of, so that no flow has more.
#pragma once

#include <string>
#include <string_view>

#include "api/json_writer.h"
#include "api/push.h"
#include "api/text_source.h"
#include "engine/flow_listing.h"

namespace culvert::api {

class ConnectionsText final : public TextSource {
 public:
  explicit ConnectionsText(engine::Engine& engine);
  ConnectionsText(const ConnectionsText&) = delete;
  ConnectionsText& operator=(const ConnectionsText&) = delete;

  rt::Task<Status> next(TimePoint deadline) override;
  [[nodiscard]] std::string_view piece() const override { return text_; }
  [[nodiscard]] bool complete() const override { return complete_; }

 private:
  const engine::Engine& engine_;
  engine::FlowListing listing_;
  size_t written_ = 0;  // flows of the slice
  std::string text_;
  JsonWriter writer_{text_};
  bool begun_ = false;
  bool complete_ = false;
};

// The whole answer as one text.
rt::Task<Status> send_connections(Push& push, engine::Engine& engine, TimePoint deadline);

}  // namespace culvert::api
