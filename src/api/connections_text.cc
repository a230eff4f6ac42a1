#include "api/connections_text.h"

#include "api/views.h"

namespace culvert::api {

ConnectionsText::ConnectionsText(engine::Engine& engine) : engine_(engine), listing_(engine) {
  writer_.begin_object().key("connections").begin_array();
}

rt::Task<Status> ConnectionsText::next(TimePoint deadline) {
  if (!begun_) {
    begun_ = true;
  } else {
    text_.clear();
  }
  for (;;) {
    const auto& items = listing_.slice().items;
    for (; written_ < items.size() && text_.size() < kPiece; ++written_) {
      append_connection(writer_, engine_, listing_.slice(), items[written_]);
    }
    if (text_.size() >= kPiece) co_return Status();
    if (listing_.complete()) break;
    // Waiting for it is what ends this worker's turn.
    const Status fetched = co_await listing_.next(deadline);
    if (!fetched.ok()) co_return fetched;
    written_ = 0;
  }
  writer_.end_array();
  writer_.field("downloadTotal", engine_.downloaded()).field("uploadTotal", engine_.uploaded());
  writer_.field("memory", resident_memory()).end_object();
  complete_ = true;
  co_return Status();
}

rt::Task<Status> send_connections(Push& push, engine::Engine& engine, TimePoint deadline) {
  ConnectionsText text(engine);
  for (bool first = true; !text.complete(); first = false) {
    const Status made = co_await text.next(deadline);
    if (!made.ok()) co_return made;
    const Status sent = co_await push.send_part(text.piece(), first, text.complete(), deadline);
    if (!sent.ok()) co_return sent;
  }
  co_return Status();
}

}  // namespace culvert::api
