#include "flow/relay.h"

#include "rt/frame_pool.h"
#include "rt/worker.h"

namespace culvert::flow {
namespace {

// Bytes one direction moves before other events get their turn.
constexpr size_t kTurnBytes = 1 << 20;
// A single read as long as this makes a direction bulk: from then on its bytes go through a pipe.
constexpr size_t kBulkRead = 64 << 10;
// So many fills in a row shorter than kThinFill make it ordinary again.
constexpr size_t kThinFill = 16 << 10;
constexpr uint8_t kThinFills = 8;

}  // namespace

class Relay final : public ListNode {
 public:
  Relay(Relays& owner, StreamPtr client, Upstream upstream)
      : owner_(owner), tracker_(std::move(upstream.tracker)) {
    up_.from = std::move(client);
    down_.from = std::move(upstream.stream);
    up_.to = down_.from.get();
    down_.to = up_.from.get();
    spliceable_ = up_.from->can_splice() && down_.from->can_splice();
    if (tracker_ != nullptr) {
      tracker_->carrier = this;
      tracker_->interrupt = [](FlowTracker& t) { static_cast<Relay*>(t.carrier)->abort(); };
    }
    rt::Worker::here().add_load(1);
  }
  ~Relay() {
    idle_.cancel();
    give_pipe_back(up_);
    give_pipe_back(down_);
    --owner_.count_;
    rt::Worker::here().add_load(-1);
  }
  static void* operator new(size_t size) { return rt::allocate_frame(size); }
  static void operator delete(void* p, size_t size) { rt::free_frame(p, size); }

  void start() {
    if (pump(up_) && pump(down_)) return;
    delete this;
  }
  void abort() {
    up_.from->abort();
    down_.from->abort();
    delete this;
  }

 private:
  // One direction. Its reader waits on `from`, its writer on `to`.
  struct Direction {
    struct Link : rt::Waiter {
      Link(Fn f, Relay* r, Direction* d) : Waiter(f), relay(r), direction(d) {}
      Relay* relay;
      Direction* direction;
    };
    struct Turn : rt::Deferred {
      Turn(Relay* r, Direction* d) : Deferred(&Relay::on_turn), relay(r), direction(d) {}
      Relay* relay;
      Direction* direction;
    };
    Direction(Relay* relay, bool upload)
        : reader(&Relay::on_ready, relay, this),
          writer(&Relay::on_ready, relay, this),
          turn(relay, this),
          up(upload) {}
    StreamPtr from;
    Stream* to = nullptr;
    Link reader;
    Link writer;
    Turn turn;
    std::unique_ptr<rt::Pipe> pipe;  // only while it holds bytes, or is being filled
    bool up;
    bool ended = false;
    bool bulk = false;
    uint8_t thin_fills = 0;
  };
  struct IdleTimer : rt::Timer {
    explicit IdleTimer(Relay* r) : Timer(&Relay::on_idle), relay(r) {}
    Relay* relay;
  };

  static void on_ready(rt::Waiter& waiter) {
    auto& link = static_cast<Direction::Link&>(waiter);
    if (!link.relay->pump(*link.direction)) delete link.relay;
  }

  static void on_idle(rt::Timer& timer) {
    Relay& self = *static_cast<IdleTimer&>(timer).relay;
    const TimePoint now = rt::Worker::here().now();
    const TimePoint due = self.last_byte_ + self.owner_.options_.half_closed_idle;
    if (now < due) {
      rt::Worker::here().timers().arm(self.idle_, due);
      return;
    }
    self.abort();
  }

  // Moves what can be moved; false when the relay is over.
  bool pump(Direction& d) {
    if (d.ended) return true;
    // Bytes that were received for a copy and found no room go out before any through the pipe.
    if (d.bulk && d.pipe == nullptr && d.from->unread() == 0) {
      d.pipe = rt::Worker::here().pipes().try_acquire();
    }
    if (d.pipe != nullptr) return pump_through_pipe(d);
    size_t moved = 0;
    for (;;) {
      const Result<MutableBytes> bytes = d.from->lend();
      if (!bytes.ok()) {
        account(d, moved);
        if (bytes.code() == Errc::kWouldBlock) {
          d.from->wait_readable(&d.reader);
          return true;
        }
        if (bytes.code() == Errc::kEndOfStream) return end_direction(d);
        return break_both();
      }
      const Result<size_t> n = d.to->write(*bytes);
      if (!n.ok()) {
        account(d, moved);
        if (n.code() != Errc::kWouldBlock) return break_both();
        d.to->wait_writable(&d.writer);
        return true;
      }
      d.from->consume(*n);
      moved += *n;
      if (*n < bytes->size()) continue;  // the next write says kWouldBlock, or goes on
      if (spliceable_ && *n >= kBulkRead) d.bulk = true;
      if (moved >= kTurnBytes) return take_turns(d, moved);
    }
  }

  // The same without looking at the bytes. The pipe is filled only when it is empty, so that what a
  // refusal means is never in doubt.
  bool pump_through_pipe(Direction& d) {
    size_t moved = 0;
    for (;;) {
      if (d.pipe->held() == 0) {
        const Result<size_t> filled = d.from->splice_in(*d.pipe);
        if (!filled.ok()) {
          give_pipe_back(d);
          account(d, moved);
          if (filled.code() == Errc::kWouldBlock) {
            d.from->wait_readable(&d.reader);
            return true;
          }
          if (filled.code() == Errc::kEndOfStream) return end_direction(d);
          return break_both();
        }
        d.thin_fills = *filled < kThinFill ? d.thin_fills + 1 : 0;
      }
      const Result<size_t> n = d.to->splice_out(*d.pipe);
      if (!n.ok()) {
        account(d, moved);
        if (n.code() != Errc::kWouldBlock) return break_both();
        d.to->wait_writable(&d.writer);
        return true;
      }
      moved += *n;
      if (d.pipe->held() > 0) continue;
      const bool ordinary = d.thin_fills >= kThinFills;
      if (ordinary) {
        d.bulk = false;
        d.thin_fills = 0;
        give_pipe_back(d);
      }
      if (ordinary || moved >= kTurnBytes) return take_turns(d, moved);
    }
  }

  // Goes on in the next turn of the loop: one fat flow does not hold up the others.
  bool take_turns(Direction& d, size_t moved) {
    account(d, moved);
    rt::Worker::here().defer(d.turn);
    return true;
  }

  static void give_pipe_back(Direction& d) {
    if (d.pipe != nullptr) rt::Worker::here().pipes().release(std::move(d.pipe));
  }

  void account(Direction& d, size_t moved) {
    if (moved == 0) return;
    if (tracker_ != nullptr) {
      if (d.up) {
        tracker_->count_upload(moved);
      } else {
        tracker_->count_download(moved);
      }
    }
    if (idle_.armed()) last_byte_ = rt::Worker::here().now();
  }

  static void on_turn(rt::Deferred& deferred) {
    auto& turn = static_cast<Direction::Turn&>(deferred);
    if (!turn.relay->pump(*turn.direction)) delete turn.relay;
  }

  bool end_direction(Direction& d) {
    d.ended = true;
    if (up_.ended && down_.ended) {
      // Closing ends the other direction in order too: a shutdown of its own would be one call
      // more.
      up_.from->close();
      down_.from->close();
      return false;
    }
    if (!d.to->shutdown_write().ok()) return break_both();
    rt::Worker& worker = rt::Worker::here();
    last_byte_ = worker.now();
    worker.timers().arm(idle_, last_byte_ + owner_.options_.half_closed_idle);
    return true;
  }

  bool break_both() {
    up_.from->abort();
    down_.from->abort();
    return false;
  }

  Relays& owner_;
  TrackerPtr tracker_;
  Direction up_{this, true};
  Direction down_{this, false};
  IdleTimer idle_{this};
  bool spliceable_ = false;
  TimePoint last_byte_{};
};
static_assert(sizeof(Relay) <= 512);

Relays::Relays() = default;
Relays::Relays(Options options) : options_(options) {}
Relays::~Relays() {
  abort_all();
}

void Relays::start(StreamPtr client, Upstream upstream) {
  auto* relay = new Relay(*this, std::move(client), std::move(upstream));
  ++count_;
  list_.push_back(relay);
  relay->start();
}

void Relays::abort_all() {
  while (Relay* relay = list_.front()) relay->abort();
}

}  // namespace culvert::flow
