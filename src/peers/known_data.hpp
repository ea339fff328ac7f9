// SPDX-License-Identifier: Apache-2.0
// The buffers of one request: filled with values whose exact result is known (data/exact.hpp), poisoned, and looked at
// afterwards. One thread; owns its memory, which stays where it is.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/status.hpp"
#include "data/exact.hpp"
#include "peers/peer.hpp"

namespace tutti::peers {

class KnownData {
 public:
  // Memory for the request's count, type and placement; its buffers are set. Out of memory is an error.
  [[nodiscard]] static Result<KnownData> make(Request& request, int rank, int num_ranks);

  // Inputs as they were before the first call, and no output that was there before.
  void reset();
  // What is wrong with the outputs: "element 17 of 1024 is 127, expected 130 (712 of them are wrong)". Empty where
  // nothing is. `output` is where they lie instead of in the request's output, or null.
  [[nodiscard]] std::string verdict(const void* output) const;

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  using Memory = std::unique_ptr<void, Free>;
  struct Mistakes;

  KnownData() = default;
  [[nodiscard]] Status allocate(Request& request);
  void fill_input();
  // Whether a block of the output, from element `place` on, is the elements from `offset` on of a rank's input or, with
  // kResult, of what a reduction gives.
  static constexpr int kResult = -1;
  void look(int rank, std::size_t offset, std::size_t place, Mistakes& mistakes) const;

  Request request_;
  int rank_ = 0;
  int num_ranks_ = 1;
  ExactInput exact_;
  std::size_t input_count_ = 0;  // elements of the whole buffers; of this rank
  std::size_t output_count_ = 0;
  Memory first_;
  Memory second_;
};

}  // namespace tutti::peers
