// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/device_group.hpp"

#include <utility>

#include <fmt/format.h>

#include "device/cuda/cuda_status.hpp"
#include "device/cuda/device_rank.hpp"

namespace tutti::device {

Result<std::unique_ptr<DeviceGroup>> DeviceGroup::create(const DeviceOptions& options) {
  if (options.num_ranks < 1 || options.num_ranks > kMostCalls)
    return wrong_argument(
        fmt::format("{} ranks on one device; it takes 1 to {}", options.num_ranks, std::uint32_t{kMostCalls}));
  const OnDevice on(options.device);
  TUTTI_TRY(on.status());
  TUTTI_TRY_ASSIGN(Schedules schedules, Schedules::make(options.device, options.num_ranks));
  std::unique_ptr<DeviceGroup> group(new DeviceGroup(options, std::move(schedules)));
  TUTTI_TRY(group->set_up());
  return group;
}

Status DeviceGroup::set_up() {
  TUTTI_TRY_ASSIGN(limits_.channels, most_channels(options_.device, options_.num_ranks, options_.channels));
  limits_.threads = kThreads;
  limits_.channel_bytes = options_.channel_bytes;
  limits_.slots_bytes = options_.slots_bytes / 16 * 16;
  limits_.scratch_bytes = options_.scratch_bytes / 16 * 16;
  const RegionLayout layout = region_layout(options_.num_ranks, limits_);
  cudaStream_t stream = schedules_.stream();
  std::vector<Peer> peers;
  for (std::uint32_t rank = 0; rank < options_.num_ranks; ++rank) {
    TUTTI_TRY_ASSIGN(DeviceArray region, DeviceArray::make(layout.bytes, "flags, slots and scratch", stream));
    TUTTI_TRY_ASSIGN(DeviceArray state, DeviceArray::make(limits_.channels * sizeof(ChannelState), "counters", stream));
    peers.push_back(layout.peer(region.data(), nullptr));  // buffers may lie anywhere
    regions_.push_back(std::move(region));
    states_.push_back(std::move(state));
  }
  TUTTI_TRY_ASSIGN(failures_, Failures::make(options_.num_ranks));
  TUTTI_TRY_ASSIGN(peers_, DeviceArray::make(peers.size() * sizeof(Peer), "addresses", stream));
  TUTTI_TRY(cuda_status(
      cudaMemcpyAsync(peers_.data(), peers.data(), peers.size() * sizeof(Peer), cudaMemcpyHostToDevice, stream),
      "copy to the device"));
  return cuda_status(cudaStreamSynchronize(stream), "set up the device");
}

DeviceGroup::~DeviceGroup() {
  abort();
  const OnDevice on(options_.device);
  // Memory is given back while nothing uses it.
  static_cast<void>(cuda_status(cudaDeviceSynchronize(), "wait for the device"));
  regions_.clear();
  states_.clear();
}

RankPlace DeviceGroup::place_of(std::uint32_t rank) const {
  return {.rank = rank,
          .num_ranks = options_.num_ranks,
          .peers = peers_.data<Peer>(),
          .state = states_[rank].data<ChannelState>(),
          .failure = failures_.on_device(rank),
          .same_device = !options_.as_between_devices,
          .is_symmetric = true,
          .timeout = options_.timeout,
          .limits = limits_};
}

Status DeviceGroup::call(std::uint32_t rank, const DeviceCall& call, const DevicePart& part, cudaStream_t stream) {
  if (rank >= options_.num_ranks) return wrong_argument(fmt::format("rank {} of {}", rank, options_.num_ranks));
  TUTTI_TRY(check());
  const OnDevice on(options_.device);
  TUTTI_TRY(on.status());
  const RankPlace place = place_of(rank);
  TUTTI_TRY_ASSIGN(const Shape shape, Schedules::shape(call, place));
  WalkCalls calls;
  TUTTI_TRY_ASSIGN(calls.ranks[0], Schedules::prepare(call, part, shape, place));
  return launch(Schedules::kernel_of(call), calls, 1, shape.channels, stream, words_of(call));
}

Status DeviceGroup::call_all(const DeviceCall& call, std::span<const DevicePart> parts, cudaStream_t stream) {
  if (parts.size() != options_.num_ranks)
    return wrong_argument(fmt::format("parts of {} ranks for {}", parts.size(), options_.num_ranks));
  TUTTI_TRY(check());
  const OnDevice on(options_.device);
  TUTTI_TRY(on.status());
  TUTTI_TRY_ASSIGN(const Shape shape, Schedules::shape(call, place_of(0)));
  WalkCalls calls;
  for (std::uint32_t rank = 0; rank < options_.num_ranks; ++rank) {
    TUTTI_TRY_ASSIGN(calls.ranks[rank], Schedules::prepare(call, parts[rank], shape, place_of(rank)));
  }
  return launch(Schedules::kernel_of(call), calls, options_.num_ranks, shape.channels, stream, words_of(call));
}

Status DeviceGroup::flags_all(cudaStream_t stream) {
  TUTTI_TRY(check());
  const OnDevice on(options_.device);
  TUTTI_TRY(on.status());
  WalkCalls calls;
  for (std::uint32_t rank = 0; rank < options_.num_ranks; ++rank)
    calls.ranks[rank] = Schedules::meeting(place_of(rank));
  return launch(flags_kernel(), calls, options_.num_ranks, 1, stream, "start the exchange of flags");
}

Status DeviceGroup::check() const {
  for (std::uint32_t rank = 0; rank < options_.num_ranks; ++rank)
    TUTTI_TRY(failures_.status(rank, rank, options_.timeout));
  return {};
}

}  // namespace tutti::device
