// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "device/cuda/chooser.hpp"
#include "table/table_file.hpp"

namespace tutti::device {
namespace {

// Needs no device.
TEST(TuttiDevicePeer, TheLibraryTakesATableOfDevices) {
  DecisionTable table;
  table.fingerprint = kAnyMachine;
  table.set_measured_peer(kDevicePeer);
  table.sections.push_back(
      {.memory = TableMemory::symmetric,
       .ranges = {{.way = {.algorithm = "two_shot", .tuning = {}, .settings = {}}, .evidence = {}}}});
  const auto rules = DeviceRules::read("", write_table(table), "it.toml");
  ASSERT_TRUE(rules.ok()) << rules.status().to_string();
  EXPECT_EQ(rules->table.sections.size(), 1U);
  table.on_devices = false;
  const auto of_processors = DeviceRules::read("", write_table(table), "it.toml");
  EXPECT_NE(of_processors.status().to_string().find("a table for processors"), std::string::npos)
      << of_processors.status().to_string();
}

}  // namespace
}  // namespace tutti::device
