// SPDX-License-Identifier: Apache-2.0
#include "conformance/image.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "schedule/prove/definition.hpp"

namespace tutti::test {

namespace {

constexpr std::size_t kGuard = 64;
constexpr std::byte kPoison{0xdb};

std::size_t aligned(std::size_t bytes) { return (bytes + kGuard - 1) / kGuard * kGuard; }

}  // namespace

ExactInput exact_input(const Case& each) {
  return {.type = each.type, .op = each.op, .num_ranks = static_cast<int>(each.num_ranks), .seed = each.seed};
}

Image::Image(const Case& each, std::uint32_t rank)
    : case_(each),
      element_(size_of(each.type)),
      input_blocks_(placed_blocks(each, rank, Space::input)),
      output_blocks_(placed_blocks(each, rank, Space::output)) {
  const Schedule header = header_of(each);
  place_buffers(header, rank);
  write_input(header, rank);
  after_ = before_;
  write_result(header, rank);
}

void Image::place_buffers(const Schedule& header, std::uint32_t rank) {
  const bool has_any = header.collective != Collective::barrier;
  const bool has_input = has_any && has_block(header, rank, Space::input, 0);
  const bool has_output = has_any && has_block(header, rank, Space::output, 0);
  if (has_input) input_bytes_ = input_blocks_.end * element_;
  if (has_output) output_bytes_ = output_blocks_.end * element_;
  if (has_input) input_ = kGuard;
  if (has_output) output_ = has_input ? kGuard + aligned(input_bytes_) + kGuard : kGuard;
  if (case_.in_place && has_input && has_output) {
    output_ = kGuard;
    for (std::uint32_t block = 0; block < header.division(Space::output).blocks; ++block)
      if (const auto twin = input_behind(header, rank, block)) {
        // Where the one lies within the other, the other begins at the guard.
        const std::size_t before_input = input_blocks_.offsets[*twin];
        const std::size_t before_output = output_blocks_.offsets[block];
        const std::size_t common = std::min(before_input, before_output);
        input_ = kGuard + (before_output - common) * element_;
        output_ = kGuard + (before_input - common) * element_;
        break;
      }
  }
  const std::size_t end = std::max(input_.value_or(0) + input_bytes_, output_.value_or(0) + output_bytes_);
  before_.assign(end + kGuard, kPoison);
}

void Image::write_moved(std::uint32_t rank, std::uint32_t block, std::uint64_t elements, std::byte* to) const {
  const ExactInput bits = {
      .type = Type::u8, .op = Op::bit_xor, .num_ranks = static_cast<int>(case_.num_ranks), .seed = case_.seed};
  exact_fill(bits, static_cast<int>(rank), block * case_.count * element_, elements * element_, to);
}

void Image::write_input(const Schedule& header, std::uint32_t rank) {
  if (!input_) return;
  for (std::uint32_t block = 0; block < header.division(Space::input).blocks; ++block) {
    std::byte* const to = before_.data() + *input_ + input_blocks_.offsets[block] * element_;
    const std::uint64_t count = input_blocks_.counts[block];
    if (facts_of(header.collective).folds) {
      exact_fill(exact_input(case_), static_cast<int>(rank), block * case_.count, count, to);
    } else {
      write_moved(rank, block, count, to);
    }
  }
}

void Image::write_result(const Schedule& header, std::uint32_t rank) {
  if (!output_) return;
  for (std::uint32_t block = 0; block < header.division(Space::output).blocks; ++block) {
    const auto expected = expected_output(header, rank, {block, 0});
    if (!expected) continue;
    std::byte* const to = after_.data() + *output_ + output_blocks_.offsets[block] * element_;
    const std::uint64_t count = output_blocks_.counts[block];
    const std::uint32_t from = expected->origin.block;
    if (!facts_of(header.collective).folds) {
      write_moved(expected->first, from, count, to);
    } else if (expected->end == case_.num_ranks) {
      exact_expected(exact_input(case_), from * case_.count, count, to);
    } else {
      exact_expected_of_first(exact_input(case_), static_cast<int>(expected->end), from * case_.count, count, to);
    }
  }
}

std::string Image::fault(std::span<const std::byte> after) const {
  if (after.size() == after_.size() && std::memcmp(after.data(), after_.data(), after_.size()) == 0) return "";
  const auto [is, should] = std::mismatch(after.begin(), after.end(), after_.begin(), after_.end());
  const auto at = static_cast<std::size_t>(should - after_.begin());
  const auto within = [at](const std::optional<std::size_t>& begin, std::uint64_t bytes) {
    return begin && at >= *begin && at < *begin + bytes;
  };
  std::string place = fmt::format("byte {} of the guards", at);
  if (within(output_, output_bytes_)) {
    place = fmt::format("output byte {} of {}", at - *output_, output_bytes_);
  } else if (within(input_, input_bytes_)) {
    place = fmt::format("input byte {} of {}", at - *input_, input_bytes_);
  }
  return fmt::format("{} is {:02x} instead of {:02x}", place, static_cast<unsigned>(*is),
                     static_cast<unsigned>(*should));
}

}  // namespace tutti::test
