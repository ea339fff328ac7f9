// SPDX-License-Identifier: Apache-2.0
// What a communicator holds beside its calls: symmetric memory and operators.
#include <algorithm>

#include <fmt/format.h>

#include "runtime/communicator/communicator.hpp"

namespace tutti {

// The least that any rank has come with, of each number. The communicator's own call: whatever is forced is for the
// caller's.
Status Communicator::find_least(OwnCall why, std::span<const std::uint64_t> mine, std::span<std::uint64_t> least) {
  const Invocation asked = {.input = mine.data(),
                            .output = least.data(),
                            .count = mine.size(),
                            .type = Type::u64,
                            .op = {static_cast<std::uint32_t>(Op::minimum)}};
  const Result<const Prepared*> entry = prepared(asked);
  if (!entry.ok()) return entry.status();
  const Result<Way*> way = portfolio_.find(asked.collective, endpoint_ == nullptr ? "one_shot" : "recursive_doubling");
  if (!way.ok()) return way.status();
  const Result<const Plan*> plan = portfolio_.plan(**way, 0);
  if (!plan.ok()) return plan.status();
  BoundCall bound;
  bound.buffers = {.input_bytes = mine.size_bytes(), .output_bytes = least.size_bytes()};
  bound.buffers.message_bytes = mine.size_bytes();
  TUTTI_TRY(make_call(**plan, (*way)->number, Reach::staged, **entry, asked, bound));
  bound.call.described = own_description(asked.collective, why);
  bound.counted = &counts_.row(asked.collective, nullptr, Reach::staged);
  bound.is_inner = true;
  return walk(bound, asked, settings_.walker);
}

// The first rank that objects, or the number of ranks. An error where the ranks have come with different numbers, and
// nobody objects.
Result<std::uint32_t> Communicator::agree(OwnCall why, std::uint64_t mine, bool objects, std::string_view on_what) {
  // The minimum of a number and of its complement: together the least and the greatest.
  const std::uint64_t sent[3] = {mine, ~mine, objects ? rank_ : num_ranks_};
  std::uint64_t least[3] = {};
  TUTTI_TRY(find_least(why, sent, least));
  if (least[2] < num_ranks_ || least[0] == ~least[1]) return static_cast<std::uint32_t>(least[2]);
  return Status(Code::invalid_usage, fmt::format("the ranks differ in {}: the least is {} and the greatest {}", on_what,
                                                 least[0], ~least[1]));
}

Result<void*> Communicator::allocate(std::uint64_t bytes) {
  if (is_over()) return failure();
  Result<void*> part = nullptr;
  const Status status = guarded("symmetric memory", [&]() -> Status {
    part = allocate_with_others(bytes);
    return part.status();
  });
  return status.ok() ? part : status;
}

Result<void*> Communicator::allocate_with_others(std::uint64_t bytes) {
  const Result<std::byte*> part = heap_.allocate(bytes);
  // All or none: who failed, or wants another size, tells the others before anyone touches anything.
  const Result<std::uint32_t> objector = agree(OwnCall::allocation, bytes, !part.ok(), "the bytes that they allocate");
  if (objector.ok() && *objector == num_ranks_) {
    settle_symmetric_end();
    return static_cast<void*>(*part);
  }
  Status given_back;
  if (part.ok()) given_back = heap_.free(*part);
  // Nobody allocates anew before all have given theirs back.
  if (!region_->is_broken()) TUTTI_TRY(meet(OwnCall::allocation));
  if (!part.ok()) return part.status();
  TUTTI_TRY(given_back);
  if (!objector.ok()) return objector.status();
  return Status(Code::system, fmt::format("rank {} could not set its symmetric memory aside, and says why", *objector),
                static_cast<int>(*objector));
}

// Memory stays as long as anybody has a request that would use it, as an operator does: who has one objects, and nobody
// frees it.
Status Communicator::free(void* memory) {
  if (is_copy_) return failure();
  if (region_->is_broken()) return memory == nullptr ? Status() : heap_.free(memory);
  return guarded("the freeing of symmetric memory", [&] { return free_with_others(memory); });
}

Status Communicator::free_with_others(void* memory) {
  constexpr std::uint64_t kOfNull = 1;  // freeing null; segments lie further on
  // Hosts differ in where the heap begins.
  const std::uint64_t segment = heap_.segment_of(memory);
  const std::uint64_t mine = memory == nullptr ? kOfNull
                             : segment == 0    ? 0
                                               : segment - region_->heap_offset() + kOfNull + 1;
  const Operation* const user = mine <= kOfNull ? nullptr : operations_.find([&](const Operation& each) {
    return heap_.are_of_one_part(memory, each.input()) || heap_.are_of_one_part(memory, each.output());
  });
  // Nobody is still at work on anybody's part once all have come here, and all must mean the same.
  const Result<std::uint32_t> objector =
      agree(OwnCall::freeing, mine, mine == 0 || user != nullptr, "the symmetric memory that they free");
  if (mine == 0) return heap_.free(memory);  // which says what is wrong
  if (user != nullptr)
    return {Code::invalid_usage,
            fmt::format("symmetric memory is freed that a request of this rank uses, of {}: wait for it, or free it "
                        "(tuttiRequestFree), before",
                        describe(*user))};
  if (!objector.ok()) return objector.status();
  if (*objector < num_ranks_)
    return {
        Code::invalid_usage,
        fmt::format("rank {} cannot free its part of the symmetric memory, and says why; nothing was freed", *objector),
        static_cast<int>(*objector)};
  if (mine == kOfNull) return {};
  Status status = heap_.free(memory);
  settle_symmetric_end();
  TUTTI_TRY(meet(OwnCall::freeing));
  return status;
}

// Returns when all have come.
Status Communicator::meet(OwnCall why) {
  const std::uint64_t mine[1] = {0};
  std::uint64_t least[1] = {0};
  return find_least(why, mine, least);
}

Result<OperatorHandle> Communicator::create_operator(const Operator& custom) {
  Prepared entry;
  entry.small.operation = custom;
  entry.small.operation.divisor = num_ranks_;
  entry.small.kernel = reduce_kernel(custom.type, custom.op, false);
  entry.streaming = reduce_kernel(custom.type, custom.op, true);
  if (entry.small.kernel == nullptr)
    return Status(Code::invalid_argument,
                  fmt::format("the operator {} is not defined on {}", name_of(custom.op), name_of(custom.type)));
  const auto empty = std::find(custom_.begin(), custom_.end(), std::nullopt);
  const auto index = static_cast<std::uint32_t>(empty - custom_.begin());
  if (empty == custom_.end()) {
    custom_.emplace_back(entry);
  } else {
    *empty = entry;
  }
  return OperatorHandle{OperatorHandle::kFirstCustom + index};
}

Status Communicator::destroy_operator(OperatorHandle handle) {
  const std::uint32_t index = handle.value - OperatorHandle::kFirstCustom;
  if (handle.value < OperatorHandle::kFirstCustom || index >= custom_.size() || !custom_[index])
    return {Code::invalid_argument, fmt::format("{} is no operator made for this communicator", handle.value)};
  const auto is_used = [&](const Operation& each) { return each.folds_by(custom_[index]->small.operation); };
  if (operations_.find(is_used) != nullptr)
    return {Code::invalid_usage, "an operator is destroyed that a pending or persistent operation uses"};
  custom_[index].reset();
  return {};
}

}  // namespace tutti
