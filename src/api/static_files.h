// The files of a user interface, below /ui: read on the background thread, a piece at a time.
//
// What is outside of the folder stays there: no "..", no encoded slash, and no symbolic link that
// leads out (openat2 with RESOLVE_BENEATH; where the kernel has no such call, no links at all).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "api/state.h"
#include "api/text_source.h"

namespace culvert::api {

inline constexpr uint64_t kMaxFile = 64 << 20;  // bytes; a larger one is as if it were not there

struct FileRequest {
  std::string folder;
  std::string path;            // of the request, not decoded: "/ui/assets/a.js"
  std::string query;           // goes along when the client is sent to "/ui/"
  std::string none_match;      // If-None-Match
  std::string modified_since;  // If-Modified-Since
  bool head = false;
  bool http10 = false;
  bool keep = false;  // whether the connection may go on
};

// The head of a response, and what makes its body; no source where there is none.
class FileAnswer {
 public:
  FileAnswer(std::string head, std::unique_ptr<TextSource> source)
      : head_(std::move(head)), source_(std::move(source)) {}
  [[nodiscard]] const std::string& head() const { return head_; }
  [[nodiscard]] TextSource* source() const { return source_.get(); }

 private:
  std::string head_;
  std::unique_ptr<TextSource> source_;
};

// "/ui" and everything below.
bool is_file_path(std::string_view path);
rt::Task<FileAnswer> find_file(ControllerState& state, FileRequest request);

}  // namespace culvert::api
