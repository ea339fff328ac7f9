// SPDX-License-Identifier: Apache-2.0
#include "peers/probe.hpp"

#include <chrono>
#include <cstdio>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "bench/process/launcher.hpp"

namespace tutti::peers {

Result<std::string> probe(const std::string& worker, const std::vector<std::string>& environment, Nanos timeout) {
  harness::Processes process;
  TUTTI_TRY(process.start({.launcher = harness::Launcher::local,
                           .num_ranks = 1,
                           .program = {worker, kProbeOption},
                           .environment = environment,
                           .id = fmt::format("probe of {}", ::getpid())}));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(timeout.value());
  while (!process.have_ended()) {
    if (std::chrono::steady_clock::now() >= deadline)
      return Status(Code::unsupported,
                    fmt::format("{} {} has not answered within {}", worker, kProbeOption, to_text(timeout)));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const std::string words = process.last_words();
  const auto failure = process.failure();
  if (!failure) return words;
  return Status(Code::unsupported, words.empty() ? fmt::format("{} {}: {}", worker, kProbeOption, *failure) : words);
}

int answer_probe(const Result<std::string>& found) {
  std::puts(found.ok() ? found->c_str() : std::string(found.status().message()).c_str());
  return found.ok() ? 0 : 1;
}

}  // namespace tutti::peers
