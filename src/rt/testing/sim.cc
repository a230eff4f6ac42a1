#include "rt/testing/sim.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace culvert::rt::sim {
namespace {

constexpr size_t kMaxDatagrams = 256;

}  // namespace

// Something of a backend that became ready.
class Pokable : public ListNode {
 public:
  virtual void poked() = 0;

 protected:
  ~Pokable() = default;
};

// The two ends of a connection. End 0 dialled, end 1 was accepted.
struct World::Connection {
  struct End {
    Endpoint address;
    std::string inbox;         // delivered, unread
    size_t expected = 0;       // in flight towards this end
    TimePoint last_arrival{};  // order is kept
    bool fin = false;          // the peer's end has arrived
    Error broken;              // reset, refused...
    bool opened = false;
    bool closed = false;  // nobody holds this end any more
    bool fin_sent = false;
    bool want_write = false;  // its writer found no room
    SimStream* stream = nullptr;
  };
  std::array<End, 2> ends;
};

class SimStream final : public Stream, public Pokable {
 public:
  SimStream(World& world, SimBackend& backend, std::shared_ptr<World::Connection> connection,
            int side);
  ~SimStream() override { close(); }

  Status opened() override;
  Result<MutableBytes> lend() override;
  void consume(size_t n) override;
  size_t unread() const override { return end_ - begin_; }
  Result<size_t> write(std::span<const iovec> data) override;
  Status shutdown_write() override;
  void close() override;
  void abort() override;
  void wait_readable(Waiter* waiter) override {
    reader_ = waiter;
    if (waiter == nullptr) parked_.unlink();
  }
  void wait_writable(Waiter* waiter) override { writer_ = waiter; }
  Endpoint local() const override { return mine().address; }
  Endpoint remote() const override { return peer().address; }
  void poked() override;
  void poke();

 private:
  struct Parked : BufferPool::Parked {
    explicit Parked(SimStream* s) : link(s) { waiter = &link; }
    struct Link : Waiter {
      explicit Link(SimStream* s) : Waiter(&SimStream::on_unparked), self(s) {}
      SimStream* self;
    } link;
  };
  static void on_unparked(Waiter& waiter) { static_cast<Parked::Link&>(waiter).self->poke(); }
  World::Connection::End& mine() const { return connection_->ends[static_cast<size_t>(side_)]; }
  World::Connection::End& peer() const { return connection_->ends[static_cast<size_t>(1 - side_)]; }
  void send_end(bool reset);
  void release_buffer();

  World& world_;
  SimBackend& backend_;
  std::shared_ptr<World::Connection> connection_;
  const int side_;
  Waiter* reader_ = nullptr;
  Waiter* writer_ = nullptr;
  Buffer buffer_;
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
  Parked parked_{this};
  bool open_ = true;
};

class SimListener final : public Listener {
 public:
  SimListener(World& world, SimBackend& backend, Endpoint at, Acceptor& acceptor)
      : world_(world), backend_(backend), at_(at), acceptor_(acceptor) {
    world_.listeners_[at_.to_string()].push_back(this);
  }
  ~SimListener() override {
    auto& all = world_.listeners_[at_.to_string()];
    all.erase(std::find(all.begin(), all.end(), this));
    if (all.empty()) world_.listeners_.erase(at_.to_string());
  }
  Endpoint local() const override { return at_; }

  World& world_;
  SimBackend& backend_;
  Endpoint at_;
  Acceptor& acceptor_;
};

class SimDatagram final : public DatagramSocket, public Pokable {
 public:
  SimDatagram(World& world, SimBackend& backend, Endpoint at, Endpoint peer)
      : world_(world), backend_(backend), at_(at), peer_(peer) {
    world_.datagrams_[at_.to_string()] = this;
  }
  ~SimDatagram() override { world_.datagrams_.erase(at_.to_string()); }
  Result<size_t> receive(std::span<Datagram> out) override;
  Result<size_t> send(std::span<const Datagram> batch) override;
  void wait_readable(Waiter* waiter) override { reader_ = waiter; }
  void wait_writable(Waiter*) override {}
  Endpoint local() const override { return at_; }
  void poked() override {
    if (Waiter* reader = std::exchange(reader_, nullptr); reader != nullptr) reader->fire();
  }
  void arrive(const Endpoint& from, const std::string& bytes);

 private:
  World& world_;
  SimBackend& backend_;
  Endpoint at_;
  Endpoint peer_;
  Waiter* reader_ = nullptr;
  std::deque<std::pair<Endpoint, std::string>> inbox_;
  std::vector<std::string> shown_;
};

class SimBackend final : public Backend {
 public:
  SimBackend(World& world, IpAddress address) : world_(world), address_(address) {}
  ~SimBackend() override {
    auto& all = world_.backends_;
    const auto it = std::find(all.begin(), all.end(), this);
    world_.workers_.erase(world_.workers_.begin() + (it - all.begin()));
    all.erase(it);
  }
  const Clock& clock() const override { return world_.clock(); }
  size_t poll(TimePoint) override {
    woken_ = false;
    batch_.splice_back(ready_);
    size_t n = 0;
    for (Pokable* p = batch_.front(); p != nullptr; p = batch_.after(p)) ++n;
    return n + accepted_.size();
  }
  void dispatch() override {
    std::vector<std::function<void()>> accepted;
    accepted.swap(accepted_);
    for (auto& a : accepted) a();
    while (Pokable* p = batch_.pop_front()) p->poked();
  }
  void wake() override { woken_ = true; }
  [[nodiscard]] bool pending() const { return woken_ || !ready_.empty() || !accepted_.empty(); }

  Result<std::unique_ptr<Listener>> listen(const Endpoint& at, const ListenOptions& options,
                                           Acceptor& acceptor) override {
    Endpoint where = at;
    if (where.port == 0) where.port = world_.next_port_++;
    if (!options.reuse_port && world_.listeners_.contains(where.to_string())) {
      return Error(Errc::kIo, Side::kLocal, false, EADDRINUSE);
    }
    return std::unique_ptr<Listener>(std::make_unique<SimListener>(world_, *this, where, acceptor));
  }
  Result<std::unique_ptr<Listener>> listen_unix(const std::string&, mode_t, Acceptor&) override {
    return Errc::kUnsupported;
  }
  Result<std::unique_ptr<Stream>> connect(const Endpoint& to, const ConnectOptions&) override;
  Result<std::unique_ptr<Stream>> adopt(AcceptedSocket socket) override;
  Result<std::unique_ptr<DatagramSocket>> open_datagram(const Endpoint& at,
                                                        const Endpoint& peer) override {
    Endpoint where = at.valid() ? at : Endpoint(address_, 0);
    if (where.ip.is_unspecified()) where.ip = address_;
    if (where.port == 0) where.port = world_.next_port_++;
    return std::unique_ptr<DatagramSocket>(
        std::make_unique<SimDatagram>(world_, *this, where, peer));
  }

  World& world_;
  IpAddress address_;
  IntrusiveList<Pokable> ready_;
  IntrusiveList<Pokable> batch_;
  std::vector<std::function<void()>> accepted_;
  bool woken_ = false;
};

// ---------------------------------------------------------------- SimStream

SimStream::SimStream(World& world, SimBackend& backend,
                     std::shared_ptr<World::Connection> connection, int side)
    : world_(world), backend_(backend), connection_(std::move(connection)), side_(side) {
  mine().stream = this;
  ++world_.open_streams_;
}

void SimStream::poke() {
  if (!linked()) backend_.ready_.push_back(this);
}

void SimStream::poked() {
  // Both may be a false alarm; the first may end this stream.
  Waiter* reader = std::exchange(reader_, nullptr);
  Waiter* writer = std::exchange(writer_, nullptr);
  std::shared_ptr<World::Connection> connection = connection_;
  const auto side = static_cast<size_t>(side_);
  if (writer != nullptr) writer->fire();
  if (reader != nullptr && connection->ends[side].stream != nullptr) {
    // The writer may have armed or disarmed the reader's slot: a one-shot that was taken fires.
    reader->fire();
  }
}

Status SimStream::opened() {
  if (mine().broken.code != Errc::kNone) return mine().broken;
  return mine().opened ? Status() : Status(Errc::kWouldBlock);
}

Result<MutableBytes> SimStream::lend() {
  if (begin_ != end_) return MutableBytes(buffer_.data + begin_, end_ - begin_);
  if (!open_) return Errc::kReset;
  World::Connection::End& end = mine();
  if (end.inbox.empty()) {
    if (end.broken.code != Errc::kNone) return end.broken;
    if (end.fin) return Errc::kEndOfStream;
    return Errc::kWouldBlock;
  }
  BufferPool& pool = Worker::here().buffers();
  if (!buffer_) {
    buffer_ = pool.try_acquire(pool.suggest(BufferPool::kFirst));
    if (!buffer_) {
      pool.park(parked_);
      return Errc::kWouldBlock;
    }
  }
  size_t n = std::min<size_t>(end.inbox.size(), buffer_.size);
  if (n > 1 && world_.chance(world_.faults_.short_read)) n = 1 + world_.rng_.below(n - 1);
  std::memcpy(buffer_.data, end.inbox.data(), n);
  end.inbox.erase(0, n);
  begin_ = 0;
  end_ = static_cast<uint32_t>(n);
  // Room again: the peer hears of it one latency later.
  if (peer().want_write) {
    peer().want_write = false;
    world_.at(world_.now() + world_.latency(), [c = connection_, s = 1 - side_] {
      if (SimStream* stream = c->ends[static_cast<size_t>(s)].stream) stream->poke();
    });
  }
  return MutableBytes(buffer_.data, end_);
}

void SimStream::consume(size_t n) {
  begin_ += static_cast<uint32_t>(n);
  if (begin_ == end_) release_buffer();
}

void SimStream::release_buffer() {
  begin_ = end_ = 0;
  if (buffer_) Worker::here().buffers().release(std::exchange(buffer_, {}));
}

Result<size_t> SimStream::write(std::span<const iovec> data) {
  World::Connection::End& me = mine();
  World::Connection::End& to = peer();
  if (me.broken.code != Errc::kNone) return me.broken;
  if (!open_ || me.fin_sent) return Errc::kReset;
  if (!me.opened) return Errc::kWouldBlock;
  size_t total = 0;
  for (const iovec& v : data) total += v.iov_len;
  if (total == 0) return size_t{0};
  const size_t held = to.inbox.size() + to.expected;
  size_t room = held < world_.faults_.window ? world_.faults_.window - held : 0;
  room = std::min(room, total);
  if (room > 1 && world_.chance(world_.faults_.short_write)) room = 1 + world_.rng_.below(room - 1);
  if (room == 0) {
    me.want_write = true;
    return Errc::kWouldBlock;
  }
  if (room < total) me.want_write = true;
  std::string bytes;
  for (const iovec& v : data) {
    const size_t n = std::min(v.iov_len, room - bytes.size());
    bytes.append(static_cast<const char*>(v.iov_base), n);
  }
  to.expected += bytes.size();
  to.last_arrival = std::max(to.last_arrival, world_.now() + world_.latency());
  const bool reset = world_.chance(world_.faults_.reset);
  if (room < total) {
    // A short write that found room all the same is retried soon.
    world_.at(world_.now() + world_.latency(), [c = connection_, s = side_] {
      World::Connection::End& e = c->ends[static_cast<size_t>(s)];
      e.want_write = false;
      if (e.stream != nullptr) e.stream->poke();
    });
  }
  world_.at(to.last_arrival,
            [w = &world_, c = connection_, s = 1 - side_, reset, b = std::move(bytes)] {
              World::Connection::End& e = c->ends[static_cast<size_t>(s)];
              World::Connection::End& from = c->ends[static_cast<size_t>(1 - s)];
              e.expected -= b.size();
              w->note(b.size());
              if (reset) {
                for (World::Connection::End* each : {&e, &from}) {
                  if (each->broken.code == Errc::kNone) each->broken = Errc::kReset;
                  each->inbox.clear();
                  if (each->stream != nullptr) each->stream->poke();
                }
                return;
              }
              if (e.broken.code != Errc::kNone) return;
              if (e.closed) {
                // Data for a closed end is answered with a reset.
                if (from.broken.code == Errc::kNone) from.broken = Errc::kReset;
                if (from.stream != nullptr) from.stream->poke();
                return;
              }
              e.inbox += b;
              if (e.stream != nullptr) e.stream->poke();
            });
  return room;
}

void SimStream::send_end(bool reset) {
  World::Connection::End& to = peer();
  to.last_arrival = std::max(to.last_arrival, world_.now() + world_.latency());
  world_.at(to.last_arrival, [w = &world_, c = connection_, s = 1 - side_, reset] {
    World::Connection::End& e = c->ends[static_cast<size_t>(s)];
    w->note(reset ? 2 : 1);
    if (reset) {
      if (e.broken.code == Errc::kNone) e.broken = Errc::kReset;
      e.inbox.clear();
    } else {
      e.fin = true;
    }
    if (e.stream != nullptr) e.stream->poke();
  });
}

Status SimStream::shutdown_write() {
  World::Connection::End& me = mine();
  if (me.broken.code != Errc::kNone) return me.broken;
  if (me.fin_sent || !open_) return {};
  me.fin_sent = true;
  send_end(false);
  return {};
}

void SimStream::close() {
  if (!open_) return;
  open_ = false;
  parked_.unlink();
  unlink();
  const bool unread_bytes = begin_ != end_ || !mine().inbox.empty();
  release_buffer();
  if (mine().broken.code == Errc::kNone) {
    // The kernel answers unread bytes with a reset.
    if (unread_bytes) {
      send_end(true);
    } else if (!mine().fin_sent) {
      mine().fin_sent = true;
      send_end(false);
    }
  }
  mine().closed = true;
  mine().stream = nullptr;
  reader_ = writer_ = nullptr;
  --world_.open_streams_;
}

void SimStream::abort() {
  if (!open_) return;
  if (mine().broken.code == Errc::kNone) {
    mine().broken = Errc::kReset;
    send_end(true);
  }
  close();
}

// ---------------------------------------------------------------- SimDatagram

Result<size_t> SimDatagram::receive(std::span<Datagram> out) {
  shown_.clear();
  if (inbox_.empty()) return Errc::kWouldBlock;
  const size_t n = std::min(out.size(), inbox_.size());
  shown_.reserve(n);
  for (size_t i = 0; i < n; ++i) {
    shown_.push_back(std::move(inbox_.front().second));
    out[i] = {};
    out[i].peer = inbox_.front().first;
    out[i].payload =
        MutableBytes(reinterpret_cast<uint8_t*>(shown_.back().data()), shown_.back().size());
    inbox_.pop_front();
  }
  return n;
}

Result<size_t> SimDatagram::send(std::span<const Datagram> batch) {
  for (const Datagram& d : batch) {
    const Endpoint to = peer_.valid() ? peer_ : d.peer;
    if (world_.chance(world_.faults_.lose)) continue;
    const int copies = world_.chance(world_.faults_.duplicate) ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
      world_.at(world_.now() + world_.latency(),
                [w = &world_, from = at_, to, bytes = std::string(as_text(d.payload))] {
                  w->note(bytes.size() + 3);
                  const auto found = w->datagrams_.find(to.to_string());
                  if (found != w->datagrams_.end()) found->second->arrive(from, bytes);
                });
    }
  }
  return batch.size();
}

void SimDatagram::arrive(const Endpoint& from, const std::string& bytes) {
  if (peer_.valid() && !(peer_ == from)) return;
  if (inbox_.size() >= kMaxDatagrams) return;
  inbox_.emplace_back(from, bytes);
  if (!linked()) backend_.ready_.push_back(this);
}

// ---------------------------------------------------------------- SimBackend

Result<std::unique_ptr<Stream>> SimBackend::connect(const Endpoint& to, const ConnectOptions&) {
  auto connection = std::make_shared<World::Connection>();
  connection->ends[0].address = Endpoint(address_, world_.next_port_++);
  connection->ends[1].address = to;
  auto stream = std::make_unique<SimStream>(world_, *this, connection, 0);
  if (world_.chance(world_.faults_.blackhole)) return std::unique_ptr<Stream>(std::move(stream));
  const bool refused = world_.chance(world_.faults_.refuse);
  world_.at(world_.now() + world_.latency(), [w = &world_, connection, to, refused] {
    World::Connection::End& client = connection->ends[0];
    w->note(to.port);
    auto found = w->listeners_.find(to.to_string());
    if (found == w->listeners_.end()) {
      const Endpoint any(to.ip.is_v6() ? IpAddress::v6(Bytes(IpAddress().bytes)) : IpAddress::v4(0),
                         to.port);
      found = w->listeners_.find(any.to_string());
    }
    if (client.closed) return;
    if (refused || found == w->listeners_.end()) {
      w->at(w->now() + w->latency(), [connection] {
        World::Connection::End& c = connection->ends[0];
        c.broken = Error(Errc::kRefused, Side::kUpstream, true, ECONNREFUSED);
        if (c.stream != nullptr) c.stream->poke();
      });
      return;
    }
    SimListener* listener = found->second[w->rng_.below(found->second.size())];
    connection->ends[1].opened = true;
    w->at(w->now() + w->latency(), [connection] {
      World::Connection::End& c = connection->ends[0];
      c.opened = true;
      if (c.stream != nullptr) c.stream->poke();
    });
    const int handle = w->next_handle_++;
    w->unadopted_[handle] = connection;
    listener->backend_.accepted_.push_back(
        [w, listener, handle, remote = client.address, key = to.to_string()] {
          // The listener may have closed since.
          for (const auto& [name, all] : w->listeners_) {
            if (std::find(all.begin(), all.end(), listener) != all.end()) {
              listener->acceptor_.accepted(AcceptedSocket(handle, remote, w));
              return;
            }
          }
          w->close_handle(handle);
        });
  });
  return std::unique_ptr<Stream>(std::move(stream));
}

Result<std::unique_ptr<Stream>> SimBackend::adopt(AcceptedSocket socket) {
  const auto found = world_.unadopted_.find(socket.release());
  CULVERT_CHECK(found != world_.unadopted_.end());
  auto connection = found->second;
  world_.unadopted_.erase(found);
  auto stream = std::make_unique<SimStream>(world_, *this, std::move(connection), 1);
  // What arrived before is an event that nobody heard.
  stream->poke();
  return std::unique_ptr<Stream>(std::move(stream));
}

// ---------------------------------------------------------------- World

World::World(uint64_t seed, Faults faults) : rng_(seed), faults_(faults) {}

World::~World() {
  for (auto& worker : owned_) {
    Worker::Enter enter(*worker);
    worker->scope().cancel();
    while (worker->scope().running() != 0) worker->turn(TimePoint::min());
  }
  owned_.clear();
  CULVERT_CHECK(backends_.empty());
}

std::unique_ptr<Worker> World::make_worker(IpAddress address) {
  auto backend = std::make_unique<SimBackend>(*this, address);
  backends_.push_back(backend.get());
  auto worker = std::make_unique<Worker>(
      Worker::Options{static_cast<unsigned>(workers_.size()), std::move(backend),
                      std::make_unique<SeededRng>(rng_.next_u64()), &budget_});
  workers_.push_back(worker.get());
  return worker;
}

Worker& World::add_worker(IpAddress address) {
  owned_.push_back(make_worker(address));
  return *owned_.back();
}

bool World::chance(double p) {
  return p > 0 && static_cast<double>(rng_.next_u64() >> 11) * 0x1.0p-53 < p;
}

Duration World::latency() {
  const auto range = static_cast<uint64_t>((faults_.latency_max - faults_.latency_min).count());
  return faults_.latency_min + Duration(static_cast<int64_t>(rng_.below(range + 1)));
}

void World::at(TimePoint when, std::function<void()> action) {
  events_.push({when, next_order_++, std::move(action)});
}

void World::note(uint64_t what) {
  for (const uint64_t v : {what, static_cast<uint64_t>(now().time_since_epoch().count())}) {
    hash_ = (hash_ ^ v) * 0x100000001b3ULL;
  }
}

void World::close_handle(int handle) {
  const auto found = unadopted_.find(handle);
  if (found == unadopted_.end()) return;
  auto connection = found->second;
  unadopted_.erase(found);
  connection->ends[1].closed = true;
  at(now() + latency(), [connection] {
    World::Connection::End& c = connection->ends[0];
    if (c.broken.code == Errc::kNone) c.broken = Errc::kReset;
    if (c.stream != nullptr) c.stream->poke();
  });
}

// One step: a turn of some worker that has something to do, or the next moment in time. False when
// nothing is left before `limit`.
bool World::step(TimePoint limit) {
  std::vector<size_t> busy;
  for (size_t i = 0; i < workers_.size(); ++i) {
    if (workers_[i]->has_ready() || backends_[i]->pending() || workers_[i]->next_timer() <= now()) {
      busy.push_back(i);
    }
  }
  if (!busy.empty()) {
    Worker& worker = *workers_[busy[rng_.below(busy.size())]];
    Worker::Enter enter(worker);
    worker.turn(TimePoint::min());
    return true;
  }
  TimePoint next = events_.empty() ? kNever : events_.top().at;
  for (Worker* worker : workers_) next = std::min(next, worker->next_timer());
  if (next == kNever || next > limit) {
    if (limit != kNever) clock_.time = std::max(clock_.time, limit);
    return false;
  }
  clock_.time = std::max(clock_.time, next);
  while (!events_.empty() && events_.top().at <= now()) {
    std::function<void()> action = events_.top().action;
    events_.pop();
    action();
  }
  return true;
}

bool World::run_until(const std::function<bool()>& done, Duration limit) {
  const TimePoint end = now() + limit;
  while (!done()) {
    if (!step(end)) return done();
  }
  return true;
}

bool World::run_until_idle(Duration limit) {
  const TimePoint end = now() + limit;
  while (step(end)) {
  }
  return events_.empty();
}

void World::run_for(Duration time) {
  run_until([] { return false; }, time);
}

}  // namespace culvert::rt::sim
