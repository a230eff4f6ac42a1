#include "rt/pipe_pool.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "rt/testing/sim.h"

namespace culvert::rt {
namespace {

size_t open_descriptors() {
  size_t n = 0;
  DIR* d = opendir("/proc/self/fd");
  while (readdir(d) != nullptr) ++n;
  closedir(d);
  return n;
}

class RtPipePool : public ::testing::Test {
 protected:
  sim::World world_{1};
  Worker& worker_ = world_.add_worker();
  Worker::Enter enter_{worker_};
  PipePool& pool_ = worker_.pipes();
};

TEST_F(RtPipePool, LendsWithinTheBudgetAndClosesWhatItDoesNotKeep) {
  const size_t before = open_descriptors();
  std::vector<std::unique_ptr<Pipe>> lent;
  while (auto pipe = pool_.try_acquire()) {
    lent.push_back(std::move(pipe));
    ASSERT_LE(lent.size(), PipePool::kMost);
  }
  // Half of 64 MiB: above that reads shrink, and nothing is to be gained.
  EXPECT_GE(lent.size(), 100u);
  EXPECT_LE(worker_.buffers().in_use(), world_.budget().limit() / 2 + Pipe::kCapacity);
  EXPECT_EQ(worker_.buffers().in_use(), lent.size() * Pipe::kCapacity);
  for (auto& pipe : lent) pool_.release(std::move(pipe));
  EXPECT_EQ(worker_.buffers().in_use(), 0u);
  EXPECT_EQ(pool_.cached(), PipePool::kCache);
  EXPECT_EQ(open_descriptors(), before + 2 * PipePool::kCache);
  pool_.trim();
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(RtPipePool, NeverLendsAPipeThatHoldsBytes) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
  auto pipe = pool_.try_acquire();
  ASSERT_NE(pipe, nullptr);
  EXPECT_EQ(pipe->fill_from(ends[0]), -EAGAIN);
  ASSERT_EQ(write(ends[1], "bytes", 5), 5);
  EXPECT_EQ(pipe->fill_from(ends[0]), 5);
  EXPECT_EQ(pipe->held(), 5u);
  EXPECT_EQ(pipe->drain_to(ends[0]), 5);
  std::array<char, 8> got{};
  EXPECT_EQ(read(ends[1], got.data(), got.size()), 5);
  EXPECT_EQ(pipe->held(), 0u);

  ASSERT_EQ(write(ends[1], "more", 4), 4);
  EXPECT_EQ(pipe->fill_from(ends[0]), 4);
  pool_.release(std::move(pipe));
  EXPECT_EQ(pool_.cached(), 0u);
  EXPECT_EQ(pool_.lent(), 0u);
  close(ends[1]);
  auto next = pool_.try_acquire();
  EXPECT_EQ(next->fill_from(ends[0]), 0);
  pool_.release(std::move(next));
  close(ends[0]);
}

TEST_F(RtPipePool, WithoutDescriptorsThereAreNone) {
  // Nothing below may look at this fixture: UBSan looks at a vptr through a pipe of its own.
  PipePool& pool = pool_;
  std::vector<int> taken;
  taken.reserve(100'001);
  for (int fd = dup(0); fd >= 0; fd = dup(0)) {
    taken.push_back(fd);
    if (taken.size() > 100'000) break;
  }
  const bool exhausted = taken.size() <= 100'000;
  auto pipe = pool.try_acquire();
  for (int fd : taken) close(fd);
  if (!exhausted) GTEST_SKIP() << "more descriptors than this test takes";
  EXPECT_EQ(pipe, nullptr);
  EXPECT_EQ(worker_.buffers().in_use(), 0u);
  EXPECT_EQ(pool_.try_acquire(), nullptr) << "the kernel is not asked each time";
  pool_.trim();
  pipe = pool_.try_acquire();
  ASSERT_NE(pipe, nullptr);
  pool_.release(std::move(pipe));
}

}  // namespace
}  // namespace culvert::rt
