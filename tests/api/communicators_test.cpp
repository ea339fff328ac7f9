// SPDX-License-Identifier: Apache-2.0
// Communicators of the C API that are made of others, or by a config.
#include <array>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "ranks.hpp"

namespace tutti::test {
namespace {

int sum_over(tuttiComm_t comm, int mine) {
  int sum = 0;
  EXPECT_DONE(tuttiAllReduce(&mine, &sum, 1, tuttiInt, tuttiSum, comm));
  return sum;
}

TEST(Split, OrdersByKeyWithinAColor) {
  run_ranks(5, [](tuttiComm_t comm, int rank) {
    tuttiComm_t part = nullptr;
    EXPECT_DONE(tuttiCommSplit(comm, rank % 2, -rank, &part, nullptr));
    int count = 0;
    int place = -1;
    EXPECT_DONE(tuttiCommCount(part, &count));
    EXPECT_DONE(tuttiCommUserRank(part, &place));
    EXPECT_EQ(count, rank % 2 == 0 ? 3 : 2);
    EXPECT_EQ(place, (count - 1) - rank / 2);
    EXPECT_EQ(sum_over(part, rank), rank % 2 == 0 ? 6 : 4);
    // Of a part, too, while the whole goes on.
    tuttiComm_t alone = nullptr;
    EXPECT_DONE(tuttiCommSplit(part, place, 0, &alone, nullptr));
    EXPECT_EQ(sum_over(alone, rank), rank);
    EXPECT_EQ(sum_over(comm, 1), 5);
    EXPECT_DONE(tuttiCommDestroy(alone));
    EXPECT_DONE(tuttiCommDestroy(part));
  });
}

TEST(Split, LeavesOutWhoHasNoColor) {
  run_ranks(3, [](tuttiComm_t comm, int rank) {
    tuttiComm_t part = comm;
    EXPECT_DONE(tuttiCommSplit(comm, rank == 1 ? TUTTI_SPLIT_NOCOLOR : 7, 0, &part, nullptr));
    if (rank == 1) {
      EXPECT_EQ(part, nullptr);
    } else {
      EXPECT_EQ(sum_over(part, rank), 2);
      EXPECT_DONE(tuttiCommDestroy(part));
    }
  });
}

TEST(Split, FailsForAllWhereOneCannot) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    tuttiComm_t part = comm;
    const tuttiResult_t result = tuttiCommSplit(comm, rank == 1 ? -5 : 0, 0, &part, nullptr);
    EXPECT_EQ(part, nullptr);
    if (rank == 1) {
      EXPECT_EQ(words_of(result, tuttiInvalidArgument), "color is negative, and not TUTTI_SPLIT_NOCOLOR");
    } else {
      EXPECT_EQ(words_of(result, tuttiInvalidUsage),
                "rank 1 cannot take part in the split: color is negative, and not TUTTI_SPLIT_NOCOLOR");
    }
    EXPECT_EQ(sum_over(comm, 1), 2);
  });
}

TEST(Split, IsCalledSoWhereAnotherRankCallsSomethingElse) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    EXPECT_EQ(sum_over(comm, 1), 2);
    tuttiComm_t part = nullptr;
    const tuttiResult_t result = rank == 0 ? tuttiCommSplit(comm, 0, 0, &part, nullptr) : tuttiBarrier(comm);
    const std::string words = words_of(result, tuttiInvalidUsage);
    EXPECT_PREFIX(words, "the ranks' calls differ: collective 2 is ");
    EXPECT_NE(words.find("a split of the communicator on rank 0"), std::string::npos) << words;
  });
}

TEST(Config, ComesBeforeTheEnvironmentAndIsInherited) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    const std::array<const char*, 2> variables = {"TUTTI_ALLREDUCE_ALGORITHM=recursive_doubling", nullptr};
    tuttiConfig_t config = TUTTI_CONFIG_INITIALIZER;
    config.variables = variables.data();
    tuttiComm_t forced = nullptr;
    tuttiComm_t same = nullptr;
    EXPECT_DONE(tuttiCommSplit(comm, 0, rank, &forced, &config));
    EXPECT_DONE(tuttiCommSplit(forced, 0, rank, &same, nullptr));
    const float mine = 1;
    float sum = 0;
    const auto algorithm = [&](tuttiComm_t of) {
      const char* name = nullptr;
      const char* why = nullptr;
      EXPECT_DONE(tuttiGetAlgorithm("all_reduce", &mine, &sum, 1, tuttiFloat, tuttiSum, 0, of, &name, &why));
      return std::string(name) + ", " + why;
    };
    EXPECT_EQ(algorithm(comm), "one_shot, by size");
    EXPECT_EQ(algorithm(forced), "recursive_doubling, forced");
    EXPECT_EQ(algorithm(same), "recursive_doubling, forced");
    EXPECT_EQ(sum_over(same, 1), 2);
    EXPECT_DONE(tuttiCommDestroy(same));
    EXPECT_DONE(tuttiCommDestroy(forced));
  });
}

TEST(Config, SaysWhatIsWrongWithIt) {
  tuttiUniqueId id{};
  ASSERT_EQ(tuttiGetUniqueId(&id), tuttiSuccess);
  tuttiComm_t comm = nullptr;
  tuttiConfig_t config{};
  EXPECT_NE(words_of(tuttiCommInitRankConfig(&comm, 1, id, 0, &config), tuttiInvalidArgument)
                .find("begin one as tuttiConfig_t config = TUTTI_CONFIG_INITIALIZER"),
            std::string::npos);
  config = TUTTI_CONFIG_INITIALIZER;
  const std::array<const char*, 2> wrong = {"TUTTI_SPIN", nullptr};
  config.variables = wrong.data();
  EXPECT_EQ(words_of(tuttiCommInitRankConfig(&comm, 1, id, 0, &config), tuttiInvalidArgument),
            "config.variables has \"TUTTI_SPIN\", which is not NAME=VALUE");
  const std::array<const char*, 2> malformed = {"TUTTI_SPIN=4 parsecs", nullptr};
  config.variables = malformed.data();
  EXPECT_NE(words_of(tuttiCommInitRankConfig(&comm, 1, id, 0, &config), tuttiInvalidArgument).find("TUTTI_SPIN"),
            std::string::npos);
  EXPECT_EQ(comm, nullptr);
  config = TUTTI_CONFIG_INITIALIZER;
  EXPECT_DONE(tuttiCommInitRankConfig(&comm, 1, id, 0, &config));
  EXPECT_DONE(tuttiCommFinalize(comm));
  EXPECT_DONE(tuttiCommDestroy(comm));
}

TEST(Algorithm, SaysWhoHasChosen) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    const auto chooser_of = [&](const char* variable) {
      const std::array<const char*, 2> variables = {variable, nullptr};
      tuttiConfig_t config = TUTTI_CONFIG_INITIALIZER;
      config.variables = variables.data();
      tuttiComm_t other = nullptr;
      EXPECT_DONE(tuttiCommSplit(comm, 0, rank, &other, &config));
      tuttiAlgorithmInfo_t info = TUTTI_ALGORITHM_INFO_INITIALIZER;
      const float mine = 1;
      float sum = 0;
      EXPECT_DONE(tuttiGetAlgorithmInfo("all_reduce", &mine, &sum, 1, tuttiFloat, tuttiSum, 0, other, &info));
      EXPECT_NE(info.algorithm, nullptr);
      EXPECT_NE(info.why, nullptr);
      EXPECT_DONE(tuttiCommDestroy(other));
      return info.choice;
    };
    EXPECT_EQ(chooser_of("TUTTI_SPIN=0"), tuttiChoiceOwn);
    EXPECT_EQ(chooser_of("TUTTI_ALLREDUCE_ALGORITHM=ring"), tuttiChoiceForced);
    EXPECT_EQ(chooser_of("TUTTI_ALLREDUCE_ALGORITHM=two_shot"), tuttiChoiceFallback);  // wants symmetric memory
  });
}

TEST(Algorithm, WritesNothingBeyondTheProgramsStruct) {
  run_ranks(1, [](tuttiComm_t comm, int) {
    tuttiAlgorithmInfo_t info{};
    EXPECT_EQ(words_of(tuttiGetAlgorithmInfo("barrier", nullptr, nullptr, 0, tuttiInt, tuttiSum, 0, comm, &info),
                       tuttiInvalidArgument),
              "info->size is too small; begin one as tuttiAlgorithmInfo_t info = TUTTI_ALGORITHM_INFO_INITIALIZER");
    EXPECT_EQ(info.algorithm, nullptr);
  });
}

TEST(Algorithm, IsAskedForWithWhatThereIs) {
  run_ranks(2, [](tuttiComm_t comm, int) {
    int mine = 0;
    const char* name = nullptr;
    const char* why = nullptr;
    EXPECT_EQ(words_of(tuttiGetAlgorithm("broadcast", &mine, &mine, 1, tuttiInt, tuttiSum, -1, comm, &name, &why),
                       tuttiInvalidArgument),
              "the root is rank -1; of 2 it must be 0 to 1");
    EXPECT_EQ(words_of(tuttiGetAlgorithm("all_reduce", &mine, &mine, 1, tuttiInt, tuttiMaxRedOp, 0, comm, &name, &why),
                       tuttiInvalidArgument),
              "2147483647 is no operator of this communicator");
  });
}

// A program's header may be of another time than the library.
TEST(Config, MayHaveFieldsThatComeLater) {
  struct {
    tuttiConfig_t known;
    long later;
  } config = {TUTTI_CONFIG_INITIALIZER, 0};
  config.known.size = sizeof config;
  tuttiUniqueId id{};
  ASSERT_EQ(tuttiGetUniqueId(&id), tuttiSuccess);
  tuttiComm_t comm = nullptr;
  config.later = 1;
  EXPECT_EQ(words_of(tuttiCommInitRankConfig(&comm, 1, id, 0, &config.known), tuttiUnsupported),
            "the config of version 100 sets something that this library, of version 100, does not know");
  config.later = 0;
  EXPECT_DONE(tuttiCommInitRankConfig(&comm, 1, id, 0, &config.known));
  EXPECT_DONE(tuttiCommDestroy(comm));
  // The first version's is the least.
  config.known.size = sizeof(config.known.size);
  EXPECT_EQ(tuttiCommInitRankConfig(&comm, 1, id, 0, &config.known), tuttiInvalidArgument);
}

TEST(Config, WhatIsWrongWithItOnOneRankIsToldToTheOthers) {
  tuttiUniqueId id{};
  ASSERT_EQ(tuttiGetUniqueId(&id), tuttiSuccess);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      const std::array<const char*, 2> variables = {rank == 1 ? "TUTTI_WALKER=nonsense" : "TUTTI_WALKER=generic",
                                                    nullptr};
      tuttiConfig_t config = TUTTI_CONFIG_INITIALIZER;
      config.variables = variables.data();
      tuttiComm_t comm = nullptr;
      const tuttiResult_t result = tuttiCommInitRankConfig(&comm, 3, id, rank, &config);
      const std::string words = words_of(result, tuttiInvalidArgument);
      if (rank == 1) {
        EXPECT_PREFIX(words, "TUTTI_WALKER (config.variables): 'nonsense' is not one of the choices");
      } else if (words.find("nobody answers") == std::string::npos) {  // a rank that comes when all is over
        EXPECT_PREFIX(words, "rank 1 cannot join: TUTTI_WALKER (config.variables): 'nonsense'");
      }
      EXPECT_EQ(comm, nullptr);
    });
}

TEST(Split, WithinAGroupIsRefusedOnAllRanksWhereOneIsInOne) {
  run_ranks(2, [](tuttiComm_t comm, int rank) {
    if (rank == 1) {
      EXPECT_DONE(tuttiGroupStart());
    }
    tuttiComm_t part = comm;
    const tuttiResult_t result = tuttiCommSplit(comm, 0, 0, &part, nullptr);
    EXPECT_EQ(part, nullptr);
    if (rank == 1) {
      EXPECT_PREFIX(words_of(result, tuttiUnsupported), "communicators cannot be made within a group");
      EXPECT_DONE(tuttiGroupEnd());
    } else {
      EXPECT_PREFIX(words_of(result, tuttiInvalidUsage),
                    "rank 1 cannot take part in the split: communicators cannot be made within a group");
    }
    EXPECT_EQ(sum_over(comm, 1), 2);
  });
}

TEST(Split, EndsForAllWhereTheCommunicatorIsAborted) {
  run_ranks(3, [](tuttiComm_t comm, int rank) {
    if (rank == 2) {
      EXPECT_DONE(tuttiCommAbort(comm));
      return;
    }
    tuttiComm_t part = nullptr;
    EXPECT_EQ(tuttiCommSplit(comm, 0, 0, &part, nullptr), tuttiRemoteError);
    EXPECT_EQ(part, nullptr);
  });
}

TEST(Config, MakesNoCommunicatorWithinAGroup) {
  tuttiUniqueId id{};
  ASSERT_EQ(tuttiGetUniqueId(&id), tuttiSuccess);
  tuttiComm_t comm = nullptr;
  EXPECT_DONE(tuttiGroupStart());
  EXPECT_EQ(tuttiCommInitRank(&comm, 1, id, 0), tuttiUnsupported);
  EXPECT_DONE(tuttiGroupEnd());
  EXPECT_EQ(comm, nullptr);
}

}  // namespace
}  // namespace tutti::test
