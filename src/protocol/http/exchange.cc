#include "protocol/http/exchange.h"

#include "rt/worker.h"

namespace culvert::protocol::http {

using flow::Stream;
using rt::Task;
using wire::HttpHead;

namespace {

TimePoint idle_limit() {
  return rt::Worker::here().now() + kBodyIdle;
}

// Shared by the two halves of an exchange.
struct State {
  State(Stream& c, flow::Upstream& u, const ExchangeRequest& r, rt::Scope* parent)
      : client(c), upstream(u), request(r), response_scope(parent), request_scope(parent) {}
  Stream& client;
  flow::Upstream& upstream;
  const ExchangeRequest& request;
  rt::Scope response_scope;
  rt::Scope request_scope;
  rt::Signal over;
  Outcome outcome = Outcome::kNoAnswer;
  bool answered = false;   // some response head was passed on
  bool body_sent = false;  // the request's body is through
  bool response_over = false;
  bool interrupted = false;
};

// The request's half: its body, and then an eye on the client.
Task<void> send_request(State& s) {
  if (s.request.body.kind != wire::BodyFraming::Kind::kNone) {
    BodyMover mover(s.client, *s.upstream.stream, *s.upstream.tracker, true);
    const Status moved = co_await mover.move(s.request.body);
    if (!moved.ok()) {
      // An origin may answer and close without reading it all: the response decides. A client that
      // broke off is gone.
      if (moved.error().side == Side::kClient) s.over.raise();
      co_return;
    }
  }
  s.body_sent = true;
  // What comes now is the next request, which waits, or the client's end.
  const Result<MutableBytes> next = co_await rt::read_some(s.client, kNever);
  if (!next.ok() && next.code() != Errc::kCancelled) s.over.raise();
}

Task<Outcome> pass_response(State& s) {
  transport::HeadReader reader(*s.upstream.stream);
  for (;;) {
    const Result<Bytes> raw = co_await reader.read(idle_limit());
    HttpHead head;
    if (!raw.ok() || raw->empty() ||
        wire::parse_response_head(*raw, head) != wire::HttpError::kNone) {
      co_return s.answered ? Outcome::kBroken : Outcome::kNoAnswer;
    }
    const std::string_view method = s.request.is_head ? "HEAD" : "GET";
    const wire::BodyFraming framing = wire::response_framing(head, method);
    if (framing.error != wire::HttpError::kNone)
      co_return s.answered ? Outcome::kBroken : Outcome::kNoAnswer;
    const bool upgraded = head.status == 101;
    if (upgraded && !s.request.upgrade) co_return Outcome::kNoAnswer;
    const bool interim = head.status < 200 && !upgraded;
    const bool until_close = framing.kind == wire::BodyFraming::Kind::kUntilClose;
    const bool client_stays = s.request.keep_alive && !until_close;
    // HTTP/1.0 knows no interim responses (RFC 9110 section 15.2).
    if (interim && s.request.minor == 0) continue;
    const std::string out =
        rewrite_response(head, !interim && !upgraded && !client_stays, s.request.minor);
    const Status written = co_await rt::write_all(s.client, as_bytes(out), idle_limit());
    if (!written.ok()) co_return Outcome::kBroken;
    s.upstream.tracker->count_download(raw->size());
    s.answered = !interim || s.answered;
    if (interim) continue;
    if (upgraded) co_return Outcome::kUpgraded;
    BodyMover mover(*s.upstream.stream, s.client, *s.upstream.tracker, false);
    const Status moved = co_await mover.move(framing);
    if (!moved.ok()) co_return Outcome::kBroken;
    if (!client_stays || !s.body_sent) co_return Outcome::kFinished;
    co_return wire::keeps_alive(head) ? Outcome::kReusable : Outcome::kClientOnly;
  }
}

// While it lives, interrupting the flow ends the exchange.
class Interruptible {
 public:
  Interruptible(flow::FlowTracker& tracker, State& state)
      : tracker_(tracker), interrupt_(tracker.interrupt), carrier_(tracker.carrier) {
    tracker.carrier = &state;
    tracker.interrupt = [](flow::FlowTracker& t) {
      auto& s = *static_cast<State*>(t.carrier);
      s.interrupted = true;
      s.over.raise();
    };
  }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  ~Interruptible() {
    tracker_.interrupt = interrupt_;
    tracker_.carrier = carrier_;
  }

 private:
  flow::FlowTracker& tracker_;
  void (*const interrupt_)(flow::FlowTracker&);
  void* const carrier_;
};

Task<void> receive_response(State& s) {
  const Outcome outcome = co_await pass_response(s);
  s.outcome = outcome;
  s.response_over = true;
  s.over.raise();
}

}  // namespace

std::string rewrite_request(const HttpHead& head, const wire::AbsoluteTarget& target) {
  std::string out;
  out.reserve(1024);
  out += head.method;
  out += ' ';
  if (target.path.empty() && head.method == "OPTIONS") {
    out += '*';
  } else if (target.path.empty() || target.path.front() != '/') {
    out += '/';
  }
  out += target.path;
  out += head.minor == 0 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n";
  out += "Host: ";
  out += target.authority;
  out += "\r\n";
  for (const wire::HttpField& f : head.all()) {
    if (wire::equal_ignoring_case(f.name, "host") || wire::is_hop_by_hop(head, f.name)) continue;
    out += f.name;
    out += ": ";
    out += f.value;
    out += "\r\n";
  }
  if (asks_upgrade(head)) {
    out += "Connection: Upgrade\r\nUpgrade: ";
    out += head.find("upgrade")->value;
    out += "\r\n";
  } else if (head.minor == 0) {
    // Without it an HTTP/1.0 origin would close where the client asked it not to.
    out += wire::keeps_alive(head) ? "Connection: keep-alive\r\n" : "Connection: close\r\n";
  }
  out += "\r\n";
  return out;
}

std::string rewrite_response(const HttpHead& head, bool close, uint8_t client_minor) {
  std::string out = head.minor == 0 ? "HTTP/1.0 " : "HTTP/1.1 ";
  out.reserve(1024);
  const char digits[4] = {static_cast<char>('0' + head.status / 100),
                          static_cast<char>('0' + head.status / 10 % 10),
                          static_cast<char>('0' + head.status % 10), ' '};
  out.append(digits, 4);
  out += head.reason;
  out += "\r\n";
  for (const wire::HttpField& f : head.all()) {
    if (wire::is_hop_by_hop(head, f.name)) continue;
    out += f.name;
    out += ": ";
    out += f.value;
    out += "\r\n";
  }
  if (head.status == 101) {
    out += "Connection: Upgrade\r\n";
    if (const wire::HttpField* f = head.find("upgrade")) {
      out += "Upgrade: ";
      out += f->value;
      out += "\r\n";
    }
  } else if (close) {
    out += "Connection: close\r\n";
  } else if ((head.minor == 0 || client_minor == 0) && head.status >= 200) {
    out += "Connection: keep-alive\r\n";
  }
  out += "\r\n";
  return out;
}

bool asks_upgrade(const HttpHead& head) {
  return head.minor >= 1 && head.find("upgrade") != nullptr &&
         head.has_token("connection", "upgrade");
}

Task<Status> BodyMover::write(Bytes bytes) {
  const Status written = co_await rt::write_all(to_, bytes, idle_limit());
  if (!written.ok()) co_return written.error().from(upload_ ? Side::kUpstream : Side::kClient);
  if (upload_) {
    tracker_.count_upload(bytes.size());
  } else {
    tracker_.count_download(bytes.size());
  }
  co_return Status();
}

Task<Status> BodyMover::move(wire::BodyFraming framing) {
  using Kind = wire::BodyFraming::Kind;
  const Side reading = upload_ ? Side::kClient : Side::kUpstream;
  wire::ChunkedScanner chunks;
  uint64_t left = framing.length;
  while (framing.kind != Kind::kNone) {
    const Result<MutableBytes> bytes = co_await rt::read_some(from_, idle_limit());
    if (!bytes.ok()) {
      if (bytes.code() == Errc::kEndOfStream && framing.kind == Kind::kUntilClose) break;
      co_return bytes.error().from(reading);
    }
    size_t n = bytes->size();
    if (framing.kind == Kind::kLength) {
      n = static_cast<size_t>(std::min<uint64_t>(n, left));
      left -= n;
    } else if (framing.kind == Kind::kChunked) {
      n = chunks.advance(*bytes);
      if (chunks.failed()) co_return Error(Errc::kBadMessage, reading);
    }
    const Status written = co_await write(bytes->first(n));
    from_.consume(n);
    if (!written.ok()) co_return written.error();
    if ((framing.kind == Kind::kLength && left == 0) || chunks.done()) break;
  }
  co_return Status();
}

Task<Outcome> run_exchange(Stream& client, flow::Upstream& upstream,
                           const ExchangeRequest& request) {
  const Status sent =
      co_await rt::write_all(*upstream.stream, as_bytes(request.head), idle_limit());
  if (!sent.ok()) co_return Outcome::kNoAnswer;
  upstream.tracker->count_upload(request.head.size());
  rt::Scope* outer = co_await rt::CurrentScope();
  State state(client, upstream, request, outer);
  const Interruptible interruptible(*upstream.tracker, state);
  state.request_scope.spawn("http request", send_request(state));
  state.response_scope.spawn("http response", receive_response(state));
  const Status waited = co_await state.over.wait(kNever);
  // Cancelled or not, both halves end now; a response that is cut short here is none.
  const bool response_over = state.response_over && !state.interrupted;
  state.request_scope.cancel();
  state.response_scope.cancel();
  co_await state.request_scope.join();
  co_await state.response_scope.join();
  if (!response_over || !waited.ok()) co_return Outcome::kBroken;
  co_return state.outcome;
}

}  // namespace culvert::protocol::http
