#include "rt/pipe_pool.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace culvert::rt {
namespace {

// A pipe below this is not worth its system calls: past the user's share of pipe pages the kernel
// grants a page or two.
constexpr int kWorthwhile = 64 << 10;

ptrdiff_t move(int from, int to, size_t most) {
  ssize_t n;
  do {
    n = splice(from, nullptr, to, nullptr, most, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
  } while (n < 0 && errno == EINTR);
  return n < 0 ? -errno : n;
}

}  // namespace

Pipe::~Pipe() {
  ::close(read_end_);
  ::close(write_end_);
}

ptrdiff_t Pipe::fill_from(int socket) {
  const ptrdiff_t n = move(socket, write_end_, kCapacity);
  if (n > 0) held_ += static_cast<size_t>(n);
  return n;
}

ptrdiff_t Pipe::drain_to(int socket) {
  const ptrdiff_t n = move(read_end_, socket, held_);
  if (n > 0) held_ -= static_cast<size_t>(n);
  return n;
}

std::unique_ptr<Pipe> PipePool::try_acquire() {
  if (lent_ == kMost || buffers_.suggest(BufferPool::kLargest) != BufferPool::kLargest ||
      !buffers_.try_reserve(Pipe::kCapacity)) {
    return nullptr;
  }
  std::unique_ptr<Pipe> pipe;
  if (!free_.empty()) {
    pipe = std::move(free_.back());
    free_.pop_back();
  } else if (!declined_) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC) == 0) {
      pipe = std::make_unique<Pipe>(ends[0], ends[1]);
      if (fcntl(ends[0], F_SETPIPE_SZ, Pipe::kCapacity) < 0 &&
          fcntl(ends[0], F_GETPIPE_SZ) < kWorthwhile) {
        pipe.reset();
      }
    }
    declined_ = pipe == nullptr;
  }
  if (pipe == nullptr) {
    buffers_.unreserve(Pipe::kCapacity);
  } else {
    ++lent_;
  }
  return pipe;
}

void PipePool::release(std::unique_ptr<Pipe> pipe) {
  --lent_;
  declined_ = false;
  buffers_.unreserve(Pipe::kCapacity);
  if (pipe->held() == 0 && free_.size() < kCache) free_.push_back(std::move(pipe));
}

}  // namespace culvert::rt
