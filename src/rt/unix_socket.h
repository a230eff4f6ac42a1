// The file of a listening AF_UNIX stream socket. Internal to the backends of rt/.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"

namespace culvert::rt {

// A file that listen_at_path() made; removed with this, unless another took its place meanwhile.
class UnixSocketFile {
 public:
  UnixSocketFile() = default;
  UnixSocketFile(const UnixSocketFile&) = delete;
  UnixSocketFile& operator=(const UnixSocketFile&) = delete;
  ~UnixSocketFile();

 private:
  friend Result<int> listen_at_path(const std::string& path, mode_t mode, UnixSocketFile& file);
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

// As Backend::listen_unix() has it. Returns the listening socket, which does not block and which
// the caller closes; `file` is a fresh one and outlives it.
Result<int> listen_at_path(const std::string& path, mode_t mode, UnixSocketFile& file);

}  // namespace culvert::rt
