// SPDX-License-Identifier: Apache-2.0
// Ranks as threads of one process that use the C API as a program would.
#pragma once

#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tutti/tutti.h>

namespace tutti::test {

// Runs `body(comm, rank)` on each rank of one communicator, each in its own thread.
template <typename Body>
void run_ranks(int num_ranks, const Body& body) {
  tuttiUniqueId id{};
  ASSERT_EQ(tuttiGetUniqueId(&id), tuttiSuccess) << tuttiGetLastError(nullptr);
  std::vector<std::jthread> threads;
  threads.reserve(static_cast<std::size_t>(num_ranks));
  for (int rank = 0; rank < num_ranks; ++rank)
    threads.emplace_back([&, rank] {
      tuttiComm_t comm = nullptr;
      ASSERT_EQ(tuttiCommInitRank(&comm, num_ranks, id, rank), tuttiSuccess) << tuttiGetLastError(nullptr);
      body(comm, rank);
      tuttiCommDestroy(comm);
    });
}

// The words of the last error, where the result is the one that is expected; else what came instead.
inline std::string words_of(tuttiResult_t result, tuttiResult_t expected) {
  if (result == expected) return tuttiGetLastError(nullptr);
  return std::string("unexpected: ") + tuttiGetErrorString(result) +
         (result == tuttiSuccess ? "" : std::string(": ") + tuttiGetLastError(nullptr));
}

}  // namespace tutti::test

#define EXPECT_DONE(call) EXPECT_EQ(call, tuttiSuccess) << tuttiGetLastError(nullptr)
#define EXPECT_PREFIX(text, prefix) EXPECT_EQ((text).substr(0, std::string_view(prefix).size()), prefix)
