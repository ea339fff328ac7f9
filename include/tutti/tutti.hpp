// SPDX-License-Identifier: Apache-2.0
// Tutti for C++17 and later: the C API (tutti.h) with types, sizes, ownership and exceptions. Header-only; link what
// the C API needs, tutti::tutti.
//
//   auto comm = tutti::Communicator::launched();
//   std::vector<float> mine(1000, 1.0F), sum(1000);
//   comm.all_reduce(mine, sum, tutti::Op::sum);
//
//   tutti::Request request = comm.iall_gather(mine, all);
//   ...
//   request.wait();
//
//   auto vector = comm.allocate<float>(1 << 20);  // symmetric memory: large vectors are not copied
//   comm.all_reduce(vector, tutti::Op::average);
//
//   {
//     tutti::Group group;
//     comm.send(right_edge, right);
//     comm.receive(left_halo, left);
//   }
//
// An error throws tutti::Error; a lost rank throws tutti::RemoteError.
#pragma once

#if __cplusplus < 201703L
#error "tutti.hpp needs C++17 or later (-std=c++17); tutti.h is for C and every C++"
#endif

#include <tutti/cpp/blocks.hpp>
#include <tutti/cpp/communicator.hpp>
#include <tutti/cpp/config.hpp>
#include <tutti/cpp/elements.hpp>
#include <tutti/cpp/error.hpp>
#include <tutti/cpp/facts.hpp>
#include <tutti/cpp/memory.hpp>
#include <tutti/cpp/operator.hpp>
#include <tutti/cpp/request.hpp>
#include <tutti/cpp/varying.hpp>
