// All-reduce in symmetric memory: the ranks load and store in each other's buffers, so large vectors are not copied
// on their way. Here in place, again and again, as an iterative solver or a training loop does it.
//
//   tutti launch -n 2 -- ./symmetric
#include <algorithm>
#include <cstddef>
#include <iostream>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include <tutti/tutti.h>

namespace {

constexpr std::size_t kCount = std::size_t{1} << 20;
constexpr int kIterations = 10;

void check(tuttiResult_t result) {
  if (result != tuttiSuccess)
    throw std::runtime_error(std::string(tuttiGetErrorString(result)) + ": " + tuttiGetLastError(nullptr));
}

struct DestroyComm {
  void operator()(tuttiComm_t comm) const { tuttiCommDestroy(comm); }
};
using Comm = std::unique_ptr<tuttiComm, DestroyComm>;

Comm join() {
  tuttiComm_t comm = nullptr;
  check(tuttiCommInitLaunched(&comm));
  return Comm(comm);
}

// Symmetric memory belongs to its communicator, and all ranks allocate and free it together.
class SymmetricFloats {
 public:
  SymmetricFloats(std::size_t count, tuttiComm_t comm) : count_(count), comm_(comm) {
    check(tuttiMemAlloc(&memory_, count * sizeof(float), comm));
  }
  SymmetricFloats(const SymmetricFloats&) = delete;
  SymmetricFloats& operator=(const SymmetricFloats&) = delete;
  ~SymmetricFloats() { tuttiMemFree(memory_, comm_); }

  [[nodiscard]] std::span<float> values() const { return {static_cast<float*>(memory_), count_}; }

 private:
  void* memory_ = nullptr;
  std::size_t count_;
  tuttiComm_t comm_;
};

void run() {
  const Comm comm = join();
  int rank = 0;
  int num_ranks = 0;
  check(tuttiCommUserRank(comm.get(), &rank));
  check(tuttiCommCount(comm.get(), &num_ranks));

  const SymmetricFloats vector(kCount, comm.get());
  const std::span<float> values = vector.values();
  const auto average = static_cast<float>(num_ranks + 1) / 2;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    std::fill(values.begin(), values.end(), static_cast<float>(rank + 1));
    check(tuttiAllReduce(values.data(), values.data(), values.size(), tuttiFloat32, tuttiAvg, comm.get()));
    // Halves of small whole numbers and no rounding on the way: equal, not nearly equal.
    if (!std::all_of(values.begin(), values.end(), [average](float value) { return value == average; }))
      throw std::runtime_error("rank " + std::to_string(rank) + ": an element is not " + std::to_string(average));
  }
  if (rank == 0)
    std::cout << "ranks: " << num_ranks << ", averages: " << kIterations << ", elements: " << kCount << ", each is "
              << average << "\n";
}

}  // namespace

int main() try {
  run();
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
