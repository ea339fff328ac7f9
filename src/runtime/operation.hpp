// A collective or a transfer that has been asked for and is waited for later, or that is asked for again and again.
// Belongs to the communicator that has made it (operations.hpp).
#pragma once

#include <cstdint>

#include "runtime/bound_call.hpp"
#include "runtime/pairs.hpp"

namespace tutti {

class Communicator;

struct Operation {
  enum class Kind : std::uint8_t { collective, transfer };
  Communicator* owner = nullptr;
  Kind kind = Kind::collective;
  bool is_taken = false;       // somebody has a handle
  std::uint16_t uses = 0;      // of this place that are over: whoever has a handle of one of them has none any more
  bool is_persistent = false;  // which lives on after its end
  bool is_late = false;        // and somebody was told so
  // A collective, with its buffers.
  bool is_pending = false;
  bool is_begun = false;  // the executor has it
  BoundCall bound;
  Operation* next = nullptr;  // that is done after it

  Transfer transfer;

  // Where it reads and writes; null where it has nothing to.
  [[nodiscard]] const void* input() const {
    if (kind == Kind::transfer) return transfer.count > 0 ? transfer.data : nullptr;
    return bound.buffers.input_bytes > 0 ? bound.call.input : nullptr;
  }
  [[nodiscard]] const void* output() const {
    return kind == Kind::collective && bound.buffers.output_bytes > 0 ? bound.call.output : nullptr;
  }

  [[nodiscard]] bool is_done() const { return kind == Kind::transfer ? transfer.is_done : !is_pending; }
};

}  // namespace tutti
