// Pipes through which the kernel moves bytes from one socket to another without their ever being
// copied into this process (splice(2)). They stand in for buffers of kCapacity bytes: what is lent
// out comes from the same budget, because the pages of a full pipe are as much memory as a full
// buffer, even though they are the kernel's.
//
// A splice to a broken socket raises SIGPIPE, which the process must ignore: there is no flag
// against it.
//
// Worker-local, as the BufferPool is; trim() closes the free ones when the worker falls idle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "rt/buffer_pool.h"

namespace culvert::rt {

class Pipe {
 public:
  // What a pipe is asked to hold, in bytes; the kernel may grant less.
  static constexpr uint32_t kCapacity = 256 << 10;

  Pipe(int read_end, int write_end) : read_end_(read_end), write_end_(write_end) {}
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe();

  [[nodiscard]] size_t held() const { return held_; }
  // Receives into the empty pipe from a stream socket: bytes moved, 0 at the end of the stream, or
  // -errno; EAGAIN means that the socket has nothing.
  ptrdiff_t fill_from(int socket);
  // Sends what is held: bytes moved, or -errno.
  ptrdiff_t drain_to(int socket);

 private:
  int read_end_;
  int write_end_;
  size_t held_ = 0;
};

class PipePool {
 public:
  static constexpr size_t kMost = 256;  // lent out, by one worker
  static constexpr size_t kCache = 8;   // kept open between uses

  explicit PipePool(BufferPool& buffers) : buffers_(buffers) {}

  // An empty pipe, or nullptr when the budget is under pressure, kMost are lent out, or the kernel
  // declines (descriptors; pipe-user-pages-soft, see pipe(7)).
  [[nodiscard]] std::unique_ptr<Pipe> try_acquire();
  // Takes it back; one that still holds bytes is closed.
  void release(std::unique_ptr<Pipe> pipe);
  void trim() {
    free_.clear();
    declined_ = false;
  }
  [[nodiscard]] size_t lent() const { return lent_; }
  [[nodiscard]] size_t cached() const { return free_.size(); }

 private:
  BufferPool& buffers_;
  std::vector<std::unique_ptr<Pipe>> free_;
  size_t lent_ = 0;
  bool declined_ = false;  // by the kernel: not asked again until something has come back
};

}  // namespace culvert::rt
