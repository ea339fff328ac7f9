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
  bool is_persistent = false;  // which lives on after its end
  bool is_late = false;        // and somebody was told so
  // A collective, with its buffers.
  bool is_pending = false;
  bool is_begun = false;  // the executor has it
  BoundCall bound;
  Operation* next = nullptr;  // that is done after it

  Transfer transfer;

  [[nodiscard]] bool is_done() const { return kind == Kind::transfer ? transfer.is_done : !is_pending; }
};

}  // namespace tutti
