// SPDX-License-Identifier: Apache-2.0
// A bar on the time and the memory that something takes, held in a process of its own, so that memory is its own; one
// line and one verdict a bar. For benches; one thread.
#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tutti::benches {

struct Bar {
  const char* name;
  double most_seconds;
  double most_megabytes;  // 0: no bar
  std::function<bool()> body;
};

// Runs the body in a child and holds its bars.
inline bool holds(const Bar& bar) {
  std::fflush(nullptr);
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) _exit(bar.body() ? 0 : 1);
  int status = 0;
  rusage usage{};
  if (child < 0 || wait4(child, &status, 0, &usage) != child) return false;
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  const double megabytes = static_cast<double>(usage.ru_maxrss) / 1024;
  const bool right = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  const bool met =
      right && taken.count() <= bar.most_seconds && (bar.most_megabytes == 0 || megabytes <= bar.most_megabytes);
  fmt::print("{:46} {:>7.2f} s of {:>5.4g} {:>7.0f} MB{}  {}\n", bar.name, taken.count(), bar.most_seconds, megabytes,
             bar.most_megabytes == 0 ? std::string() : fmt::format(" of {:.0f}", bar.most_megabytes),
             !right ? "WRONG"
             : met  ? "met"
                    : "missed");
  return met;
}

}  // namespace tutti::benches
