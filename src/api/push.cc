#include "api/push.h"

#include "api/controller.h"
#include "base/format.h"
#include "rt/await.h"
#include "rt/worker.h"
#include "transport/http1/linger.h"

namespace culvert::api {

using flow::Task;

namespace {
TimePoint write_limit() {
  return rt::Worker::here().now() + Controller::kWriteTime;
}
}  // namespace

Task<Status> Push::begin(std::string_view fields) {
  std::string head;
  if (websocket()) {
    head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
    head += "Sec-WebSocket-Accept: " + wire::ws_accept(key_) + "\r\n";
  } else {
    head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCache-Control: no-store\r\n";
    head += chunked_ ? "Transfer-Encoding: chunked\r\n" : "Connection: close\r\n";
  }
  head += fields;
  head += "\r\n";
  co_return co_await rt::write_all(stream_, as_bytes(head), write_limit());
}

Task<Status> write_around(flow::Stream& stream, std::string_view head, std::string_view body,
                          std::string_view tail, TimePoint deadline) {
  std::array<iovec, 3> parts;
  size_t count = 0;
  for (const std::string_view part : {head, body, tail}) {
    if (!part.empty()) parts[count++] = {const_cast<char*>(part.data()), part.size()};
  }
  for (size_t at = 0; at < count;) {
    const Result<size_t> n = stream.write(std::span<const iovec>(parts).subspan(at, count - at));
    if (n.ok()) {
      size_t taken = *n;
      while (at < count && taken >= parts[at].iov_len) taken -= parts[at++].iov_len;
      if (at == count) break;
      parts[at].iov_base = static_cast<char*>(parts[at].iov_base) + taken;
      parts[at].iov_len -= taken;
      continue;
    }
    if (n.code() != Errc::kWouldBlock) co_return n.error();
    const Status ready = co_await rt::writable(stream, deadline);
    if (!ready.ok()) co_return ready.error();
  }
  co_return Status();
}

Task<Status> Push::send_frame(wire::WsOpcode opcode, bool fin, std::string_view payload,
                              TimePoint deadline) {
  std::array<uint8_t, wire::kMaxWsHeader> raw;
  wire::WsHeader header;
  header.fin = fin;
  header.opcode = opcode;
  header.length = payload.size();
  const size_t n = wire::serialize_ws_header(header, raw);
  const Status sent =
      co_await write_around(stream_, as_text(Bytes(raw).first(n)), payload, "", deadline);
  broken_ = broken_ || !sent.ok();
  co_return sent;
}

Task<Status> Push::send(std::string_view json) {
  co_return co_await send_part(json, true, true, write_limit());
}

Task<Status> Push::send_part(std::string_view json, bool first, bool last, TimePoint deadline) {
  if (over_) co_return Errc::kEndOfStream;
  if (websocket()) {
    const auto opcode = first ? wire::WsOpcode::kText : wire::WsOpcode::kContinuation;
    co_return co_await send_frame(opcode, last, json, deadline);
  }
  std::string head;
  if (chunked_) head = format("{:x}\r\n", json.size() + (last ? 1 : 0));
  std::string_view tail = last ? "\n\r\n" : "\r\n";
  if (!chunked_) tail = tail.substr(0, last ? 1 : 0);
  const Status sent = co_await write_around(stream_, head, json, tail, deadline);
  broken_ = broken_ || !sent.ok();
  co_return sent;
}

Task<Status> Push::wait(TimePoint when, rt::Signal* wake) {
  rt::Signal own;
  waiting_ = wake != nullptr ? wake : &own;
  Status status;
  while (!over_) {
    if (pong_due_) {
      pong_due_ = false;
      const std::string pong = std::move(pong_);  // the next ping may come meanwhile
      status = co_await send_frame(wire::WsOpcode::kPong, true, pong, write_limit());
      if (!status.ok()) break;
    }
    const Status waited = co_await waiting_->wait(when);
    if (waited.code() == Errc::kTimedOut) break;
    if (!waited.ok()) {
      status = waited;
      break;
    }
    if (over_) break;
    if (wake != nullptr && !pong_due_) break;
    waiting_->reset();
  }
  waiting_ = nullptr;
  if (status.ok() && over_) co_return Errc::kEndOfStream;
  co_return status;
}

Task<void> Push::end() {
  if (broken_) {
    // Part of a frame may have been sent: what came behind it would be read as its rest.
    stream_.abort();
    co_return;
  }
  if (websocket()) {
    uint8_t code[2];
    store_be16(code, close_code_);
    const Status sent =
        co_await send_frame(wire::WsOpcode::kClose, true, as_text(Bytes(code)), write_limit());
    if (sent.ok()) co_await transport::linger_and_close(stream_);
  }
  stream_.close();
}

Task<void> Push::listen() {
  while (!over_) {
    const Result<MutableBytes> bytes = co_await rt::read_some(stream_, kNever);
    if (!bytes.ok()) {
      if (bytes.code() == Errc::kCancelled) co_return;
      over_ = true;
      break;
    }
    if (!websocket()) {
      // Nothing more is expected of a client that asked for an endless answer.
      stream_.consume(bytes->size());
      continue;
    }
    size_t used = 0;
    const wire::WsReader::Event event = reader_.next(*bytes, used);
    switch (event) {
      case wire::WsReader::Event::kPing:
        pong_ = reader_.message();
        pong_due_ = true;
        break;
      case wire::WsReader::Event::kClose:
      case wire::WsReader::Event::kFailed:
        close_code_ = reader_.close_code();
        over_ = true;
        break;
      default:
        break;
    }
    if (used != 0) stream_.consume(used);
    if ((pong_due_ || over_) && waiting_ != nullptr) waiting_->raise();
  }
  if (waiting_ != nullptr) waiting_->raise();
}

}  // namespace culvert::api
