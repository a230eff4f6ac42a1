#include "api/static_files.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <optional>
#include <vector>

#include "api/path.h"
#include "api/routes.h"
#include "base/format.h"
#include "rt/background.h"
#include "wire/http1.h"

namespace culvert::api {

using rt::Task;

namespace {

constexpr std::string_view kRoot = "/ui";
constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool ok() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// One step at a time, and no links: for kernels without openat2.
Descriptor open_step_by_step(int folder, const std::vector<std::string>& segments) {
  Descriptor at(::openat(folder, ".", kOpenFlags | O_DIRECTORY));
  for (const std::string& segment : segments) {
    if (!at.ok()) break;
    at = Descriptor(::openat(at.get(), segment.c_str(), kOpenFlags | O_NOFOLLOW));
  }
  return at;
}

Descriptor open_beneath(int folder, const std::vector<std::string>& segments) {
  std::string path = ".";
  for (const std::string& segment : segments) path += "/" + segment;
  open_how how{};
  how.flags = kOpenFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  for (int tries = 0; tries < 8; ++tries) {
    const long fd = ::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how);
    if (fd >= 0) return Descriptor(static_cast<int>(fd));
    if (errno == ENOSYS || errno == EPERM) return open_step_by_step(folder, segments);
    if (errno != EAGAIN) break;  // something was renamed meanwhile
  }
  return {};
}

struct Found {
  Descriptor file;  // not ok: there is none
  uint64_t size = 0;
  int64_t modified_ns = 0;
  time_t modified = 0;
  std::string name;        // of the file, for its type
  bool is_folder = false;  // asked for without a slash at the end
};

// What of a path can be a file's: its segments behind /ui.
std::optional<std::vector<std::string>> segments_of(std::string_view path) {
  auto segments = split_path(path.substr(kRoot.size()));
  if (!segments.ok()) return std::nullopt;
  for (const std::string& s : *segments) {
    if (s.empty() || s == "." || s == ".." || s.find('/') != std::string::npos ||
        s.find('\0') != std::string::npos) {
      return std::nullopt;
    }
  }
  return *std::move(segments);
}

void open_file(const std::string& folder, std::vector<std::string> segments, bool slash,
               Found& out) {
  const Descriptor root(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.ok()) return;
  Descriptor file = open_beneath(root.get(), segments);
  struct stat st {};
  if (!file.ok() || ::fstat(file.get(), &st) != 0) return;
  if (S_ISDIR(st.st_mode)) {
    if (!slash) {
      out.is_folder = true;
      return;
    }
    segments.emplace_back("index.html");
    file = open_beneath(root.get(), segments);
    if (!file.ok() || ::fstat(file.get(), &st) != 0) return;
  } else if (slash) {
    return;
  }
  if (!S_ISREG(st.st_mode) || static_cast<uint64_t>(st.st_size) > kMaxFile) return;
  out.file = std::move(file);
  out.size = static_cast<uint64_t>(st.st_size);
  out.modified = st.st_mtim.tv_sec;
  out.modified_ns = int64_t{st.st_mtim.tv_sec} * 1'000'000'000 + st.st_mtim.tv_nsec;
  out.name = std::move(segments.back());
}

struct MediaType {
  std::string_view suffix;
  std::string_view type;
};
constexpr MediaType kMediaTypes[] = {
    {"html", "text/html; charset=utf-8"},
    {"js", "text/javascript; charset=utf-8"},
    {"mjs", "text/javascript; charset=utf-8"},
    {"css", "text/css; charset=utf-8"},
    {"json", "application/json"},
    {"map", "application/json"},
    {"webmanifest", "application/manifest+json"},
    {"svg", "image/svg+xml"},
    {"png", "image/png"},
    {"jpg", "image/jpeg"},
    {"jpeg", "image/jpeg"},
    {"gif", "image/gif"},
    {"webp", "image/webp"},
    {"avif", "image/avif"},
    {"ico", "image/x-icon"},
    {"woff", "font/woff"},
    {"woff2", "font/woff2"},
    {"ttf", "font/ttf"},
    {"otf", "font/otf"},
    {"wasm", "application/wasm"},
    {"txt", "text/plain; charset=utf-8"},
    {"xml", "application/xml"},
};

std::string_view media_type(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot != std::string_view::npos) {
    for (const MediaType& known : kMediaTypes) {
      if (wire::equal_ignoring_case(name.substr(dot + 1), known.suffix)) return known.type;
    }
  }
  return "application/octet-stream";
}

// RFC 9110 section 5.6.7; the program's locale is "C".
std::string http_date(time_t when) {
  tm fields{};
  ::gmtime_r(&when, &fields);
  char text[64];
  const size_t n = std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &fields);
  return std::string(text, n);
}

// Whether a list of entity tags has this one, weakly compared (RFC 9110 section 13.1.2).
bool names_tag(std::string_view list, std::string_view tag) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    std::string_view one = list.substr(0, comma);
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    while (one.starts_with(' ') || one.starts_with('\t')) one.remove_prefix(1);
    while (one.ends_with(' ') || one.ends_with('\t')) one.remove_suffix(1);
    if (one.starts_with("W/")) one.remove_prefix(2);
    if (one == tag || one == "*") return true;
  }
  return false;
}

class FileText final : public TextSource {
 public:
  FileText(rt::Background& background, rt::Worker& control, Descriptor file, uint64_t size)
      : background_(background), control_(control), reading_(std::make_shared<Reading>()) {
    reading_->file = std::move(file);
    reading_->left = size;
  }
  Task<Status> next(TimePoint) override {
    Task<Status> reading = rt::in_background(background_, control_, [r = reading_] { r->read(); });
    const Status ran = co_await std::move(reading);
    if (!ran.ok()) co_return ran;
    co_return reading_->status;
  }
  [[nodiscard]] std::string_view piece() const override { return reading_->piece; }
  [[nodiscard]] bool complete() const override { return reading_->left == 0; }

 private:
  // The background thread's while it reads.
  struct Reading {
    Descriptor file;
    uint64_t left = 0;
    off_t offset = 0;
    std::string piece;
    Status status;
    void read() {
      piece.resize(std::min<uint64_t>(left, kPiece));
      size_t got = 0;
      while (got < piece.size()) {
        const ssize_t n = ::pread(file.get(), piece.data() + got, piece.size() - got, offset);
        if (n < 0 && errno == EINTR) continue;
        // Shorter than it was: its length has been told already.
        if (n <= 0) {
          status = Errc::kIo;
          return;
        }
        got += static_cast<size_t>(n);
        offset += n;
      }
      left -= got;
    }
  };
  rt::Background& background_;
  rt::Worker& control_;
  const std::shared_ptr<Reading> reading_;
};

std::string begin_head(int status) {
  return format("HTTP/1.1 {} {}\r\n", status, wire::reason_phrase(status));
}

void end_head(std::string& head, const FileRequest& request) {
  if (!request.keep) head += "Connection: close\r\n";
  if (request.keep && request.http10) head += "Connection: keep-alive\r\n";
  head += "\r\n";
}

FileAnswer missing(const FileRequest& request) {
  const std::string body = message_json("Resource not found");
  std::string head = begin_head(404);
  head += format("Content-Type: application/json\r\nContent-Length: {}\r\n", body.size());
  end_head(head, request);
  if (!request.head) head += body;
  return {std::move(head), nullptr};
}

FileAnswer moved(const FileRequest& request) {
  std::string head = begin_head(301);
  head += format("Location: {}/", request.path);
  if (!request.query.empty()) head += "?" + request.query;
  head += "\r\nContent-Length: 0\r\n";
  end_head(head, request);
  return {std::move(head), nullptr};
}

}  // namespace

bool is_file_path(std::string_view path) {
  return path.starts_with(kRoot) && (path.size() == kRoot.size() || path[kRoot.size()] == '/');
}

Task<FileAnswer> find_file(ControllerState& state, FileRequest request) {
  if (request.path == kRoot) co_return moved(request);
  auto segments = segments_of(request.path);
  if (!segments || state.parts.background == nullptr) co_return missing(request);
  auto found = std::make_shared<Found>();
  const bool slash = request.path.ends_with('/');
  std::function<void()> work = [found, folder = request.folder, slash,
                                way = *std::move(segments)]() mutable {
    open_file(folder, std::move(way), slash, *found);
  };
  rt::Worker& control = state.parts.engine->control();
  rt::Background& background = *state.parts.background;
  Task<Status> looking = rt::in_background(background, control, std::move(work));
  const Status ran = co_await std::move(looking);
  if (ran.ok() && found->is_folder) co_return moved(request);
  if (!ran.ok() || !found->file.ok()) co_return missing(request);
  const std::string tag = format("\"{:x}-{:x}\"", found->modified_ns, found->size);
  const std::string date = http_date(found->modified);
  const bool same = request.none_match.empty() ? request.modified_since == date
                                               : names_tag(request.none_match, tag);
  std::string head = begin_head(same ? 304 : 200);
  // Files of one name change with the next version of the interface: each is asked for again, and
  // costs a 304.
  head += format("ETag: {}\r\nLast-Modified: {}\r\nCache-Control: no-cache\r\n", tag, date);
  if (!same) {
    head +=
        format("Content-Type: {}\r\nContent-Length: {}\r\n", media_type(found->name), found->size);
    head += "X-Content-Type-Options: nosniff\r\n";
  }
  end_head(head, request);
  std::unique_ptr<TextSource> source;
  if (!same && found->size != 0) {
    source = std::make_unique<FileText>(background, control, std::move(found->file), found->size);
  }
  co_return FileAnswer(std::move(head), std::move(source));
}

}  // namespace culvert::api
