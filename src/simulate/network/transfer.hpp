// SPDX-License-Identifier: Apache-2.0
// Bytes on their way from one rank to another, and who carries them. Plain values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulate/engine/fingerprint.hpp"
#include "simulate/huge_pages.hpp"
#include "simulate/shares.hpp"

namespace tutti::simulate {

enum class Cargo : std::uint8_t {
  message,  // of a connection
  credit,   // for one
  read,     // what a step reads from another rank's memory
  write,    // what a step stores there
};

using TransferId = std::uint32_t;
inline constexpr TransferId kNoTransfer = UINT32_MAX;

struct Transfer {
  Cargo cargo = Cargo::message;
  std::uint32_t whose = 0;        // the connection of a message or a credit, the lane of a read or a write
  std::uint32_t payload = 0;      // of a message of several pieces: what it holds
  TransferId next = kNoTransfer;  // of a message: the one behind it
  bool is_settled = false;        // when it arrives is known
  bool has_more = false;          // of a message that takes several slots: not the last part
  bool has_left = false;          // of a write: it has left whole
  bool is_fed = false;            // of a write: not yet known when the last of what it carries is loaded
  double bytes = 0;
  double started = 0;
  double arrives = 0;       // its last byte
  double not_before = 0;    // its last byte does not arrive before: it comes from elsewhere, as it comes
  double latency = 0;       // of the whole way: of a write from the beginning, else known when it arrives
  std::uint64_t order = 0;  // of a write: announcements that its rank had made before
  double queueing = 0;      // what it has waited for others
  Fingerprint value = 0;
  bool is_tree = false;  // the links behind the first are side by side: a fluid that a switch copies, or folds
  double stretch = 1;    // each byte keeps its links for so many times as long
  std::span<const std::uint32_t> links;
  Shares shares = {};  // of the time until it was started
};

// All transfers there are; those that have ended give their place to later ones.
class Transfers {
 public:
  TransferId add() {
    if (free_.empty()) {
      transfers_.emplace_back();
      return static_cast<TransferId>(transfers_.size() - 1);
    }
    const TransferId id = free_.back();
    free_.pop_back();
    return id;
  }
  void remove(TransferId id) { free_.push_back(id); }
  [[nodiscard]] Transfer& operator[](TransferId id) { return transfers_[id]; }

 private:
  HugeVector<Transfer> transfers_;
  std::vector<TransferId> free_;
};

}  // namespace tutti::simulate
