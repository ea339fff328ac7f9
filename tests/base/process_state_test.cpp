// SPDX-License-Identifier: Apache-2.0
// What the system says of a child that has ended and nobody has waited for.
#include "base/system/process_state.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tutti {
namespace {

TEST(ProcessState, AnEndedProcessIsEndedBeforeAnybodyWaitsForIt) {
  EXPECT_FALSE(is_ended(::getpid()));
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(0);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(is_ended(child));
  EXPECT_FALSE(is_stopped(child));
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(is_ended(child));
}

}  // namespace
}  // namespace tutti
