#include "rt/unix_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace culvert::rt {
namespace {

constexpr int kBacklog = 128;

// Makes the folders that lead to `path`, for their owner alone.
Status make_parent(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos || slash == 0) return {};
  const std::string parent = path.substr(0, slash);
  if (::mkdir(parent.c_str(), 0700) == 0 || errno == EEXIST) return {};
  if (errno != ENOENT) return error_from_errno(errno);
  const Status above = make_parent(parent);
  if (!above.ok()) return above;
  if (::mkdir(parent.c_str(), 0700) != 0 && errno != EEXIST) return error_from_errno(errno);
  return {};
}

// Removes a socket's file that nobody listens on any more. Whatever else is there is left, and in
// the way of bind().
void remove_stale(const sockaddr_un& address) {
  struct stat status {};
  if (::lstat(address.sun_path, &status) != 0 || !S_ISSOCK(status.st_mode)) return;
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (probe < 0) return;
  const bool stale =
      connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
      errno == ECONNREFUSED;
  ::close(probe);
  if (stale) ::unlink(address.sun_path);
}

}  // namespace

UnixSocketFile::~UnixSocketFile() {
  struct stat status {};
  if (path_.empty() || ::lstat(path_.c_str(), &status) != 0) return;
  if (status.st_dev == device_ && status.st_ino == inode_) ::unlink(path_.c_str());
}

Result<int> listen_at_path(const std::string& path, mode_t mode, UnixSocketFile& file) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.find('\0') != std::string::npos) return Errc::kInvalid;
  if (path.size() >= sizeof address.sun_path) {
    return Error(Errc::kTooLarge, Side::kLocal, false, ENAMETOOLONG);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const Status parent = make_parent(path);
  if (!parent.ok()) return parent.error();
  remove_stale(address);

  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return error_from_errno(errno);
  struct stat status {};
  // The file takes the socket's own mode, less the umask, from the first moment. Setting the umask
  // instead would be felt by every thread. What the umask took off is added afterwards.
  if (::fchmod(fd, mode) != 0 ||
      bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const Error error = error_from_errno(errno);
    ::close(fd);
    return error;
  }
  file.path_ = path;
  if (::lstat(path.c_str(), &status) == 0) {
    file.device_ = status.st_dev;
    file.inode_ = status.st_ino;
  }
  if (((status.st_mode & 07777) != mode && ::chmod(path.c_str(), mode) != 0) ||
      ::listen(fd, kBacklog) != 0) {
    const Error error = error_from_errno(errno);
    ::close(fd);
    return error;
  }
  return fd;
}

}  // namespace culvert::rt
