#include "runtime/service_thread.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <system_error>
#include <utility>

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace tutti {

ServiceThread::ServiceThread(UniqueFd wake_fd) : wake_fd_(std::move(wake_fd)), owner_(getpid()) {}

Result<std::unique_ptr<ServiceThread>> ServiceThread::start(const std::string& name,
                                                            std::function<void(int wake_fd)> body) {
  UniqueFd wake_fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_fd.valid()) return Status::from_errno("cannot make an eventfd", errno);
  std::unique_ptr<ServiceThread> service(new ServiceThread(std::move(wake_fd)));

  // A new thread inherits the mask, so there is no moment at which it could take a signal.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = 0;
  try {
    service->thread_ = std::thread(std::move(body), service->wake_fd_.get());
  } catch (const std::system_error& refused) {
    error = refused.code().value();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) return Status::from_errno("cannot start the thread " + name, error);
  pthread_setname_np(service->thread_.native_handle(), name.c_str());
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
  if (!thread_.joinable()) return;
  if (is_here()) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

void clear_wake(int wake_fd) {
  std::uint64_t count = 0;
  static_cast<void>(read(wake_fd, &count, sizeof count));
}

}  // namespace tutti
