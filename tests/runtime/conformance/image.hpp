// SPDX-License-Identifier: Apache-2.0
// The memory of one rank around one call, as it must be before and after: input and output where the call has them,
// with guards on either side. After the call the output holds the result, and every other byte is as it was: guards,
// inputs, and whatever lies beside the result in place.
//
// Plain memory of its own; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "case.hpp"
#include "data/exact.hpp"

namespace tutti::test {

class Image {
 public:
  Image(const Case& each, std::uint32_t rank);

  [[nodiscard]] std::size_t size() const { return before_.size(); }
  [[nodiscard]] std::span<const std::byte> before() const { return before_; }
  // Where the buffers begin; nothing where the rank has none.
  [[nodiscard]] std::optional<std::size_t> input() const { return input_; }
  [[nodiscard]] std::optional<std::size_t> output() const { return output_; }

  // What is wrong with the memory after the call: "output byte 17 of 40 is 3a instead of 3b". Empty where nothing is.
  [[nodiscard]] std::string fault(std::span<const std::byte> after) const;

 private:
  void place_buffers(const Schedule& header, std::uint32_t rank);
  void write_input(const Schedule& header, std::uint32_t rank);
  void write_result(const Schedule& header, std::uint32_t rank);
  // The elements of an input block of a rank whose bits alone matter.
  void write_moved(std::uint32_t rank, std::uint32_t block, std::uint64_t elements, std::byte* to) const;

  const Case& case_;
  std::uint64_t element_;  // bytes
  PlacedBlocks input_blocks_;
  PlacedBlocks output_blocks_;
  std::optional<std::size_t> input_;
  std::optional<std::size_t> output_;
  std::uint64_t input_bytes_ = 0;
  std::uint64_t output_bytes_ = 0;
  std::vector<std::byte> before_;
  std::vector<std::byte> after_;
};

// The data of a case that folds.
[[nodiscard]] ExactInput exact_input(const Case& each);

}  // namespace tutti::test
