// SPDX-License-Identifier: Apache-2.0
// What the ranks' buffers and the messages hold: a fingerprint for each piece of the first round. (Later rounds carry
// other parts of the same pieces in the same way.) One thread at a time; borrows the schedule.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "schedule/schedule.hpp"
#include "simulate/engine/fingerprint.hpp"
#include "simulate/engine/sizes.hpp"
#include "simulate/engine/watch.hpp"
#include "simulate/huge_pages.hpp"

namespace tutti::simulate {

class Contents {
 public:
  explicit Contents(const Schedule& schedule);

  // How many fingerprints a schedule needs.
  [[nodiscard]] static std::uint64_t needed(const Schedule& schedule);

  [[nodiscard]] Fingerprint at(std::uint32_t rank, const Slice& piece) const;
  void set(std::uint32_t rank, const Slice& piece, Fingerprint value) { cells_[index(rank, piece)] = value; }

  // What the rank exposes is copied, to be read under the post's number.
  void copy(std::uint32_t rank, std::uint32_t post, const Slice& slice);
  [[nodiscard]] Fingerprint copied(std::uint32_t rank, std::uint32_t post, const Slice& piece) const;

  // Room for what a message of many pieces holds.
  std::uint32_t add_payload(std::span<const Fingerprint> values);
  [[nodiscard]] std::span<const Fingerprint> payload(std::uint32_t number) const { return payloads_[number]; }
  void remove_payload(std::uint32_t number) { free_.push_back(number); }

  // The first thing that is not as the collective defines it. Pieces of no bytes hold nothing. None once
  // the watch is over.
  [[nodiscard]] std::optional<std::string> wrong(const Sizes& sizes, Watch& watch) const;

 private:
  struct Copy {
    Slice slice;
    std::vector<Fingerprint> values;
  };
  [[nodiscard]] std::size_t index(std::uint32_t rank, const Slice& piece) const {
    const Division& division = schedule_.division(piece.space);
    return rank * stride_ + (piece.space == Space::scratch ? outputs_ : 0) +
           std::size_t{piece.block} * division.pieces + piece.first_piece;
  }

  const Schedule& schedule_;
  std::size_t outputs_;  // cells of a rank's output
  std::size_t stride_;   // of output and scratch
  HugeVector<Fingerprint> cells_;
  std::unordered_map<std::uint64_t, Copy> copies_;  // by rank and post
  std::vector<std::vector<Fingerprint>> payloads_;
  std::vector<std::uint32_t> free_;
};

}  // namespace tutti::simulate
