// SPDX-License-Identifier: Apache-2.0
// The lines of a tuner's file, as NCCL's example plugin defined them: fields with commas between, of which the first
// line that matches a call counts. docs/formats/exports.md. It stands on the C++ library alone, since it is loaded into
// other people's programs. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::nccl_tuner {

// The numbers are NCCL's.
enum class Function : int { broadcast = 0, reduce = 1, all_gather = 2, reduce_scatter = 3, all_reduce = 4 };
enum class Algorithm : int { tree = 0, ring, collnet_direct, collnet_chain, nvls, nvls_tree, pat };
enum class Protocol : int { ll = 0, ll128, simple };

// The words of the file; nullopt where a word is none.
[[nodiscard]] std::string_view name_of(Function function);
[[nodiscard]] std::string_view name_of(Algorithm algorithm);
[[nodiscard]] std::string_view name_of(Protocol protocol);
[[nodiscard]] std::optional<Algorithm> find_algorithm(std::string_view name);
[[nodiscard]] std::optional<Protocol> find_protocol(std::string_view name);

// What NCCL asks about.
struct Call {
  Function function = Function::all_reduce;
  std::uint64_t bytes = 0;
  std::uint64_t ranks = 1;
  std::uint64_t nodes = 1;
  int operations = 1;                      // that NCCL has joined
  std::optional<bool> is_registered = {};  // whether NCCL knows its buffers; versions 2 and 3 do not tell
};

// -1 is any number.
struct Line {
  Function function = Function::all_reduce;
  std::uint64_t least_bytes = 0;
  std::uint64_t most_bytes = UINT64_MAX;  // included
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
  std::int32_t channels = 0;  // at most so many; 0: as many as NCCL takes
  std::int32_t nodes = -1;
  std::int32_t ranks = -1;
  std::int32_t operations = -1;
  std::int32_t registered = -1;  // 0 or 1
  std::uint32_t line = 0;        // of the file, from 1 on

  // Whether it is for communicators of so many.
  [[nodiscard]] bool is_for(std::uint64_t num_ranks, std::uint64_t num_nodes) const;
  [[nodiscard]] bool matches(const Call& call) const;
};

struct ReadLines {
  std::vector<Line> lines;
  std::string error;  // empty: there is none
  std::uint32_t error_line = 0;
};

// Stricter than the example plugin, which takes an unknown word for another one and leaves out lines that it cannot
// read. Stops at the first error.
[[nodiscard]] ReadLines read_lines(std::string_view text);

// The line as it is read, without its end.
[[nodiscard]] std::string write_line(const Line& line);

}  // namespace tutti::nccl_tuner
