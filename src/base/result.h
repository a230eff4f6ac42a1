// Result<T>: a value or an Error. The only way failures travel in src/ (nothing here throws).
//
// An Error is 8 bytes and trivially copyable: what happened (code), who caused it (side), whether
// another try may succeed (retry), and the errno behind it, if any. Code that waits and code that
// parses both return it; a caller must look at it ([[nodiscard]]).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

namespace culvert {

// What happened. A code exists only because some caller acts on it.
enum class Errc : uint8_t {
  kNone = 0,
  kWouldBlock,    // nothing to do now: wait for readiness and call again
  kEndOfStream,   // the peer finished its direction in order
  kCancelled,     // the owning Scope was cancelled
  kTimedOut,      // the deadline passed
  kRefused,       // connection refused by the remote host
  kUnreachable,   // no route, network down, host unreachable
  kReset,         // the peer reset the connection
  kBadMessage,    // bytes that violate the protocol spoken
  kTooLarge,      // a stated bound was exceeded
  kUnauthorized,  // missing or wrong credentials
  kNoName,        // the name does not exist or has no address
  kUnsupported,   // valid, but not something this end does
  kRejected,      // refused by a rule or a safety policy
  kExhausted,     // out of descriptors, memory or the bytes-in-flight budget
  kInvalid,       // an argument or option is wrong
  kIo,            // any other failure of the operating system
};

enum class Side : uint8_t { kLocal, kClient, kUpstream };

struct [[nodiscard]] Error {
  Errc code = Errc::kNone;
  Side side = Side::kLocal;
  bool retry = false;
  uint8_t reserved = 0;
  int32_t os_errno = 0;

  constexpr Error() = default;
  constexpr Error(Errc c, Side s = Side::kLocal, bool r = false, int32_t e = 0)
      : code(c), side(s), retry(r), os_errno(e) {}

  // The same error, blamed on `s`.
  [[nodiscard]] constexpr Error from(Side s) const { return {code, s, retry, os_errno}; }
  friend constexpr bool operator==(const Error&, const Error&) = default;
};
static_assert(sizeof(Error) == 8 && std::is_trivially_copyable_v<Error>);

// Lower-case words for logs: "timed out", "connection refused".
std::string_view describe(Errc code);
std::string_view describe(Side side);
// Maps errno to a code; EAGAIN and EINPROGRESS become kWouldBlock.
Error error_from_errno(int os_errno, Side side = Side::kLocal);

namespace detail {
[[noreturn]] void abort_with(const char* what, const char* file, int line);
}
// Broken invariants of our own abort with context; what a peer sends never does.
#define CULVERT_CHECK(condition) \
  ((condition) ? void(0) : ::culvert::detail::abort_with(#condition, __FILE__, __LINE__))

template <class T>
class [[nodiscard]] Result {
 public:
  using Value = T;
  Result(T value) : ok_(true) { new (&value_) T(std::move(value)); }
  Result(Error error) : ok_(false), error_(error) {}
  Result(Errc code) : ok_(false), error_(Error(code)) {}
  Result(Result&& other) noexcept(std::is_nothrow_move_constructible_v<T>) : ok_(other.ok_) {
    if (ok_) {
      new (&value_) T(std::move(other.value_));
    } else {
      error_ = other.error_;
    }
  }
  Result(const Result& other) requires std::is_copy_constructible_v<T> : ok_(other.ok_) {
    if (ok_) {
      new (&value_) T(other.value_);
    } else {
      error_ = other.error_;
    }
  }
  Result& operator=(Result&& other) noexcept {
    if (this != &other) {
      this->~Result();
      new (this) Result(std::move(other));
    }
    return *this;
  }
  Result& operator=(const Result& other) requires std::is_copy_constructible_v<T> {
    if (this != &other) {
      this->~Result();
      new (this) Result(other);
    }
    return *this;
  }
  ~Result() {
    if (ok_) value_.~T();
  }

  explicit operator bool() const { return ok_; }
  [[nodiscard]] bool ok() const { return ok_; }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(value()); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& value() {
    CULVERT_CHECK(ok_);
    return value_;
  }
  const T& value() const {
    CULVERT_CHECK(ok_);
    return value_;
  }
  [[nodiscard]] Error error() const { return ok_ ? Error() : error_; }
  [[nodiscard]] Errc code() const { return ok_ ? Errc::kNone : error_.code; }

 private:
  bool ok_;
  union {
    T value_;
    Error error_;
  };
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(error) {}
  Result(Errc code) : error_(Error(code)) {}
  explicit operator bool() const { return ok(); }
  [[nodiscard]] bool ok() const { return error_.code == Errc::kNone; }
  [[nodiscard]] Error error() const { return error_; }
  [[nodiscard]] Errc code() const { return error_.code; }

 private:
  Error error_;
};
using Status = Result<void>;

}  // namespace culvert
