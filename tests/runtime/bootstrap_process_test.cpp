// join() between processes, and what the others learn when one of them dies on the way.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "ranks.hpp"

namespace tutti {
namespace {

using test::Children;
using test::patient;
using test::request_of;
using test::start_server;

std::string outcome_of(const Result<Membership>& joined) {
  return joined.ok() ? "joined" : fmt::format("{} {}", name_of(joined.status().code()), joined.status().to_string());
}

TEST(BootstrapProcesses, Join) {
  for (const int num_ranks : {1, 2, 5, 16}) {
    SCOPED_TRACE(num_ranks);
    Children children(num_ranks, [&](int rank, const UniqueId& id, const Children::Report& report) {
      Result<Membership> joined = join(request_of(id, rank, num_ranks), patient());
      report(outcome_of(joined));
    });
    const auto server = start_server();
    children.release(server->id());
    for (int rank = 0; rank < num_ranks; ++rank) {
      EXPECT_EQ(children.line(rank), "joined");
      EXPECT_EQ(children.wait_for_end(rank), 0);
    }
  }
}

struct Death {
  int rank;
  JoinStage stage;
};

class BootstrapDeath : public testing::TestWithParam<Death> {};

// At each stage that a rank can reach before all are complete, its death is an error that names it to all others.
TEST_P(BootstrapDeath, IsNamedToTheOthers) {
  const Death death = GetParam();
  constexpr int kRanks = 4;
  Children children(kRanks, [&](int rank, const UniqueId& id, const Children::Report& report) {
    JoinOptions options = patient();
    if (rank == death.rank) {
      options.on_stage = [&](JoinStage stage) {
        if (stage == death.stage) ::kill(getpid(), SIGKILL);
      };
    }
    report(outcome_of(join(request_of(id, rank, kRanks), options)));
  });
  const auto server = start_server();
  children.release(server->id());
  EXPECT_TRUE(WIFSIGNALED(children.wait_for_end(death.rank)));
  const std::string expected = fmt::format("rank lost rank {} (process {}) ended before the communicator was complete",
                                           death.rank, children.pid(death.rank));
  for (int rank = 0; rank < kRanks; ++rank) {
    if (rank == death.rank) continue;
    EXPECT_EQ(children.line(rank), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(EachStage, BootstrapDeath,
                         testing::Values(Death{0, JoinStage::hello_sent}, Death{2, JoinStage::hello_sent},
                                         Death{0, JoinStage::table_received}, Death{2, JoinStage::table_received},
                                         Death{2, JoinStage::region_received}, Death{0, JoinStage::region_received}),
                         [](const testing::TestParamInfo<Death>& of) {
                           return fmt::format("Rank{}Stage{}", of.param.rank, static_cast<int>(of.param.stage));
                         });

// What the descriptors of this process are, as the system calls it: "socket:[INODE]", "/memfd:tutti (deleted)".
std::vector<std::string> descriptors() {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error))
    found.push_back(std::filesystem::read_symlink(entry.path(), error).string());
  return found;
}

// The names that Tutti has given to local sockets, with a space behind each: of all, or of those that are in `own`.
std::string names_of_sockets(const std::vector<std::string>* own = nullptr) {
  std::string names;
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    // Number, five facts, inode, and a name if there is one.
    std::istringstream words(line);
    std::vector<std::string> row{std::istream_iterator<std::string>(words), {}};
    if (row.size() < 8 || !row[7].starts_with("@tutti-")) continue;
    const std::string inode = fmt::format("socket:[{}]", row[6]);
    if (own == nullptr || std::find(own->begin(), own->end(), inode) != own->end()) names += row[7] + " ";
  }
  return names;
}

// Nothing that a dead rank could leave lying: no file where shared memory or sockets have names.
TEST(BootstrapProcesses, LeaveNothingBehind) {
  constexpr int kRanks = 3;
  Children children(kRanks, [&](int rank, const UniqueId& id, const Children::Report& report) {
    JoinOptions options = patient();
    options.on_stage = [&](JoinStage stage) {
      if (rank != 0 || stage != JoinStage::hello_sent) return;
      const std::vector<std::string> own = descriptors();
      report(names_of_sockets(&own));
    };
    const Result<Membership> joined = join(request_of(id, rank, kRanks), options);
    std::string outcome = outcome_of(joined);
    for (const std::string& each : descriptors())
      if (each.starts_with("/dev/shm/")) outcome += ", and has " + each;
    report(outcome);
    ::kill(getpid(), SIGKILL);
  });
  const auto server = start_server();
  children.release(server->id());
  // At which the others reach rank 0.
  const std::string name = children.line(0);
  EXPECT_EQ(std::count(name.begin(), name.end(), ' '), 1) << name;
  for (int rank = 0; rank < kRanks; ++rank) EXPECT_EQ(children.line(rank), "joined");
  for (int rank = 0; rank < kRanks; ++rank) children.wait_for_end(rank);
  EXPECT_EQ(names_of_sockets().find(name), std::string::npos) << name;
}

}  // namespace
}  // namespace tutti
