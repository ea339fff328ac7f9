// SPDX-License-Identifier: Apache-2.0
// How the ranks of a communicator tell each other what their device parts must know. All ranks make equal calls in the
// same order. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "base/status.hpp"
#include "base/system/unique_fd.hpp"

namespace tutti::device {

class Rendezvous {
 public:
  virtual ~Rendezvous() = default;

  [[nodiscard]] virtual std::uint32_t rank() const = 0;
  [[nodiscard]] virtual std::uint32_t num_ranks() const = 0;
  // Each gives as many bytes, a multiple of 8, and gets those of all, in the order of ranks.
  [[nodiscard]] virtual Status exchange(std::span<const std::byte> own, std::span<std::byte> all) = 0;
  // Each gives a descriptor, which stays its own, and gets those of the others; its own place stays empty.
  [[nodiscard]] virtual Status exchange(int own, std::vector<UniqueFd>& all) = 0;
};

template <class Value>
Result<std::vector<Value>> exchange(Rendezvous& rendezvous, const Value& own) {
  static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) % 8 == 0);
  std::vector<Value> all(rendezvous.num_ranks());
  TUTTI_TRY(rendezvous.exchange(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all))));
  return all;
}

// Equal for ranks that are threads of one process, and for no others; not even where two containers number processes
// alike.
[[nodiscard]] std::uint64_t this_process();

// Ok where all ranks are; else each rank's own error, or that of the first other rank that has one.
[[nodiscard]] Status agree(Rendezvous& rendezvous, const Status& own);

}  // namespace tutti::device
