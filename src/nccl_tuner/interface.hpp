// SPDX-License-Identifier: Apache-2.0
// The binary interface between NCCL and a tuner plugin, as far as this plugin needs it. NCCL looks for one symbol a
// version, newest first, and calls the functions of the first that it finds. docs/formats/exports.md says with which
// releases the versions were checked. Types only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti::nccl_tuner {

// Of ncclResult_t. A failed init fails the communicator, so this plugin never returns another value.
inline constexpr int kSuccess = 0;

// A cost below 0 marks what NCCL cannot do for the call.
inline constexpr float kChosenCost = 0.0F;

// Levels and subsystems of NCCL's log.
inline constexpr int kLogWarn = 2;
inline constexpr int kLogInfo = 3;
inline constexpr unsigned long kLogInit = 0x1;
inline constexpr unsigned long kLogTuning = 0x40;

// printf's format and arguments follow the line.
using LogFunction = void (*)(int level, unsigned long subsystems, const char* file, int line, const char* format, ...);

// One for each communicator of a process.
using Context = void*;

// The costs are a table [algorithm][protocol] of floats in one piece, though declared as pointers to pointers.
using Costs = float**;

// Called by releases that know no later version; it has no costs.
struct TunerV2 {
  const char* name;
  int (*init)(std::size_t ranks, std::size_t nodes, LogFunction log, Context* context);
  int (*choose)(Context context, int function, std::size_t bytes, int has_collnet, int has_nvls, int operations,
                int* algorithm, int* protocol, int* channels);
  int (*destroy)(Context context);
};

struct TunerV3 {
  const char* name;
  int (*init)(std::size_t ranks, std::size_t nodes, LogFunction log, Context* context);
  int (*choose)(Context context, int function, std::size_t bytes, int operations, Costs costs, int algorithms,
                int protocols, int* channels);
  int (*destroy)(Context context);
};

// The call says whether its buffers are registered.
struct TunerV4 {
  const char* name;
  int (*init)(std::size_t ranks, std::size_t nodes, LogFunction log, Context* context);
  int (*choose)(Context context, int function, std::size_t bytes, int operations, Costs costs, int algorithms,
                int protocols, int is_registered, int* channels);
  int (*destroy)(Context context);
};

// init is told of NVLink domains and may change constants of NCCL's model, neither of which this plugin looks at.
struct TunerV5 {
  const char* name;
  int (*init)(Context* context, std::uint64_t communicator, std::size_t ranks, std::size_t nodes, LogFunction log,
              void* domains, void* constants);
  int (*choose)(Context context, int function, std::size_t bytes, int operations, Costs costs, int algorithms,
                int protocols, int is_registered, int* channels);
  int (*destroy)(Context context);
};

// May also choose the size of chunks; null leaves that to NCCL.
struct TunerV6 {
  TunerV5 v5;
  int (*choose_chunk)(Context context, int function, std::size_t bytes, int algorithm, int protocol, int channels,
                      std::size_t* chunk);
};

}  // namespace tutti::nccl_tuner
