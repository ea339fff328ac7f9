// SPDX-License-Identifier: Apache-2.0
// Checked arguments of calls with blocks of different sizes, as the C API takes them: a tuple up to the type.
#pragma once

#include <cstddef>
#include <iterator>
#include <tuple>

#include <tutti/cpp/blocks.hpp>
#include <tutti/cpp/elements.hpp>

namespace tutti {
inline namespace v0_1 {
namespace detail {

template <typename In, typename Out>
auto gathered_v(const char* what, const In& input, Out& output, const Blocks& to, int num_ranks, bool is_here = true) {
  if (is_here) to.check(what, "output", std::size(output), num_ranks);
  const Buffers both = buffers(input, output, std::size(input));
  return std::make_tuple(both.input, both.count, both.output, to.counts(), to.displacements(), both.type);
}

template <typename In, typename Out>
auto folded_v(const char* what, const In& input, Out& output, const Blocks& from, int num_ranks, int rank) {
  from.check(what, "input", std::size(input), num_ranks);
  Buffers both = buffers(input, output, from.counts()[rank]);
  both.expect("output", std::size(output), both.count);
  both.check(what);
  return std::make_tuple(both.input, both.output, from.counts(), both.type);
}

template <typename In, typename Out>
auto exchanged_v(const char* what, const In& input, const Blocks& from, Out& output, const Blocks& to, int num_ranks) {
  from.check(what, "input", std::size(input), num_ranks);
  to.check(what, "output", std::size(output), num_ranks);
  const Buffers both = buffers(input, output, 0);
  return std::make_tuple(both.input, from.counts(), from.displacements(), both.output, to.counts(), to.displacements(),
                         both.type);
}

template <typename In, typename Out>
auto scattered_v(const char* what, const In& input, const Blocks& from, Out& output, int num_ranks, bool is_here) {
  if (is_here) from.check(what, "input", std::size(input), num_ranks);
  const Buffers both = buffers(input, output, std::size(output));
  return std::make_tuple(both.input, from.counts(), from.displacements(), both.output, both.count, both.type);
}

}  // namespace detail
}  // namespace v0_1
}  // namespace tutti
