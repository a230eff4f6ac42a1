#include "store/store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "store/database.h"

namespace culvert::store {
namespace {

namespace fs = std::filesystem;
using Selections = std::vector<Store::Selection>;

// Without their rights over files until it ends, so that root meets permissions too.
class Unprivileged {
 public:
  Unprivileged() : before_(geteuid()) {
    if (before_ == 0 && seteuid(65534) != 0) failed_ = true;
  }
  ~Unprivileged() {
    if (seteuid(before_) != 0) std::abort();
  }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  uid_t before_;
  bool failed_ = false;
};

class StoreFile : public ::testing::Test {
 protected:
  StoreFile() {
    std::string pattern = ::testing::TempDir() + "culvert-store-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    path_ = folder_ / "culvert.db";
  }
  ~StoreFile() override {
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }
  void write_file(std::string_view bytes) { std::ofstream(path_, std::ios::binary) << bytes; }
  [[nodiscard]] std::string read_file(const fs::path& path) const {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // How many files the folder has: no log and no shared memory stay behind.
  [[nodiscard]] size_t files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  static std::string blob_of(Store& store, std::string_view key) {
    const auto got = store.blob(key);
    EXPECT_TRUE(got.ok()) << store.trouble();
    return got.ok() && *got ? **got : "(none)";
  }

  fs::path folder_;
  fs::path path_;
};

TEST_F(StoreFile, NothingIsMadeBeforeSomethingIsWritten) {
  Store store(path_);
  EXPECT_TRUE(store.selections()->empty());
  EXPECT_FALSE(store.blob("key")->has_value());
  EXPECT_TRUE(store.delete_blob("key").ok());
  EXPECT_TRUE(store.put_selections({}).ok());
  const Selections forget{{"group", ""}};
  EXPECT_TRUE(store.put_selections(forget).ok());
  EXPECT_EQ(files(), 0u);
  EXPECT_EQ(store.trouble(), "");
}

TEST_F(StoreFile, AnEmptyFileIsAnEmptyStore) {
  write_file("");
  Store store(path_);
  EXPECT_TRUE(store.selections()->empty());
  EXPECT_TRUE(store.delete_blob("key").ok());
  EXPECT_EQ(fs::file_size(path_), 0u);
  ASSERT_TRUE(store.put_blob("key", "value").ok()) << store.trouble();
  EXPECT_EQ(blob_of(store, "key"), "value");
  EXPECT_EQ(files(), 1u);
}

TEST_F(StoreFile, IsReadableByItsOwnerAlone) {
  const mode_t before = umask(0);
  Store store(path_);
  const Status put = store.put_blob("key", "value");
  umask(before);
  ASSERT_TRUE(put.ok()) << store.trouble();
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(files(), 1u) << "no log and no shared memory stay";
}

TEST_F(StoreFile, SelectionsSurvive) {
  const Selections first{{"one", "a"}, {"two", "b"}, {"three", "c"}};
  ASSERT_TRUE(Store(path_).put_selections(first).ok());
  EXPECT_EQ(*Store(path_).selections(), first);
  const Selections second{{"one", "d"}, {"two", ""}, {"nobody", ""}};
  ASSERT_TRUE(Store(path_).put_selections(second).ok());
  EXPECT_EQ(*Store(path_).selections(), (Selections{{"three", "c"}, {"one", "d"}}));
}

TEST_F(StoreFile, TheLastOfTwoSelectionsOfAGroupCounts) {
  const Selections both{{"one", "a"}, {"one", "b"}};
  Store store(path_);
  ASSERT_TRUE(store.put_selections(both).ok());
  EXPECT_EQ(*store.selections(), (Selections{{"one", "b"}}));
}

TEST_F(StoreFile, NamesAreBytes) {
  const std::string zero("a\0b", 3);
  const Selections odd{{"🚀 Proxy", "香港 | '1' \"2\""},
                       {zero, "x'; DROP TABLE selections; --"},
                       {"a", std::string("\xff\xfe", 2)},
                       {"", "group without a name"},
                       {"\n\t", "🇯🇵"}};
  ASSERT_TRUE(Store(path_).put_selections(odd).ok());
  EXPECT_EQ(*Store(path_).selections(), odd);
  Store store(path_);
  ASSERT_TRUE(store.put_blob(zero, std::string(3, '\0')).ok());
  EXPECT_EQ(blob_of(store, zero), std::string(3, '\0'));
  EXPECT_EQ(blob_of(store, "a"), "(none)");
}

TEST_F(StoreFile, SelectionsWrittenLongestAgoMakeRoom) {
  Selections many;
  for (size_t i = 0; i < Store::kMaxSelections; ++i) many.emplace_back(std::to_string(i), "node");
  Store store(path_);
  ASSERT_TRUE(store.put_selections(many).ok());
  EXPECT_EQ(store.selections()->size(), Store::kMaxSelections);
  const Selections more{{"0", "again"}, {"new", "node"}};
  ASSERT_TRUE(store.put_selections(more).ok());
  const auto left = store.selections();
  ASSERT_EQ(left->size(), Store::kMaxSelections);
  EXPECT_EQ(left->front().first, "2") << "0 was written again, 1 had to go";
  EXPECT_EQ(left->back().first, "new");
}

TEST_F(StoreFile, ANameHasABound) {
  Store store(path_);
  const Selections longest{{std::string(Store::kMaxName, 'g'), std::string(Store::kMaxName, 'n')}};
  ASSERT_TRUE(store.put_selections(longest).ok());
  const Selections longer{{"other", "node"}, {"group", std::string(Store::kMaxName + 1, 'n')}};
  EXPECT_EQ(store.put_selections(longer).code(), Errc::kTooLarge);
  EXPECT_EQ(*store.selections(), longest) << "all or none";
}

TEST_F(StoreFile, BlobsSurvive) {
  std::string value;
  for (int i = 0; i < 1000; ++i) value += static_cast<char>(i);
  ASSERT_TRUE(Store(path_).put_blob("key", value).ok());
  ASSERT_TRUE(Store(path_).put_blob("empty", "").ok());
  Store store(path_);
  EXPECT_EQ(blob_of(store, "key"), value);
  EXPECT_EQ(blob_of(store, "empty"), "");
  EXPECT_EQ(blob_of(store, "KEY"), "(none)");
  ASSERT_TRUE(store.delete_blob("key").ok());
  ASSERT_TRUE(store.delete_blob("key").ok());
  Store again(path_);
  EXPECT_EQ(blob_of(again, "key"), "(none)");
}

TEST_F(StoreFile, KeysHaveABound) {
  Store store(path_);
  EXPECT_EQ(store.put_blob("", "value").code(), Errc::kInvalid);
  EXPECT_EQ(store.blob("").code(), Errc::kInvalid);
  const std::string longest(Store::kMaxKey, 'k');
  EXPECT_TRUE(store.put_blob(longest, "value").ok());
  EXPECT_EQ(blob_of(store, longest), "value");
  EXPECT_EQ(store.put_blob(longest + "k", "value").code(), Errc::kTooLarge);
  EXPECT_EQ(store.blob(longest + "k").code(), Errc::kTooLarge);
  EXPECT_EQ(store.delete_blob(longest + "k").code(), Errc::kTooLarge);
  EXPECT_NE(store.trouble(), "");
}

TEST_F(StoreFile, BlobsWrittenLongestAgoMakeRoom) {
  Store store(path_);
  const size_t quarter = Store::kMaxBlobs / 4 - 1;  // four of them fill it to the byte
  const std::string value(quarter, 'v');
  for (const char* key : {"a", "b", "c", "d"}) ASSERT_TRUE(store.put_blob(key, value).ok());
  EXPECT_EQ(blob_of(store, "a"), value) << "exactly full is not too much";
  // Written again, `a` is the newest.
  ASSERT_TRUE(store.put_blob("a", value).ok());
  ASSERT_TRUE(store.put_blob("e", "").ok());
  EXPECT_EQ(blob_of(store, "b"), "(none)") << "one byte too many costs the oldest";
  EXPECT_EQ(blob_of(store, "c"), value);
  EXPECT_EQ(blob_of(store, "d"), value);
  EXPECT_EQ(blob_of(store, "a"), value);
  EXPECT_EQ(blob_of(store, "e"), "");
  // A key that grows gives way to itself first.
  ASSERT_TRUE(store.put_blob("c", std::string(2 * quarter, 'w')).ok());
  EXPECT_EQ(blob_of(store, "d"), value);
  EXPECT_EQ(blob_of(store, "c").size(), 2 * quarter);
}

TEST_F(StoreFile, AValueThatNeverFitsChangesNothing) {
  Store store(path_);
  ASSERT_TRUE(store.put_blob("key", "value").ok());
  EXPECT_EQ(store.put_blob("other", std::string(Store::kMaxBlobs - 4, 'v')).code(),
            Errc::kTooLarge);
  EXPECT_EQ(blob_of(store, "key"), "value");
  ASSERT_TRUE(store.put_blob("other", std::string(Store::kMaxBlobs - 5, 'v')).ok());
  EXPECT_EQ(blob_of(store, "other").size(), Store::kMaxBlobs - 5);
  EXPECT_EQ(blob_of(store, "key"), "(none)");
}

TEST_F(StoreFile, WhatIsNoDatabaseIsSetAside) {
  for (const std::string& garbage :
       {std::string("xy"), std::string("selections:\n  one: a\n"), std::string(70'000, '\x5a')}) {
    write_file(garbage);
    Store reader(path_);
    const auto read = reader.selections();
    ASSERT_TRUE(read.ok()) << garbage.size() << ": " << reader.trouble();
    EXPECT_TRUE(read->empty());
    EXPECT_NE(reader.trouble().find(".damaged"), std::string::npos) << reader.trouble();
    EXPECT_EQ(read_file(path_.string() + ".damaged"), garbage);
    EXPECT_FALSE(fs::exists(path_));
    EXPECT_TRUE(reader.selections().ok());
    EXPECT_EQ(reader.trouble(), "") << "told once";

    write_file(garbage);
    Store writer(path_);
    ASSERT_TRUE(writer.put_blob("key", "value").ok()) << writer.trouble();
    EXPECT_NE(writer.trouble(), "");
    EXPECT_EQ(blob_of(writer, "key"), "value");
    EXPECT_EQ(files(), 2u);
    fs::remove(path_);
  }
}

TEST_F(StoreFile, ADamagedFileIsSetAside) {
  {
    Store store(path_);
    for (int i = 0; i < 50; ++i) {
      ASSERT_TRUE(store.put_blob(std::to_string(i), std::string(10'000, 'v')).ok());
    }
  }
  const std::string whole = read_file(path_);
  size_t set_aside = 0;
  // Cut and overwritten in different places: whatever is noticed is set aside, nothing crashes, and
  // the file can be written in the end.
  for (size_t i = 0; i < 40; ++i) {
    std::string broken = whole;
    if (i % 2 == 0) {
      broken.resize(whole.size() * i / 40);
    } else {
      broken.replace(whole.size() * i / 40 / 4096 * 4096, 4096, std::string(4096, '\xa5'));
    }
    fs::remove(path_.string() + ".damaged");
    write_file(broken);
    Store store(path_);
    ASSERT_TRUE(store.selections().ok()) << store.trouble();
    for (int key = 0; key < 50; key += 7) ASSERT_TRUE(store.blob(std::to_string(key)).ok());
    ASSERT_TRUE(store.put_blob("key", "value").ok()) << i << ": " << store.trouble();
    EXPECT_EQ(blob_of(store, "key"), "value");
    if (fs::exists(path_.string() + ".damaged")) {
      ++set_aside;
      EXPECT_EQ(read_file(path_.string() + ".damaged").size(), broken.size());
    }
  }
  EXPECT_GT(set_aside, 20u);
}

TEST_F(StoreFile, ANewerVersionsFileIsLeftAlone) {
  ASSERT_TRUE(Store(path_).put_blob("key", "value").ok());
  { Database(path_, Database::Mode::kReadWrite).run("PRAGMA user_version = 2"); }
  Store store(path_);
  EXPECT_EQ(store.blob("key").code(), Errc::kUnsupported);
  EXPECT_EQ(store.put_blob("key", "other").code(), Errc::kUnsupported);
  EXPECT_EQ(store.delete_blob("key").code(), Errc::kUnsupported);
  EXPECT_NE(store.trouble().find("newer"), std::string::npos) << store.trouble();
  { Database(path_, Database::Mode::kReadWrite).run("PRAGMA user_version = 1"); }
  EXPECT_EQ(blob_of(store, "key"), "value");
}

TEST_F(StoreFile, AnotherProgramsDatabaseIsLeftAlone) {
  write_file("");
  { Database(path_, Database::Mode::kReadWrite).run("CREATE TABLE bookmarks (url TEXT)"); }
  const std::string before = read_file(path_);
  Store store(path_);
  EXPECT_EQ(store.selections().code(), Errc::kUnsupported);
  EXPECT_EQ(store.delete_blob("key").code(), Errc::kUnsupported);
  EXPECT_NE(store.trouble().find("another program"), std::string::npos) << store.trouble();
  EXPECT_EQ(read_file(path_), before);
  EXPECT_EQ(store.put_blob("key", "value").code(), Errc::kUnsupported);
  EXPECT_EQ(files(), 1u);
}

TEST_F(StoreFile, WhatIsNoFileIsRefused) {
  fs::create_directory(path_);
  Store folder(path_);
  EXPECT_EQ(folder.selections().code(), Errc::kInvalid);
  EXPECT_EQ(folder.put_blob("key", "value").code(), Errc::kInvalid);
  fs::remove(path_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  Store pipe(path_);
  EXPECT_EQ(pipe.selections().code(), Errc::kInvalid);
  EXPECT_EQ(files(), 1u);
}

TEST_F(StoreFile, AMissingFolderIsReported) {
  Store store((folder_ / "missing" / "culvert.db").string());
  EXPECT_TRUE(store.selections().ok());
  const Status put = store.put_blob("key", "value");
  EXPECT_EQ(put.code(), Errc::kIo);
  EXPECT_EQ(put.error().os_errno, ENOENT);
  EXPECT_NE(store.trouble().find("missing"), std::string::npos);
}

TEST_F(StoreFile, AReadOnlyFolderCanBeReadFrom) {
  const Selections kept{{"one", "a"}};
  ASSERT_TRUE(Store(path_).put_selections(kept).ok());
  if (geteuid() == 0) {
    ASSERT_EQ(chown(path_.c_str(), 65534, 65534), 0);
  }
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec | fs::perms::group_exec |
                               fs::perms::others_read | fs::perms::others_exec);
  const Unprivileged drop;
  if (drop.failed()) GTEST_SKIP() << "cannot give up root's rights";
  Store store(path_);
  const auto read = store.selections();
  ASSERT_TRUE(read.ok()) << store.trouble();
  EXPECT_EQ(*read, kept);
  const Selections change{{"one", "b"}};
  EXPECT_EQ(store.put_selections(change).code(), Errc::kIo);
  EXPECT_NE(store.trouble(), "");
  EXPECT_EQ(*store.selections(), kept);
  Store other((folder_ / "other.db").string());
  const Status put = other.put_blob("key", "value");
  EXPECT_EQ(put.code(), Errc::kIo);
  EXPECT_EQ(put.error().os_errno, EACCES);
  // Damage is told where it cannot be set aside.
  std::ofstream(path_, std::ios::binary) << std::string(5000, 'x');
  EXPECT_EQ(store.selections().code(), Errc::kBadMessage);
  EXPECT_NE(store.trouble().find("set it aside"), std::string::npos) << store.trouble();
}

TEST_F(StoreFile, AReadOnlyFileIsReported) {
  ASSERT_TRUE(Store(path_).put_blob("key", "value").ok());
  if (geteuid() == 0) {
    ASSERT_EQ(chown(path_.c_str(), 65534, 65534), 0);
    ASSERT_EQ(chown(folder_.c_str(), 65534, 65534), 0);
  }
  fs::permissions(path_, fs::perms::owner_read);
  {
    const Unprivileged drop;
    if (drop.failed()) GTEST_SKIP() << "cannot give up root's rights";
    Store store(path_);
    EXPECT_EQ(blob_of(store, "key"), "value");
    EXPECT_EQ(store.put_blob("key", "other").code(), Errc::kIo);
    EXPECT_EQ(blob_of(store, "key"), "value");
  }
}

TEST_F(StoreFile, AFailedWriteIsReportedAndCostsNothing) {
  Store store(path_);
  ASSERT_TRUE(store.put_blob("key", "value").ok());
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto signal_before = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100'000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status put = store.put_blob("key", std::string(300'000, 'v'));
  const std::string trouble = store.trouble();
  const std::string kept = blob_of(store, "key");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, signal_before);
  EXPECT_FALSE(put.ok());
  EXPECT_NE(trouble, "");
  EXPECT_EQ(kept, "value");
  ASSERT_TRUE(store.put_blob("key", std::string(300'000, 'v')).ok()) << store.trouble();
  EXPECT_EQ(blob_of(store, "key").size(), 300'000u);
}

TEST_F(StoreFile, AFullDiskIsReportedAndCostsNothing) {
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=128k") != 0) {
    GTEST_SKIP() << "cannot mount a small disk: " << std::strerror(errno);
  }
  Store store(path_);
  const Status first = store.put_blob("key", "value");
  const Status second = store.put_blob("key", std::string(300'000, 'v'));
  const std::string trouble = store.trouble();
  const std::string kept = blob_of(store, "key");
  const Status third = store.put_blob("key", "other");
  const std::string last = blob_of(store, "key");
  ASSERT_EQ(umount(folder_.c_str()), 0);
  EXPECT_TRUE(first.ok());
  EXPECT_EQ(second.code(), Errc::kExhausted) << trouble;
  EXPECT_NE(trouble, "");
  EXPECT_EQ(kept, "value");
  EXPECT_TRUE(third.ok()) << "what fits is taken again";
  EXPECT_EQ(last, "other");
}

TEST_F(StoreFile, TwoProcessesWriteInTurn) {
  ASSERT_TRUE(Store(path_).put_blob("key", "value").ok());
  const auto write_all = [&](const std::string& name) {
    Store store(path_);
    for (int i = 0; i < 30; ++i) {
      const Selections one{{name + std::to_string(i), "node"}};
      if (!store.put_selections(one).ok()) return false;
    }
    return true;
  };
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(write_all("child") ? 0 : 1);
  EXPECT_TRUE(write_all("parent"));
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Store(path_).selections()->size(), 60u);
  EXPECT_EQ(files(), 1u);
}

TEST_F(StoreFile, AProcessThatDiesInABatchLosesThatBatchAlone) {
  ASSERT_TRUE(Store(path_).put_blob("key", "value").ok());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Database database(path_, Database::Mode::kReadWrite);
    database.run("BEGIN IMMEDIATE; UPDATE blobs SET value = 'one'; COMMIT");
    database.run("BEGIN IMMEDIATE; UPDATE blobs SET value = 'two'");
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_GT(files(), 1u) << "its log is still there";
  Store store(path_);
  EXPECT_EQ(blob_of(store, "key"), "one");
  EXPECT_EQ(files(), 1u);
}

}  // namespace
}  // namespace culvert::store
