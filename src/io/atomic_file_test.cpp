#include "io/atomic_file.hpp"

#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>

#include "io/io_testing.hpp"

namespace weft::io::testing {
namespace {

TEST(AtomicFile, AppearsOnlyWhenCommitted) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a");
  {
    AtomicFile file(path);
    file.write("hello");
    EXPECT_FALSE(std::filesystem::exists(path));
    file.commit();
  }
  EXPECT_EQ(read_bytes(path), "hello");
  EXPECT_EQ(folder.files(), std::vector<std::string>{"a"});
}

TEST(AtomicFile, LeavesTheOldFileAloneUntilCommitted) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a");
  write_bytes(path, "old");
  ::chmod(path.c_str(), 0640);
  {
    AtomicFile(path).write("new and lost");
  }
  EXPECT_EQ(read_bytes(path), "old");
  AtomicFile file(path);
  file.write("new");
  file.commit();
  EXPECT_EQ(read_bytes(path), "new");
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  EXPECT_EQ(folder.files(), std::vector<std::string>{"a"});
}

TEST(AtomicFile, FollowsLinks) {
  const TemporaryFolder folder;
  write_bytes(folder.file("real"), "old");
  std::filesystem::create_symlink("real", folder.file("link"));
  AtomicFile file(folder.file("link"));
  file.write("new");
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link")));
  EXPECT_EQ(read_bytes(folder.file("real")), "new");
}

TEST(AtomicFile, PlacesThatCannotBeWrittenAreRefused) {
  const TemporaryFolder folder;
  const auto sentence = [](const std::string& path) {
    const Error error = error_of([&] { AtomicFile file(path); });
    EXPECT_EQ(error.code(), ErrorCode::io);
    return std::string(error.what());
  };
  const std::string directory = folder.file("").substr(0, folder.file("").size() - 1);
  EXPECT_EQ(sentence(directory), "cannot write " + directory + ": it is a directory");
  EXPECT_EQ(sentence(folder.file("no/such/a")),
            "cannot write " + folder.file("no/such/a") + ": No such file or directory");
  EXPECT_EQ(sentence(""), "cannot write a file without a name");
}

TEST(AtomicFile, AFullDiskIsToldAndDevicesAreNotReplaced) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const std::vector<double> vector(100000, 0.1);
  const Error error = error_of([&] { write_vector<double>("/dev/full", vector); });
  EXPECT_EQ(error.code(), ErrorCode::io);
  EXPECT_STREQ(error.what(), "cannot write /dev/full: No space left on device");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
  write_vector<double>("/dev/null", vector);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

/// A program killed by a signal in the middle of a write leaves nothing, with a handler as the command line tool has.
TEST(AtomicFile, ASignalInTheMiddleLeavesNothing) {
  const TemporaryFolder folder;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::signal(SIGINT, [](int) {
      remove_unfinished_files();
      ::_exit(1);
    });
    AtomicFile file(folder.file("a"));
    file.write("half");
    ::raise(SIGINT);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_TRUE(folder.files().empty());
}

}  // namespace
}  // namespace weft::io::testing
