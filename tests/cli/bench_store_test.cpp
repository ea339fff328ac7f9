// Who a kept run belongs to.
#include "cli/bench_store.hpp"

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
  harness::Run run;
  if (length > 0) run.owner.assign(buffer, static_cast<std::size_t>(length));
  EXPECT_EQ(living_owner(run), std::to_string(child)) << run.owner;
  ::kill(child, SIGKILL);
  siginfo_t info{};
  EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(living_owner(run), std::nullopt);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
}

}  // namespace
}  // namespace tutti::cli
