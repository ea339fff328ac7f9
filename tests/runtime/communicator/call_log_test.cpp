// SPDX-License-Identifier: Apache-2.0
// The log of calls: at info once for each algorithm and range of sizes, at trace each call.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../../base/temporary_folder.hpp"
#include "../ranks_of_threads.hpp"

namespace tutti {
namespace {

using Texts = std::vector<std::string>;

class CallLog : public ::testing::Test {
 protected:
  // The log lines of rank 1 and rank 0 about collectives, without their prefixes.
  template <typename Body>
  Texts lines_of(const std::string& level, const Body& body) {
    const Environment environment{
        {"TUTTI_DEBUG", level}, {"TUTTI_DEBUG_FILE", folder_.file("log")}, {"TUTTI_DEBUG_SUBSYS", "coll"}};
    test::ThreadRanks group(2, Settings::from(Variables()), Variables::load(environment, {}).value());
    group.run(body);
    Texts lines;
    const std::string text = folder_.read("log");
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      const std::string line = text.substr(begin, end - begin);
      lines.push_back(line.substr(line.find("coll: ") + 6));
      begin = end + 1;
    }
    return lines;
  }
  static std::size_t count(const Texts& lines, const std::string& part) {
    return static_cast<std::size_t>(std::count_if(
        lines.begin(), lines.end(), [&](const std::string& line) { return line.find(part) != std::string::npos; }));
  }

 private:
  test::TemporaryFolder folder_;
};

void sum(Communicator& communicator, std::vector<float>& buffer) {
  const Status status =
      communicator.all_reduce(buffer.data(), buffer.data(), buffer.size(), Type::f32, test::handle(Op::sum));
  ASSERT_TRUE(status.ok()) << status.to_string();
}

TEST_F(CallLog, InfoLogsEachRangeOfSizesOnce) {
  const Texts lines = lines_of("info", [](Communicator& communicator) {
    for (const std::size_t size : {1, 2, 1000, 50'000, 50'001, 50'002}) {
      std::vector<float> buffer(size);
      for (int turn = 0; turn < 3; ++turn) sum(communicator, buffer);
    }
  });
  EXPECT_EQ(count(lines, "all_reduce below 32768 B, in symmetric memory below 4096 B: one_shot (by size)"), 2U)
      << "each rank says it when its communicator is made";
  EXPECT_EQ(count(lines, "all_reduce 200000 B of f32: ring (by size)"), 1U) << "they share a log";
  EXPECT_EQ(count(lines, "all_reduce 200004 B"), 0U);
  EXPECT_EQ(lines.size(), 3U);
}

TEST_F(CallLog, TraceHasEachCallWithItsBuffers) {
  std::array<std::vector<float>, 2> buffers = {std::vector<float>(2), std::vector<float>(2)};
  const Texts lines = lines_of("trace", [&](Communicator& communicator) {
    std::vector<float>& buffer = buffers.at(communicator.rank());
    for (int turn = 0; turn < 3; ++turn) sum(communicator, buffer);
    std::vector<float> large(50'000);
    for (int turn = 0; turn < 2; ++turn) sum(communicator, large);
    ASSERT_TRUE(communicator.run({.collective = Collective::barrier}).ok());
  });
  for (const std::vector<float>& buffer : buffers)
    for (int call = 1; call <= 3; ++call)
      EXPECT_EQ(count(lines, fmt::format("collective {}: all_reduce of 2 f32 elements, sum, by one_shot (by size), "
                                         "input {}, output {}, blocking",
                                         call, fmt::ptr(buffer.data()), fmt::ptr(buffer.data()))),
                1U);
  for (int call = 4; call <= 5; ++call)
    EXPECT_EQ(
        count(lines, fmt::format("collective {}: all_reduce of 50000 f32 elements, sum, by ring (by size)", call)), 2U);
  EXPECT_EQ(count(lines, "collective 6: barrier, by "), 2U);
  EXPECT_EQ(count(lines, "collective "), 12U);
}

TEST_F(CallLog, TraceHasPendingOperationsAndTransfers) {
  const Texts lines = lines_of("trace", [](Communicator& communicator) {
    std::vector<float> buffer(2);
    std::vector<std::int32_t> message(3);
    const Result<Operation*> operation = communicator.prepare({.collective = Collective::all_reduce,
                                                               .input = buffer.data(),
                                                               .output = buffer.data(),
                                                               .count = 2,
                                                               .op = test::handle(Op::sum)},
                                                              false);
    ASSERT_TRUE(operation.ok());
    ASSERT_TRUE(communicator.start(**operation).ok());
    ASSERT_TRUE(communicator.wait(**operation).ok());
    communicator.release(**operation);
    Transfer transfer;
    transfer.direction = communicator.rank() == 0 ? Transfer::Direction::send : Transfer::Direction::receive;
    transfer.peer = 1 - communicator.rank();
    transfer.data = reinterpret_cast<std::byte*>(message.data());
    transfer.count = message.size();
    transfer.type = Type::i32;
    ASSERT_TRUE(communicator.transfer(transfer).ok());
    sum(communicator, buffer);
  });
  EXPECT_EQ(count(lines, "collective 1: all_reduce of 2 f32 elements, sum, by one_shot (by size)"), 2U);
  EXPECT_EQ(count(lines, ", begun"), 2U);
  EXPECT_EQ(count(lines, "transfer 1: send of 3 i32 elements to rank 1, buffer 0x"), 1U);
  EXPECT_EQ(count(lines, "transfer 1: receive of 3 i32 elements from rank 0, buffer 0x"), 1U);
  EXPECT_EQ(count(lines, "collective 2: "), 2U);
}

TEST_F(CallLog, TraceHasCallsWhoseBlocksDifferInSize) {
  const Texts lines = lines_of("trace", [](Communicator& communicator) {
    const std::size_t counts[] = {1, 2};
    const std::vector<std::int32_t> mine(counts[communicator.rank()]);
    std::vector<std::int32_t> all(3);
    const VaryingBlocks varying{.input = {&counts[communicator.rank()]}, .output = {counts}};
    for (int turn = 0; turn < 2; ++turn) {
      const Status status = communicator.run({.collective = Collective::all_gather_v,
                                              .input = mine.data(),
                                              .output = all.data(),
                                              .type = Type::i32,
                                              .varying = &varying});
      ASSERT_TRUE(status.ok()) << status.to_string();
    }
  });
  for (int call = 1; call <= 2; ++call)
    EXPECT_EQ(count(lines, fmt::format("collective {}: all_gather_v of i32 (its algorithm follows from all ranks' "
                                       "counts), input 0x",
                                       call)),
              2U);
  EXPECT_EQ(count(lines, "all_gather_v 12 B of i32: "), 1U);
  EXPECT_EQ(count(lines, "collective "), 4U);
}

}  // namespace
}  // namespace tutti
