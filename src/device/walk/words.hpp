// SPDX-License-Identifier: Apache-2.0
// What a device walks, and what ranks tell each other, as plain structs. The host makes them (program.hpp), the device
// reads them. Where there is no device, tests walk them on threads of the host.
//
// A rank's work is spread over *channels*: thread blocks of its kernel. Each channel walks the whole program on
// elements of its own, with flags, slots and scratch of its own, so channels never wait for each other. That needs no
// new proof: rounds work on disjoint elements, and so do channels.
//
// Plain values.
#pragma once

#include <cstddef>
#include <cstdint>

#include "data/kernel.hpp"

#ifdef __CUDACC__
#define TUTTI_ON_DEVICE __device__ __forceinline__
#define TUTTI_ON_DEVICE_APART __device__ __noinline__
#define TUTTI_UNROLL _Pragma("unroll")
#else
#define TUTTI_ON_DEVICE inline
#define TUTTI_ON_DEVICE_APART inline
#define TUTTI_UNROLL
#endif

namespace tutti::device {

// As many as an NVLink domain of 72 devices has, and some more.
inline constexpr std::uint32_t kMostRanks = 128;
// Of one step: all ranks as sources, and all as destinations.
inline constexpr std::uint32_t kMostEnds = 2 * kMostRanks;

enum class WordKind : std::uint8_t {
  expose,   // copies to a slot, and posts
  name,     // posts where the buffers lie
  signal,   // posts
  wait,     // for the post of each rank among the ends
  combine,  // folds the ends that are sources into those that are destinations
  finish,   // says that this rank reads and writes nothing of others any more, in this round
  close,    // waits until all have said so
};

// All ends of a step are the same pieces, of one block each.
struct WordStep {
  WordKind kind = WordKind::signal;
  bool completes = false;
  std::uint16_t num_sources = 0;
  std::uint16_t num_destinations = 0;
  std::uint16_t raw_source = 0xffff;  // the source that is this rank's own input
  std::uint32_t post = 0;
  std::uint32_t expose = 0;  // expose: its number among this rank's
  std::uint32_t first_end = 0;
  std::uint32_t first_piece = 0;
  std::uint32_t num_pieces = 0;
};

enum class WordBase : std::uint8_t { input, output, scratch, slot };

struct WordEnd {
  WordBase base = WordBase::input;
  bool is_remote = false;
  std::uint16_t rank = 0;
  std::uint32_t post = 0;  // remote: the one that permits it
  std::uint32_t block = 0;
  std::uint32_t expose = 0;         // slot: the number of that exposure
  std::uint32_t exposed_piece = 0;  // slot: the first piece of what was exposed
};

// One rank's entry in another's inbox: what it has posted and done, and where its buffers lie. A channel has one for
// each rank. `posted` counts posts in its upper bits, with the digest of the call below; `done` counts rounds.
struct alignas(32) Entry {
  std::uint64_t posted;
  std::uint64_t done;
  std::uint64_t input;
  std::uint64_t output;
};
inline constexpr unsigned kDigestBits = 20;
inline constexpr std::uint64_t kDigestMask = (std::uint64_t{1} << kDigestBits) - 1;

// What a channel has counted through all calls.
struct ChannelState {
  std::uint64_t posts;
  std::uint64_t rounds;
};

// How a rank reaches another: addresses in the reader's own address space.
struct Peer {
  Entry* inbox;        // by channel, by rank that writes
  std::byte* slots;    // by channel
  std::byte* scratch;  // by channel
  std::uint64_t base;  // of what its entries say of its buffers
};

enum class Trouble : std::uint32_t { none, timeout, mismatch, aborted, left };

// What kept a rank from finishing, in memory that the host reads. The channel that claims it first writes it.
struct Failure {
  std::uint32_t trouble;  // a Trouble; the rest is written before
  std::uint32_t claimed;
  std::uint32_t abort;                  // the host asks all channels to leave
  std::uint32_t left[kMostRanks / 32];  // NOLINT(modernize-avoid-c-arrays): a bit a rank that will post no more
  std::uint32_t rank;                   // that was waited for
  std::uint32_t post;                   // of a round; kNoPost: for the end of its round
  std::uint32_t channel;
};
inline constexpr std::uint32_t kNoPost = UINT32_MAX;
inline constexpr std::uint32_t kNoTiles = UINT32_MAX;

// A call of one rank. Numbers of elements unless said.
struct WalkCall {
  const WordStep* steps = nullptr;
  const WordEnd* ends = nullptr;
  std::uint32_t num_steps = 0;
  std::uint32_t rank = 0;
  std::uint32_t num_ranks = 1;
  std::uint32_t posts_per_round = 0;
  std::uint32_t exposes_per_round = 0;
  std::uint32_t pieces = 1;
  std::uint32_t element = 1;  // bytes
  bool by_name = false;
  std::uint64_t count = 0;   // of a block
  std::uint64_t piece = 0;   // of a piece; the last ones may have fewer
  std::uint64_t window = 1;  // of a piece in a round; a multiple of 16 bytes
  std::uint64_t num_rounds = 1;
  // log2 of the elements of a tile (fold.hpp). With tiles, a channel has one round, in which it takes all of its tiles.
  std::uint32_t tile_shift = kNoTiles;
  bool same_device = false;  // all ranks are of one device: flags need no wider scope
  std::uint64_t digest = 0;
  std::uint64_t timeout = 0;        // nanoseconds; 0 for none
  std::uint64_t slot_stride = 0;    // bytes from one piece to the next, in a slot and in scratch
  std::uint64_t slot_bytes = 0;     // of one slot
  std::uint64_t slots_bytes = 0;    // of a channel's
  std::uint64_t scratch_bytes = 0;  // of a channel's
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  // By rank, how much farther from its base that rank finds this buffer than this rank does; null: no farther.
  const std::uint64_t* input_views = nullptr;
  const std::uint64_t* output_views = nullptr;
  const Peer* peers = nullptr;    // by rank, this one's own included
  ChannelState* state = nullptr;  // by channel
  Failure* failure = nullptr;
  Operator op = {};
};

}  // namespace tutti::device
