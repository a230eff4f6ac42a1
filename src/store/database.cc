#include "store/database.h"

#include <sqlite3.h>

#include <cerrno>
#include <utility>

namespace culvert::store {
namespace {

// Another process may be in the middle of a batch of its own.
constexpr int kBusyMs = 5000;
// Longest value a file may show: what is written stays far below, so a larger one is not ours.
constexpr int kMaxValue = 4 << 20;

Error error_for(int code, int os_errno) {
  switch (code & 0xff) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return {Errc::kBadMessage, Side::kLocal, false, 0};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {Errc::kTimedOut, Side::kLocal, true, 0};
    case SQLITE_FULL:
    case SQLITE_NOMEM:
      return {Errc::kExhausted, Side::kLocal, true, os_errno};
    case SQLITE_TOOBIG:
      return {Errc::kTooLarge, Side::kLocal, false, 0};
    default:
      break;
  }
  if (os_errno == ENOSPC || os_errno == EDQUOT) {
    return {Errc::kExhausted, Side::kLocal, true, os_errno};
  }
  return {Errc::kIo, Side::kLocal, false, os_errno};
}

// A URI, in which these characters would mean something.
std::string immutable_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    switch (c) {
      case '%':
        uri += "%25";
        break;
      case '?':
        uri += "%3f";
        break;
      case '#':
        uri += "%23";
        break;
      default:
        uri += c;
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

Database::Database(const std::string& path, Mode mode) {
  // One thread at a time uses a connection, so it needs no mutex.
  int code;
  if (mode == Mode::kReadWrite) {
    code =
        sqlite3_open_v2(path.c_str(), &db_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  } else {
    code = sqlite3_open_v2(immutable_uri(path).c_str(), &db_,
                           SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  }
  note(code);
  if (!ok()) return;
  sqlite3_extended_result_codes(db_, 1);
  sqlite3_busy_timeout(db_, kBusyMs);
  sqlite3_limit(db_, SQLITE_LIMIT_LENGTH, kMaxValue);
  // What the file itself brings along is not trusted.
  sqlite3_db_config(db_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  run("PRAGMA cell_size_check = ON; PRAGMA synchronous = NORMAL");
}

Database::~Database() {
  sqlite3_close(db_);
}

void Database::fail(Error error, std::string text) {
  if (!ok()) return;
  error_ = error;
  text_ = std::move(text);
}

void Database::note(int code) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE || !ok()) return;
  const int primary = code & 0xff;
  lacks_folder_ = primary == SQLITE_CANTOPEN || primary == SQLITE_READONLY;
  const bool system = primary == SQLITE_CANTOPEN || primary == SQLITE_IOERR ||
                      primary == SQLITE_FULL || primary == SQLITE_READONLY;
  const int os_errno = system && db_ != nullptr ? sqlite3_system_errno(db_) : 0;
  fail(error_for(code, os_errno), db_ != nullptr ? sqlite3_errmsg(db_) : sqlite3_errstr(code));
}

void Database::run(const char* sql) {
  if (ok()) note(sqlite3_exec(db_, sql, nullptr, nullptr, nullptr));
}

int64_t Database::number(const char* sql) {
  Query query(*this, sql);
  return query.next() ? query.number(0) : 0;
}

Query::Query(Database& database, const char* sql) : database_(database) {
  if (database_.ok()) {
    database_.note(sqlite3_prepare_v2(database_.db_, sql, -1, &statement_, nullptr));
  }
}

Query::~Query() {
  sqlite3_finalize(statement_);
}

Query& Query::bind(std::string_view bytes) {
  // A null pointer would be SQL's NULL.
  const char* data = bytes.data() != nullptr ? bytes.data() : "";
  if (database_.ok()) {
    database_.note(sqlite3_bind_blob64(statement_, ++bound_, data, bytes.size(), SQLITE_STATIC));
  }
  return *this;
}

Query& Query::bind(int64_t number) {
  if (database_.ok()) database_.note(sqlite3_bind_int64(statement_, ++bound_, number));
  return *this;
}

bool Query::next() {
  if (!database_.ok()) return false;
  const int code = sqlite3_step(statement_);
  database_.note(code);
  return code == SQLITE_ROW;
}

std::string Query::bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  if (data == nullptr) return {};
  return {static_cast<const char*>(data),
          static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

int64_t Query::number(int column) const {
  return sqlite3_column_int64(statement_, column);
}

}  // namespace culvert::store
