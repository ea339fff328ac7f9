// SPDX-License-Identifier: Apache-2.0
// Who a kept run belongs to.
#include "cli/bench/bench_store.hpp"

#include <optional>
#include <sstream>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tutti::cli {
namespace {

// Its owner is the process that makes it.
std::string owner_of_run() {
  const Environment environment;
  std::ostringstream out;
  return new_run("bench", "sweep", {.environment = environment, .out = out, .error = out}).owner;
}

TEST(LivingOwner, IsNoProcessThatWasKilledAndNotWaitedFor) {
  int owner[2];
  ASSERT_EQ(::pipe(owner), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::string name = owner_of_run();
    if (::write(owner[1], name.data(), name.size()) < 0) ::_exit(1);
    ::pause();
    ::_exit(0);
  }
  char buffer[512];
  const ssize_t length = ::read(owner[0], buffer, sizeof(buffer));
  ::close(owner[0]);
  ::close(owner[1]);
  harness::StoredRun run;
  if (length > 0) run.owner.assign(buffer, static_cast<std::size_t>(length));
  EXPECT_EQ(living_owner(run), std::to_string(child)) << run.owner;
  ::kill(child, SIGKILL);
  siginfo_t info{};
  EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(living_owner(run), std::nullopt);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
}

// What its times depend on is a number that is given.
class Dependent final : public harness::Reckoner {
 public:
  Dependent(std::string version, std::uint64_t settings) : version_(std::move(version)), settings_(settings) {}
  [[nodiscard]] std::string version() const override { return version_; }
  [[nodiscard]] std::uint64_t settings_digest(const harness::Group&) const override { return settings_; }
  [[nodiscard]] int num_ranks() const override { return 4; }
  [[nodiscard]] bool obeys(std::string_view) const override { return true; }
  void reckon(const harness::Group&, const harness::MeasureOptions&, harness::Row&) const override {}

 private:
  std::string version_;
  std::uint64_t settings_;
};

// The name by which --resume finds it.
TEST(RunOf, IsAnotherSweepWhereTheTimesOfAPeerWouldBeOthers) {
  const auto name = [](const std::string& version, std::uint64_t settings) {
    const Environment environment;
    std::ostringstream out;
    SweepPlan plan;
    plan.sweep.bench = "all_reduce";
    plan.groups.resize(1);
    plan.groups[0].peer = "simulate:switch:4";
    plan.programs = {{.name = "simulate:switch:4",
                      .program = {},
                      .launcher = harness::Launcher::local,
                      .reckoner = std::make_shared<const Dependent>(version, settings)}};
    return run_of(plan, {.environment = environment, .out = out, .error = out}).sweep;
  };
  EXPECT_EQ(name("1", 1), name("1", 1));
  EXPECT_NE(name("1", 1), name("2", 1));
  EXPECT_NE(name("1", 1), name("1", 2));
}

}  // namespace
}  // namespace tutti::cli
