// ServerOutbound: what outbounds have in common that reach destinations through a server of theirs:
// a stream to the server, then the protocol's handshake on it. TCP only.
#pragma once

#include <string>
#include <string_view>

#include "flow/dialer.h"
#include "flow/server_address.h"

namespace culvert::flow {

class ServerOutbound : public Outbound {
 public:
  // `type` is the API's word, a literal. `server` and `dialer`, the way to it, outlive this.
  ServerOutbound(std::string_view name, std::string_view type, const ServerAddress& server,
                 Dialer& dialer)
      : name_(name), type_(type), server_(server), dialer_(dialer) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::string_view type() const override { return type_; }
  [[nodiscard]] Capabilities capabilities() const override { return {}; }
  // kUnreachable when the server's address has a zone that is no interface now.
  Task<Result<StreamPtr>> dial(const FlowMeta& meta, TimePoint deadline) override;
  Task<Result<std::unique_ptr<PacketChannel>>> open_packets(const FlowMeta& meta,
                                                            TimePoint deadline) override;

 private:
  // Asks the server for meta's destination, on a stream that was just opened to it and carries
  // payload afterwards. Bytes of the payload that come with the answer stay unread.
  virtual Task<Status> handshake(Stream& stream, const FlowMeta& meta, TimePoint deadline) = 0;

  const std::string name_;
  const std::string_view type_;
  const ServerAddress& server_;
  Dialer& dialer_;
};

}  // namespace culvert::flow
