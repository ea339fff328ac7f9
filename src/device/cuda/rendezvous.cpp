// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/rendezvous.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

namespace tutti::device {

std::uint64_t this_process() {
  static const std::uint64_t number = [] {
    std::uint64_t random = 0;
    // Without random bytes, the number of the process must do.
    static_cast<void>(getrandom(&random, sizeof random, 0));
    return random;
  }();
  // A forked child has its parent's number.
  return number ^ static_cast<std::uint64_t>(getpid());
}

Status agree(Rendezvous& rendezvous, const Status& own) {
  struct Word {
    std::uint64_t code = 0;
    std::array<char, 248> words = {};
  };
  Word word;
  word.code = static_cast<std::uint64_t>(own.code());
  const std::string said = own.to_string();
  std::copy_n(said.begin(), std::min(said.size(), word.words.size() - 1), word.words.begin());
  TUTTI_TRY_ASSIGN(const std::vector<Word> all, exchange(rendezvous, word));
  if (!own.ok()) return own;
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (all[rank].code != 0)
      return {static_cast<Code>(all[rank].code), fmt::format("rank {}: {}", rank, all[rank].words.data()),
              static_cast<int>(rank)};
  return {};
}

}  // namespace tutti::device
