// SPDX-License-Identifier: Apache-2.0
#include "runtime/communicator/invocation.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "schedule/prove/definition.hpp"

namespace tutti {

namespace {

// The input block that lies where output block `output` of the rank is to lie, in place, if any does.
struct Twin {
  std::uint32_t input = 0;
  std::uint32_t output = 0;
};
std::optional<Twin> twin_of(const Schedule& header, std::uint32_t rank) {
  for (std::uint32_t block = 0; block < header.division(Space::output).blocks; ++block)
    if (const auto behind = input_behind(header, rank, block)) return Twin{*behind, block};
  return std::nullopt;
}

std::uint64_t overlap(const std::byte* a, std::uint64_t a_bytes, const std::byte* b, std::uint64_t b_bytes) {
  const std::byte* const begin = std::max(a, b);
  const std::byte* const end = std::min(a + a_bytes, b + b_bytes);
  return begin < end ? static_cast<std::uint64_t>(end - begin) : 0;
}

}  // namespace

Result<Buffers> find_buffers(const Invocation& asked, std::uint32_t rank, std::uint32_t num_ranks) {
  const CollectiveFacts& facts = facts_of(asked.collective);
  if (asked.count > kMaxCount)
    return Status(Code::invalid_argument,
                  fmt::format("{} elements are too many; {} are possible", asked.count, kMaxCount));
  if (facts.has_root && asked.root >= num_ranks)
    return Status(Code::invalid_argument,
                  fmt::format("the root is rank {}; of {} it must be 0 to {}", asked.root, num_ranks, num_ranks - 1));
  Schedule header;
  header.collective = asked.collective;
  header.num_ranks = num_ranks;
  header.root = asked.root;
  header.spaces = spaces_of(asked.collective, num_ranks);
  const std::uint64_t block = asked.count * size_of(asked.type);
  const auto bytes_of = [&](Space space) {
    return has_block(header, rank, space, 0) ? header.division(space).blocks * block : 0;
  };
  Buffers buffers;
  if (asked.collective == Collective::barrier) return buffers;
  buffers.input_bytes = bytes_of(Space::input);
  buffers.output_bytes = bytes_of(Space::output);
  buffers.message_bytes = block * std::max(header.division(Space::input).blocks, header.division(Space::output).blocks);
  const auto* input = static_cast<const std::byte*>(asked.input);
  const auto* output = static_cast<const std::byte*>(asked.output);
  for (const auto& [name, buffer, bytes] :
       {std::tuple{"input", input, buffers.input_bytes}, std::tuple{"output", output, buffers.output_bytes}})
    if (bytes > 0 && buffer == nullptr)
      return Status(Code::invalid_argument, fmt::format("the {} is null, and {} {} asked for", name,
                                                        counted(asked.count, "element"), are(asked.count)));
  if (buffers.input_bytes == 0 || buffers.output_bytes == 0) return buffers;
  const std::optional<Twin> twin = twin_of(header, rank);
  if (twin) {
    buffers.input_twin = twin->input * block;
    buffers.output_twin = twin->output * block;
    buffers.in_place = input + buffers.input_twin == output + buffers.output_twin;
  }
  const std::uint64_t shared = overlap(input, buffers.input_bytes, output, buffers.output_bytes);
  if (buffers.in_place || shared == 0) return buffers;
  if (!twin || (twin->input == 0 && twin->output == 0 && buffers.input_bytes == buffers.output_bytes))
    return Status(Code::invalid_argument, fmt::format("input and output overlap by {}; they must be {}",
                                                      counted(shared, "byte"), twin ? "the same or apart" : "apart"));
  return Status(
      Code::invalid_argument,
      fmt::format("input and output overlap by {}; they must be apart, or in place: the {} is block {} of the {}",
                  counted(shared, "byte"), facts.many_outputs ? "input" : "output", rank,
                  facts.many_outputs ? "output" : "input"));
}

}  // namespace tutti
