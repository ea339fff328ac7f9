// join() between processes, and what the others learn when one of them dies on the way.
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "ranks.hpp"

namespace tutti {
namespace {

using test::Children;
using test::patient;
using test::request_of;
using test::start_server;

using Seconds = std::chrono::duration<double>;

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
  const auto died = std::chrono::steady_clock::now();
  const std::string expected = fmt::format("rank lost rank {} (process {}) ended before the communicator was complete",
                                           death.rank, children.pid(death.rank));
  for (int rank = 0; rank < kRanks; ++rank) {
    if (rank == death.rank) continue;
    EXPECT_EQ(children.line(rank), expected);
  }
  EXPECT_LT(Seconds(std::chrono::steady_clock::now() - died).count(), 1.0);
}

INSTANTIATE_TEST_SUITE_P(EachStage, BootstrapDeath,
                         testing::Values(Death{0, JoinStage::hello_sent}, Death{2, JoinStage::hello_sent},
                                         Death{0, JoinStage::table_received}, Death{2, JoinStage::table_received},
                                         Death{2, JoinStage::region_received}, Death{0, JoinStage::region_received}),
                         [](const testing::TestParamInfo<Death>& of) {
                           return fmt::format("Rank{}Stage{}", of.param.rank, static_cast<int>(of.param.stage));
                         });

// Nothing that a dead rank could leave lying: no file where shared memory or sockets have names.
TEST(BootstrapProcesses, LeaveNothingBehind) {
  const auto count = [](const char* folder) {
    int found = 0;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      found += entry.path().filename().string().find("tutti") != std::string::npos ? 1 : 0;
    }
    return found;
  };
  const int shm_before = count("/dev/shm");
  constexpr int kRanks = 3;
  Children children(kRanks, [&](int rank, const UniqueId& id, const Children::Report& report) {
    Result<Membership> joined = join(request_of(id, rank, kRanks), patient());
    report(outcome_of(joined));
    ::kill(getpid(), SIGKILL);
  });
  const auto server = start_server();
  children.release(server->id());
  for (int rank = 0; rank < kRanks; ++rank) EXPECT_EQ(children.line(rank), "joined");
  for (int rank = 0; rank < kRanks; ++rank) children.wait_for_end(rank);
  EXPECT_EQ(count("/dev/shm"), shm_before);
  // The leader's abstract socket would show here.
  std::string sockets;
  if (FILE* file = fopen("/proc/net/unix", "r")) {
    std::array<char, 4096> part{};
    while (fgets(part.data(), static_cast<int>(part.size()), file) != nullptr) sockets += part.data();
    fclose(file);
  }
  EXPECT_EQ(sockets.find("@tutti-"), std::string::npos) << sockets;
}

}  // namespace
}  // namespace tutti
