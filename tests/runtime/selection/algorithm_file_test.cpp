// SPDX-License-Identifier: Apache-2.0
// An all-reduce from a file: what is refused and why, and that what is taken gives right sums whatever the call.
#include "runtime/selection/algorithm_file.hpp"

#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../../base/temporary_folder.hpp"
#include "../ranks_of_threads.hpp"
#include "algorithms/registry.hpp"
#include "base/system/file.hpp"
#include "schedule/listed.hpp"
#include "schedule/text/text_form.hpp"

namespace tutti {
namespace {

std::string written(std::string_view algorithm, std::uint32_t ranks) {
  return write_schedule(find_algorithm(Collective::all_reduce, algorithm)->make({.num_ranks = ranks}));
}

// What is said of a file with that text, for ranks over a region of that many slots.
std::string refusal(const std::string& text, std::uint32_t ranks, std::uint32_t slots = 4) {
  shm::RegionShape shape;
  shape.num_ranks = ranks;
  shape.staging_depth = slots;
  shape.message_depth = slots;
  const Result<OwnAlgorithm> own =
      own_algorithm({.variable = "TUTTI_ALLREDUCE_ALGORITHM", .path = "my.sched", .text = text, .unread = {}},
                    Collective::all_reduce, shape);
  return own.ok() ? "" : own.status().to_string();
}

// Two ranks; `steps` are both ranks', with % for the other rank.
std::string all_reduce_of_two(std::string_view settings, std::string_view steps) {
  std::string text = fmt::format("tutti schedule 1\nname two\ncollective all_reduce\nranks 2\n{}\n", settings);
  for (const int rank : {0, 1}) {
    text += fmt::format("rank {}\n", rank);
    for (const char c : steps) text += c == '%' ? std::to_string(1 - rank) : std::string(1, c);
  }
  return text;
}

TEST(AlgorithmFile, IsWhatTheValueNames) {
  const test::TemporaryFolder folder;
  EXPECT_FALSE(AlgorithmFile::of("V", "ring").has_value());
  EXPECT_FALSE(AlgorithmFile::of("V", "").has_value());
  const std::string path = folder.write("a.sched", "text");
  const std::optional<AlgorithmFile> file = AlgorithmFile::of("TUTTI_ALLREDUCE_ALGORITHM", "file:" + path);
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->text, "text");
  EXPECT_TRUE(file->unread.ok());
  const std::optional<AlgorithmFile> missing =
      AlgorithmFile::of("TUTTI_ALLREDUCE_ALGORITHM", "file:" + folder.file("b.sched"));
  ASSERT_TRUE(missing.has_value());
  EXPECT_EQ(missing->unread.to_string(), fmt::format("TUTTI_ALLREDUCE_ALGORITHM: cannot read '{}': No such file or "
                                                     "directory",
                                                     folder.file("b.sched")));
}

TEST(AlgorithmFile, RanksCompareItsText) {
  const AlgorithmFile file = {.variable = "V", .path = "a", .text = "text", .unread = {}};
  // FNV-1a of the four bytes, by another program.
  EXPECT_EQ(file.agreement(), "file:a (4 bytes, digest fa04f4ef1995407e)");
  EXPECT_NE(file.agreement(), (AlgorithmFile{.variable = "V", .path = "a", .text = "test", .unread = {}}).agreement());
  EXPECT_EQ(
      (AlgorithmFile{.variable = "V", .path = "a\nb", .text = "", .unread = Status(Code::system, "no")}).agreement(),
      "file:a\\x0ab (unreadable)");
}

TEST(AlgorithmFile, IsRefusedWithTheReason) {
  const std::string front = "TUTTI_ALLREDUCE_ALGORITHM: ";
  EXPECT_EQ(refusal(written("ring", 3), 3), "");
  EXPECT_EQ(refusal("rank 0", 3),
            front + "my.sched:1:1: found 'rank', expected the first line of a schedule, 'tutti schedule 1'");
  EXPECT_EQ(refusal(written("ring", 3), 4),
            front + "my.sched: the schedule is for 3 ranks, and the communicator has 4");
  EXPECT_EQ(refusal("tutti schedule 1\nname a\ncollective broadcast\nranks 1\nrank 0\ncopy output = input", 1),
            front + "my.sched: the schedule is one of broadcast, not all_reduce");
  const std::string wrong = refusal(all_reduce_of_two("", "send input to %\nrecv output from %\n"), 2);
  EXPECT_TRUE(wrong.starts_with(front + "my.sched: the schedule is wrong: ")) << wrong;
  EXPECT_NE(wrong.find("missing"), std::string::npos) << wrong;
}

TEST(AlgorithmFile, IsRefusedWhereTheTransportCannot) {
  // Three messages are under way before the first is taken.
  const std::string deep = all_reduce_of_two("pieces 3",
                                             "send input[0.0] to %\nsend input[0.1] to %\nsend input[0.2] to %\n"
                                             "recv_reduce output[0.0] = message(%) + input[0.0] completes\n"
                                             "recv_reduce output[0.1] = message(%) + input[0.1] completes\n"
                                             "recv_reduce output[0.2] = message(%) + input[0.2] completes\n");
  EXPECT_EQ(refusal(deep, 2, 3), "");
  EXPECT_NE(refusal(deep, 2, 2)
                .find("it needs 3 messages in flight on a connection, and there are 2; set "
                      "TUTTI_STAGING_DEPTH higher"),
            std::string::npos)
      << refusal(deep, 2, 2);
  const std::string many =
      all_reduce_of_two("pieces 3",
                        "expose input[0.0]\nexpose input[0.1]\nexpose input[0.2]\n"
                        "pull_reduce scratch[0.0] = input[0.0] + rank % input[0.0] (post 0) completes\n"
                        "pull_reduce scratch[0.1] = input[0.1] + rank % input[0.1] (post 1) completes\n"
                        "pull_reduce scratch[0.2] = input[0.2] + rank % input[0.2] (post 2) completes\n"
                        "close\n"
                        "copy output = scratch\n");
  const std::string of_many = refusal(many, 2, 4);
  EXPECT_NE(of_many, "") << "there is no scratch";
  std::string with_scratch = many;
  with_scratch.replace(with_scratch.find("pieces 3"), 8, "pieces 3\nscratch 1");
  EXPECT_EQ(refusal(with_scratch, 2, 4), "");
  EXPECT_NE(refusal(with_scratch, 2, 2).find("it needs 3 staging slots, and there are 2"), std::string::npos)
      << refusal(with_scratch, 2, 2);
  // Each stores its input into the other's scratch.
  const std::string named = all_reduce_of_two("scratch 1",
                                              "open scratch\npush rank % scratch (post 0) = input\nsignal\n"
                                              "wait for post 1 of %\nreduce output = input + scratch completes\n"
                                              "signal\nwait for post 2 of %\n");
  EXPECT_NE(refusal(named, 2).find("scratch has no name for other ranks"), std::string::npos) << refusal(named, 2);
  const std::string cast = all_reduce_of_two("",
                                             "expose input\nmulticast_reduce output = all ranks' input (post 0) "
                                             "completes\nclose\n");
  EXPECT_NE(refusal(cast, 2).find("multicast"), std::string::npos) << refusal(cast, 2);
}

Settings settings_with(const std::string& text, const test::TemporaryFolder& folder) {
  Settings settings = Settings::from(Variables());
  const std::string name = "file:" + folder.write("my.sched", text);
  settings.forced_of(Collective::all_reduce) = {name, AlgorithmFile::of("TUTTI_ALLREDUCE_ALGORITHM", name)};
  // Small slots make many rounds out of few elements.
  settings.region.staging_slot = 4096;
  settings.region.message_slot = 4096;
  return settings;
}

void expect_right_sums(Communicator& communicator) {
  for (const std::uint64_t count : {0U, 1U, 3U, 1000U, 40000U})
    for (const bool in_place : {false, true}) {
      std::vector<float> mine(count);
      std::iota(mine.begin(), mine.end(), static_cast<float>(communicator.rank()));
      std::vector<float> output = mine;
      const float* input = in_place ? output.data() : mine.data();
      ASSERT_TRUE(communicator.all_reduce(input, output.data(), count, Type::f32, test::handle(Op::sum)).ok());
      const std::uint32_t ranks = communicator.num_ranks();
      const std::uint64_t sum_of_ranks = ranks * (ranks - 1) / 2;
      for (std::uint64_t i = 0; i < count; ++i)
        ASSERT_EQ(output[i], static_cast<float>(ranks * i + sum_of_ranks)) << i << " of " << count;
    }
}

TEST(AlgorithmFile, GivesRightSums) {
  const test::TemporaryFolder folder;
  const std::string example = std::move(read_file(TUTTI_SOURCE_DIR "/examples/my_all_reduce.sched", 1 << 20).value());
  for (const std::string& text : {example, written("ring", 4), written("one_shot", 4)}) {
    test::ThreadRanks group(4, settings_with(text, folder));
    group.run([](Communicator& communicator) {
      expect_right_sums(communicator);
      // Others can be beside it: schedules that are given by hand have numbers of their own.
      const Schedule ring = find_algorithm(Collective::all_reduce, "ring")->make({.num_ranks = 4});
      double one = 1.0;
      ASSERT_TRUE(
          communicator
              .run_by(ring, 0, {.input = &one, .output = &one, .count = 1, .type = Type::f64}, WalkerChoice::automatic)
              .ok());
      EXPECT_EQ(one, 4.0);
      expect_right_sums(communicator);
    });
  }
}

TEST(AlgorithmFile, IsSetAsideForCallsThatItCannotDo) {
  const test::TemporaryFolder folder;
  // Needs symmetric memory; what allocates it has none yet.
  test::ThreadRanks group(3, settings_with(written("two_shot", 3), folder));
  group.run([](Communicator& communicator) {
    expect_right_sums(communicator);
    const Result<void*> memory = communicator.allocate(8000);
    ASSERT_TRUE(memory.ok()) << memory.status().to_string();
    auto* buffer = static_cast<double*>(*memory);
    for (int i = 0; i < 1000; ++i) buffer[i] = i;
    ASSERT_TRUE(communicator.all_reduce(buffer, buffer, 1000, Type::f64, test::handle(Op::sum)).ok());
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(buffer[i], 3.0 * i);
    EXPECT_TRUE(communicator.free(*memory).ok());
  });
}

// The message of piece 1 is all that tells rank 0 that rank 1 has stored piece 0: it comes even if piece 1 is empty.
TEST(AlgorithmFile, MessagesOfNothingKeepTheOrder) {
  const test::TemporaryFolder folder;
  const std::string text =
      "tutti schedule 1\nname empty_message\ncollective all_reduce\nranks 2\npieces 2\n"
      "rank 0\n  open output[0.0]\n  send input[0.0] to 1\n  send input[0.1] to 1\n"
      "  recv_reduce output[0.1] = message(1) + input[0.1] completes\n"
      "rank 1\n  recv_reduce output[0.0] = message(0) + input[0.0] completes\n"
      "  push rank 0 output[0.0] (post 0) = output[0.0]\n  send input[0.1] to 0\n"
      "  recv_reduce output[0.1] = message(0) + input[0.1] completes\n";
  test::ThreadRanks group(2, settings_with(text, folder));
  group.run([](Communicator& communicator) {
    const Result<void*> memory = communicator.allocate(2 * sizeof(float));
    ASSERT_TRUE(memory.ok()) << memory.status().to_string();
    auto* input = static_cast<float*>(*memory);
    float* output = input + 1;
    for (int turn = 0; turn < 3000; ++turn) {
      *input = static_cast<float>(turn + static_cast<int>(communicator.rank()));
      *output = -1;
      ASSERT_TRUE(communicator.all_reduce(input, output, 1, Type::f32, test::handle(Op::sum)).ok());
      ASSERT_EQ(*output, static_cast<float>(2 * turn + 1));
    }
    EXPECT_TRUE(communicator.free(*memory).ok());
  });
}

TEST(AlgorithmFile, IsFollowedWhereItsDemandsAllow) {
  const auto objection = [](const Demands& demands, const CallFacts& call) {
    Way way;
    way.demands = demands;
    return objection_to(way, call);
  };
  const Demands none = {.keeps_rank_order = true};
  EXPECT_EQ(objection(none, {}), "");
  EXPECT_EQ(objection({}, {.commutative = false}), "it does not keep the order of the ranks");
  EXPECT_EQ(objection(none, {.commutative = false}), "");
  EXPECT_EQ(objection({.allows_in_place = false}, {.in_place = true}), "it is not for calls in place");
  EXPECT_EQ(objection({.allows_in_place = false}, {}), "");
  EXPECT_EQ(objection({.allows_out_of_place = false}, {}), "it is for calls in place only");
  EXPECT_EQ(objection({.allows_out_of_place = false}, {.in_place = true}), "");
  EXPECT_EQ(objection({.opens = true}, {}), "it needs both buffers in symmetric memory");
  EXPECT_NE(objection({.opens = true}, {.symmetric = true, .op = Op::premultiplied_sum}), "");
  EXPECT_EQ(objection({.opens = true}, {.symmetric = true}), "");
  EXPECT_EQ(objection({.root = 1}, {.root = 0}), "it is for another root");
  EXPECT_EQ(objection({.root = 1}, {.root = 1}), "");
  // The root alone may be in place, and the others must come to the same end.
  Way rooted;
  rooted.collective = Collective::broadcast;
  rooted.demands.allows_in_place = false;
  for (const bool in_place : {false, true})
    EXPECT_EQ(objection_to(rooted, {.in_place = in_place}), "with a root it must be for calls in place and for others");
}

}  // namespace
}  // namespace tutti
