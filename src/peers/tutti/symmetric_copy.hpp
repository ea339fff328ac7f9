// SPDX-License-Identifier: Apache-2.0
// A request's buffers once more in symmetric memory, where a program that allocates with tuttiMemAlloc has them. One
// thread; the communicator outlives it. Making and ending one is collective.
#pragma once

#include <cstddef>
#include <memory>

#include "peers/peer.hpp"
#include <tutti/tutti.h>

namespace tutti::peers {

class SymmetricCopy {
 public:
  // Null where the library has no such memory for these; tuttiGetLastError says why.
  [[nodiscard]] static std::unique_ptr<SymmetricCopy> make(const Request& original, int num_ranks, tuttiComm_t comm);
  SymmetricCopy(const SymmetricCopy&) = delete;
  SymmetricCopy& operator=(const SymmetricCopy&) = delete;
  ~SymmetricCopy();

  // The same with the buffers that are here.
  [[nodiscard]] const Request& request() const { return request_; }
  // Makes them as the original's are.
  void load();

 private:
  SymmetricCopy(const Request& original, BufferBytes bytes, tuttiComm_t comm);

  Request original_;
  Request request_;
  BufferBytes bytes_;
  tuttiComm_t comm_;
  void* memory_ = nullptr;
};

}  // namespace tutti::peers
