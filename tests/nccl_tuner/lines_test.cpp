// SPDX-License-Identifier: Apache-2.0
#include "nccl_tuner/lines.hpp"

#include <gtest/gtest.h>

namespace tutti::nccl_tuner {
namespace {

Line only_line(std::string_view text) {
  const ReadLines read = read_lines(text);
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.lines.size(), 1U);
  return read.lines.empty() ? Line{} : read.lines.front();
}

TEST(NcclTunerLines, ReadsAllFieldsAndBlanksAroundThem) {
  const Line line = only_line("# c\n\n reducescatter , 5,\t70,collnet_direct,ll128 , 4, 2, 16, 3, 1\r\n");
  EXPECT_EQ(line.function, Function::reduce_scatter);
  EXPECT_EQ(line.least_bytes, 5U);
  EXPECT_EQ(line.most_bytes, 70U);
  EXPECT_EQ(line.algorithm, Algorithm::collnet_direct);
  EXPECT_EQ(line.protocol, Protocol::ll128);
  EXPECT_EQ(line.channels, 4);
  EXPECT_EQ(line.nodes, 2);
  EXPECT_EQ(line.ranks, 16);
  EXPECT_EQ(line.operations, 3);
  EXPECT_EQ(line.registered, 1);
  EXPECT_EQ(line.line, 3U);
}

TEST(NcclTunerLines, MinusOneChannelsAreNcclsOwnNumber) {
  EXPECT_EQ(only_line("allreduce,0,1,ring,ll,-1,-1,-1").channels, 0);
}

TEST(NcclTunerLines, WhatIsWrittenIsReadAgain) {
  for (const std::string_view text : {"broadcast,0,18446744073709551615,ring,ll,0,-1,2",
                                      "reduce,1,2,nvls_tree,simple,64,1,8,2", "allgather,0,0,pat,simple,1,-1,-1,-1,0"})
    EXPECT_EQ(write_line(only_line(text)), text);
}

TEST(NcclTunerLines, ErrorsNameTheLineAndWhatWouldBeRight) {
  const auto error = [](std::string_view text) {
    const ReadLines read = read_lines(text);
    EXPECT_TRUE(read.lines.empty());
    return std::to_string(read.error_line) + ": " + read.error;
  };
  constexpr std::string_view kGood = "allreduce,0,1,ring,ll,0,1,1\n";
  EXPECT_EQ(error("allreduce"), "1: the line has 1 field; it takes 8 to 10");
  EXPECT_EQ(error("allreduce,0,1,ring,ll,0,1,1,1,1,1"), "1: the line has 11 fields; it takes 8 to 10");
  EXPECT_EQ(error(std::string(kGood) + "all\x1breduce,0,1,ring,ll,0,1,1"),
            "2: 'all?reduce' is no collective of NCCL's");
  EXPECT_EQ(error("\n\nallreduce,2,1,ring,ll,0,1,1"), "3: fields 2 and 3 are no range of bytes");
  EXPECT_EQ(error("allreduce,-1,1,ring,ll,0,1,1"), "1: fields 2 and 3 are no range of bytes");
  EXPECT_EQ(error("allreduce,0,1,rings,ll,0,1,1"), "1: 'rings' is no algorithm");
  EXPECT_EQ(error("allreduce,0,1,ring,Simple,0,1,1"), "1: 'Simple' is no protocol");
  EXPECT_EQ(error("allreduce,0,1,ring,ll,0,-2,1"), "1: field 7 is no number from -1 on");
  EXPECT_EQ(error("allreduce,0,1,ring,ll,0,1,1x"), "1: field 8 is no number from -1 on");
  EXPECT_EQ(error("allreduce,0,1,ring,ll,0,1," + std::string(300, ' ') + "1"),
            "1: the line has 327 characters; 254 are the most");
}

}  // namespace
}  // namespace tutti::nccl_tuner
