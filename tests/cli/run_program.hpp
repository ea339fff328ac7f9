// SPDX-License-Identifier: Apache-2.0
// Shell scripts in the places of programs that `tutti run -- COMMAND` sweeps, in a folder with a store of its own.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/temporary_folder.hpp"

namespace tutti {

using Json = nlohmann::json;

extern const char* const kTuttiProgram;  // its path; run_program_test.cpp defines it

struct Outcome {
  int exit = -1;
  std::string out;
  std::string error;

  [[nodiscard]] Json rows() const { return Json::parse(out, nullptr, false); }
};

class RunProgram : public ::testing::Test {
 protected:
  // In the test's folder, where the programs and the store are.
  Outcome tutti(const std::string& arguments, const std::string& front = "") {
    const std::string line =
        fmt::format("cd '{}' && PATH=\"$PWD:$PATH\" XDG_DATA_HOME=\"$PWD\" {} '{}' {} >out 2>error </dev/null",
                    folder_.path(), front, kTuttiProgram, arguments);
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, folder_.read("out"), folder_.read("error")};
  }

  void write_program(const std::string& name, const std::string& script) {
    ::chmod(folder_.write(name, "#!/bin/sh\n" + script).c_str(), 0700);
  }
  [[nodiscard]] bool exists(const std::string& name) const { return std::filesystem::exists(folder_.file(name)); }

  // As all_reduce_perf on two GPUs, faster with twice the CTAs.
  void write_all_reduce_perf(const std::string& time = "10") {
    write_program(
        "all_reduce_perf",
        "echo '#  Rank  0 Group  0 Pid 1 on node device 0'; echo '#  Rank  1 Group  0 Pid 1 on node device 1'\n"
        "echo \"node:1:1 [0] NCCL INFO NCCL_MIN_CTAS set by environment to $NCCL_MIN_CTAS.\"\n"
        "echo '#       size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong'\n"
        "time=" +
            time +
            "; test \"$NCCL_MIN_CTAS\" = 64 && time=1\n"
            "echo \"     1000000  250000  float  sum  -1  ${time}0.0  10  10  0  ${time}0.5  10  10  ${WRONG:-0}\"\n");
  }

  static void wait_for(const std::function<bool()>& is_so) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!is_so() && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  // Gone, or dead and not yet buried by whoever has inherited it.
  static bool is_gone(pid_t process) {
    std::ifstream status(fmt::format("/proc/{}/stat", process));
    const std::string text((std::istreambuf_iterator<char>(status)), {});
    return text.empty() || text.find(") Z ") != std::string::npos;
  }
  // Kills the runner of this script once that has written its file `child`; what is in there.
  pid_t kill_runner_of(const std::string& script) {
    const pid_t runner = ::fork();
    if (runner == 0) {
      // Its group is killed as a whole.
      ::setpgid(0, 0);
      ::setenv("TMPDIR", folder_.path().c_str(), 1);
      ::execl("/bin/sh", "sh", "-c",
              fmt::format("cd '{}' && exec '{}' run --no-store -- sh -c '{}' >out 2>error </dev/null", folder_.path(),
                          kTuttiProgram, script)
                  .c_str(),
              nullptr);
      ::_exit(127);
    }
    wait_for([&] { return exists("child") && folder_.read("child").ends_with('\n'); });
    ::setpgid(runner, runner);
    ::kill(-runner, SIGKILL);
    ::waitpid(runner, nullptr, 0);
    return std::atoi(folder_.read("child").c_str());
  }

  test::TemporaryFolder folder_;
};

}  // namespace tutti
