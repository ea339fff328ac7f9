// SPDX-License-Identifier: Apache-2.0
// What is said of MSCCL files that are wrong: file, line, what was found and what would be right.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "msccl_programs.hpp"
#include "schedule/msccl/msccl.hpp"
#include "schedule/prove/prove.hpp"

namespace tutti {
namespace {

namespace programs = msccl_programs;
using programs::Writer;
using programs::Place::both;
using programs::Place::in;
using programs::Place::out;

constexpr std::string_view kGood =
    R"(<algo name="two" proto="LL" nchannels="1" nchunksperloop="2" ngpus="2" coll="allgather" inplace="0" maxBytes="8">
  <gpu id="0" i_chunks="1" o_chunks="2" s_chunks="1">
    <tb id="0" send="1" recv="1" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="1"/>
    </tb>
    <tb id="1" send="-1" recv="-1" chan="0">
      <step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="0" deps="1" hasdep="0"/>
    </tb>
  </gpu>
  <gpu id="1" i_chunks="1" o_chunks="2" s_chunks="1">
    <tb id="0" send="0" recv="0" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="1"/>
    </tb>
    <tb id="1" send="-1" recv="-1" chan="0">
      <step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="0" deps="1" hasdep="0"/>
    </tb>
  </gpu>
</algo>
)";

std::string error_of(std::string_view text) {
  const Result<Schedule> schedule = read_msccl(text, "two.xml");
  if (schedule.ok()) return "nothing wrong";
  EXPECT_EQ(schedule.status().code(), Code::invalid_argument);
  return std::string(schedule.status().message());
}

// The good program with the first `from` of a line replaced.
std::string with(int line, std::string_view from, std::string_view to) {
  std::string text(kGood);
  std::size_t at = 0;
  for (int each = 1; each < line; ++each) at = text.find('\n', at) + 1;
  at = text.find(from, at);
  if (at == std::string::npos) ADD_FAILURE() << "line " << line << " has no " << from;
  return text.replace(at, from.size(), to);
}

struct Wrong {
  int line;  // that is changed, and
  std::string_view from;
  std::string_view to;
  std::string_view says;
};

void expect_said(const Wrong& wrong) {
  EXPECT_EQ(error_of(with(wrong.line, wrong.from, wrong.to)), wrong.says) << wrong.from << " to " << wrong.to;
}

TEST(MscclErrors, TheGoodProgramIsGood) {
  const Result<Schedule> schedule = read_msccl(kGood, "two.xml");
  ASSERT_TRUE(schedule.ok()) << schedule.status().to_string();
  EXPECT_TRUE(prove(schedule.value()).ok());
}

TEST(MscclErrors, ElementsAndAttributes) {
  const Wrong wrongs[] = {
      {1, "coll=\"allgather\"", "", "two.xml:1: found no attribute coll, expected one of <algo>"},
      {1, "allgather", "broadcast",
       "two.xml:1: found coll='broadcast', expected allreduce, allgather, reducescatter or alltoall"},
      {1, "ngpus=\"2\"", "ngpus=\"0\"", "two.xml:1: found ngpus='0', expected a whole number from 1 to 1024"},
      {1, "ngpus=\"2\"", "ngpus=\"2x\"", "two.xml:1: found ngpus='2x', expected a whole number from 1 to 1024"},
      {1, "nchannels=\"1\"", "nchannels=\"65\"",
       "two.xml:1: found nchannels='65', expected a whole number from 0 to 64"},
      {1, "nchunksperloop=\"2\"", "nchunksperloop=\"99999999999\"",
       "two.xml:1: found nchunksperloop='99999999999', expected a whole number from 1 to 1048576"},
      {1, "nchunksperloop=\"2\"", "nchunksperloop=\"3\"",
       "two.xml:1: found nchunksperloop=\"3\", expected a multiple of the 2 gpus"},
      {1, "maxBytes=\"8\"", "maxBytes=\"all\"",
       "two.xml:1: found maxBytes='all', expected a whole number from 0 to 9223372036854775807"},
      {1, "maxBytes=\"8\"", "outofplace=\"0\"",
       "two.xml:1: found inplace=\"0\" and outofplace=\"0\", expected a 1 in one of them"},
      {2, "<gpu", "<cpu", "two.xml:2: found <cpu>, expected <gpu>"},
      {3, "<tb", "<step", "two.xml:3: found <step>, expected <tb>"},
      {4, "/>", "><step/></step>", "two.xml:4: found <step> inside <step>, expected nothing"},
      {4, "s=\"0\"", "s=\"1\"", "two.xml:4: found s='1', expected 0"},
      {4, "\"s\"", "\"send\"", "two.xml:4: found type='send', expected s, r, cpy, re, rrc, rcs, rrs, rrcs or nop"},
      {4, "\"i\"", "\"x\"", "two.xml:4: found srcbuf='x', expected i, o or s"},
      {4, "cnt=\"1\"", "cnt=\"0\"", "two.xml:4: found cnt='0', expected a whole number from 1 to 1048576"},
      {4, "hasdep=\"0\"", "hasdep=\"2\"", "two.xml:4: found hasdep='2', expected a whole number from 0 to 1"},
      {4, "<step", "word <step", "two.xml:4: found the text 'word', expected elements only"},
      {6, "</tb>", "</gpu>", "two.xml:6: found mismatched tag, expected well-formed XML"},
      {1, "<algo", "<!DOCTYPE a [<!ENTITY x \"y\">]>\n<algo",
       "two.xml:1: found a document type declaration, expected none: entities are not read"},
  };
  for (const Wrong& wrong : wrongs) expect_said(wrong);
  EXPECT_EQ(error_of(""), "two.xml:1: found no element found, expected well-formed XML");
  EXPECT_EQ(error_of(kGood.substr(0, 300)), "two.xml:4: found unclosed token, expected well-formed XML");
}

TEST(MscclErrors, GpusAndThreadBlocks) {
  const Wrong wrongs[] = {
      {11, "id=\"1\"", "id=\"0\"", "two.xml:11: found gpu 0 again, expected each once"},
      {2, "<gpu", "<gpu id=\"1\" i_chunks=\"0\" o_chunks=\"0\" s_chunks=\"0\"/><gpu",
       "two.xml:11: found one <gpu> more, expected the 2 of ngpus"},
      {7, "id=\"1\"", "id=\"2\"", "two.xml:7: found thread block 2, expected 0 to 1: the gpu has 2"},
      {7, "id=\"1\"", "id=\"0\"", "two.xml:7: found thread block 0 again, expected each once"},
      {3, "send=\"1\"", "send=\"0\"", "two.xml:3: found gpu 0 as its own peer, expected another or -1"},
      {3, "chan=\"0\"", "chan=\"1\"", "two.xml:3: found chan=\"1\", expected less than the 1 of nchannels, from 0 on"},
      {7, "send=\"-1\"", "send=\"1\"",
       "two.xml:7: found thread blocks 0 and 1 of gpu 0 both send to 1 on channel 0, expected one: the order of "
       "messages would be chance"},
      {3, "send=\"1\"", "send=\"-1\"", "two.xml:4: found s where send is -1, expected a peer to send to"},
      {3, "recv=\"1\"", "recv=\"-1\"", "two.xml:5: found r where recv is -1, expected a peer to receive from"},
  };
  for (const Wrong& wrong : wrongs) expect_said(wrong);
  EXPECT_EQ(error_of(std::string(kGood.substr(0, kGood.find("  <gpu id=\"1\""))) + "</algo>"),
            "two.xml:1: found no gpu 1, expected one");
}

TEST(MscclErrors, StepsThatDoNotFitTheOthers) {
  const Wrong wrongs[] = {
      {8, "depid=\"0\"", "depid=\"2\"", "two.xml:8: found depid=\"2\", expected a thread block of gpu 0, which has 2"},
      {8, "deps=\"1\"", "deps=\"2\"", "two.xml:8: found deps=\"2\", expected a step of thread block 0, which has 2"},
      {5, "hasdep=\"1\"", "hasdep=\"0\"",
       "two.xml:8: found deps=\"1\" of thread block 0, which announces no step from there on, expected one with "
       "hasdep=\"1\": the wait would not end"},
      {5, "depid=\"-1\" deps=\"-1\"", "depid=\"0\" deps=\"1\"",
       "two.xml:5: found deps=\"1\" of its own thread block, expected an earlier step"},
      {4, "srcoff=\"0\"", "srcoff=\"1\"",
       "two.xml:4: found srcoff=\"1\" with cnt=\"1\", expected chunks within the 1 of i_chunks"},
      {5, "dstoff=\"1\"", "dstoff=\"-1\"",
       "two.xml:5: found dstoff=\"-1\" with cnt=\"1\", expected chunks within the 2 of o_chunks"},
      {8, "srcbuf=\"i\"", "srcbuf=\"s\"",
       "two.xml:8: found s0 of gpu 0 read, which nothing has written, expected it written before"},
      {5, "type=\"r\"", "type=\"cpy\"",
       "two.xml:13: found message 0 from gpu 1 to gpu 0 on channel 0 sent and not received, expected both"},
      {4, "type=\"s\"", "type=\"nop\"",
       "two.xml:14: found message 0 from gpu 0 to gpu 1 on channel 0 received and not sent, expected both"},
  };
  for (const Wrong& wrong : wrongs) expect_said(wrong);
  std::string more = with(2, "i_chunks=\"1\"", "i_chunks=\"2\"");
  more.replace(more.find("srcoff=\"0\""), 10, "srcoff=\"1\"");
  EXPECT_EQ(error_of(more),
            "two.xml:4: found chunk i1, expected one that the buffer has: nchunksperloop and coll leave it 1");
}

TEST(MscclErrors, BothEndsOfAMessageHaveAsManyChunks) {
  Writer w({"alltoall", 2, 4, 1, out});
  for (int rank = 0; rank < 2; ++rank) {
    w.gpu(rank, 4, 4, 0);
    w.block(1 - rank, 1 - rank);
    w.step("s", {'i', 0}, {'o', 0}, 2);
    w.step("r", {'i', 0}, {'o', 0}, rank == 0 ? 2 : 1);
  }
  EXPECT_EQ(error_of(w.finish()), "two.xml:11: found cnt=\"1\", expected 2: so many are sent in line 4");
}

TEST(MscclErrors, DeadlocksTellTheRing) {
  Writer w({"allgather", 3, 3, 1, out});
  for (int rank = 0; rank < 3; ++rank) {
    w.gpu(rank, 1, 3, 0);
    w.block((rank + 1) % 3, (rank + 2) % 3);
    w.step("r", {'i', 0}, {'o', (rank + 2) % 3});
    w.step("s", {'i', 0}, {'o', rank});
  }
  EXPECT_EQ(error_of(w.finish()),
            "two.xml:4: found a deadlock, expected an order in which all steps can be done; "
            "gpu 0, thread block 0 (two.xml:4) waits for a message from gpu 2; "
            "gpu 2, thread block 0 (two.xml:16) waits for a message from gpu 1; "
            "gpu 1, thread block 0 (two.xml:10) waits for a message from gpu 0");
}

TEST(MscclErrors, ThreadBlocksThatWaitForEachOther) {
  Writer w({"allreduce", 1, 2, 1, out});
  w.gpu(0, 2, 2, 0);
  for (int block = 0; block < 2; ++block) {
    w.block(-1, -1);
    w.step("cpy", {'i', block}, {'o', block}, 1, {1 - block, 0});
  }
  EXPECT_EQ(error_of(w.finish()),
            "two.xml:4: found a deadlock, expected an order in which all steps can be done; "
            "gpu 0, thread block 0 (two.xml:4) waits for thread block 1 to pass line 7; "
            "gpu 0, thread block 1 (two.xml:7) waits for thread block 0 to pass line 4");
}

TEST(MscclErrors, DifferentPiecesDoNotFold) {
  Writer w({"allreduce", 1, 2, 1, out});
  w.gpu(0, 2, 2, 1);
  w.block(-1, -1);
  w.step("cpy", {'i', 0}, {'s', 0});
  w.step("re", {'i', 1}, {'s', 0});
  EXPECT_EQ(error_of(w.finish()),
            "two.xml:5: found piece 0 folded with i1 of gpu 0, which holds piece 1, expected the same piece of each: a "
            "result holds one");
}

// A chunk of scratch that holds one piece and then another is two places in the schedule, so prove would not see that
// the second comes too early.
std::string reuses_scratch(programs::Dep dep) {
  Writer w({"allreduce", 1, 2, 1, out});
  w.gpu(0, 2, 2, 1);
  w.block(-1, -1);
  w.step("cpy", {'i', 0}, {'s', 0});
  w.step("cpy", {'s', 0}, {'o', 0});
  w.block(-1, -1);
  w.step("cpy", {'i', 1}, {'s', 0}, 1, dep);
  w.step("cpy", {'s', 0}, {'o', 1});
  return w.finish();
}

TEST(MscclErrors, ChunksUsedAgainTooEarly) {
  const Result<Schedule> schedule = read_msccl(reuses_scratch({0, 1}), "two.xml");
  ASSERT_TRUE(schedule.ok()) << schedule.status().to_string();
  EXPECT_TRUE(prove(schedule.value()).ok());
  EXPECT_EQ(
      error_of(reuses_scratch({0, 0})),
      "two.xml:8: found s0 of gpu 0, which line 5 uses as well and nothing orders the two, expected a dependency");
}

TEST(MscclErrors, InputsThatAreOverwrittenAreForOnePlaceOnly) {
  for (const programs::Place place : {out, both}) {
    Writer w({"allreduce", 1, 1, 1, place});
    w.gpu(0, 1, 1, 0);
    w.block(-1, -1);
    w.step("cpy", {'i', 0}, {'o', 0});
    w.step("cpy", {'o', 0}, {'i', 0});
    const std::string error = error_of(w.finish());
    if (place == out) {
      EXPECT_EQ(error, "nothing wrong");
    } else {
      EXPECT_EQ(
          error,
          "two.xml:1: found inplace=\"1\" and outofplace=\"1\", expected one of them: gpu 0 keeps other data in a "
          "chunk of its input or output, which are the same memory in place only");
    }
  }
}

TEST(MscclErrors, FilesThatAreTooLarge) {
  std::string attributes(kGood);
  for (int each = 0; each < 64; ++each) attributes.insert(6, fmt::format("a{}=\"\" ", each));
  EXPECT_EQ(error_of(attributes), "two.xml:1: found more than 64 attributes, expected fewer");
  EXPECT_EQ(error_of(with(1, "two", std::string(300, 'x'))),
            "two.xml:1: found 300 bytes of attribute 'name', expected at most 256");
  EXPECT_EQ(error_of(with(2, "s_chunks=\"1\"", "s_chunks=\"2000000\"")),
            "two.xml:2: found s_chunks='2000000', expected a whole number from 0 to 1048576");
  Writer w({"allreduce", 12, 1 << 19, 1, in});
  EXPECT_NE(error_of(w.finish()).find("found no gpu 0"), std::string::npos);
  for (int rank = 0; rank < 12; ++rank) w.gpu(rank, 0, 0, 0);
  EXPECT_EQ(error_of(w.finish()),
            "two.xml:1: found 12582912 chunks in all buffers of all gpus, expected at most 4194304");
}

}  // namespace
}  // namespace tutti
