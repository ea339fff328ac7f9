// SPDX-License-Identifier: Apache-2.0
// Ranks without a device: each channel is one thread of this process, and runs the code that a thread block runs.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "device/walk/direct.hpp"
#include "device/walk/program.hpp"
#include "device/walk/shape.hpp"
#include "device/walk/walk.hpp"

namespace tutti::device {

class HostPlatform {
 public:
  HostPlatform(std::uint32_t channel, std::uint32_t num_channels) : channel_(channel), num_channels_(num_channels) {}

  [[nodiscard]] static std::uint32_t thread() { return 0; }
  [[nodiscard]] static std::uint32_t num_threads() { return 1; }
  [[nodiscard]] std::uint32_t channel() const { return channel_; }
  [[nodiscard]] std::uint32_t num_channels() const { return num_channels_; }
  static void sync() {}
  static bool all(bool is_true) { return is_true; }
  static void relax() { std::this_thread::yield(); }
  std::byte** ends() { return ends_.data(); }

  // NOLINTBEGIN(readability-non-const-parameter): an atomic_ref writes
  static std::uint64_t load_acquire(const std::uint64_t* word) {
    return std::atomic_ref(*const_cast<std::uint64_t*>(word)).load(std::memory_order_acquire);
  }
  static void store_release(std::uint64_t* word, std::uint64_t value) {
    std::atomic_ref(*word).store(value, std::memory_order_release);
  }
  static std::uint32_t load_host(const std::uint32_t* word) {
    return std::atomic_ref(*const_cast<std::uint32_t*>(word)).load(std::memory_order_acquire);
  }
  static void store_host(std::uint32_t* word, std::uint32_t value) {
    std::atomic_ref(*word).store(value, std::memory_order_release);
  }
  static bool claim(std::uint32_t* word) { return std::atomic_ref(*word).exchange(1) == 0; }
  // NOLINTEND(readability-non-const-parameter)
  static std::uint64_t now() {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  }

 private:
  std::uint32_t channel_;
  std::uint32_t num_channels_;
  std::array<std::byte*, kMostEnds> ends_ = {};
};

enum class Way { generic, one_shot, two_shot };

struct HostCall {
  const WordPrograms* programs = nullptr;
  std::uint64_t count = 0;
  Operator op = {};
  std::uint64_t digest = 1;
  std::vector<const void*> inputs = {};   // by rank
  std::vector<void*> outputs = {};        // by rank
  std::vector<Way> ways = {};             // by rank; empty for the generic one
  std::vector<std::uint32_t> ranks = {};  // that take part; empty for all
};

class HostRanks {
 public:
  HostRanks(std::uint32_t num_ranks, const Limits& limits) : num_ranks_(num_ranks), limits_(limits) {
    const std::size_t channels = limits.channels;
    for (std::uint32_t rank = 0; rank < num_ranks; ++rank) {
      Memory& memory = *memories_.emplace_back(std::make_unique<Memory>());
      memory.inbox.resize(channels * num_ranks, Entry{});
      memory.slots.resize(channels * limits.slots_bytes + kSpare, std::byte{0xa5});
      memory.scratch.resize(channels * limits.scratch_bytes + kSpare, std::byte{0xa5});
      memory.state.resize(channels);
    }
    // Odd ranks are known to each other rank from a base of its own, as memory of cudaMalloc is between processes.
    for (std::uint32_t reader = 0; reader < num_ranks; ++reader)
      for (std::uint32_t rank = 0; rank < num_ranks; ++rank) {
        Memory& memory = *memories_[rank];
        memories_[reader]->peers.push_back(
            {memory.inbox.data(), aligned(memory.slots), aligned(memory.scratch), base_of(rank, reader)});
        memory.views.push_back(base_of(rank, rank) - base_of(rank, reader));
      }
  }

  [[nodiscard]] Failure& failure(std::uint32_t rank) { return memories_[rank]->failure; }
  std::uint64_t timeout = 60'000'000'000;

  // Whether all ranks finished.
  template <class Element>
  bool run(const HostCall& call) {
    const Shape shape = shape_of(*call.programs, call.count, sizeof(typename Element::Stored), limits_).value();
    std::vector<WalkCall> calls;
    for (std::uint32_t rank = 0; rank < num_ranks_; ++rank)
      calls.push_back(walk_call(call, shape, rank, sizeof(typename Element::Stored)));
    std::atomic<bool> is_right = true;
    {
      std::vector<std::jthread> threads;
      for (std::uint32_t rank = 0; rank < num_ranks_; ++rank) {
        if (!call.ranks.empty() && std::find(call.ranks.begin(), call.ranks.end(), rank) == call.ranks.end()) continue;
        const Way way = call.ways.empty() ? Way::generic : call.ways[rank];
        for (std::uint32_t channel = 0; channel < shape.channels; ++channel)
          threads.emplace_back([&, rank, channel, way] {
            HostPlatform platform(channel, shape.channels);
            if (!walk<Element>(platform, calls[rank], way)) is_right = false;
          });
      }
    }
    return is_right;
  }

 private:
  static constexpr std::size_t kSpare = 16;
  struct Memory {
    std::vector<Entry> inbox;
    std::vector<std::byte> slots;
    std::vector<std::byte> scratch;
    std::vector<ChannelState> state;
    std::vector<Peer> peers;
    std::vector<std::uint64_t> views;
    Failure failure = {};
  };

  static std::uint64_t base_of(std::uint32_t rank, std::uint32_t reader) {
    return rank % 2 == 0 ? 1000 : 1000 + std::uint64_t{reader} * 4096;
  }

  static std::byte* aligned(std::vector<std::byte>& bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
    return bytes.data() + (16 - address % 16) % 16;
  }

  template <class Element>
  static bool walk(HostPlatform& platform, const WalkCall& call, Way way) {
    if (way == Way::generic) return Walker<Element, HostPlatform>(platform, call).walk();
    switch (call.num_ranks) {
      case 2: return directly(DirectAllReduce<Element, 2, HostPlatform>(platform, call), way);
      case 4: return directly(DirectAllReduce<Element, 4, HostPlatform>(platform, call), way);
      default: return directly(DirectAllReduce<Element, 8, HostPlatform>(platform, call), way);
    }
  }
  template <class Direct>
  static bool directly(Direct direct, Way way) {
    return way == Way::one_shot ? direct.one_shot() : direct.two_shot();
  }

  WalkCall walk_call(const HostCall& call, const Shape& shape, std::uint32_t rank, std::uint32_t element) {
    const WordPrograms& programs = *call.programs;
    const WordProgram& program = programs.ranks[rank];
    WalkCall walk_call = walk_call_of(programs, shape, call.count, element);
    walk_call.steps = program.steps.data();
    walk_call.ends = program.ends.data();
    walk_call.num_steps = static_cast<std::uint32_t>(program.steps.size());
    walk_call.rank = rank;
    walk_call.digest = call.digest;
    walk_call.timeout = timeout;
    walk_call.slots_bytes = limits_.slots_bytes;
    walk_call.scratch_bytes = limits_.scratch_bytes;
    walk_call.input = static_cast<const std::byte*>(call.inputs[rank]);
    walk_call.output = static_cast<std::byte*>(call.outputs[rank]);
    if (rank % 2 == 1) walk_call.input_views = walk_call.output_views = memories_[rank]->views.data();
    walk_call.peers = memories_[rank]->peers.data();
    walk_call.state = memories_[rank]->state.data();
    walk_call.failure = &memories_[rank]->failure;
    walk_call.op = call.op;
    return walk_call;
  }

  std::uint32_t num_ranks_;
  Limits limits_;
  std::vector<std::unique_ptr<Memory>> memories_;
};

}  // namespace tutti::device
