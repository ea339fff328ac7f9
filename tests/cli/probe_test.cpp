// SPDX-License-Identifier: Apache-2.0
// `tutti probe` as a user calls it; what it measures is tested in tests/calibrate.
#include <array>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cli/commands.hpp"
#include "cli/launch/read_hosts.hpp"
#include "cli/output.hpp"
#include "cli/probe/measurements_table.hpp"
#include "cli/probe/probe_device.hpp"
#include "cli/probe/probe_rank.hpp"
#include "cli/program.hpp"

namespace tutti::cli {
namespace {

struct Probed {
  int exit = -1;
  std::string out;
  std::string error;
};

Probed probe(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "probe");
  const std::array commands{probe_command()};
  std::ostringstream out;
  std::ostringstream error;
  const Environment environment;
  const Exit exit = run_program(commands, arguments, {environment, out, error});
  return {static_cast<int>(exit), out.str(), error.str()};
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Probe, SaysWhatTheMachineIs) {
  const Probed probed = probe({});
  EXPECT_EQ(probed.exit, 0) << probed.error;
  EXPECT_TRUE(has(probed.out, " cores")) << probed.out;
}

TEST(Probe, AFabricIsMeasuredWithCalibrate) {
  const std::vector<std::vector<std::string>> without = {{"-o", "machine.toml"}, {"--num-ranks", "4"}, {"--json"}};
  for (const std::vector<std::string>& arguments : without) {
    const Probed probed = probe(arguments);
    EXPECT_EQ(probed.exit, 2);
    EXPECT_TRUE(has(probed.error, arguments[0])) << probed.error;
    EXPECT_TRUE(has(probed.error, "--calibrate")) << probed.error;
    EXPECT_EQ(probed.out, "");
  }
}

// Arguments, and words of the refusal, which comes before anything is measured.
void expect_refused(const std::vector<std::pair<std::vector<std::string>, std::string>>& cases) {
  for (const auto& [arguments, words] : cases) {
    const Probed probed = probe(arguments);
    EXPECT_NE(probed.exit, 0);
    EXPECT_TRUE(has(probed.error, words)) << probed.error;
    EXPECT_FALSE(has(probed.error, "measuring")) << probed.error;
    EXPECT_EQ(probed.out, "");
  }
}

TEST(Probe, MisuseOfHostsIsNamed) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--hosts", "a,b"}, "--hosts is for --calibrate"},
      {{"--calibrate", "--hosts", "a:4"}, "names 1 host"},
      {{"--calibrate", "--hosts", "a,a"}, "names 1 host"},
      {{"--calibrate", "--hosts", "a:0,b"}, "'a:0' has '0' ranks"},
      {{"--calibrate", "--agent", "ssh"}, "--hosts"},
      {{"--calibrate", "--hosts", "@/nowhere/hosts"}, "cannot read '/nowhere/hosts'"},
      {{"--calibrate", "--hosts", "a,b", "--address", "?"}, "--address is '?'"}};
  expect_refused(cases);
}

TEST(Probe, TasksOfRanksReadBack) {
  for (const char* text : {"interfaces", "pairs", "pairs:1", "together:0,2"}) {
    const Result<RankTask> task = parse_rank_task(text);
    ASSERT_TRUE(task.ok()) << text;
    EXPECT_EQ(to_text(*task), text);
  }
  EXPECT_EQ(parse_rank_task("together:0,2")->interfaces, (std::vector<std::size_t>{0, 2}));
  for (const char* text : {"", "pair", "pairs:", "pairs:x", "pairs:-1", "pairs:1,", "together:1000"})
    EXPECT_FALSE(parse_rank_task(text).ok()) << text;
}

TEST(Probe, InterfacesAreThoseThatRanksHaveSaid) {
  const auto found =
      interfaces_in("something\ninterfaces 1 eth0 ib0\ninterfaces 0\ninterfaces 7 eth9\ninterfaces x\n", 3);
  EXPECT_EQ(found, (std::vector<std::vector<std::string>>{{}, {"eth0", "ib0"}, {}}));
}

TEST(Probe, OtherHostsGetAllNamesOfAVariable) {
  const Environment environment = {{"NCCL_SOCKET_IFNAME", "=eth0"}, {"PATH", "/bin"}, {"TUTTI_DEBUG", "info"}};
  EXPECT_EQ(own_variables(environment),
            (std::vector<Environment::Pair>{{"NCCL_SOCKET_IFNAME", "=eth0"}, {"TUTTI_DEBUG", "info"}}));
}

TEST(Probe, APairThatDoesNotReachEachOtherIsNamed) {
  const std::vector<std::string> host_of = {"a", "a", "b", "c"};
  EXPECT_EQ(broken_pair_in("broken 2 3\n", host_of), "hosts b and c do not reach each other");
  EXPECT_EQ(broken_pair_in("broken 0 1\n", host_of), "");
  // Others only hear of it.
  EXPECT_EQ(broken_pair_in("lost 0 3\nbroken 2 3\nlost 0 2\n", host_of), "hosts b and c do not reach each other");
  EXPECT_EQ(broken_pair_in("lost 2 3\n", host_of), "hosts b and c do not reach each other");
  EXPECT_EQ(broken_pair_in("broken 0 9\nbroken x 1\nbroken 1\nsomething\n", host_of), "");
}

TEST(Probe, AFileThatCannotBeWrittenIsAnErrorBeforeAnythingIsMeasured) {
  const Probed probed = probe({"--calibrate", "-o", "/nowhere/machine.toml"});
  EXPECT_EQ(probed.exit, 1);
  EXPECT_TRUE(has(probed.error, "/nowhere/machine.toml")) << probed.error;
  EXPECT_FALSE(has(probed.error, "measuring")) << probed.error;
}

TEST(Probe, MachinesReadAllDigitsOfWhatWasMeasured) {
  calibrate::Measurements measured;
  measured.hops = {{.bytes = 8, .copy = 123.456789, .fold = 1, .forward = 2, .fold_forward = 3}};
  measured.swaps = {{.bytes = 8, .once = 111.222333, .twice = 4, .fold = 222.333444, .copy = 5}};
  measured.small = {{.bytes = 8, .call = 77.888999}};
  measured.own = {{.working_set = 4096, .fold_bandwidth = 9.87654321, .exchange = 1234567.25}};
  const Table table = table_of_measurements(measured);
  for (const char* number : {"123.456789", "9.87654321", "1234567.25", "111.222333", "222.333444", "77.888999"}) {
    EXPECT_TRUE(has(to_csv(table), number)) << to_csv(table);
    EXPECT_TRUE(has(to_json(table), number)) << to_json(table);
  }
  EXPECT_TRUE(has(to_aligned(table), "123.5")) << to_aligned(table);
  // People read a table of each kind, whose lines fit a terminal.
  const std::vector<Table> tables = tables_of_measurements(measured);
  ASSERT_EQ(tables.size(), 3U);
  EXPECT_TRUE(has(rendered(tables[1], {}), "111.2")) << rendered(tables[1], {});
  for (const Table& each : tables) EXPECT_LE(rendered(each, {}).find('\n'), 100U) << rendered(each, {});
}

TEST(Probe, MisuseOfADeviceIsNamed) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--device", "0"}, "--calibrate"},
      {{"--calibrate", "--device", "x"}, "--device"},
      {{"--calibrate", "--device", "0", "--hosts", "a,b"}, "--device measures a device of this host"},
      // Without a device, or a build for one, that is the reason.
      {{"--calibrate", "--device", "1024"}, "device"},
      {{"--calibrate", "--device", "0", "-n", "9"}, "device"}};
  expect_refused(cases);
}

TEST(Probe, ADeviceIsShownBesideItsMemoryAndPredictionsBesideCalls) {
  calibrate::DeviceMeasurements measured;
  measured.memory_rate = 4800;
  measured.launch = 1000;
  measured.flags = 2345.678;
  // Two ranks read and write 64 MiB each, beside a launch: 268 MB.
  measured.copies = {{64 << 20U, 101'000}};
  measured.shared_folds = {{64 << 20U, 121'000}};
  const std::vector<calibrate::CheckedCase> checked = {
      {{Collective::all_reduce, "two_shot", 1 << 20U, true}, 8'000, 10'000}};
  const std::vector<Table> tables = tables_of_device(measured, checked);
  ASSERT_EQ(tables.size(), 2U);
  const std::string shown = rendered(tables[0], {});
  for (const char* words : {"flags", "2.346", "copy", "2684", "0.5592", "shared sum f32"})
    EXPECT_TRUE(has(shown, words)) << shown;
  EXPECT_FALSE(has(shown, "predicted")) << shown;
  const std::string calls = rendered(tables[1], {});
  for (const char* words : {"all_reduce two_shot", "true", "8", "10", "25"}) EXPECT_TRUE(has(calls, words)) << calls;
  const std::string all = to_json(table_of_device(measured, checked));
  for (const char* words : {"2.345678", "\"error_percent\": 25", "two_shot"}) EXPECT_TRUE(has(all, words)) << all;
}

TEST(Probe, ThereAreSomeRanksAndNotTooMany) {
  for (const char* wrong : {"0", "-1", "x", "1025"}) {
    const Probed probed = probe({"--calibrate", "--num-ranks", wrong});
    EXPECT_EQ(probed.exit, 2);
    EXPECT_TRUE(has(probed.error, "--num-ranks")) << probed.error;
    EXPECT_TRUE(has(probed.error, "1 to 1024")) << probed.error;
  }
}

}  // namespace
}  // namespace tutti::cli
