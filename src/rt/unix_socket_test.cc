#include "rt/unix_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "rt/await.h"
#include "rt/testing/net.h"

namespace culvert::rt::testing {
namespace {

namespace fs = std::filesystem;

class UnixSocket : public ::testing::Test {
 protected:
  UnixSocket() {
    std::string pattern = ::testing::TempDir() + "culvert-unix-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    path_ = (folder_ / "controller.sock").string();
  }
  ~UnixSocket() override { fs::remove_all(folder_); }
  void TearDown() override {
    Worker::Enter enter(worker());
    worker().scope().cancel();
    EXPECT_TRUE(net_->run_until([&] { return worker().scope().running() == 0; }));
    accepted_.streams.clear();
    for (const int fd : clients_) ::close(fd);
  }
  Worker& worker() { return net_->worker(); }
  Result<std::unique_ptr<Listener>> listen(const std::string& path, mode_t mode = 0600) {
    Worker::Enter enter(worker());
    return worker().backend().listen_unix(path, mode, accepted_);
  }
  void close(Result<std::unique_ptr<Listener>>& listener) {
    Worker::Enter enter(worker());
    listener->reset();
  }
  // A client's socket, or -1 with errno.
  int connect_to(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path.c_str());
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      const int error = errno;
      ::close(fd);
      errno = error;
      return -1;
    }
    clients_.push_back(fd);
    return fd;
  }
  static mode_t mode_of(const fs::path& path) {
    struct stat status {};
    EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777;
  }
  // A socket's file whose listener died without removing it.
  void leave_stale() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path_.c_str());
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(fd, 1), 0);
    ::close(fd);
  }

  fs::path folder_;
  std::string path_;
  std::unique_ptr<Net> net_ = make_net("epoll");
  Accepted accepted_{worker()};
  std::vector<int> clients_;
};

TEST_F(UnixSocket, MovesBytesBothWaysAndEndsInOrder) {
  auto listener = listen(path_);
  ASSERT_TRUE(listener.ok());
  EXPECT_FALSE((*listener)->local().valid());
  const int client = connect_to(path_);
  ASSERT_GE(client, 0);
  ASSERT_TRUE(net_->run_until([&] { return !accepted_.streams.empty(); }));
  Stream& server = *accepted_.streams.front();
  EXPECT_FALSE(accepted_.remote.front().valid());
  EXPECT_FALSE(server.remote().valid());
  EXPECT_FALSE(server.local().valid());
  EXPECT_TRUE(server.opened().ok());

  // More than the socket holds, each way at the same time.
  const std::string up = pattern(3'000'000, 1), down = pattern(2'000'001, 2);
  std::string got_up, got_down;
  Errc end_up{}, sent_down = Errc::kIo;
  {
    Worker::Enter enter(worker());
    worker().scope().spawn("send", send_all(server, down, true, &sent_down, kNever));
    worker().scope().spawn("read", read_all(server, &got_up, &end_up, kNever));
  }
  size_t sent = 0;
  bool ended = false;
  std::string buffer(70'000, 0);
  ASSERT_TRUE(net_->run_until([&] {
    if (sent < up.size()) {
      const ssize_t n = send(client, up.data() + sent, up.size() - sent, MSG_NOSIGNAL);
      if (n > 0) sent += static_cast<size_t>(n);
      if (sent == up.size()) ::shutdown(client, SHUT_WR);
    }
    const ssize_t n = recv(client, buffer.data(), buffer.size(), 0);
    if (n > 0) got_down.append(buffer.data(), static_cast<size_t>(n));
    if (n == 0) ended = true;
    return ended && end_up != Errc{};
  }));
  EXPECT_EQ(end_up, Errc::kEndOfStream);
  EXPECT_EQ(sent_down, Errc::kNone);
  EXPECT_TRUE(got_up == up);
  EXPECT_TRUE(got_down == down);
  close(listener);
}

TEST_F(UnixSocket, AbortAndAClientThatIsGone) {
  auto listener = listen(path_);
  ASSERT_TRUE(listener.ok());
  const int client = connect_to(path_);
  ASSERT_GE(connect_to(path_), 0);
  ASSERT_TRUE(net_->run_until([&] { return accepted_.streams.size() == 2; }));
  Worker::Enter enter(worker());
  accepted_.streams[0]->abort();
  char byte;
  EXPECT_LE(recv(client, &byte, 1, 0), 0);
  ::close(clients_.back());
  clients_.pop_back();
  ASSERT_TRUE(
      net_->run_until([&] { return accepted_.streams[1]->lend().code() == Errc::kEndOfStream; }));
  EXPECT_EQ(accepted_.streams[1]->write(as_bytes("x")).code(), Errc::kReset);
  listener->reset();
}

TEST_F(UnixSocket, ItsFileIsTheOwnersAlone) {
  for (const mode_t mask : {0, 022, 077}) {
    const mode_t before = umask(mask);
    auto listener = listen(path_);
    const mode_t after = umask(before);
    ASSERT_TRUE(listener.ok());
    EXPECT_EQ(after, mask) << "the process's umask stays";
    EXPECT_EQ(mode_of(path_), 0600u);
    close(listener);
  }
}

TEST_F(UnixSocket, ItsFileMayBeOthersToo) {
  const mode_t before = umask(077);
  auto listener = listen(path_, 0660);
  umask(before);
  ASSERT_TRUE(listener.ok());
  EXPECT_EQ(mode_of(path_), 0660u);
  close(listener);
}

TEST_F(UnixSocket, ItsFileGoesWithIt) {
  auto listener = listen(path_);
  ASSERT_TRUE(listener.ok());
  EXPECT_TRUE(fs::is_socket(path_));
  close(listener);
  EXPECT_FALSE(fs::exists(path_));
  // Unless it is another's by now.
  auto first = listen(path_);
  ASSERT_TRUE(first.ok());
  fs::rename(path_, path_ + ".moved");
  auto second = listen(path_);
  ASSERT_TRUE(second.ok());
  close(first);
  EXPECT_GE(connect_to(path_), 0);
  close(second);
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(UnixSocket, MissingFoldersAreMadeForTheOwnerAlone) {
  const mode_t before = umask(0);
  const std::string deep = (folder_ / "run" / "culvert" / "controller.sock").string();
  auto listener = listen(deep);
  umask(before);
  ASSERT_TRUE(listener.ok());
  EXPECT_EQ(mode_of(folder_ / "run"), 0700u);
  EXPECT_EQ(mode_of(folder_ / "run" / "culvert"), 0700u);
  EXPECT_GE(connect_to(deep), 0);
  close(listener);
  std::ofstream(folder_ / "file") << "x";
  EXPECT_EQ(listen((folder_ / "file" / "controller.sock").string()).error().os_errno, ENOTDIR);
}

TEST_F(UnixSocket, AStaleOneIsReplaced) {
  leave_stale();
  EXPECT_EQ(connect_to(path_), -1);
  EXPECT_EQ(errno, ECONNREFUSED);
  auto listener = listen(path_);
  ASSERT_TRUE(listener.ok());
  EXPECT_GE(connect_to(path_), 0);
  close(listener);
}

TEST_F(UnixSocket, OneInUseIsNot) {
  auto listener = listen(path_);
  ASSERT_TRUE(listener.ok());
  EXPECT_EQ(listen(path_).error().os_errno, EADDRINUSE);
  EXPECT_GE(connect_to(path_), 0) << "the first still listens";
  close(listener);
}

TEST_F(UnixSocket, OtherFilesAreNotTouched) {
  std::ofstream(path_) << "precious";
  EXPECT_EQ(listen(path_).error().os_errno, EADDRINUSE);
  EXPECT_EQ(fs::file_size(path_), 8u);
  fs::remove(path_);
  fs::create_directory(path_);
  EXPECT_EQ(listen(path_).error().os_errno, EADDRINUSE);
  EXPECT_TRUE(fs::is_directory(path_));
  fs::remove(path_);
  // A link is not followed, wherever it leads.
  const std::string target = path_ + ".target";
  fs::create_symlink(target, path_);
  EXPECT_EQ(listen(path_).error().os_errno, EADDRINUSE);
  EXPECT_FALSE(fs::exists(target));
}

TEST_F(UnixSocket, PathsHaveABound) {
  EXPECT_EQ(listen("").code(), Errc::kInvalid);
  EXPECT_EQ(listen(std::string("/tmp/a\0b", 8)).code(), Errc::kInvalid);
  const std::string longest = path_ + std::string(107 - path_.size(), 'x');
  auto listener = listen(longest);
  ASSERT_TRUE(listener.ok());
  EXPECT_GE(connect_to(longest), 0);
  close(listener);
  EXPECT_EQ(listen(longest + "x").code(), Errc::kTooLarge);
}

}  // namespace
}  // namespace culvert::rt::testing
