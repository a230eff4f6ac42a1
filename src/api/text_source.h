// TextSource: an answer that is made a piece at a time, as the client takes it, so that what there
// is of it at once is bounded whatever its whole length.
#pragma once

#include <string_view>

#include "base/clock.h"
#include "rt/task.h"

namespace culvert::api {

class TextSource {
 public:
  // Lists make pieces at least as long, and longer by less than one entry; the last may be shorter.
  static constexpr size_t kPiece = 64 << 10;

  virtual ~TextSource() = default;
  // Makes the next piece. Not after complete(), nor after an error. On the control worker.
  virtual rt::Task<Status> next(TimePoint deadline) = 0;
  // Valid until the next call.
  [[nodiscard]] virtual std::string_view piece() const = 0;
  [[nodiscard]] virtual bool complete() const = 0;
};

}  // namespace culvert::api
