// SPDX-License-Identifier: Apache-2.0
// A program in virtual time, started as users start it, beside `tutti simulate`.
#include <array>
#include <regex>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "../in_folder.hpp"

namespace tutti {

const char* const test::kTuttiProgram = TUTTI_PROGRAM;

namespace {

using VirtualTime = test::InFolder;

// What it says of the calls that it makes is what simulate says of them, to the last digit that it shows.
TEST_F(VirtualTime, ProgramsTakeWhatSimulateSays) {
  for (const std::string fabric :
       {"torus_2d:2x3,bandwidth=10GB/s", "ring_1d:6", "mesh_2d_no_wrap:2x3", "h100_node:6"}) {
    const test::Ended ran = tutti(fmt::format("launch -n 6 --timeout 60s -- '{}'", VIRTUAL_TIME_EXAMPLE),
                                  fmt::format("TUTTI_FABRIC=simulate:{} TUTTI_ALLREDUCE_ALGORITHM=ring "
                                              "TUTTI_DEBUG=info TUTTI_DEBUG_FILE=\"$PWD/log\"",
                                              fabric));
    ASSERT_EQ(ran.exit, 0) << ran.error;
    const std::string log = folder_.read("log");
    for (const std::string bytes : {"4194304", "1048576"}) {
      std::smatch said;
      ASSERT_TRUE(std::regex_search(
          log, said, std::regex("all_reduce of " + bytes + " bytes takes ([0-9.]+) us on [^\n]* by ring \\(forced\\)")))
          << log;
      const test::Ended simulated = tutti(fmt::format(
          "simulate --fabric {} --ranks 6 --collective all_reduce --algorithm ring --bytes {} --no-correction --json",
          fabric, bytes));
      ASSERT_EQ(simulated.exit, 0) << simulated.error;
      const nlohmann::json rows = nlohmann::json::parse(simulated.out, nullptr, false);
      ASSERT_TRUE(rows.is_array() && rows.size() == 1) << simulated.out;
      EXPECT_EQ(said[1], fmt::format("{:.3f}", rows[0]["time_us"].get<double>())) << fabric;
    }
    folder_.write("log", "");
  }
}

TEST_F(VirtualTime, AFabricThatIsTooSmallIsSaid) {
  const test::Ended ran =
      tutti(fmt::format("launch -n 3 --timeout 60s -- '{}'", VIRTUAL_TIME_EXAMPLE), "TUTTI_FABRIC=simulate:switch:2");
  EXPECT_EQ(ran.exit, 1);
  EXPECT_NE(ran.error.find("TUTTI_FABRIC is simulate:switch:2, which has 2 ranks; there is no rank 2"),
            std::string::npos)
      << ran.error;
}

}  // namespace
}  // namespace tutti
