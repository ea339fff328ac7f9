// SPDX-License-Identifier: Apache-2.0
#include "runtime/progress/network_bell.hpp"

#include <utility>

#include <poll.h>

namespace tutti {

Result<std::unique_ptr<NetworkBell>> NetworkBell::start(const shm::Region& region, std::uint32_t rank,
                                                        const transport::Endpoint& endpoint) {
  std::unique_ptr<NetworkBell> bell(new NetworkBell(region, rank, endpoint.descriptor()));
  NetworkBell* const work = bell.get();
  Result<std::unique_ptr<ServiceThread>> thread =
      ServiceThread::start("tutti-net", [work](int wake_fd) { work->run(wake_fd); });
  if (!thread.ok()) return thread.status().with_context("cannot wait for other hosts");
  bell->thread_ = std::move(*thread);
  return bell;
}

void NetworkBell::run(int wake_fd) {
  while (!is_ending_.load(std::memory_order_relaxed)) {
    // Acquire: partner of listen().
    const bool listens = is_listening_.load(std::memory_order_acquire);
    pollfd polled[] = {{wake_fd, POLLIN, 0}, {listens ? descriptor_ : -1, POLLIN, 0}};
    if (poll(polled, 2, -1) < 0) continue;  // EINTR, ENOMEM
    if (polled[0].revents != 0) clear_wake(wake_fd);
    if (polled[1].revents == 0 || !is_listening_.exchange(false, std::memory_order_relaxed)) continue;
    region_.wake(rank_);
  }
}

NetworkBell::~NetworkBell() {
  if (!thread_ || !thread_->is_here()) return;
  is_ending_.store(true, std::memory_order_relaxed);
  thread_->wake();
  thread_->finish();
}

}  // namespace tutti
