// What the calling thread has asked for and is not done: every wait of the thread goes on with all of it, on whichever
// communicators, so that no order of waiting on different ranks can hold them up for ever.
#pragma once

#include <cstdint>

namespace tutti {

class Communicator;

struct ThreadWork {
  std::uint32_t open_groups = 0;    // calls are only begun, and waited for at the end of the outermost
  Communicator* pending = nullptr;  // the first of those with something pending: Communicator::next_pending_

  [[nodiscard]] bool is_none() const { return open_groups == 0 && pending == nullptr; }
};

// Asked in front of every call, so it lies where one instruction finds it, also in a shared library.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
extern constinit thread_local ThreadWork thread_work [[gnu::tls_model("initial-exec")]];

}  // namespace tutti
