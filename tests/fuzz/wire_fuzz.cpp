// SPDX-License-Identifier: Apache-2.0
// What comes over the rendezvous' sockets: any bytes are read or refused, and whatever is accepted is, encoded again,
// the same bytes. The first byte chooses who is speaking: a rank that says hello, one that fetches the region, or a
// side that sends frames.
#include <algorithm>
#include <limits>

#include "fuzz.hpp"
#include "runtime/bootstrap/wire.hpp"

namespace tutti::wire {
namespace {

using fuzz::require;

using Raw = std::span<const std::byte>;

bool same(Raw a, Raw b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

// The token of the seeds: the fuzzer is to come past it.
constexpr Token kToken{};

void check_hello(Raw bytes) {
  static_cast<void>(may_be_hello(bytes));
  if (bytes.size() < kPrefixBytes) return;
  const std::optional<Prefix> prefix = parse_prefix(bytes.first<kPrefixBytes>(), kToken);
  if (!prefix) return;
  require(may_be_hello(bytes), "whose prefix is right may be a hello");
  const Result<Hello> hello = parse_body(*prefix, bytes.subspan(kPrefixBytes));
  if (!hello.ok() || prefix->body_bytes != bytes.size() - kPrefixBytes) return;
  constexpr auto kMostInt = static_cast<std::uint32_t>(std::numeric_limits<int>::max());
  if (prefix->rank > kMostInt || prefix->num_ranks > kMostInt) return;
  require(same(encode(*hello, kToken), bytes), "a hello is encoded as it came");
}

void check_frame(const Frame& frame) {
  require(parse_words(frame).size() == frame.body.size(), "words are the whole body");
  TableReader reader(frame);
  Table table{.generation = reader.generation(), .ranks = {}};
  for (TableRow row; reader.next(row);) table.ranks.push_back(row);
  if (reader.end().ok()) {
    const std::vector<std::byte> again = encode(table);
    require(same(Raw(again).last(frame.body.size()), frame.body), "a table is encoded as it came");
  }
  require(!parse_error(frame).ok(), "an error is one, whatever came");
  if (const Result<Place> place = parse_place(frame); place.ok())
    require(place->rank >= 0 && place->addresses.size() <= kMostAddresses, "a place is one of a rank");
  if (const std::optional<int> rank = parse_rank(frame)) require(*rank >= 0, "a rank is a number");
}

void check_frames(Raw bytes) {
  std::vector<std::byte> buffer(bytes.begin(), bytes.end());
  while (true) {
    const std::size_t before = buffer.size();
    const Result<std::optional<Frame>> frame = take_frame(buffer);
    if (!frame.ok() || !frame->has_value()) {
      require(buffer.size() == before, "what is no whole frame stays");
      return;
    }
    require((*frame)->body.size() <= ((*frame)->type == FrameType::table ? kMostTableBytes : kMostFrameBytes) &&
                buffer.size() < before,
            "a frame is taken off");
    check_frame(**frame);
  }
}

void check_fetch(Raw bytes) {
  const std::optional<Fetch> fetch = parse_fetch(bytes, kToken);
  if (fetch) require(same(encode(*fetch, kToken), bytes), "a fetch is encoded as it came");
}

}  // namespace
}  // namespace tutti::wire

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // A copy of its own, so that the sanitizer sees a byte read past either end.
  const std::vector<std::byte> bytes(reinterpret_cast<const std::byte*>(data) + 1,
                                     reinterpret_cast<const std::byte*>(data) + size);
  switch (data[0] % 3) {
    case 0: tutti::wire::check_hello(bytes); break;
    case 1: tutti::wire::check_frames(bytes); break;
    default: tutti::wire::check_fetch(bytes); break;
  }
  return 0;
}
