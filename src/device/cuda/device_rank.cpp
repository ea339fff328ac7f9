// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/device_rank.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "device/cuda/cuda_status.hpp"

namespace tutti::device {

Result<std::uint32_t> most_channels(int device, std::uint32_t sharing, std::uint32_t wanted) {
  int multiprocessors = 0;
  TUTTI_TRY(cuda_status(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
                        fmt::format("ask device {}", device)));
  // A channel has a multiprocessor to itself, so that all run at the same time.
  const std::uint32_t share = static_cast<std::uint32_t>(multiprocessors) / sharing;
  if (share == 0)
    return Status(Code::unsupported, fmt::format("{} ranks on {} multiprocessors", sharing, multiprocessors));
  return wanted == 0 ? share : std::min(share, wanted);
}

Result<std::unique_ptr<DeviceRank>> DeviceRank::create(const RankOptions& options, Rendezvous& rendezvous) {
  if (options.num_ranks < 1 || options.num_ranks > kMostRanks || options.rank >= options.num_ranks)
    return wrong_argument(fmt::format("rank {} of {}; there are 1 to {} ranks", options.rank, options.num_ranks,
                                      std::uint32_t{kMostRanks}));
  const OnDevice on(options.device);
  TUTTI_TRY(on.status());
  TUTTI_TRY_ASSIGN(Schedules schedules, Schedules::make(options.device, options.num_ranks));
  std::unique_ptr<DeviceRank> rank(new DeviceRank(options, std::move(schedules)));
  TUTTI_TRY(rank->set_up(rendezvous));
  return rank;
}

Status DeviceRank::set_up(Rendezvous& rendezvous) {
  TUTTI_TRY_ASSIGN(limits_.channels, most_channels(options_.device, 1, options_.channels));
  limits_.threads = kThreads;
  limits_.channel_bytes = options_.channel_bytes;
  limits_.slots_bytes = options_.slots_bytes / 16 * 16;
  limits_.scratch_bytes = options_.scratch_bytes / 16 * 16;
  layout_ = region_layout(options_.num_ranks, limits_, options_.heap_bytes);
  TUTTI_TRY_ASSIGN(failures_, Failures::make(1));
  cudaStream_t stream = schedules_.stream();
  TUTTI_TRY_ASSIGN(state_, DeviceArray::make(limits_.channels * sizeof(ChannelState), "counters", stream));
  TUTTI_TRY_ASSIGN(peers_, DeviceArray::make(options_.num_ranks * sizeof(Peer), "addresses", stream));
  TUTTI_TRY(meet(rendezvous));
  std::vector<Peer> peers;
  for (const Region& region : regions_) peers.push_back(layout_.peer(region.base()));
  TUTTI_TRY(cuda_status(
      cudaMemcpyAsync(peers_.data(), peers.data(), peers.size() * sizeof(Peer), cudaMemcpyHostToDevice, stream),
      "copy to the device"));
  return cuda_status(cudaStreamSynchronize(stream), "set up the device");
}

// Exchanges settings and memory descriptors. Settings must be equal on all ranks.
Status DeviceRank::meet(Rendezvous& rendezvous) {
  TUTTI_TRY_ASSIGN(Region own, Region::make(options_.device, layout_.bytes));
  TUTTI_TRY_ASSIGN(const int shared, own.descriptor());
  using Terms = std::array<std::uint64_t, 4>;
  const Terms terms = {limits_.channels, limits_.slots_bytes, limits_.scratch_bytes, options_.heap_bytes};
  std::vector<Terms> all(options_.num_ranks);
  std::vector<int> descriptors;
  const Status met =
      rendezvous.exchange(std::as_bytes(std::span(terms)), shared, std::as_writable_bytes(std::span(all)), descriptors);
  close(shared);
  Status status = met;
  for (std::uint32_t rank = 0; status.ok() && rank < options_.num_ranks; ++rank) {
    if (all[rank] != terms) {
      status =
          Status(Code::invalid_usage,
                 fmt::format("rank {} and rank {} have other channels, slots, scratch or heaps", options_.rank, rank),
                 static_cast<int>(rank));
      break;
    }
    if (rank == options_.rank) {
      regions_.emplace_back();  // its place, until all of the others are open
      continue;
    }
    Result<Region> opened = Region::open(options_.device, descriptors[rank], layout_.bytes);
    if (opened.ok()) regions_.push_back(std::move(*opened));
    status = opened.status();
  }
  for (const int descriptor : descriptors) close(descriptor);
  if (status.ok()) regions_[options_.rank] = std::move(own);
  return status;
}

DeviceRank::~DeviceRank() {
  abort();
  const OnDevice on(options_.device);
  // Memory is given back while nothing uses it.
  static_cast<void>(cuda_status(cudaDeviceSynchronize(), "wait for the device"));
  regions_.clear();
}

Result<std::byte*> DeviceRank::allocate(std::uint64_t bytes) {
  constexpr std::uint64_t kAligned = 256;
  const std::uint64_t left = options_.heap_bytes - allocated_;
  if (bytes > left)
    return Status(Code::system, fmt::format("the symmetric heap of {} bytes has {} left, and {} are asked for",
                                            options_.heap_bytes, left, bytes));
  std::byte* memory = regions_[options_.rank].base() + layout_.heap + allocated_;
  allocated_ = std::min(options_.heap_bytes, allocated_ + (bytes + kAligned - 1) / kAligned * kAligned);
  return memory;
}

bool DeviceRank::is_symmetric(const void* buffer) const {
  const auto address = reinterpret_cast<std::uintptr_t>(buffer);
  const auto begin = reinterpret_cast<std::uintptr_t>(regions_[options_.rank].base() + layout_.heap);
  return address >= begin && address - begin < options_.heap_bytes;
}

Status DeviceRank::call(const DeviceCall& call, const DevicePart& part, cudaStream_t stream) {
  TUTTI_TRY(check());
  const OnDevice on(options_.device);
  TUTTI_TRY(on.status());
  const auto is_given = [this](const void* buffer) { return buffer == nullptr || is_symmetric(buffer); };
  const RankPlace place = {.rank = options_.rank,
                           .num_ranks = options_.num_ranks,
                           .peers = peers_.data<Peer>(),
                           .state = state_.data<ChannelState>(),
                           .failure = failures_.on_device(0),
                           .same_device = false,
                           .is_symmetric = is_given(part.input) && is_given(part.output),
                           .timeout = options_.timeout,
                           .limits = limits_};
  TUTTI_TRY_ASSIGN(const Shape shape, Schedules::shape(call, place));
  WalkCalls calls;
  TUTTI_TRY_ASSIGN(calls.ranks[0], Schedules::prepare(call, part, shape, place));
  return launch(Schedules::kernel_of(call), calls, 1, shape.channels, stream, words_of(call));
}

}  // namespace tutti::device
