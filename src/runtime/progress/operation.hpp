// SPDX-License-Identifier: Apache-2.0
// A collective or a transfer that has been asked for and is waited for later, or that is asked for again and again.
// Belongs to the communicator that has made it (operations.hpp).
#pragma once

#include <cstdint>
#include <memory>

#include "base/status.hpp"
#include "runtime/communicator/varying_call.hpp"
#include "runtime/plan/bound_call.hpp"
#include "runtime/progress/pairs.hpp"

namespace tutti {

class Communicator;

struct Operation {
  enum class Kind : std::uint8_t { collective, transfer };
  Communicator* owner = nullptr;
  Kind kind = Kind::collective;
  bool is_taken = false;       // somebody has a handle
  std::uint16_t uses = 0;      // of this place that are over: whoever has a handle of one of them has none any more
  bool is_persistent = false;  // which lives on after its end
  bool is_active = false;      // started, and nobody has been told since that it is done
  bool is_late = false;        // and somebody was told so
  // For whoever counts calls: what it counts this one by, and whether it wants to hear of the wait for it.
  void* recorded = nullptr;
  bool is_clocked = false;
  void* timed = nullptr;  // for whoever keeps virtual time: what it keeps of this one
  // A collective, with its buffers.
  bool is_pending = false;
  bool is_begun = false;  // the executor has it
  BoundCall bound;
  bool is_varying = false;               // in several steps: instead of `bound`, the next
  std::unique_ptr<VaryingCall> varying;  // stays with the place
  Status outcome;                        // of one whose counts were wrong; told once to who waits for it
  Operation* next = nullptr;             // that is done after it
  std::uint64_t place_in_order = 0;      // of all that were started

  Transfer transfer;

  // Where it reads and writes; null where it has nothing to.
  [[nodiscard]] const void* input() const {
    if (kind == Kind::transfer) return transfer.count > 0 ? transfer.data : nullptr;
    if (is_varying) return varying->table.buffers().input_bytes > 0 ? varying->asked.input : nullptr;
    return bound.buffers.input_bytes > 0 ? bound.call.input : nullptr;
  }
  [[nodiscard]] const void* output() const {
    if (kind == Kind::transfer) return nullptr;
    if (is_varying) return varying->table.buffers().output_bytes > 0 ? varying->asked.output : nullptr;
    return bound.buffers.output_bytes > 0 ? bound.call.output : nullptr;
  }
  [[nodiscard]] bool folds_by(const Operator& operation) const {
    return kind == Kind::collective && (is_varying ? varying->operation : bound.call.operation) == &operation;
  }

  [[nodiscard]] bool is_done() const { return kind == Kind::transfer ? transfer.is_done : !is_pending; }
};

}  // namespace tutti
