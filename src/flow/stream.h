// The byte-stream contract of everything that carries a flow. It is declared in rt/stream.h,
// because backends make streams; protocols, transports and the engine know it by this name.
#pragma once

#include <memory>

#include "rt/await.h"
#include "rt/stream.h"
#include "rt/task.h"

namespace culvert::flow {

using rt::Stream;
using rt::Task;
using StreamPtr = std::unique_ptr<Stream>;

struct FlowMeta;

// Wraps a stream in another one: TLS, camouflage, WebSocket. One object serves many streams.
class StreamLayer {
 public:
  virtual ~StreamLayer() = default;
  // Takes over `inner`, does its handshake before `deadline` and returns the wrapped stream. On
  // failure `inner` is closed. `meta` is the flow it is for.
  virtual Task<Result<StreamPtr>> wrap(StreamPtr inner, const FlowMeta& meta,
                                       TimePoint deadline) = 0;
};

}  // namespace culvert::flow
