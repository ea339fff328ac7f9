// What outlives the runner, however that dies, and then ends a program with all that it has started: the kernel tells
// only direct children. One thread.
#pragma once

#include <string>

#include <sys/types.h>

namespace tutti::harness {

class Guard {
 public:
  Guard() = default;
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard() { end(); }

  // To be called before the processes are started whose environment will have the entry. A launcher among them is left
  // time to clear up. Where the system does not let it watch, there is none.
  void start(const std::string& entry, bool has_launcher);
  // They are ended, or others see to it.
  void end();

 private:
  pid_t pid_ = 0;
};

}  // namespace tutti::harness
