// SPDX-License-Identifier: Apache-2.0
// A step: the unit that schedules are made of. See docs/design/schedule.md for the model with its pictures.
//
// A step either moves data (combine) or only orders it (expose, open, signal, wait, close). Every data step has one
// form: it folds its sources, in the order listed, and writes the result to each of its destinations. What the
// literature calls send, recv_reduce or pull_reduce_push differs only in where the sources and destinations are, so
// there is one definition of what a step means (meaning.hpp) and fusing two neighbours is joining their lists.
//
// Plain values; not synchronised.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

enum class Space : std::uint8_t { input, output, scratch };
inline constexpr int kNumSpaces = 3;
inline constexpr std::array<std::string_view, kNumSpaces> kSpaceNames = {"input", "output", "scratch"};
[[nodiscard]] inline std::string_view name_of(Space space) { return kSpaceNames[static_cast<std::size_t>(space)]; }

// A run of pieces of one block, or the same run of several blocks: all of the first block's, then the next block's.
// Pieces cut a block into equal parts; which bytes they are is the layout's business.
//
// Several blocks are runs of `run` neighbours whose beginnings are `stride` apart; the last run may be shorter. Behind
// the space's last block comes block 0. They are for messages and copies: what is exposed, opened or reached directly
// is of one block.
struct Slice {
  Space space = Space::input;
  std::uint32_t block = 0;
  std::uint32_t first_piece = 0;
  std::uint32_t num_pieces = 1;
  std::uint32_t num_blocks = 1;
  std::uint32_t run = 1;     // neighbours are runs of 1 whose stride is 1
  std::uint32_t stride = 1;  // at least run

  // Pieces of all blocks together.
  [[nodiscard]] std::uint32_t size() const { return num_blocks * num_pieces; }
  // How far the last block lies behind the first, going around.
  [[nodiscard]] std::uint64_t reach() const {
    return num_blocks == 0 || run == 0 ? 0 : std::uint64_t{(num_blocks - 1) / run} * stride + (num_blocks - 1) % run;
  }

  friend bool operator==(const Slice&, const Slice&) = default;
};

// Block number `index` of a slice's blocks, and the single piece number `offset` of its pieces, in a space that has
// `blocks` blocks.
[[nodiscard]] inline std::uint32_t block_at(const Slice& slice, std::uint32_t index, std::uint32_t blocks) {
  if (slice.num_blocks == 1) return slice.block;
  const std::uint64_t distance = std::uint64_t{index / slice.run} * slice.stride + index % slice.run;
  return static_cast<std::uint32_t>((slice.block + distance) % blocks);
}
[[nodiscard]] inline Slice piece_at(const Slice& slice, std::uint32_t offset, std::uint32_t blocks) {
  if (slice.size() == 1) return {slice.space, slice.block, slice.first_piece, 1};  // without a division
  return {slice.space, block_at(slice, offset / slice.num_pieces, blocks),
          slice.first_piece + offset % slice.num_pieces, 1};
}
// Whether two slices are the same pieces of equally many blocks, as the ends of a step have to be.
[[nodiscard]] inline bool is_same_shape(const Slice& a, const Slice& b) {
  return a.first_piece == b.first_piece && a.num_pieces == b.num_pieces && a.num_blocks == b.num_blocks;
}

enum class Place : std::uint8_t {
  local,  // this rank's own slice
  // The connection with `rank` on `channel`: received where it is a source, sent where it is a destination.
  message,
  remote,  // the slice of `rank`, by load or store, once that rank has made its post number `post` of this round
  // The slice of every rank at once, this one's included, once each has made its post number `post`: a source is folded
  // by the switch, in an order of its own and as the step's only source; a destination is copied by it.
  multicast,
};

// Between two ranks there can be several connections, told apart by their channel: each is a queue of its own.
// NCCL, and programs written for it, have as many.
inline constexpr std::uint32_t kMostChannels = 64;

// Where a source is read or a destination written.
struct Endpoint {
  Place place = Place::local;
  std::uint32_t rank = 0;     // the other rank; unused where the place is local or multicast
  std::uint32_t post = 0;     // remote and multicast only: the expose (to read) or open (to write) that permits it
  Slice slice;                // of this rank for local and message, of the other rank for remote
  std::uint32_t channel = 0;  // message only: which of the connections with that rank

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

enum class StepKind : std::uint8_t {
  combine,  // fold the sources in order and write every destination
  expose,   // let the other ranks read sources[0] (local): copied to a staging slot or by name, as the plan decides
  open,     // let the other ranks write sources[0] (local); by name only
  signal,   // a post without data: everything before it in this lane has happened
  wait,     // until the ranks of `peers` have made their post number `post`
  close,    // until every rank is done with what this rank exposed and opened in this round
};

// This step runs only when `lane` of the same rank has passed its step number `step` in the same round.
struct After {
  std::uint32_t lane = 0;
  std::uint32_t step = 0;

  friend bool operator==(const After&, const After&) = default;
};

struct Step {
  StepKind kind = StepKind::combine;
  // Where the lane's author put it: fused steps carry the number of the last of them, and `After` speaks of these.
  std::uint32_t number = 0;
  // expose, open, signal: the number of this post among this rank's posts of a round; wait: the post waited for.
  std::uint32_t post = 0;
  // combine: the source that may be dropped from memory afterwards, because nothing reads it again. A fused step then
  // need not store it at all. Only sends and pushes give up; see Builder.
  bool gives_up_source = false;
  // combine: the result holds every contribution, and nothing is folded into it later: an average divides here. Exactly
  // one step on the way to each result completes it. (The other end of that way needs no mark: what is read from a
  // local Space::input is the rank's own raw input, and a pre-multiplied sum scales it there.)
  bool completes = false;
  std::vector<Endpoint> sources;
  std::vector<Endpoint> destinations;
  std::vector<std::uint32_t> peers;  // wait: the ranks waited for
  std::vector<After> after;

  friend bool operator==(const Step&, const Step&) = default;
};

// Whether both are messages, and of one connection where they are of one direction.
[[nodiscard]] inline bool is_same_connection(const Endpoint& a, const Endpoint& b) {
  return a.place == Place::message && b.place == Place::message && a.rank == b.rank && a.channel == b.channel;
}
// Whether the step loads from, or stores to, the memory of other ranks.
[[nodiscard]] bool is_direct(const Step& step);
[[nodiscard]] bool is_multicast(const Step& step);
// Whether it makes something known to other ranks: expose, open, signal.
[[nodiscard]] inline bool is_post(const Step& step) {
  return step.kind == StepKind::expose || step.kind == StepKind::open || step.kind == StepKind::signal;
}

// "recv_reduce_send", "pull_reduce_push", "expose" …: the name that the words of docs/design/schedule.md give a step.
[[nodiscard]] std::string name_of(const Step& step);
// The whole step on a line, for messages: "recv_reduce output[0.3] = message(2) + input[0.3]".
[[nodiscard]] std::string to_string(const Step& step);
[[nodiscard]] std::string to_string(const Slice& slice);
// " on channel 3", for messages about connections; nothing for channel 0, the only one that most schedules have.
[[nodiscard]] std::string on_channel(std::uint32_t channel);

}  // namespace tutti
