// One open SQLite file and its statements. The first failure is kept and everything after it does
// nothing: check once, at the end. Internal to store/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace culvert::store {

class Database {
 public:
  enum class Mode : uint8_t {
    kReadWrite,
    // For a file in a folder where SQLite can make none of its own: nothing is locked, so nobody
    // else may be able to write either.
    kImmutable,
  };
  // The file exists already; an empty one is a database without tables.
  Database(const std::string& path, Mode mode);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  // Rolls back an open transaction; the last one to leave the file moves the log into it.
  ~Database();

  // Statements without values, their rows dropped.
  void run(const char* sql);
  // The first column of the first row; 0 when there is none.
  int64_t number(const char* sql);

  [[nodiscard]] bool ok() const { return error_.code == Errc::kNone; }
  [[nodiscard]] Error error() const { return error_; }
  // SQLite's words for error().
  [[nodiscard]] const std::string& text() const { return text_; }
  // The file is no database, or a broken one.
  [[nodiscard]] bool damaged() const { return error_.code == Errc::kBadMessage; }
  // SQLite could not make the files it needs beside this one.
  [[nodiscard]] bool lacks_folder() const { return lacks_folder_; }
  void fail(Error error, std::string text);

 private:
  friend class Query;
  void note(int code);
  sqlite3* db_ = nullptr;
  Error error_;
  std::string text_;
  bool lacks_folder_ = false;
};

// One statement with values. Texts go in and come out as the bytes they are.
class Query {
 public:
  Query(Database& database, const char* sql);
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query();

  // The next value, from the left; `bytes` stay valid as long as the query does.
  Query& bind(std::string_view bytes);
  Query& bind(int64_t number);
  // Whether there is a (further) row; false after a failure too.
  bool next();
  // Of the current row.
  [[nodiscard]] std::string bytes(int column) const;
  [[nodiscard]] int64_t number(int column) const;

 private:
  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

}  // namespace culvert::store
