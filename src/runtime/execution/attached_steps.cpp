// SPDX-License-Identifier: Apache-2.0
// Steps of a list that reach the memory of other processes: cross-memory attach (process_vm_readv, process_vm_writev).
#include <algorithm>
#include <atomic>

#include "runtime/execution/executor.hpp"
#include "transport/shm/attach.hpp"

namespace tutti {

pid_t Executor::process_of(std::uint32_t rank) const {
  return static_cast<pid_t>(region_.call(rank).process.load(std::memory_order_relaxed));
}

// So many bytes from `offset` on of what the source has. The first reason for breaking stays.
End Executor::fetch_attached(const Lowered& list, const Lowered::Step& step, std::uint32_t source, std::uint64_t offset,
                             void* to, std::uint64_t bytes) {
  const std::uint32_t rank = list.ends[step.first + source].rank;
  const shm::AttachEnd end =
      shm::read_from(process_of(rank), reinterpret_cast<std::uintptr_t>(sources_[source]) + offset, to, bytes);
  if (end == shm::AttachEnd::done) return End::done;
  region_.break_with(shm::breakage_of(end, shm::Access::read, rank_, rank));
  return End::broken;
}

// So many bytes from `offset` on of what every destination is to have, in parts: whoever gives up waits for no more
// than one (Communicator::await_stores).
End Executor::store_attached(const Lowered& list, const Lowered::Step& step, const std::byte* from,
                             std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t part = profile_.lists_store_part;
  for (std::uint64_t done = 0; done < bytes; done += part)
    for (std::uint32_t each = 0; each < step.num_destinations; ++each) {
      const std::uint32_t rank = list.ends[step.first + step.num_sources + each].rank;
      // Sequentially consistent, as in await_stores(): either this rank sees there that all is over, or that rank sees
      // here that its memory is being written to.
      own_call_->is_storing.store(1, std::memory_order_seq_cst);
      std::atomic_thread_fence(std::memory_order_seq_cst);
      if (region_.is_broken()) [[unlikely]] {
        own_call_->is_storing.store(0, std::memory_order_release);
        return End::broken;
      }
      const shm::AttachEnd end =
          shm::write_to(process_of(rank), reinterpret_cast<std::uintptr_t>(destinations_[each]) + offset + done,
                        from + done, std::min(part, bytes - done));
      own_call_->is_storing.store(0, std::memory_order_release);
      if (end == shm::AttachEnd::done) continue;
      region_.break_with(shm::breakage_of(end, shm::Access::write, rank_, rank));
      return End::broken;
    }
  return End::done;
}

// A single remote source is fetched to where the result will be, if nothing of this rank's lies there: so much less to
// cache.
bool Executor::fetches_to_result(const Lowered& list, const Lowered::Step& step) const {
  if (step.num_destinations != 1 || list.is_remote(step, step.num_sources)) return false;
  std::uint32_t num_remote = 0;
  for (std::uint32_t source = 0; source < step.num_sources; ++source) {
    if (list.is_remote(step, source)) ++num_remote;
    if (sources_[source] == destinations_[0]) return false;
  }
  return num_remote == 1;
}

// What is only moved goes where it belongs at once; what is reduced comes in parts that stay in the cache until then,
// and goes from there if the result belongs to others.
End Executor::combine_attached(const Call& call, const Lowered& list, const Lowered::Step& step) {
  const std::uint64_t bytes = step.length * call.element;
  const bool goes_away = list.is_remote(step, step.num_sources);
  if (step.num_sources == 1 && goes_away && !list.is_remote(step, 0))
    return store_attached(list, step, static_cast<const std::byte*>(sources_[0]), 0, bytes);
  if (step.num_sources == 1 && step.num_destinations == 1 && !goes_away)
    return fetch_attached(list, step, 0, 0, destinations_[0], bytes);
  const std::uint64_t room = profile_.lists_fetch_part;  // of each source: fewer parts, fewer system calls
  const bool to_result = fetches_to_result(list, step);
  // Behind what is fetched there is room for a result that goes away.
  if (!to_result)
    fetched_.resize(std::max<std::size_t>(fetched_.size(), (step.num_sources + (goes_away ? 1 : 0)) * room));
  part_sources_.resize(step.num_sources);
  part_destinations_.resize(goes_away ? 1 : step.num_destinations);
  ReduceCall reduce = reduce_call(step, 0);
  reduce.sources = part_sources_.data();
  reduce.destinations = part_destinations_.data();
  reduce.num_destinations = static_cast<std::uint32_t>(part_destinations_.size());
  const std::uint64_t part = room / call.element;
  for (std::uint64_t done = 0; done < step.length; done += part) {
    reduce.count = std::min(part, step.length - done);
    const std::uint64_t offset = done * call.element;
    const std::uint64_t part_bytes = reduce.count * call.element;
    for (std::uint32_t source = 0; source < step.num_sources; ++source) {
      part_sources_[source] = static_cast<const std::byte*>(sources_[source]) + offset;
      if (!list.is_remote(step, source)) continue;
      std::byte* const to =
          to_result ? static_cast<std::byte*>(destinations_[0]) + offset : fetched_.data() + source * room;
      if (const End end = fetch_attached(list, step, source, offset, to, part_bytes); end != End::done) return end;
      part_sources_[source] = to;
    }
    for (std::uint32_t each = 0; each < reduce.num_destinations; ++each)
      part_destinations_[each] =
          goes_away ? fetched_.data() + step.num_sources * room : static_cast<std::byte*>(destinations_[each]) + offset;
    call.kernel(*call.operation, reduce);
    if (!goes_away) continue;
    const auto* const result = static_cast<const std::byte*>(part_destinations_[0]);
    if (const End end = store_attached(list, step, result, offset, part_bytes); end != End::done) return end;
  }
  return End::done;
}

}  // namespace tutti
