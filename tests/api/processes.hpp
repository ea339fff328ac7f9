// SPDX-License-Identifier: Apache-2.0
// Ranks as forked processes, and the words that each returns.
#pragma once

#include <array>
#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tutti/tutti.h>

namespace tutti::test {

// The words that `body(id, rank)` returns on each rank, or "threw: " and those of its exception; none of a rank that
// was killed, or that has not ended within `patience` seconds.
template <typename Body>
std::vector<std::string> run_processes(int num_ranks, const Body& body, unsigned patience = 100) {
  tuttiUniqueId id{};
  EXPECT_EQ(tuttiGetUniqueId(&id), tuttiSuccess) << tuttiGetLastError(nullptr);
  std::vector<int> ends;
  std::vector<pid_t> ranks;
  for (int rank = 0; rank < num_ranks; ++rank) {
    std::array<int, 2> ends_of_pipe{};
    EXPECT_EQ(pipe(ends_of_pipe.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
      alarm(patience);
      std::string words;
      try {
        words = body(id, rank);
      } catch (const std::exception& error) {
        words = std::string("threw: ") + error.what();
      }
      static_cast<void>(!write(ends_of_pipe[1], words.data(), words.size()));
      _exit(0);
    }
    close(ends_of_pipe[1]);
    ends.push_back(ends_of_pipe[0]);
    ranks.push_back(child);
  }
  std::vector<std::string> said(ranks.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    std::array<char, 256> part{};
    for (ssize_t got = 0; (got = read(ends[rank], part.data(), part.size())) > 0;)
      said[rank].append(part.data(), static_cast<std::size_t>(got));
    close(ends[rank]);
    waitpid(ranks[rank], nullptr, 0);
  }
  return said;
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace tutti::test
