// The epoll backend: edge-triggered, each socket registered once for both directions.
#pragma once

#include <memory>

#include "rt/backend.h"
#include "rt/buffer_pool.h"

namespace culvert::rt {

class Worker;

// Aborts when epoll or eventfd cannot be had: nothing works without them. Streams it makes take
// their buffers from the pool of the worker that is current when they read.
std::unique_ptr<Backend> make_epoll_backend();

// Raises the soft limit of descriptors to the hard one; returns the limit in force.
size_t raise_descriptor_limit();

}  // namespace culvert::rt
