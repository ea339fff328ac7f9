// A thread that gets no memory, in this program and in the libraries that it uses: operator new throws there.
#pragma once

namespace tutti::test {

class NoMemory {
 public:
  NoMemory();
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;
  ~NoMemory();
};

}  // namespace tutti::test
