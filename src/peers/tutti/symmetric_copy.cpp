// SPDX-License-Identifier: Apache-2.0
#include "peers/tutti/symmetric_copy.hpp"

#include <algorithm>
#include <cstring>

namespace tutti::peers {

namespace {

constexpr std::size_t kPage = 4096;

std::byte* bytes_of(const void* memory) { return static_cast<std::byte*>(const_cast<void*>(memory)); }

}  // namespace

std::unique_ptr<SymmetricCopy> SymmetricCopy::make(const Request& original, int num_ranks, tuttiComm_t comm) {
  std::unique_ptr<SymmetricCopy> copy(new SymmetricCopy(original, bytes_of_buffers(original, num_ranks), comm));
  const BufferBytes& bytes = copy->bytes_;
  const std::size_t behind_input = original.in_place ? 0 : (bytes.input + kPage - 1) / kPage * kPage;
  const std::size_t all = original.in_place ? std::max(bytes.input, bytes.output) : behind_input + bytes.output;
  if (tuttiMemAlloc(&copy->memory_, all, comm) != tuttiSuccess) return nullptr;
  Request& request = copy->request_;
  request.input = copy->memory_;
  request.output = bytes_of(copy->memory_) + behind_input;
  if (!original.in_place) return copy;
  // The smaller one lies within the larger, where it does in the original.
  const std::ptrdiff_t offset = bytes_of(original.input) - bytes_of(original.output);
  if (offset > 0) request.input = bytes_of(copy->memory_) + offset;
  if (offset < 0) request.output = bytes_of(copy->memory_) - offset;
  return copy;
}

SymmetricCopy::SymmetricCopy(const Request& original, BufferBytes bytes, tuttiComm_t comm)
    : original_(original), request_(original), bytes_(bytes), comm_(comm) {}

SymmetricCopy::~SymmetricCopy() {
  if (memory_ != nullptr) static_cast<void>(tuttiMemFree(memory_, comm_));
}

void SymmetricCopy::load() {
  std::memcpy(request_.output, original_.output, bytes_.output);
  std::memcpy(request_.input, original_.input, bytes_.input);
}

}  // namespace tutti::peers
