#include "base/result.h"

#include <cerrno>
#include <cstdio>

namespace culvert {

std::string_view describe(Errc code) {
  switch (code) {
    case Errc::kNone:
      return "ok";
    case Errc::kWouldBlock:
      return "would block";
    case Errc::kEndOfStream:
      return "end of stream";
    case Errc::kCancelled:
      return "cancelled";
    case Errc::kTimedOut:
      return "timed out";
    case Errc::kRefused:
      return "connection refused";
    case Errc::kUnreachable:
      return "network unreachable";
    case Errc::kReset:
      return "connection reset";
    case Errc::kBadMessage:
      return "malformed message";
    case Errc::kTooLarge:
      return "message too large";
    case Errc::kUnauthorized:
      return "wrong credentials";
    case Errc::kNoName:
      return "no such name or no address";
    case Errc::kUnsupported:
      return "not supported";
    case Errc::kRejected:
      return "rejected";
    case Errc::kExhausted:
      return "out of resources";
    case Errc::kInvalid:
      return "invalid argument";
    case Errc::kIo:
      return "input/output error";
  }
  return "unknown error";
}

std::string_view describe(Side side) {
  switch (side) {
    case Side::kLocal:
      return "local";
    case Side::kClient:
      return "client";
    case Side::kUpstream:
      return "upstream";
  }
  return "unknown";
}

Error error_from_errno(int os_errno, Side side) {
  switch (os_errno) {
    case EAGAIN:
    case EINPROGRESS:
      return {Errc::kWouldBlock, side, true, os_errno};
    case ECONNREFUSED:
      return {Errc::kRefused, side, true, os_errno};
    case EPIPE:
    case ECONNABORTED:
    case ECONNRESET:
      return {Errc::kReset, side, true, os_errno};
    case ETIMEDOUT:
      return {Errc::kTimedOut, side, true, os_errno};
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case EADDRNOTAVAIL:
      return {Errc::kUnreachable, side, true, os_errno};
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
      return {Errc::kExhausted, Side::kLocal, true, os_errno};
    case EINVAL:
    case EAFNOSUPPORT:
      return {Errc::kInvalid, side, false, os_errno};
    default:
      return {Errc::kIo, side, false, os_errno};
  }
}

namespace detail {
void abort_with(const char* what, const char* file, int line) {
  std::fprintf(stderr, "culvert: broken invariant at %s:%d: %s\n", file, line, what);
  std::abort();
}
}  // namespace detail

}  // namespace culvert
