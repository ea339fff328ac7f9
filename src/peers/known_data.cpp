// SPDX-License-Identifier: Apache-2.0
#include "peers/known_data.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/system/memory_limits.hpp"
#include "data/small_float.hpp"

namespace tutti::peers {

namespace {

constexpr std::size_t kAlignment = 4096;
// No value of kExactPeriod elements is so in a row, whatever the type.
constexpr int kPoison = 0xdb;
constexpr std::uint64_t kSeed = 20;

template <typename T>
T read(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

double floating(Type type, const void* from) {
  switch (type) {
    case Type::f64: return read<double>(from);
    case Type::f16: return widen<kF16Format>(read<std::uint16_t>(from));
    case Type::bf16: return bf16_to_f32(read<std::uint16_t>(from));
    case Type::f8e4m3: return widen<kF8e4m3Format>(read<std::uint8_t>(from));
    case Type::f8e5m2: return widen<kF8e5m2Format>(read<std::uint8_t>(from));
    default: return read<float>(from);
  }
}

std::string text_of(Type type, const void* from) {
  switch (type) {
    case Type::i8: return fmt::to_string(int{read<std::int8_t>(from)});
    case Type::u8: return fmt::to_string(int{read<std::uint8_t>(from)});
    case Type::i16: return fmt::to_string(read<std::int16_t>(from));
    case Type::u16: return fmt::to_string(read<std::uint16_t>(from));
    case Type::i32: return fmt::to_string(read<std::int32_t>(from));
    case Type::u32: return fmt::to_string(read<std::uint32_t>(from));
    case Type::i64: return fmt::to_string(read<std::int64_t>(from));
    case Type::u64: return fmt::to_string(read<std::uint64_t>(from));
    default: return fmt::to_string(floating(type, from));
  }
}

// Zeros of either sign are the same.
bool same_value(Type type, const void* a, const void* b) {
  if (std::memcmp(a, b, size_of(type)) == 0) return true;
  return is_floating(type) && floating(type, a) == floating(type, b);
}

}  // namespace

struct KnownData::Mistakes {
  const std::byte* output = nullptr;
  std::size_t count = 0;
  std::string first;
};

Result<KnownData> KnownData::make(Request& request, int rank, int num_ranks) {
  KnownData data;
  data.rank_ = rank;
  data.num_ranks_ = num_ranks;
  // Values that are only moved want as many different bits as the type has.
  data.exact_ = {.type = request.type,
                 .op = facts_of(request.collective).folds ? request.op : Op::maximum,
                 .num_ranks = num_ranks,
                 .seed = kSeed};
  const BufferBytes bytes = bytes_of_buffers(request, num_ranks);
  data.input_count_ = bytes.input / size_of(request.type);
  data.output_count_ = bytes.output / size_of(request.type);
  if (request.collective != Collective::barrier) TUTTI_TRY(data.allocate(request));
  data.request_ = request;
  return data;
}

Status KnownData::allocate(Request& request) {
  const std::size_t size = size_of(request.type);
  const std::size_t larger = std::max(input_count_, output_count_);
  const auto allocated = [&](std::size_t count) {
    const std::size_t bytes = (std::max<std::size_t>(count * size, 1) + kAlignment - 1) / kAlignment * kAlignment;
    return Memory(std::aligned_alloc(kAlignment, bytes));
  };
  first_ = allocated(request.in_place ? larger : input_count_);
  if (!request.in_place) second_ = allocated(output_count_);
  if (!first_ || (!request.in_place && !second_))
    return {Code::system,
            fmt::format("no memory for buffers of {}{}", counted(larger * size, "byte"), memory_ulimits_text())};
  request.input = first_.get();
  request.output = request.in_place ? first_.get() : second_.get();
  if (request.in_place && input_count_ != output_count_) {
    void* own = static_cast<std::byte*>(first_.get()) + static_cast<std::size_t>(rank_) * request.count * size;
    (input_count_ < output_count_ ? request.input : request.output) = own;
  }
  return {};
}

void KnownData::reset() {
  if (request_.collective == Collective::barrier) return;
  const std::size_t size = size_of(request_.type);
  std::memset(request_.output, kPoison, output_count_ * size);
  if (request_.in_place) std::memset(first_.get(), kPoison, std::max(input_count_, output_count_) * size);
  const bool is_from_root = request_.collective == Collective::broadcast || request_.collective == Collective::scatter;
  const bool has_input = !is_from_root || rank_ == request_.root;
  if (has_input) exact_fill(exact_, rank_, 0, input_count_, request_.input);
}

void KnownData::look(int rank, std::size_t offset, std::size_t place, Mistakes& mistakes) const {
  // Values repeat, so one run of whole periods is what stands everywhere.
  constexpr std::size_t kRun = 16 * kExactPeriod;
  const std::size_t size = size_of(request_.type);
  const std::size_t count = request_.count;
  std::vector<std::uint64_t> room(std::min(count, kRun) * size / sizeof(std::uint64_t) + 1);
  const auto* expected = reinterpret_cast<std::byte*>(room.data());
  if (rank == kResult && request_.collective == Collective::scan) {
    exact_expected_of_first(exact_, rank_ + 1, offset, std::min(count, kRun), room.data());
  } else if (rank == kResult && request_.collective == Collective::exclusive_scan) {
    exact_expected_of_first(exact_, rank_, offset, std::min(count, kRun), room.data());
  } else if (rank == kResult) {
    exact_expected(exact_, offset, std::min(count, kRun), room.data());
  } else {
    exact_fill(exact_, rank, offset, std::min(count, kRun), room.data());
  }
  const std::byte* actual = mistakes.output + place * size;
  for (std::size_t done = 0; done < count; done += kRun) {
    const std::size_t run = std::min(kRun, count - done);
    if (std::memcmp(actual + done * size, expected, run * size) == 0) continue;
    for (std::size_t each = 0; each < run; ++each) {
      const std::byte* found = actual + (done + each) * size;
      if (same_value(request_.type, found, expected + each * size)) continue;
      if (mistakes.count++ == 0)
        mistakes.first = fmt::format("element {} of {} is {}, expected {}", place + done + each, output_count_,
                                     text_of(request_.type, found), text_of(request_.type, expected + each * size));
    }
  }
}

std::string KnownData::verdict(const void* output) const {
  Mistakes mistakes;
  mistakes.output = static_cast<const std::byte*>(output != nullptr ? output : request_.output);
  const std::size_t own = static_cast<std::size_t>(rank_) * request_.count;
  switch (request_.collective) {
    case Collective::barrier: return "";
    case Collective::all_reduce:
    case Collective::scan: look(kResult, 0, 0, mistakes); break;
    case Collective::exclusive_scan:
      if (rank_ > 0) look(kResult, 0, 0, mistakes);
      break;
    case Collective::reduce:
      if (rank_ == request_.root) look(kResult, 0, 0, mistakes);
      break;
    case Collective::reduce_scatter: look(kResult, own, 0, mistakes); break;
    case Collective::broadcast:
      // The root's output may stay as it was where the peer has one buffer for both.
      if (rank_ != request_.root || request_.in_place) look(request_.root, 0, 0, mistakes);
      break;
    case Collective::scatter: look(request_.root, own, 0, mistakes); break;
    case Collective::gather:
      if (rank_ != request_.root) break;
      [[fallthrough]];
    case Collective::all_gather:
    case Collective::all_to_all:
      for (int from = 0; from < num_ranks_; ++from) {
        const std::size_t offset = request_.collective == Collective::all_to_all ? own : 0;
        look(from, offset, static_cast<std::size_t>(from) * request_.count, mistakes);
      }
      break;
    default: return fmt::format("no peer is asked for {}", name_of(request_.collective));
  }
  if (mistakes.count == 0) return "";
  if (mistakes.count == 1) return mistakes.first;
  return fmt::format("{} ({} of them are wrong)", mistakes.first, mistakes.count);
}

}  // namespace tutti::peers
