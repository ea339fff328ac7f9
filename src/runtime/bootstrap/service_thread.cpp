// SPDX-License-Identifier: Apache-2.0
#include "runtime/bootstrap/service_thread.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/limits.hpp"
#include "base/system/memory_limits.hpp"
#include "base/system/take_fd.hpp"

namespace tutti {
namespace {

// Returns what pthread_create does.
int start_without_signals(pthread_t& thread, void* (*run)(void*), void* argument) {
  // A new thread inherits the mask, so there is no moment at which it could take a signal.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&thread, nullptr, run, argument);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

}  // namespace

ServiceThread::ServiceThread(UniqueFd wake_fd, std::function<void(int wake_fd)> body)
    : wake_fd_(std::move(wake_fd)), owner_(getpid()), body_(std::move(body)) {}

Result<std::unique_ptr<ServiceThread>> ServiceThread::start(const std::string& name,
                                                            std::function<void(int wake_fd)> body) {
  UniqueFd wake_fd = take_fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_fd.valid()) return Status::from_errno("cannot make an eventfd", errno);
  std::unique_ptr<ServiceThread> service(new ServiceThread(std::move(wake_fd), std::move(body)));

  const auto run = [](void* self) noexcept -> void* {
    const ServiceThread& own = *static_cast<const ServiceThread*>(self);
    own.body_(own.wake_fd_.get());
    return nullptr;
  };
  pthread_t thread{};
  if (const int error = start_without_signals(thread, run, service.get()); error != 0)
    return thread_refusal(name, error);
  pthread_setname_np(thread, name.c_str());
  service->thread_ = thread;
  return service;
}

bool ServiceThread::is_here() const { return getpid() == owner_; }

void ServiceThread::wake() const {
  if (!is_here()) return;
  const std::uint64_t one = 1;
  // It only fails where the counter is full, and then the thread is awake already.
  static_cast<void>(write(wake_fd_.get(), &one, sizeof one));
}

void ServiceThread::finish() {
  if (!thread_) return;
  if (is_here()) pthread_join(*thread_, nullptr);
  thread_.reset();
}

void abandon(std::shared_ptr<void> work) {
  static std::mutex mutex;
  // Not destroyed at the end of the process either, and so never a leak.
  static auto& kept = *new std::vector<std::shared_ptr<void>>;
  const std::scoped_lock lock(mutex);
  kept.push_back(std::move(work));
}

void run_apart(std::function<void()> work) {
  const auto run = [](void* what) noexcept -> void* {
    try {
      (*static_cast<std::function<void()>*>(what))();
    } catch (const std::bad_alloc&) {
      // Then it is done in part, or not at all.
    }
    return nullptr;
  };
  pthread_t thread{};
  if (start_without_signals(thread, run, &work) == 0) pthread_join(thread, nullptr);
}

void clear_wake(int wake_fd) {
  std::uint64_t count = 0;
  static_cast<void>(read(wake_fd, &count, sizeof count));
}

}  // namespace tutti
