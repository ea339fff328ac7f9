// SPDX-License-Identifier: Apache-2.0
// All-reduce in symmetric memory: the ranks load and store in each other's buffers, so large vectors are not copied
// on their way. Here in place, again and again, as an iterative solver or a training loop does it.
//
//   tutti launch -n 2 -- ./symmetric
#include <algorithm>
#include <cstddef>
#include <exception>
#include <iostream>
#include <stdexcept>

#include <tutti/tutti.hpp>

int main() try {
  tutti::Communicator comm = tutti::Communicator::launched();
  tutti::SymmetricMemory<float> vector = comm.allocate<float>(std::size_t{1} << 20);
  const float average = static_cast<float>(comm.num_ranks() + 1) / 2;
  constexpr int kIterations = 10;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    std::fill(vector.begin(), vector.end(), static_cast<float>(comm.rank() + 1));
    comm.all_reduce(vector, tutti::Op::average);
    // Halves of small whole numbers and no rounding on the way: equal, not nearly equal.
    if (!std::all_of(vector.begin(), vector.end(), [average](float value) { return value == average; }))
      throw std::runtime_error("an element is not the average");
  }
  if (comm.rank() == 0)
    std::cout << "ranks: " << comm.num_ranks() << ", averages: " << kIterations << ", elements: " << vector.size()
              << ", each is " << average << "\n";
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
