#include "flow/testing/twins.h"

#include <algorithm>

#include "rt/worker.h"

namespace culvert::flow::testing {

// ---------------------------------------------------------------- MemoryStream

// Waiters fire from the loop, never from inside the call that made a stream ready.
void MemoryStream::fire(rt::Waiter*& slot) {
  if (rt::Waiter* w = std::exchange(slot, nullptr); w != nullptr) w->fire();
}

void MemoryStream::feed(std::string_view bytes) {
  inbox_ += bytes;
  fire(reader_);
}

void MemoryStream::feed_end() {
  end_ = true;
  fire(reader_);
}

void MemoryStream::break_with(Error error) {
  broken_ = error;
  rt::Waiter* writer = std::exchange(writer_, nullptr);
  rt::Waiter* reader = std::exchange(reader_, nullptr);
  // One is enough to be heard, and the first may end this stream.
  if (reader != nullptr) {
    reader->fire();
  } else if (writer != nullptr) {
    writer->fire();
  }
}

std::string MemoryStream::take_written() {
  return std::exchange(written_, {});
}

void MemoryStream::add_room(size_t n) {
  write_room = n;
  fire(writer_);
}

Result<MutableBytes> MemoryStream::lend() {
  if (!inbox_.empty()) {
    return MutableBytes(reinterpret_cast<uint8_t*>(inbox_.data()),
                        std::min(inbox_.size(), read_limit));
  }
  if (broken_.code != Errc::kNone) return broken_;
  if (closed_) return Errc::kReset;
  return end_ ? Errc::kEndOfStream : Errc::kWouldBlock;
}

Result<size_t> MemoryStream::write(std::span<const iovec> data) {
  if (broken_.code != Errc::kNone) return broken_;
  if (closed_ || shut_) return Errc::kReset;
  size_t taken = 0;
  for (const iovec& v : data) {
    const size_t n = std::min(v.iov_len, write_room);
    written_.append(static_cast<const char*>(v.iov_base), n);
    taken += n;
    if (write_room != SIZE_MAX) write_room -= n;
    if (n < v.iov_len) break;
  }
  if (taken == 0 && !data.empty()) return Errc::kWouldBlock;
  return taken;
}

Status MemoryStream::shutdown_write() {
  if (broken_.code != Errc::kNone) return broken_;
  shut_ = true;
  return {};
}

void MemoryStream::close() {
  closed_ = true;
  reader_ = writer_ = nullptr;
}

void MemoryStream::abort() {
  aborted_ = true;
  close();
}

// ---------------------------------------------------------------- MemoryPacketChannel

void MemoryPacketChannel::feed(Endpoint from, std::string payload) {
  inbox_.emplace_back(from, std::move(payload));
  if (rt::Waiter* w = std::exchange(reader_, nullptr); w != nullptr) w->fire();
}

Result<size_t> MemoryPacketChannel::receive(std::span<Packet> out) {
  shown_.clear();
  if (broken_.code != Errc::kNone) return broken_;
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

Status MemoryPacketChannel::send(std::span<const Packet> batch, std::span<PacketFate> fates) {
  if (broken_.code != Errc::kNone) return broken_;
  for (size_t i = 0; i < batch.size(); ++i) {
    if (room == 0 || batch[i].payload.size() > path_limit) {
      fates[i] = PacketFate::kDropped;
      ++dropped_;
      continue;
    }
    if (room != SIZE_MAX) --room;
    fates[i] = PacketFate::kSent;
    sent.push_back(
        {batch[i].peer, std::string(batch[i].host), std::string(as_text(batch[i].payload))});
  }
  return {};
}

// ---------------------------------------------------------------- the rest

rt::Task<Result<AddressList>> TableResolver::resolve(std::string_view host, TimePoint deadline) {
  ++asked;
  if (delay > Duration(0)) {
    const TimePoint when = rt::Worker::here().now() + delay;
    const Status slept = co_await rt::sleep_until(std::min(when, deadline));
    if (!slept.ok()) co_return slept.error();
    if (when > deadline) co_return Errc::kTimedOut;
  }
  if (const auto failure = failures.find(host); failure != failures.end()) {
    co_return failure->second;
  }
  const auto found = table.find(host);
  if (found == table.end()) co_return Errc::kNoName;
  AddressList list;
  for (const IpAddress& ip : found->second) list.add(ip);
  co_return list;
}

Task<Result<StreamPtr>> ScriptedOutbound::dial(const FlowMeta& meta, TimePoint deadline) {
  dialled.push_back(destination_text(meta));
  if (delay > Duration(0)) {
    const Status slept =
        co_await rt::sleep_until(std::min(rt::Worker::here().now() + delay, deadline));
    if (!slept.ok()) co_return slept.error();
  }
  if (streams.empty()) co_return Error(Errc::kRefused, Side::kUpstream);
  Result<StreamPtr> next = std::move(streams.front());
  streams.pop_front();
  co_return next;
}

Task<Result<std::unique_ptr<PacketChannel>>> ScriptedOutbound::open_packets(const FlowMeta& meta,
                                                                            TimePoint) {
  dialled.push_back(destination_text(meta));
  std::unique_ptr<PacketChannel> channel = std::make_unique<MemoryPacketChannel>();
  co_return channel;
}

struct TestSink::Tracker : FlowTracker {
  TestSink* sink = nullptr;
  TrafficSum sum;
};

Task<Result<Upstream>> TestSink::open(FlowMeta& meta) {
  opened.push_back({destination_text(meta), meta, {}});
  Upstream up;
  if (dial) {
    Result<StreamPtr> stream = dial(meta);
    if (!stream.ok()) co_return stream.error();
    up.stream = *std::move(stream);
  } else {
    auto stream = std::make_unique<MemoryStream>();
    memory_.push_back(stream.get());
    up.stream = std::move(stream);
  }
  auto* tracker = new Tracker();
  tracker->sink = this;
  tracker->cell = &tracker->sum;
  tracker->end = [](FlowTracker& t) {
    auto& self = static_cast<Tracker&>(t);
    --self.sink->live_trackers;
    self.sink->uploaded += self.upload.value();
    self.sink->downloaded += self.download.value();
    delete &self;
  };
  ++live_trackers;
  up.tracker = TrackerPtr(tracker);
  co_return up;
}

void TestSink::relay(StreamPtr client, Upstream upstream) {
  relays.start(std::move(client), std::move(upstream));
}

std::optional<uint32_t> TableAuthenticator::check(std::string_view user,
                                                  std::string_view password) const {
  for (uint32_t i = 0; i < users.size(); ++i) {
    if (users[i].first == user && users[i].second == password) return i;
  }
  return std::nullopt;
}

namespace {

class FlippingStream final : public Stream {
 public:
  explicit FlippingStream(StreamPtr inner) : inner_(std::move(inner)) {}
  Status opened() override { return inner_->opened(); }
  Result<MutableBytes> lend() override {
    Result<MutableBytes> bytes = inner_->lend();
    if (!bytes.ok()) return bytes;
    // What was flipped before is not flipped again.
    for (size_t i = flipped_; i < bytes->size(); ++i) (*bytes)[i] ^= 0xff;
    flipped_ = std::max(flipped_, bytes->size());
    return bytes;
  }
  void consume(size_t n) override {
    inner_->consume(n);
    flipped_ -= n;
  }
  size_t unread() const override { return inner_->unread(); }
  Result<size_t> write(std::span<const iovec> data) override {
    std::string out;
    for (const iovec& v : data) out.append(static_cast<const char*>(v.iov_base), v.iov_len);
    for (char& c : out) c = static_cast<char>(~c);
    return inner_->write(as_bytes(out));
  }
  Status shutdown_write() override { return inner_->shutdown_write(); }
  void close() override { inner_->close(); }
  void abort() override { inner_->abort(); }
  void wait_readable(rt::Waiter* w) override { inner_->wait_readable(w); }
  void wait_writable(rt::Waiter* w) override { inner_->wait_writable(w); }
  Endpoint local() const override { return inner_->local(); }
  Endpoint remote() const override { return inner_->remote(); }

 private:
  StreamPtr inner_;
  size_t flipped_ = 0;
};

}  // namespace

Task<Result<StreamPtr>> FlippingLayer::wrap(StreamPtr inner, const FlowMeta&, TimePoint) {
  if (fail_with.code != Errc::kNone) {
    inner->close();
    co_return fail_with;
  }
  StreamPtr wrapped = std::make_unique<FlippingStream>(std::move(inner));
  co_return wrapped;
}

Task<Result<FetchResponse>> TableFetcher::fetch(FetchRequest request, Dialer&, TimePoint) {
  const auto found = table.find(request.url);
  if (found == table.end()) co_return Errc::kUnreachable;
  if (found->second.body.size() > request.size_limit) co_return Errc::kTooLarge;
  co_return found->second;
}

Task<Result<StreamPtr>> MemoryHttp2Session::open(const FetchRequest&, TimePoint) {
  if (!usable()) co_return broken;
  auto stream = std::make_unique<MemoryStream>();
  streams.push_back(stream.get());
  co_return StreamPtr(std::move(stream));
}

Task<Result<FetchResponse>> MemoryHttp2Session::exchange(FetchRequest request, TimePoint) {
  if (!usable()) co_return broken;
  const auto found = table.find(request.url);
  if (found == table.end()) co_return FetchResponse{404, {}, {}};
  co_return found->second;
}

}  // namespace culvert::flow::testing
