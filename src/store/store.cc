#include "store/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/format.h"
#include "store/database.h"

namespace culvert::store {
namespace {

// "Culv": tells our files from other programs'.
constexpr int64_t kApplication = 0x43756c76;

// `written` grows with every write, which keeps the order. Names and keys are blobs: their bytes
// need not be text.
constexpr const char* kCreate =
    "CREATE TABLE selections (written INTEGER PRIMARY KEY, group_name BLOB NOT NULL UNIQUE,"
    "  node_name BLOB NOT NULL);"
    "CREATE TABLE blobs (written INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE,"
    "  value BLOB NOT NULL);"
    "PRAGMA application_id = 0x43756c76;"
    "PRAGMA user_version = 1";
static_assert(Store::kSchema == 1 && kApplication == 0x43756c76);

std::string os_text(std::string_view what, int os_errno) {
  return format("{}: {}", what, std::strerror(os_errno));
}

Error os_error(int os_errno) {
  if (os_errno == ENOSPC || os_errno == EDQUOT) {
    return {Errc::kExhausted, Side::kLocal, true, os_errno};
  }
  return {Errc::kIo, Side::kLocal, false, os_errno};
}

bool exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

}  // namespace

Status Store::fail(Error error, std::string_view what) {
  if (!trouble_.empty()) trouble_ += "; ";
  trouble_ += format("{}: {}", path_, what);
  return error;
}

Status Store::batch(Access access, const Work& work) {
  trouble_.clear();
  bool damaged = false;
  const Status first = attempt(access, work, damaged);
  if (!damaged || !set_aside()) return first;
  return attempt(access, work, damaged);
}

Status Store::attempt(Access access, const Work& work, bool& damaged) {
  damaged = false;
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0) {
    if (errno != ENOENT) return fail(os_error(errno), os_text("cannot look at it", errno));
    if (access != Access::kWrite) return {};
    // SQLite would make it readable for others.
    const int fd = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return fail(os_error(errno), os_text("cannot make it", errno));
    ::close(fd);
  } else if (!S_ISREG(status.st_mode)) {
    return fail({Errc::kInvalid, Side::kLocal, false, 0}, "not a regular file");
  }
  {
    Database database(path_, Database::Mode::kReadWrite);
    const Status done = run(database, access, work);
    if (done.ok()) return done;
    damaged = database.damaged();
    // A log would hold transactions that the file alone does not show.
    const bool alone =
        access == Access::kRead && database.lacks_folder() && !exists(path_ + "-wal");
    if (!alone) return fail(done.error(), database.text());
  }
  Database database(path_, Database::Mode::kImmutable);
  const Status done = run(database, access, work);
  if (done.ok()) return done;
  damaged = database.damaged();
  return fail(done.error(), database.text());
}

Status Store::run(Database& database, Access access, const Work& work) {
  const bool writes = access != Access::kRead;
  // The log is a property of the file. Where the file system cannot have one, SQLite goes on with
  // its rollback journal.
  if (access == Access::kWrite) database.run("PRAGMA journal_mode = WAL");
  database.run(writes ? "BEGIN IMMEDIATE" : "BEGIN");
  const int64_t schema = database.number("PRAGMA user_version");
  const int64_t application = database.number("PRAGMA application_id");
  const bool empty = database.number("SELECT count(*) FROM sqlite_master") == 0;
  if (!database.ok()) return database.error();
  if (empty && schema == 0) {
    if (access != Access::kWrite) return {};
    database.run(kCreate);
  } else if (application != kApplication) {
    database.fail({Errc::kUnsupported, Side::kLocal, false, 0},
                  "the database of another program, left as it is");
  } else if (schema != kSchema) {
    database.fail({Errc::kUnsupported, Side::kLocal, false, 0},
                  format("written by a newer version (schema {}, this one knows {}), left as it is",
                         schema, kSchema));
  }
  if (database.ok()) work(database);
  database.run("COMMIT");
  return database.ok() ? Status() : Status(database.error());
}

bool Store::set_aside() {
  const std::string aside = path_ + ".damaged";
  // The log goes along: together they may still be read by those who know how.
  ::unlink((aside + "-wal").c_str());
  if (::rename(path_.c_str(), aside.c_str()) != 0) {
    trouble_ += os_text("; cannot set it aside", errno);
    return false;
  }
  ::rename((path_ + "-wal").c_str(), (aside + "-wal").c_str());
  ::unlink((path_ + "-shm").c_str());
  trouble_ += "; kept as " + aside + ", beginning anew";
  return true;
}

Status Store::check_key(std::string_view key) {
  trouble_.clear();
  if (key.empty()) return fail({Errc::kInvalid, Side::kLocal, false, 0}, "an empty key");
  if (key.size() > kMaxKey) {
    return fail({Errc::kTooLarge, Side::kLocal, false, 0},
                format("a key of {} bytes, at most {}", key.size(), kMaxKey));
  }
  return {};
}

Result<std::vector<Store::Selection>> Store::selections() {
  std::vector<Selection> out;
  const Status done = batch(Access::kRead, [&](Database& database) {
    out.clear();
    Query query(database, "SELECT group_name, node_name FROM selections ORDER BY written");
    while (query.next()) out.emplace_back(query.bytes(0), query.bytes(1));
  });
  if (!done.ok()) return done.error();
  return out;
}

Status Store::put_selections(std::span<const Selection> selections) {
  trouble_.clear();
  bool keeps = false;
  for (const Selection& selection : selections) {
    if (selection.first.size() > kMaxName || selection.second.size() > kMaxName) {
      return fail({Errc::kTooLarge, Side::kLocal, false, 0},
                  format("a name of more than {} bytes", kMaxName));
    }
    keeps = keeps || !selection.second.empty();
  }
  if (selections.empty()) return {};
  return batch(keeps ? Access::kWrite : Access::kRemove, [&](Database& database) {
    for (const auto& [group, node] : selections) {
      Query(database, "DELETE FROM selections WHERE group_name = ?").bind(group).next();
      if (node.empty()) continue;
      Query(database, "INSERT INTO selections (group_name, node_name) VALUES (?, ?)")
          .bind(group)
          .bind(node)
          .next();
    }
    Query(database,
          "DELETE FROM selections WHERE written <= (SELECT written FROM selections"
          "  ORDER BY written DESC LIMIT 1 OFFSET ?)")
        .bind(static_cast<int64_t>(kMaxSelections))
        .next();
  });
}

Result<std::optional<std::string>> Store::blob(std::string_view key) {
  const Status valid = check_key(key);
  if (!valid.ok()) return valid.error();
  std::optional<std::string> out;
  const Status done = batch(Access::kRead, [&](Database& database) {
    out.reset();
    Query query(database, "SELECT value FROM blobs WHERE key = ?");
    query.bind(key);
    if (query.next()) out = query.bytes(0);
  });
  if (!done.ok()) return done.error();
  return out;
}

Status Store::put_blob(std::string_view key, std::string_view value) {
  const Status valid = check_key(key);
  if (!valid.ok()) return valid;
  if (value.size() > kMaxBlobs - key.size()) {
    return fail({Errc::kTooLarge, Side::kLocal, false, 0},
                format("a value of {} bytes, at most {} with its key", value.size(), kMaxBlobs));
  }
  return batch(Access::kWrite, [&](Database& database) {
    Query(database, "DELETE FROM blobs WHERE key = ?").bind(key).next();
    Query(database, "INSERT INTO blobs (key, value) VALUES (?, ?)").bind(key).bind(value).next();
    // Counted from the newest; what no longer fits, and all before it, goes.
    Query(database,
          "DELETE FROM blobs WHERE written IN (SELECT written FROM (SELECT written,"
          "  sum(length(key) + length(value)) OVER (ORDER BY written DESC) AS bytes FROM blobs)"
          "  WHERE bytes > ?)")
        .bind(static_cast<int64_t>(kMaxBlobs))
        .next();
  });
}

Status Store::delete_blob(std::string_view key) {
  const Status valid = check_key(key);
  if (!valid.ok()) return valid;
  return batch(Access::kRemove, [&](Database& database) {
    Query(database, "DELETE FROM blobs WHERE key = ?").bind(key).next();
  });
}

}  // namespace culvert::store
