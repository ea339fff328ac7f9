// SPDX-License-Identifier: Apache-2.0
#include "peers/probe.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "../base/temporary_folder.hpp"

namespace tutti::peers {
namespace {

// A runner within an mpirun has inherited that one's folder, which is not the probe's to take away.
TEST(Probe, OneThatHangsTakesNothingOfAnotherLaunch) {
  const test::TemporaryFolder folder;
  const std::string worker = folder.write("worker", "#!/bin/sh\nsleep 1000\n");
  ASSERT_EQ(::chmod(worker.c_str(), 0700), 0);
  const std::string session = folder.file("ompi.host.0/pid.1");
  std::filesystem::create_directories(session);
  const auto found = probe(worker, {"PATH=/usr/bin:/bin", "PMIX_SERVER_TMPDIR=" + session}, Nanos{100'000'000});
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.status().code(), Code::unsupported);
  EXPECT_TRUE(std::filesystem::exists(session));
}

}  // namespace
}  // namespace tutti::peers
