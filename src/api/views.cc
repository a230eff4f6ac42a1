#include "api/views.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <iterator>

namespace culvert::api {
namespace {

// A string for each number and address costs more than the rest of a connection: they are written
// into a buffer of the stack.
class SmallText {
 public:
  SmallText& number(uint32_t v) {
    char* at = std::to_chars(text_ + size_, std::end(text_), v).ptr;
    size_ = static_cast<size_t>(at - text_);
    return *this;
  }
  SmallText& address(const IpAddress& ip) {
    if (ip.is_v4()) {
      for (size_t i = 0; i < 4; ++i) {
        if (i != 0) text_[size_++] = '.';
        number(ip.bytes[i]);
      }
    } else {
      size_ += ip.to_string().copy(text_ + size_, sizeof text_ - size_);
    }
    return *this;
  }
  [[nodiscard]] std::string_view view() const { return {text_, size_}; }

 private:
  char text_[INET6_ADDRSTRLEN];
  size_t size_ = 0;
};

// `digits` digits of `v`, with leading zeros.
char* write_digits(char* out, uint32_t v, int digits) {
  for (int i = digits; i-- > 0; v /= 10) out[i] = static_cast<char>('0' + v % 10);
  return out + digits;
}

}  // namespace

void append_connection(JsonWriter& w, const engine::Engine& engine,
                       const stats::FlowSnapshot& snapshot, const stats::FlowSnapshot::Item& item) {
  const flow::FlowMeta& m = item.meta;
  using stats::Dimension;
  const stats::Directory& directory = engine.directory();
  const engine::Generation::Listener* listener = engine.generation().listener(m.inbound);
  const std::string_view user =
      m.user == flow::kNoUser ? std::string_view() : directory.name(Dimension::kUser, m.user);
  const std::string_view host = snapshot.host(item);
  const SmallText destination = SmallText().address(m.address());
  char id[stats::FlowId::kTextSize];
  item.id.write(id);
  char start[kRfc3339Size];
  write_rfc3339(engine.to_wall(item.start), start);

  w.begin_object().plain_field("id", {id, sizeof id});
  w.key("metadata").begin_object();
  w.plain_field("network", flow::name(m.network));
  w.plain_field("type", flow::name(m.inbound_type));
  w.plain_field("sourceIP", SmallText().address(m.source.ip.unmapped()).view());
  w.plain_field("destinationIP", destination.view());
  w.raw(R"("sourceGeoIP":null,"destinationGeoIP":null,"sourceIPASN":"","destinationIPASN":"")");
  w.plain_field("sourcePort", SmallText().number(m.source.port).view());
  w.plain_field("destinationPort", SmallText().number(m.destination.port).view());
  // A listener that a reload has taken away no longer has an address.
  w.plain_field("inboundIP", listener == nullptr ? std::string_view()
                                                 : SmallText().address(listener->at.ip).view());
  w.plain_field("inboundPort", SmallText().number(m.inbound_port).view());
  w.field("inboundName", directory.name(Dimension::kInbound, m.inbound));
  w.field("inboundUser", user);
  w.raw(R"("rematchName":"")");
  w.field("host", host);
  w.raw(R"("dnsMode":"normal","uid":0,"process":"","processPath":"")");
  w.raw(R"("specialProxy":"","specialRules":"")");
  w.field("remoteDestination", m.address().valid() ? destination.view() : host);
  w.field("dscp", uint64_t{m.dscp});
  w.raw(R"("sniffHost":"")");
  w.end_object();
  w.field("upload", item.upload);
  w.field("download", item.download);
  w.plain_field("start", {start, sizeof start});
  const auto chain = snapshot.chain(item);
  w.key("chains").begin_array();
  for (const uint32_t n : chain) w.string(directory.name(Dimension::kOutbound, n));
  w.end_array().key("providerChains").begin_array();
  for (size_t i = 0; i < chain.size(); ++i) w.plain("");
  w.end_array();
  w.field("rule", item.rule_type);
  w.field("rulePayload", snapshot.rule_payload(item));
  w.end_object();
}

std::string traffic_json(uint64_t up, uint64_t down, uint64_t up_total, uint64_t down_total) {
  std::string out;
  JsonWriter(out)
      .begin_object()
      .field("up", up)
      .field("down", down)
      .field("upTotal", up_total)
      .field("downTotal", down_total)
      .end_object();
  return out;
}

std::string memory_json(uint64_t in_use) {
  std::string out;
  JsonWriter(out).begin_object().field("inuse", in_use).field("oslimit", uint64_t{0}).end_object();
  return out;
}

uint64_t resident_memory() {
  // The second field of statm: resident pages.
  char text[128];
  const int fd = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t n = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  if (n <= 0) return 0;
  text[n] = 0;
  unsigned long long total = 0, resident = 0;
  if (std::sscanf(text, "%llu %llu", &total, &resident) != 2) return 0;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void write_rfc3339(WallTime t, char (&out)[kRfc3339Size]) {
  const auto day = std::chrono::floor<std::chrono::days>(t);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss<Duration> time(t - day);
  const auto two = [](char* at, int64_t v) {
    return write_digits(at, static_cast<uint32_t>(v), 2);
  };
  char* at = write_digits(out, static_cast<uint32_t>(static_cast<int>(date.year())), 4);
  *at++ = '-';
  at = two(at, static_cast<unsigned>(date.month()));
  *at++ = '-';
  at = two(at, static_cast<unsigned>(date.day()));
  *at++ = 'T';
  at = two(at, time.hours().count());
  *at++ = ':';
  at = two(at, time.minutes().count());
  *at++ = ':';
  at = two(at, time.seconds().count());
  *at++ = '.';
  at = write_digits(at, static_cast<uint32_t>(time.subseconds().count()), 9);
  *at = 'Z';
}

std::string rfc3339(WallTime t) {
  char text[kRfc3339Size];
  write_rfc3339(t, text);
  return std::string(text, kRfc3339Size);
}

}  // namespace culvert::api
