// SPDX-License-Identifier: Apache-2.0
// An MSCCL program as it stands in its file: elements and attributes, each checked for itself and with its line. What
// they mean to one another is the business of lanes.hpp. Values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "schedule/collective.hpp"

namespace tutti::msccl {

// More than any program of those who generate them; a file of other things is not to fill the memory.
inline constexpr std::size_t kMostBytes = std::size_t{256} << 20U;
inline constexpr std::size_t kMostAttributes = 64;  // of an element
inline constexpr std::size_t kMostValueBytes = 256;
inline constexpr std::uint32_t kMostSteps = 1U << 20;
inline constexpr std::uint32_t kMostMoves = 1U << 22;  // chunks that all steps together name
inline constexpr std::int32_t kMostRanks = 1024;
inline constexpr std::int32_t kMostThreadBlocks = 1024;  // of a rank: as many as the interpreter has
inline constexpr std::int32_t kMostChunks = 1 << 20;     // of a buffer
inline constexpr std::uint64_t kMostCells = 1U << 22;    // chunks of all buffers of all ranks

enum class Buffer : std::uint8_t { input, output, scratch };

// What a type of step does to each of its chunks: folds what it reads, in the order of these columns, and hands the
// result on.
struct StepType {
  std::string_view name;
  bool receives = false;
  bool reads_destination = false;
  bool reads_source = false;
  bool writes = false;  // the destination
  bool sends = false;

  [[nodiscard]] bool works() const { return receives || reads_source; }
};

inline constexpr StepType kStepTypes[] = {
    {.name = "s", .reads_source = true, .sends = true},
    {.name = "r", .receives = true, .writes = true},
    {.name = "cpy", .reads_source = true, .writes = true},
    {.name = "re", .reads_destination = true, .reads_source = true, .writes = true},
    {.name = "rrc", .receives = true, .reads_source = true, .writes = true},
    {.name = "rcs", .receives = true, .writes = true, .sends = true},
    {.name = "rrs", .receives = true, .reads_source = true, .sends = true},
    {.name = "rrcs", .receives = true, .reads_source = true, .writes = true, .sends = true},
    {.name = "nop"},
};

struct FileStep {
  const StepType* type = nullptr;
  Buffer source_buffer = Buffer::input;
  Buffer destination_buffer = Buffer::output;
  bool has_dependents = false;  // hasdep: it tells others when it is done
  std::int32_t source = -1;     // chunks
  std::int32_t destination = -1;
  std::int32_t count = 0;
  std::int32_t depends_on_block = -1;
  std::int32_t depends_on_step = -1;
  std::uint32_t line = 0;
};

struct FileBlock {
  std::int32_t id = 0;
  std::int32_t send = -1;  // to which rank; -1 for none
  std::int32_t recv = -1;
  std::int32_t channel = -1;
  std::uint32_t line = 0;
  std::vector<FileStep> steps;
};

struct FileGpu {
  std::int32_t id = 0;
  std::int32_t input_chunks = 0;
  std::int32_t output_chunks = 0;
  std::int32_t scratch_chunks = 0;
  std::uint32_t line = 0;
  std::vector<FileBlock> blocks;
};

struct File {
  std::string path;  // for messages
  std::string name;
  Collective collective = Collective::all_reduce;
  std::int32_t num_ranks = 0;
  std::int32_t num_channels = 0;
  std::int32_t chunks_per_loop = 0;
  bool in_place = false;
  bool out_of_place = false;
  std::uint32_t line = 0;
  std::vector<FileGpu> gpus;
};

// "FILE:LINE: what".
[[nodiscard]] Status wrong_at(std::string_view path, std::uint32_t line, std::string_view what);

// The file's elements; needs the XML parser.
[[nodiscard]] Result<File> parse_xml(std::string_view text, std::string_view path);
[[nodiscard]] bool has_xml();

}  // namespace tutti::msccl
