// A stream whose other end the test keeps: it shows what became of the inner one after its user has
// destroyed this.
#pragma once

#include "flow/testing/twins.h"

namespace culvert::flow::testing {

class LentStream final : public Stream {
 public:
  explicit LentStream(MemoryStream& inner) : inner_(inner) {}
  ~LentStream() override {
    if (!inner_.closed()) inner_.close();
  }
  Status opened() override { return inner_.opened(); }
  Result<MutableBytes> lend() override { return inner_.lend(); }
  void consume(size_t n) override { inner_.consume(n); }
  size_t unread() const override { return inner_.unread(); }
  Result<size_t> write(std::span<const iovec> data) override { return inner_.write(data); }
  Status shutdown_write() override { return inner_.shutdown_write(); }
  void close() override { inner_.close(); }
  void abort() override { inner_.abort(); }
  void wait_readable(rt::Waiter* waiter) override { inner_.wait_readable(waiter); }
  void wait_writable(rt::Waiter* waiter) override { inner_.wait_writable(waiter); }
  Endpoint local() const override { return inner_.local(); }
  Endpoint remote() const override { return inner_.remote(); }

 private:
  MemoryStream& inner_;
};

}  // namespace culvert::flow::testing
