#include "core/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>

#include "io/io_testing.hpp"

namespace weft::io::testing {
namespace {

/// With a file that has no name while it is written, and with one that has a temporary name.
class AtomicFileWays : public ::testing::TestWithParam<AtomicFile::Way> {};
INSTANTIATE_TEST_SUITE_P(Ways, AtomicFileWays,
                         ::testing::Values(AtomicFile::Way::unnamed_where_possible, AtomicFile::Way::named));

TEST_P(AtomicFileWays, AppearsOnlyWhenCommitted) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a");
  {
    AtomicFile file(path, GetParam());
    file.write("hello");
    EXPECT_FALSE(std::filesystem::exists(path));
    file.commit();
  }
  EXPECT_EQ(read_bytes(path), "hello");
  EXPECT_EQ(folder.files(), std::vector<std::string>{"a"});
}

TEST_P(AtomicFileWays, LeavesTheOldFileAloneUntilCommitted) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a");
  write_bytes(path, "old");
  ::chmod(path.c_str(), 0640);
  {
    AtomicFile(path, GetParam()).write("new and lost");
  }
  EXPECT_EQ(read_bytes(path), "old");
  AtomicFile file(path, GetParam());
  file.write("new");
  file.commit();
  EXPECT_EQ(read_bytes(path), "new");
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  EXPECT_EQ(folder.files(), std::vector<std::string>{"a"});
}

/// A link to a link to `real`, which is there or is not.
TEST_P(AtomicFileWays, FollowsLinks) {
  for (const bool exists : {true, false}) {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder.file("below"));
    if (exists) write_bytes(folder.file("below/real"), "old");
    std::filesystem::create_symlink("real", folder.file("below/second"));
    std::filesystem::create_symlink("below/second", folder.file("first"));
    AtomicFile file(folder.file("first"), GetParam());
    file.write("new");
    file.commit();
    EXPECT_TRUE(std::filesystem::is_symlink(folder.file("first")));
    EXPECT_TRUE(std::filesystem::is_symlink(folder.file("below/second")));
    EXPECT_EQ(read_bytes(folder.file("below/real")), "new");
  }
}

TEST_P(AtomicFileWays, TemporaryNamesThatAreTakenArePassedOver) {
  const TemporaryFolder folder;
  std::string taken;
  {
    const AtomicFile file(folder.file("a"), AtomicFile::Way::named);
    taken = folder.files().at(0);
  }
  // .a.PID.N.tmp: what the next two would be called.
  const std::size_t at = taken.rfind('.', taken.size() - 5) + 1;
  const int counter = std::stoi(taken.substr(at));
  for (const int next : {counter + 1, counter + 2})
    write_bytes(folder.file(taken.substr(0, at) + std::to_string(next) + ".tmp"), "another's");
  AtomicFile file(folder.file("a"), GetParam());
  file.write("new");
  file.commit();
  EXPECT_EQ(read_bytes(folder.file("a")), "new");
  EXPECT_EQ(folder.files().size(), 3u);
}

/// As a shell's >> opens it: what stood there stays, and what is written later comes behind.
TEST(AtomicFile, AnOpenDescriptorIsWrittenIntoWhereItStands) {
  const TemporaryFolder folder;
  write_bytes(folder.file("log"), "before ");
  const int log = ::open(folder.file("log").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  ASSERT_GE(log, 0);
  std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(log), folder.file("link"));
  for (const std::string& path : {"/dev/fd/" + std::to_string(log), folder.file("link")}) {
    AtomicFile file(path);
    file.write("new ");
    file.commit();
  }
  EXPECT_EQ(::write(log, "after", 5), 5);
  ::close(log);
  EXPECT_EQ(read_bytes(folder.file("log")), "before new new after");
  EXPECT_EQ(error_of([&] { AtomicFile file(folder.file("link")); }).what(),
            "cannot write " + folder.file("link") + ": Bad file descriptor");
}

TEST(AtomicFile, LinksThatGoRoundInACircleAreRefused) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("b", folder.file("a"));
  std::filesystem::create_symlink("a", folder.file("b"));
  const Error error = error_of([&] { AtomicFile file(folder.file("a")); });
  EXPECT_EQ(error.what(), "cannot write " + folder.file("a") + ": Too many levels of symbolic links");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("a")));
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
TEST_P(AtomicFileWays, ASignalInTheMiddleLeavesNothing) {
  const TemporaryFolder folder;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::signal(SIGINT, [](int) {
      remove_unfinished_files();
      ::_exit(1);
    });
    AtomicFile file(folder.file("a"), GetParam());
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
