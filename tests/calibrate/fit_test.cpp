// A fabric that was calibrated takes as long for what was measured as the machine has taken.
#include "calibrate/fit.hpp"

#include <gtest/gtest.h>

#include "calibrate/ping_pong.hpp"
#include "fabric/fabric_file.hpp"
#include "simulate/simulate.hpp"

namespace tutti::calibrate {
namespace {

// Made up, with what a machine has shown: passing on takes less than taking and sending, at some sizes more.
Measurements some_measurements() {
  Measurements made;
  made.machine = "a made-up processor, 4 cores";
  made.date = "2026-01-31";
  made.cores = 4;
  made.slots = 4;
  made.slot_bytes = 4096;
  made.call = 100;
  made.step = 40;
  made.core_switch = 600;
  made.passes = 7;
  made.steadiness = {.passes = {0, 1, 2, 3, 4, 5, 6}, .is_steady = true, .mark = 900, .least = 850, .greatest = 1000};
  made.hops = {{8, 240, 250, 300, 230}, {256, 350, 370, 310, 320}, {4096, 1200, 1400, 1300, 2200}};
  made.own = {{32 << 10, 200, 0}, {256 << 10, 100, 1200}, {1 << 20, 50, 1500}};
  return made;
}

double simulated(const fabric::Fabric& fabric, Hop hop, std::uint32_t hops, std::uint64_t bytes) {
  const Result<simulate::Answer> answer =
      simulate::simulate(ping_pong(hop, hops), fabric, {.count = bytes, .check = false});
  EXPECT_TRUE(answer.ok()) << answer.status().to_string();
  return answer.ok() ? answer->time : 0;
}

TEST(Fit, TheSimulatorsPingPongTakesWhatTheMachinesHasTaken) {
  const Measurements measured = some_measurements();
  const fabric::Fabric fabric = fabric_of(measured, 2);
  const auto hop_time = [&](Hop hop, std::uint64_t bytes) {
    return (simulated(fabric, hop, 8, bytes) - simulated(fabric, hop, 0, bytes)) / 8;
  };
  for (const HopTimes& hop : measured.hops) {
    SCOPED_TRACE(hop.bytes);
    // Numbers are written with four digits.
    EXPECT_NEAR(hop_time(Hop::copy, hop.bytes), hop.copy, hop.copy * 1e-3);
    EXPECT_NEAR(hop_time(Hop::fold, hop.bytes), hop.fold, hop.fold * 1e-3);
    EXPECT_NEAR(hop_time(Hop::forward, hop.bytes), hop.forward, hop.forward * 1e-3);
    EXPECT_NEAR(hop_time(Hop::fold_forward, hop.bytes), hop.fold_forward, hop.fold_forward * 1e-3);
  }
  EXPECT_NEAR(simulated(fabric, Hop::copy, 0, 8), measured.call + measured.hops[0].copy, 1);
}

TEST(Fit, SoDoesItWithALargeWorkingSet) {
  const Measurements measured = some_measurements();
  const fabric::Fabric fabric = fabric_of(measured, 2);
  const OwnRate& own = measured.own.back();
  const double rounds = static_cast<double>(own.working_set) / 2 / static_cast<double>(measured.slot_bytes);
  const double time = simulated(fabric, Hop::copy, 0, own.working_set / 2) - measured.call;
  EXPECT_NEAR(time / rounds, own.exchange, own.exchange * 1e-3);
}

TEST(Fit, RanksTakeTurnsOnTheCoresThereAre) {
  const fabric::Fabric six = fabric_of(some_measurements(), 6);
  EXPECT_EQ(six.num_ranks(), 6U);
  EXPECT_EQ(six.cores.size(), 4U);
  EXPECT_EQ(six.cores[0].switch_cost, 600);
  EXPECT_EQ(fabric_of(some_measurements(), 2).cores.size(), 2U);
  EXPECT_EQ(fabric_of(some_measurements(), 1).num_ranks(), 1U);
}

TEST(Fit, TheFileIsTheFabricWithWhereItsNumbersAreFrom) {
  const Measurements measured = some_measurements();
  for (const std::uint32_t ranks : {1U, 2U, 6U}) {
    const std::string text = file_of(measured, ranks);
    const Result<fabric::Fabric> read = fabric::read_fabric(text, "machine.toml", {});
    ASSERT_TRUE(read.ok()) << read.status().to_string() << "\n" << text;
    EXPECT_EQ(fabric::write_fabric(*read), fabric::write_fabric(fabric_of(measured, ranks)));
    EXPECT_NE(text.find("`measured 2026-01-31` is of a made-up processor, 4 cores"), std::string::npos) << text;
    // Behind every number.
    std::size_t unmarked = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      const std::string line = text.substr(at, end - at);
      at = end + 1;
      const bool is_number = line.find(" = ") != std::string::npos && !line.starts_with("version") &&
                             !line.starts_with("about") && !line.starts_with("generator") &&
                             !line.starts_with("name") && line.find("unlimited") == std::string::npos;
      if (is_number && line.find("measured") == std::string::npos) ++unmarked;
    }
    EXPECT_EQ(unmarked, 0U) << text;
  }
}

TEST(Fit, SaysHowStillTheMachineKept) {
  Measurements measured = some_measurements();
  EXPECT_EQ(unsteadiness_in_words(measured), "");
  EXPECT_EQ(file_of(measured, 2).find("keep still"), std::string::npos);
  measured.passes = 12;
  measured.steadiness.greatest = 3400;
  EXPECT_EQ(unsteadiness_in_words(measured),
            "the machine did not keep still: the same call took 0.85 to 3.4 us; this is of 7 of 12 passes, in which it "
            "took 0.9 us");
  EXPECT_TRUE(file_of(measured, 2).starts_with("# The machine did not keep still: "));
  EXPECT_TRUE(fabric::read_fabric(file_of(measured, 2), "machine.toml", {}).ok());
  measured.steadiness.is_steady = false;
  EXPECT_EQ(unsteadiness_in_words(measured),
            "the machine did not keep still: the same call took 0.85 to 3.4 us, and changed within each of 12 passes");
}

// Whatever a noisy machine says, the file is one.
TEST(Fit, NonsenseBecomesAFabricAllTheSame) {
  Measurements measured = some_measurements();
  measured.step = 1000;
  measured.hops[1] = {256, 0, 0, 0, 0};
  measured.own[2].exchange = 0.5;
  const Result<fabric::Fabric> read = fabric::read_fabric(file_of(measured, 2), "machine.toml", {});
  EXPECT_TRUE(read.ok()) << read.status().to_string();
}

}  // namespace
}  // namespace tutti::calibrate
