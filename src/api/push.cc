#include "api/push.h"

#include "api/controller.h"
#include "base/format.h"
#include "rt/worker.h"

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

Task<Status> Push::send_frame(wire::WsOpcode opcode, std::string_view payload) {
  std::array<uint8_t, wire::kMaxWsHeader> raw;
  wire::WsHeader header;
  header.opcode = opcode;
  header.length = payload.size();
  const size_t n = wire::serialize_ws_header(header, raw);
  std::string frame(as_text(Bytes(raw).first(n)));
  frame += payload;
  co_return co_await rt::write_all(stream_, as_bytes(frame), write_limit());
}

Task<Status> Push::send(std::string_view json) {
  if (websocket()) co_return co_await send_frame(wire::WsOpcode::kText, json);
  std::string out;
  out.reserve(json.size() + 32);
  if (chunked_) out += format("{:x}\r\n", json.size() + 1);
  out += json;
  out += '\n';
  if (chunked_) out += "\r\n";
  co_return co_await rt::write_all(stream_, as_bytes(out), write_limit());
}

Task<Status> Push::wait(TimePoint when, rt::Signal* wake) {
  rt::Signal own;
  waiting_ = wake != nullptr ? wake : &own;
  Status status;
  while (!over_) {
    if (pong_due_) {
      pong_due_ = false;
      status = co_await send_frame(wire::WsOpcode::kPong, pong_);
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
  if (websocket()) {
    uint8_t code[2];
    store_be16(code, close_code_);
    const Status sent = co_await send_frame(wire::WsOpcode::kClose, as_text(Bytes(code)));
    (void)sent;  // over either way
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
