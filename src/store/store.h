// What the program remembers between runs: which node each group had selected, and the blobs that
// the controller's /storage keeps for a user interface. One SQLite file, of mode 0600.
//
// Nothing is held between calls: each opens the file, does its work in one transaction, and closes
// it. The file is made by the first call that has something to write; reading a file that is not
// there finds nothing.
//
// Threads: every call blocks, on the disk and up to 5 s on another process that is writing, so they
// belong on the background thread; one call at a time, and one Store for a file in a process (the
// kernel's locks are a process's, and closing the file once gives them up).
//
// Durability: SQLite's write-ahead log with synchronous=NORMAL. A transaction is there as a whole
// or not at all, and the file stays whole, whenever the process is killed or the power fails. What
// a call has written survives the process as soon as it is committed. It survives the power once
// the log has been moved into the file, which closing does before the call returns; only while
// another process has the file open may the power take the last transactions.
//
// Errors: kTooLarge and kInvalid, of the arguments; kUnsupported, the file is from a newer version
// or another program's, and stays as it is; kTimedOut, another process holds it; kExhausted, no
// room on the disk; kBadMessage, damaged and could not be set aside; kIo, anything else, with the
// errno as far as it is known. A file that is damaged, or no database, is renamed to
// "<path>.damaged" (in the place of an earlier one), and the call goes on as if there had been
// none.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace culvert::store {

class Database;

class Store {
 public:
  // The tables' layout; a file with a higher one is refused.
  static constexpr int kSchema = 1;
  static constexpr size_t kMaxKey = 64;         // bytes
  static constexpr size_t kMaxBlobs = 1 << 20;  // bytes of all keys and values together
  // Groups that profiles no longer have are remembered too, up to so many in all.
  static constexpr size_t kMaxSelections = 4096;
  // Of a group's and a node's name, bytes.
  static constexpr size_t kMaxName = 4096;

  // (group, node)
  using Selection = std::pair<std::string, std::string>;

  // Touches no file.
  explicit Store(std::string path) : path_(std::move(path)) {}

  [[nodiscard]] const std::string& path() const { return path_; }
  // What the last call has to tell: why it failed, or that it set a damaged file aside (the call
  // may have gone well then). Empty otherwise.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

  // In the order of their writing.
  [[nodiscard]] Result<std::vector<Selection>> selections();
  // All of them or none; an empty node forgets the group. Of more than kMaxSelections the ones
  // written longest ago go.
  [[nodiscard]] Status put_selections(std::span<const Selection> selections);

  // Keys have 1 to kMaxKey bytes; a longer one is kTooLarge, an empty one kInvalid.
  [[nodiscard]] Result<std::optional<std::string>> blob(std::string_view key);
  // Makes room by dropping what was written longest ago; a key and value that exceed kMaxBlobs by
  // themselves are kTooLarge and change nothing.
  [[nodiscard]] Status put_blob(std::string_view key, std::string_view value);
  // Also ok when there is none.
  [[nodiscard]] Status delete_blob(std::string_view key);

 private:
  enum class Access : uint8_t {
    kRead,
    kRemove,  // writes, but has nothing to do where there is no file
    kWrite,
  };
  using Work = std::function<void(Database&)>;

  // Runs `work` in a transaction, a second time when the first found the file damaged. Not at all
  // when there is no file, or one without tables, and `access` does not make it.
  Status batch(Access access, const Work& work);
  Status attempt(Access access, const Work& work, bool& damaged);
  Status run(Database& database, Access access, const Work& work);
  bool set_aside();
  Status check_key(std::string_view key);
  Status fail(Error error, std::string_view what);

  const std::string path_;
  std::string trouble_;
};

}  // namespace culvert::store
