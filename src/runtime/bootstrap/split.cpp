// SPDX-License-Identifier: Apache-2.0
#include "runtime/bootstrap/split.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace tutti {

namespace {

struct Wish {
  std::int32_t color = 0;
  std::int32_t key = 0;
};

// Where a part of the ranks meets, from the one that serves it, or why it does not.
struct Served {
  UniqueId::Raw id{};
  std::array<char, 256> why{};  // ends with a zero
};

// Of all ranks, what each has come with.
template <typename T>
Result<std::vector<T>> gather_from_all(Communicator& communicator, const T& own) {
  static_assert(sizeof(T) % sizeof(std::uint64_t) == 0);
  std::vector<T> all(communicator.num_ranks());
  TUTTI_TRY(communicator.exchange_for_split(&own, sizeof(T) / sizeof(std::uint64_t), all.data()));
  return all;
}

}  // namespace

namespace {

Result<SplitGroup> split_with_memory(Communicator& communicator, int color, int key) {
  TUTTI_TRY_ASSIGN(const std::vector<Wish> wishes, gather_from_all(communicator, Wish{color, key}));
  std::vector<std::uint32_t> members;
  for (std::uint32_t rank = 0; rank < wishes.size(); ++rank) {
    if (wishes[rank].color == kSplitRefused)
      return Status(Code::invalid_usage,
                    fmt::format("rank {} cannot take part in the split: {}", rank, communicator.reason_of(rank)),
                    static_cast<int>(rank));
    if (wishes[rank].color == color) members.push_back(rank);
  }
  std::stable_sort(members.begin(), members.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return wishes[a].key < wishes[b].key; });
  SplitGroup group;
  group.number = communicator.begin_split();
  Status unserved;
  Served own;
  if (color != kSplitNone && members.front() == communicator.rank()) {
    Result<std::unique_ptr<RendezvousServer>> server =
        RendezvousServer::start({.address = communicator.address_of_split(), .most_generations = 1});
    if (server.ok()) {
      group.server = std::move(*server);
      own.id = group.server->id().to_bytes();
    } else {
      unserved = server.status();
      unserved.to_string().copy(own.why.data(), own.why.size() - 1);
    }
  }
  TUTTI_TRY_ASSIGN(const std::vector<Served> all, gather_from_all(communicator, own));
  if (!unserved.ok()) return unserved;
  if (color == kSplitNone) return group;
  const Served& served = all[members.front()];
  if (served.id == UniqueId::Raw{})
    return Status(Code::system,
                  fmt::format("rank {} could not open the rendezvous of the new communicator: {}", members.front(),
                              served.why.data()),
                  static_cast<int>(members.front()));
  TUTTI_TRY_ASSIGN(group.id, UniqueId::from_bytes(served.id));
  group.num_ranks = static_cast<int>(members.size());
  group.rank = static_cast<int>(std::find(members.begin(), members.end(), communicator.rank()) - members.begin());
  group.members = std::move(members);
  return group;
}

}  // namespace

Result<SplitGroup> split(Communicator& communicator, int color, int key) {
  try {
    return split_with_memory(communicator, color, key);
  } catch (const std::bad_alloc&) {
    return communicator.break_for_memory("a split");
  }
}

Status why_in_vain(const Communicator& communicator, const SplitGroup& group) {
  TUTTI_TRY(communicator.failure());
  for (const std::uint32_t rank : group.members)
    if (rank != communicator.rank() && communicator.has_given_up_split(rank, group.number))
      return {Code::system,
              fmt::format("rank {} could not join the new communicator: {}", rank, communicator.reason_of(rank)),
              static_cast<int>(rank)};
  return {};
}

}  // namespace tutti
