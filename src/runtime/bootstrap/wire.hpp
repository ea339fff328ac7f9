// SPDX-License-Identifier: Apache-2.0
// What ranks and the rendezvous say to each other, as bytes: a hello per rank, then frames in both directions. All
// numbers are little-endian. The first part of a hello never changes its form, so that different versions of Tutti
// can tell each other that they differ.
//
// Parsers take bytes that anyone may have sent: they never read past the end, and allocate no more than they were
// given. Values and pure functions; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/status.hpp"
#include "base/system/host.hpp"
#include "base/unique_id.hpp"

namespace tutti::wire {

inline constexpr std::uint32_t kVersion = 9;
inline constexpr std::size_t kMagicBytes = 8;
inline constexpr std::size_t kPrefixBytes = 64;
inline constexpr std::size_t kMostHelloBytes = 32 << 10;
inline constexpr std::size_t kMostConfigurationBytes = 16 << 10;
inline constexpr std::size_t kMostFrameBytes = 1 << 20;
inline constexpr std::size_t kMostTableBytes = 64 << 20;
inline constexpr std::size_t kMostAddresses = 32;  // of one rank
inline constexpr std::size_t kMostEndpointNameBytes = 512;

// Which addresses of a rank belong together, for each connection to it: prefer_interface(). The first groups are
// interfaces, which ranks of a host take in turn.
struct Interfaces {
  std::uint32_t begins = 0;
  static_assert(kMostAddresses <= 32);
  std::uint16_t num_in_turn = 0;

  bool operator==(const Interfaces&) const = default;
};

// The first part of a hello.
struct Prefix {
  std::uint32_t version = kVersion;
  std::uint64_t generation = 0;
  std::uint32_t rank = 0;
  std::uint32_t num_ranks = 0;
  std::uint32_t body_bytes = 0;
};

struct Hello {
  std::uint32_t version = kVersion;
  std::uint64_t generation = 0;
  int rank = 0;
  int num_ranks = 0;
  // An earlier attempt of this rank at the generation failed, and it does not know whether the others' did.
  bool is_unsure = false;
  pid_t pid = 0;
  Host host;
  std::string leader_socket;         // the abstract name at which others of its host reach it; empty where none will
  std::vector<Address> addresses{};  // where ranks of other hosts reach it, at most kMostAddresses
  std::string endpoint_name{};       // what a transport other than TCP needs to reach it, which only that understands
  std::optional<std::uint32_t> turn{};  // among the ranks of its host; nothing: its place there
  Interfaces interfaces{};
  std::string configuration;
  Status refusal;  // why this rank cannot join; it only says so to the others
};

[[nodiscard]] std::vector<std::byte> encode(const Hello& hello, const Token& token);
// Whether these first bytes, however few, can be the beginning of a hello.
[[nodiscard]] bool may_be_hello(std::span<const std::byte> bytes);
// Nothing unless magic and token are right.
[[nodiscard]] std::optional<Prefix> parse_prefix(std::span<const std::byte, kPrefixBytes> bytes, const Token& token);
// The body behind a prefix of this version.
[[nodiscard]] Result<Hello> parse_body(const Prefix& prefix, std::span<const std::byte> body);

enum class FrameType : std::uint8_t {
  progress = 1,  // to a rank: words that say who is missing
  table = 2,     // to a rank: all have arrived
  failed = 3,    // to a rank: this generation will not come about
  complete = 4,  // to a rank: all are ready
  ready = 5,     // from a rank: it has its region and links
  give_up = 6,   // from a rank: it cannot go on, and why
  go_to = 7,     // to one of many ranks: where it is to wait
  // From a rank at which others wait, each about one of them or of those behind it:
  attached = 8,     // it waits there now; to a rank: so it has said, and the rendezvous hangs up
  ready_below = 9,  // it is ready
  gone = 10,        // its connection has ended
};

struct Frame {
  FrameType type{};
  std::vector<std::byte> body;
};

// A rank, for the others.
struct TableRow {
  std::uint32_t host = 0;          // hosts are numbered in the order of their first ranks, from 0
  pid_t pid = 0;                   // 0 where ranks of its host are in several pid namespaces
  std::string leader_socket = {};  // of the first rank of a host
  std::vector<Address> addresses{};
  std::string endpoint_name = {};
  std::uint32_t turn = 0;  // in which ranks of a host take its interfaces
  Interfaces interfaces{};

  bool operator==(const TableRow&) const = default;
};

// Where a rank is to wait: at another, which passes on what both sides say, or where it is.
struct Place {
  std::uint64_t generation = 0;  // where that is another than the rank has said, the rank was unsure
  int rank = 0;
  pid_t pid = 0;
  // Of the other; empty: at the rendezvous.
  std::vector<Address> addresses{};
};

struct Table {
  std::uint64_t generation = 0;  // where that is another than a rank has said, the rank was unsure
  std::vector<TableRow> ranks;
};

// Reads a table rank by rank, since one of many ranks is long. The frame must stay.
class TableReader {
 public:
  explicit TableReader(const Frame& frame);

  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  [[nodiscard]] std::uint32_t num_ranks() const { return num_ranks_; }
  // The next rank's row; false behind the last one, and once something is malformed.
  [[nodiscard]] bool next(TableRow& row);
  // Behind the last row: whether all was right.
  [[nodiscard]] Status end() const;

 private:
  std::span<const std::byte> rest_;
  std::uint64_t generation_ = 0;
  std::uint32_t num_ranks_ = 0;
  std::uint32_t num_read_ = 0;
  bool is_good_ = true;
};

[[nodiscard]] std::vector<std::byte> encode(FrameType type, std::string_view words = {});
[[nodiscard]] std::vector<std::byte> encode(const Table& table);
[[nodiscard]] std::vector<std::byte> encode(FrameType type, const Status& error);  // failed, give_up
[[nodiscard]] std::vector<std::byte> encode_body(const Status& error);             // of these
[[nodiscard]] std::vector<std::byte> encode_rank(FrameType type, int rank);        // attached, ready_below, gone
[[nodiscard]] std::vector<std::byte> encode(const Place& place);                   // go_to
[[nodiscard]] std::vector<std::byte> encode(const Frame& frame);                   // as it came

// Takes the first frame off `buffer`; nothing while it is incomplete; an error where no frame looks like that.
[[nodiscard]] Result<std::optional<Frame>> take_frame(std::vector<std::byte>& buffer);
[[nodiscard]] std::string parse_words(const Frame& frame);
[[nodiscard]] Result<Place> parse_place(const Frame& frame);
// Of a frame of encode_rank().
[[nodiscard]] std::optional<int> parse_rank(const Frame& frame);
// The error that a frame failed or give_up carries.
[[nodiscard]] Status parse_error(const Frame& frame);

// What a rank says to the first rank of its host when it fetches the region; what the first rank of a host says to that
// of another when it makes its link to it; and what a rank says to the one that it is to wait at.
struct Fetch {
  std::uint64_t generation = 0;
  std::uint32_t rank = 0;
  bool attaches = false;  // it is to wait there
};
inline constexpr std::size_t kFetchBytes = kTokenBytes + 12;
[[nodiscard]] std::vector<std::byte> encode(const Fetch& fetch, const Token& token);
[[nodiscard]] std::optional<Fetch> parse_fetch(std::span<const std::byte> bytes, const Token& token);

}  // namespace tutti::wire
