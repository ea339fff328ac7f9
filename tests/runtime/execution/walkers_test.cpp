// SPDX-License-Identifier: Apache-2.0
// The differential test of the walkers: on random schedules, and on the built-in ones, the general walker, the
// one of lists, and any mixture of them among the ranks give the bits that execution on numbers gives.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "../ranks_of_threads.hpp"
#include "algorithms/registry.hpp"
#include "schedule/numbers.hpp"
#include "schedule/oracle/random_schedule.hpp"
#include "schedule/prove/prove.hpp"

namespace tutti {
namespace {

enum class Mixture { generic, specialised, mixed };

struct Trial {
  Schedule schedule;
  std::uint64_t count = 0;
  bool in_place = false;
  Mixture mixture = Mixture::generic;
};

bool opens(const Schedule& schedule) {
  for (const auto& lane : collect(schedule, 0, Fusion::none).lanes)
    for (const Step& step : lane)
      if (step.kind == StepKind::open) return true;
  return false;
}

std::vector<std::vector<std::byte>> inputs_for(std::uint32_t ranks, std::uint64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<std::byte>> inputs(ranks, std::vector<std::byte>(count * sizeof(float)));
  // Values whose sums round, so that another order of folding shows in the bits.
  std::uniform_real_distribution<float> value(-1.0F, 1.0F);
  for (auto& input : inputs)
    for (std::uint64_t i = 0; i < count; ++i) {
      const float drawn = value(random);
      std::memcpy(input.data() + i * sizeof drawn, &drawn, sizeof drawn);
    }
  return inputs;
}

WalkerChoice walker_of(Mixture mixture, std::uint32_t rank) {
  if (mixture == Mixture::mixed) return rank % 2 == 0 ? WalkerChoice::generic : WalkerChoice::automatic;
  return mixture == Mixture::generic ? WalkerChoice::generic : WalkerChoice::automatic;
}

// Runs the trials one after another over the same communicators, so that what one leaves behind the next one meets.
void run_trials(std::uint32_t ranks, const std::vector<Trial>& trials, const Settings& settings) {
  std::vector<std::vector<std::vector<std::byte>>> outputs(trials.size(), std::vector<std::vector<std::byte>>(ranks));
  std::vector<std::vector<std::vector<std::byte>>> inputs;
  for (std::size_t i = 0; i < trials.size(); ++i) inputs.push_back(inputs_for(ranks, trials[i].count, i));

  constexpr OperatorHandle kSum{static_cast<std::uint32_t>(Op::sum)};
  test::ThreadRanks group(ranks, settings);
  group.run([&](Communicator& communicator) {
    const std::uint32_t rank = communicator.rank();
    for (std::size_t i = 0; i < trials.size(); ++i) {
      const Trial& trial = trials[i];
      const std::vector<std::byte>& mine = inputs[i][rank];
      const bool symmetric = opens(trial.schedule);
      const std::size_t bytes = std::max<std::size_t>(mine.size(), 1);
      std::vector<std::byte> ordinary(2 * bytes, std::byte{0xa5});
      std::byte* memory = ordinary.data();
      if (symmetric) {
        const Result<void*> allocated = communicator.allocate(2 * bytes);
        ASSERT_TRUE(allocated.ok()) << allocated.status().to_string();
        memory = static_cast<std::byte*>(*allocated);
      }
      std::byte* output = trial.in_place ? memory : memory + bytes;
      std::copy(mine.begin(), mine.end(), memory);
      const Status status =
          communicator.run_by(trial.schedule, static_cast<std::uint32_t>(i),
                              {.input = memory, .output = output, .count = trial.count, .type = Type::f32, .op = kSum},
                              walker_of(trial.mixture, rank));
      ASSERT_TRUE(status.ok()) << trial.schedule.name << ": " << status.to_string();
      outputs[i][rank].assign(output, output + mine.size());
      if (symmetric) {
        ASSERT_TRUE(communicator.free(memory).ok());
      }
      // Between them what the small path does: in the flag's line, and in slots.
      std::vector<float> ones(1 + i * 37 % 900, 1.0F);
      ASSERT_TRUE(communicator.all_reduce(ones.data(), ones.data(), ones.size(), Type::f32, kSum).ok());
      EXPECT_EQ(std::count(ones.begin(), ones.end(), static_cast<float>(ranks)), std::ssize(ones));
    }
  });

  const NumbersData numbers{.element_size = sizeof(float),
                            .fold = fold_of<float>([](float a, float b) { return a + b; })};
  for (std::size_t i = 0; i < trials.size(); ++i) {
    NumbersData data = numbers;
    data.count = trials[i].count;
    data.window = std::max<std::uint64_t>(trials[i].count, 1);
    const auto expected = run_on_numbers(trials[i].schedule, inputs[i], data,
                                         {.staged = !opens(trials[i].schedule), .in_place = trials[i].in_place});
    ASSERT_TRUE(expected.ok()) << expected.status().to_string();
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      ASSERT_EQ(outputs[i][rank], (*expected)[rank])
          << trials[i].schedule.name << ", trial " << i << ", rank " << rank << " of " << ranks << ", "
          << trials[i].count << " elements" << (trials[i].in_place ? ", in place" : "");
  }
}

Settings small_slots() {
  Settings settings = Settings::from(Variables());
  // Small slots make many rounds out of few elements.
  settings.region.staging_slot = 4096;
  settings.region.message_slot = 4096;
  return settings;
}

// The plan's number has 6 bits in the description of a call, and the registry's have the first, so a group runs few.
constexpr std::size_t kTrialsPerGroup = 20;

class RandomSchedules : public testing::TestWithParam<Family> {};

TEST_P(RandomSchedules, WalkersGiveTheBitsOfNumbers) {
  for (std::uint64_t seed = 1; seed <= TUTTI_NUM_SEEDS; ++seed) {
    std::mt19937_64 random(seed);
    const auto ranks = static_cast<std::uint32_t>(2 + random() % 4);
    std::vector<Trial> trials;
    for (std::size_t i = 0; i < kTrialsPerGroup; ++i) {
      constexpr std::uint64_t kCounts[] = {0, 1, 2, 5, 12, 13, 100, 1023, 1024, 1025, 5000, 20001};
      trials.push_back({.schedule = random_schedule(random(), GetParam(), ranks),
                        .count = kCounts[random() % std::size(kCounts)],
                        .in_place = random() % 2 == 0 && GetParam() != Family::exchange,
                        .mixture = static_cast<Mixture>(random() % 3)});
    }
    SCOPED_TRACE("seed " + std::to_string(seed));
    // Small operations take turns between slots by the depth, and operations of several rounds go through all.
    // Some of these schedules expose three times a round.
    constexpr std::uint32_t kDepths[] = {3, 4, 5, 7, 64};
    Settings settings = small_slots();
    settings.region.staging_depth = settings.region.message_depth = kDepths[seed % std::size(kDepths)];
    // Every other one has slots in which what is put there lies here and there.
    if (seed % 2 == 0) {
      settings.region.staging_slot = settings.region.message_slot = 16 << 10;
      settings.staging_spread = 300'000;
    }
    run_trials(ranks, trials, settings);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(AllFamilies, RandomSchedules,
                         testing::Values(Family::messages, Family::exchange, Family::symmetric, Family::lanes),
                         [](const auto& family) { return std::string(name_of(family.param)); });

constexpr std::uint32_t kScratchBlocks = 8;

// Inputs go down the chain of ranks, each message holding those of all ranks behind; rank 0 folds them and the result
// goes up again. In scratch they lie at every `apart`-th block from one that differs by rank, around its end.
Lane chain(Builder& b, std::uint32_t apart, std::uint32_t pieces) {
  const std::uint32_t behind = b.num_ranks() - 1 - b.rank();
  const auto kept = [&](std::uint32_t from, std::uint32_t count) {
    Slice slice = Builder::blocks(Space::scratch, (5 * b.rank() + from * apart) % kScratchBlocks, count, {1, apart});
    slice.num_pieces = pieces;
    return slice;
  };
  co_yield b.copy(b.input(0, pieces), kept(0, 1));
  if (behind > 0) co_yield b.recv(b.rank() + 1, kept(1, behind));
  if (b.rank() > 0) {
    co_yield b.send(b.rank() - 1, kept(0, behind + 1));
    co_yield b.recv(b.rank() - 1, b.output(0, pieces));
  } else {
    std::vector<Slice> all;
    for (std::uint32_t rank = 0; rank < b.num_ranks(); ++rank) all.push_back(kept(rank, 1));
    b.completing();
    co_yield b.reduce(all, b.output(0, pieces));
  }
  if (behind > 0) co_yield b.send(b.rank() + 1, b.output(0, pieces));
}

TEST(MessagesOfSeveralBlocks, WalkersGiveTheBitsOfNumbers) {
  for (const std::uint32_t pieces : {1U, 3U}) {
    std::vector<Trial> trials;
    for (const std::uint64_t count : {0U, 1U, 2U, 12U, 13U, 1023U, 1025U, 4096U, 30000U}) {
      for (const std::uint32_t apart : {1U, 2U}) {
        Schedule schedule;
        schedule.name = "chain";
        schedule.num_ranks = 4;
        schedule.order = OrderClass::ordered;
        schedule.spaces = {{{1, pieces}, {1, pieces}, {kScratchBlocks, pieces}}};
        schedule.lane = [apart, pieces](Builder& b, std::uint32_t) { return chain(b, apart, pieces); };
        trials.push_back({.schedule = std::move(schedule), .count = count, .mixture = Mixture::mixed});
        ASSERT_TRUE(prove(trials.back().schedule).ok()) << prove(trials.back().schedule).failure->to_string();
      }
    }
    run_trials(4, trials, small_slots());
    if (HasFatalFailure()) return;
  }
}

TEST(BuiltInSchedules, WalkersGiveTheBitsOfNumbers) {
  for (std::uint32_t ranks = 1; ranks <= 5; ++ranks)
    for (const char* name : {"one_shot", "two_shot", "ring"}) {
      std::vector<Trial> trials;
      for (const std::uint64_t count : {0U, 1U, 12U, 13U, 1024U, 1025U, 4096U, 30000U})
        for (const Mixture mixture : {Mixture::generic, Mixture::specialised}) {
          const bool in_place = (count + ranks) % 2 == 0;
          trials.push_back({.schedule = find_algorithm(Collective::all_reduce, name)->make({.num_ranks = ranks}),
                            .count = count,
                            .in_place = in_place,
                            .mixture = mixture});
        }
      Settings settings = small_slots();
      settings.region.staging_depth = settings.region.message_depth = 1 + ranks;
      run_trials(ranks, trials, settings);
      if (HasFatalFailure()) return;
    }
}

// What a rank exposes to each of the others goes in one slot, or in the line of its flag, up to some size: calls of
// either kind, and some whose post tells of more than their own, one after another, and by unlike walkers.
TEST(SeveralExposures, AreToldOfByOnePostOrOneEach) {
  constexpr std::uint64_t kCounts[] = {1, 4, 0, 5, 3000, 13, 1, 100, 9000, 700, 2, 681, 683, 1024, 12, 40'000, 6};
  for (const std::uint32_t ranks : {3U, 5U, 8U})
    for (const Mixture mixture : {Mixture::generic, Mixture::specialised, Mixture::mixed}) {
      Settings settings = Settings::from(Variables());
      // Also over several places in a slot.
      settings.staging_spread = mixture == Mixture::generic ? 0 : std::uint64_t{1} << 20;
      const Schedule exchanging = all_to_all::direct.make({.collective = Collective::all_to_all, .num_ranks = ranks});
      const Schedule folding =
          reduce_scatter::direct.make({.collective = Collective::reduce_scatter, .num_ranks = ranks});
      test::ThreadRanks(ranks, settings).run([&](Communicator& communicator) {
        const std::uint32_t rank = communicator.rank();
        const WalkerChoice walker = walker_of(mixture, rank);
        std::uint32_t turn = 0;
        std::vector<std::uint64_t> counts;
        for (const std::uint64_t count : kCounts) counts.insert(counts.end(), 2, count);  // the second time is bound
        for (const std::uint64_t count : counts) {
          ++turn;
          // Of rank r for rank b, and the i-th of these.
          const auto element = [&](std::uint32_t r, std::uint32_t b, std::uint64_t i) {
            return static_cast<std::uint32_t>(turn * 1'000'003 + r * 10'007 + b * 101 + i);
          };
          std::vector<std::uint32_t> input(count * ranks);
          for (std::uint32_t block = 0; block < ranks; ++block)
            for (std::uint64_t i = 0; i < count; ++i) input[block * count + i] = element(rank, block, i);
          std::vector<std::uint32_t> output(count * ranks);
          Status status = communicator.run_by(exchanging, 0,
                                              {.collective = Collective::all_to_all,
                                               .input = input.data(),
                                               .output = output.data(),
                                               .count = count,
                                               .type = Type::u32},
                                              walker);
          ASSERT_TRUE(status.ok()) << status.to_string();
          for (std::uint32_t from = 0; from < ranks; ++from)
            for (std::uint64_t i = 0; i < count; ++i)
              ASSERT_EQ(output[from * count + i], element(from, rank, i)) << count << " from " << from;
          status = communicator.run_by(folding, 1,
                                       {.collective = Collective::reduce_scatter,
                                        .input = input.data(),
                                        .output = output.data(),
                                        .count = count,
                                        .type = Type::u32,
                                        .op = test::handle(Op::sum)},
                                       walker);
          ASSERT_TRUE(status.ok()) << status.to_string();
          for (std::uint64_t i = 0; i < count; ++i) {
            std::uint32_t sum = 0;
            for (std::uint32_t from = 0; from < ranks; ++from) sum += element(from, rank, i);
            ASSERT_EQ(output[i], sum) << count;
          }
        }
      });
    }
}

// What a rank has not looked at yet stays: four calls lie between it and the root.
TEST(GenericWalker, PostsByNameOverNoLineThatIsToBeRead) {
  Settings settings;
  settings.walker = WalkerChoice::generic;
  test::ThreadRanks group(3, settings);
  group.run([](Communicator& communicator) {
    constexpr std::size_t kCount = 2048;
    const Result<void*> memory = communicator.allocate(2 * kCount * sizeof(std::int32_t));
    ASSERT_TRUE(memory.ok()) << memory.status().to_string();
    auto* const values = static_cast<std::int32_t*>(*memory);
    for (int turn = 0; turn < 5; ++turn) {
      std::fill_n(values, kCount, static_cast<std::int32_t>(communicator.rank()) + turn);
      if (communicator.rank() == 2) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      for (std::int32_t call = 0; call < 4; ++call) {
        std::int32_t word = communicator.rank() == 0 ? 10 * turn + call : -1;
        const Status status = communicator.run(
            {.collective = Collective::broadcast, .input = &word, .output = &word, .count = 1, .type = Type::i32});
        ASSERT_TRUE(status.ok()) << status.to_string();
        ASSERT_EQ(word, 10 * turn + call);
      }
      const Status status = communicator.run({.collective = Collective::all_reduce,
                                              .input = values,
                                              .output = values + kCount,
                                              .count = kCount,
                                              .type = Type::i32,
                                              .op = test::handle(Op::sum)});
      ASSERT_TRUE(status.ok()) << status.to_string();
      for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(values[kCount + i], 3 + 3 * turn);
    }
  });
}

}  // namespace
}  // namespace tutti
