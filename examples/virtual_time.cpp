// SPDX-License-Identifier: Apache-2.0
// A training step on a machine that is not here: the ranks compute, and reduce their gradients meanwhile, in one piece
// or in four. What that takes is told in virtual time; the sums are as real as ever.
//
//   TUTTI_FABRIC=simulate:torus_2d:2x3 tutti launch -n 6 -- ./virtual_time
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <iostream>
#include <span>
#include <stdexcept>
#include <vector>

#include <tutti/tutti.hpp>

namespace {

using std::chrono::microseconds;

constexpr std::size_t kGradients = std::size_t{1} << 20;
constexpr microseconds kBackward(2000);  // what computing the gradients takes there

// The time of a step whose gradients are reduced in so many parts, each as soon as it is computed.
double step(tutti::Communicator& comm, std::vector<float>& gradients, std::size_t parts) {
  std::fill(gradients.begin(), gradients.end(), static_cast<float>(comm.rank()));
  const double begin = comm.virtual_time().now.count();
  const std::size_t part = gradients.size() / parts;
  std::vector<tutti::Request> requests;
  for (std::size_t each = 0; each < parts; ++each) {
    comm.advance_virtual_time(tutti::VirtualTime::Duration(kBackward) / static_cast<double>(parts));
    const std::span<float> of = std::span(gradients).subspan(each * part, part);
    requests.push_back(comm.iall_reduce(of, of, tutti::Op::sum));
  }
  for (tutti::Request& request : requests) request.wait();
  const auto sum = static_cast<float>(comm.num_ranks() * (comm.num_ranks() - 1)) / 2;
  if (!std::all_of(gradients.begin(), gradients.end(), [sum](float value) { return value == sum; }))
    throw std::runtime_error("a gradient is not the sum");
  comm.barrier();
  return (comm.virtual_time().now.count() - begin) / 1e3;
}

}  // namespace

int main() try {
  tutti::Communicator comm = tutti::Communicator::launched();
  std::vector<float> gradients(kGradients);
  for (const std::size_t parts : {1, 4}) {
    const double time = step(comm, gradients, parts);
    if (comm.rank() == 0)
      std::cout << "gradients in " << parts << (parts == 1 ? " part: " : " parts: ") << time << " us\n";
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
