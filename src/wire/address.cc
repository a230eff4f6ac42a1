#include "wire/address.h"

namespace culvert::wire {

void serialize_address(ByteWriter& out, std::string_view host, uint16_t port) {
  out.u8(3);
  out.u8(static_cast<uint8_t>(host.size()));
  out.put(as_bytes(host));
  out.be16(port);
}

void serialize_address(ByteWriter& out, const Endpoint& endpoint) {
  out.u8(endpoint.ip.is_v6() ? 4 : 1);
  out.put(endpoint.ip.is_v6() ? Bytes(endpoint.ip.bytes) : Bytes(endpoint.ip.bytes).first(4));
  out.be16(endpoint.port);
}

}  // namespace culvert::wire
