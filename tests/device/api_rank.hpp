// SPDX-License-Identifier: Apache-2.0
// A rank that uses tutti/device.h as programs do, and what every collective must give it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "../api/ranks.hpp"
#include <tutti/device.h>

#define ASSERT_DONE(call) ASSERT_EQ(call, tuttiSuccess) << tuttiGetLastError(nullptr)
#define ASSERT_CUDA(call) ASSERT_EQ(call, cudaSuccess)

namespace tutti::device_api {

inline bool has_device() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
}
// So that a test that would hang fails.
inline const std::array<const char*, 2> kPatient = {"TUTTI_TIMEOUT=5s", nullptr};

// What a rank of these tests has: a device communicator, a stream, and two buffers of ordinary device memory.
class Rank {
 public:
  Rank(tuttiComm_t comm, int rank, std::size_t bytes, const char* const* variables = kPatient.data()) : rank_(rank) {
    tuttiConfig_t config = TUTTI_CONFIG_INITIALIZER;
    config.variables = variables;
    EXPECT_DONE(tuttiDeviceCommInit(&comm_, comm, &config));
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_EQ(cudaMalloc(&input_, bytes), cudaSuccess);
    EXPECT_EQ(cudaMalloc(&output_, bytes), cudaSuccess);
    // To have memory may wait for kernels of the device: of other ranks, which would wait for this one.
    EXPECT_DONE(tuttiBarrier(comm));
  }
  ~Rank() {
    if (comm_ != nullptr) {
      EXPECT_DONE(tuttiDeviceCommDestroy(comm_));
    }
    static_cast<void>(cudaFree(input_));
    static_cast<void>(cudaFree(output_));
    static_cast<void>(cudaStreamDestroy(stream_));
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] tuttiDeviceComm_t comm() const { return comm_; }
  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  [[nodiscard]] float* input() const { return static_cast<float*>(input_); }
  [[nodiscard]] float* output() const { return static_cast<float*>(output_); }

  // Copies of all streams may stand in one queue, so none of them may wait there for a kernel of its stream.
  void set(float* to, const std::vector<float>& values) const {
    ASSERT_CUDA(cudaStreamSynchronize(stream_));
    ASSERT_CUDA(cudaMemcpyAsync(to, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice, stream_));
    ASSERT_CUDA(cudaStreamSynchronize(stream_));
  }
  [[nodiscard]] std::vector<float> get(const float* from, std::size_t count) const {
    std::vector<float> values(count);
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    EXPECT_EQ(cudaMemcpyAsync(values.data(), from, count * sizeof(float), cudaMemcpyDeviceToHost, stream_),
              cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    return values;
  }
  void expect_no_error() const {
    ASSERT_CUDA(cudaStreamSynchronize(stream_));
    tuttiResult_t error = tuttiSuccess;
    EXPECT_DONE(tuttiDeviceCommGetAsyncError(comm_, &error));
    EXPECT_EQ(error, tuttiSuccess) << tuttiGetLastError(nullptr);
  }

 private:
  int rank_;
  tuttiDeviceComm_t comm_ = nullptr;
  cudaStream_t stream_ = nullptr;
  void* input_ = nullptr;
  void* output_ = nullptr;
};

// Element i of block b of a rank's input: small whole numbers, whose sums are exact.
inline float value(int rank, std::size_t block, std::size_t i) {
  return static_cast<float>((static_cast<std::size_t>(rank) * 7 + block * 3 + i) % 31);
}
inline std::vector<float> blocks_of(int rank, std::size_t blocks, std::size_t count) {
  std::vector<float> values;
  for (std::size_t block = 0; block < blocks; ++block)
    for (std::size_t i = 0; i < count; ++i) values.push_back(value(rank, block, i));
  return values;
}
inline std::vector<float> sum_of(int num_ranks, std::size_t block, std::size_t count, float scale = 1) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    for (int rank = 0; rank < num_ranks; ++rank) values[i] += value(rank, block, i) * scale;
  return values;
}

// This rank's block is there already, and nothing else.
inline void expect_gathered_in_place(const Rank& rank, const std::vector<float>& gathered, float* output,
                                     std::size_t count) {
  const std::size_t own = static_cast<std::size_t>(rank.rank()) * count;
  std::vector<float> alone(gathered.size(), -1);
  std::copy_n(gathered.begin() + static_cast<std::ptrdiff_t>(own), count,
              alone.begin() + static_cast<std::ptrdiff_t>(own));
  rank.set(output, alone);
  EXPECT_DONE(tuttiDeviceAllGather(output + own, output, count, tuttiFloat32, rank.comm(), rank.stream()));
  EXPECT_EQ(rank.get(output, gathered.size()), gathered);
}

// Every collective, in these buffers, which have room for a block of each rank.
inline void expect_collectives(const Rank& rank, int num_ranks, float* input, float* output, std::size_t count) {
  const auto ranks = static_cast<std::size_t>(num_ranks);
  const auto own = static_cast<std::size_t>(rank.rank());
  tuttiDeviceComm_t comm = rank.comm();
  cudaStream_t stream = rank.stream();
  rank.set(input, blocks_of(rank.rank(), ranks, count));

  EXPECT_DONE(tuttiDeviceAllReduce(input, output, count, tuttiFloat32, tuttiSum, comm, stream));
  EXPECT_EQ(rank.get(output, count), sum_of(num_ranks, 0, count));
  EXPECT_DONE(tuttiDeviceAllReduce(output, output, count, tuttiFloat32, tuttiMax, comm, stream));
  EXPECT_EQ(rank.get(output, count), sum_of(num_ranks, 0, count));
  EXPECT_DONE(tuttiDeviceAllGather(input, output, count, tuttiFloat32, comm, stream));
  std::vector<float> gathered;
  for (int each = 0; each < num_ranks; ++each) {
    const std::vector<float> block = blocks_of(each, 1, count);
    gathered.insert(gathered.end(), block.begin(), block.end());
  }
  EXPECT_EQ(rank.get(output, count * ranks), gathered);
  expect_gathered_in_place(rank, gathered, output, count);
  EXPECT_DONE(tuttiDeviceReduceScatter(input, output, count, tuttiFloat32, tuttiSum, comm, stream));
  EXPECT_EQ(rank.get(output, count), sum_of(num_ranks, own, count));
  EXPECT_DONE(tuttiDeviceAlltoAll(input, output, count, tuttiFloat32, comm, stream));
  std::vector<float> transposed;
  for (int each = 0; each < num_ranks; ++each)
    for (std::size_t i = 0; i < count; ++i) transposed.push_back(value(each, own, i));
  EXPECT_EQ(rank.get(output, count * ranks), transposed);
  for (int root = 0; root < num_ranks; ++root) {
    EXPECT_DONE(tuttiDeviceBroadcast(input, output, count, tuttiFloat32, root, comm, stream));
    EXPECT_EQ(rank.get(output, count), blocks_of(root, 1, count));
    EXPECT_DONE(tuttiDeviceReduce(input, output, count, tuttiFloat32, tuttiSum, root, comm, stream));
    EXPECT_EQ(rank.get(output, count), root == rank.rank() ? sum_of(num_ranks, 0, count) : blocks_of(root, 1, count));
    // The root alone in place.
    if (root == rank.rank()) rank.set(output, blocks_of(root, 1, count));
    EXPECT_DONE(tuttiDeviceReduce(root == rank.rank() ? output : input, output, count, tuttiFloat32, tuttiSum, root,
                                  comm, stream));
    if (root == rank.rank()) {
      EXPECT_EQ(rank.get(output, count), sum_of(num_ranks, 0, count));
    }
    rank.set(output, blocks_of(rank.rank() + 1, 1, count));
    EXPECT_DONE(tuttiDeviceBcast(output, count, tuttiFloat32, root, comm, stream));
    EXPECT_EQ(rank.get(output, count), blocks_of(root + 1, 1, count));
  }
  const float scalar = 2;
  tuttiRedOp_t scaled = tuttiSum;
  EXPECT_DONE(tuttiDeviceRedOpCreatePreMulSum(&scaled, &scalar, tuttiFloat32, comm));
  EXPECT_DONE(tuttiDeviceReduceScatter(input, output, count, tuttiFloat32, scaled, comm, stream));
  EXPECT_EQ(rank.get(output, count), sum_of(num_ranks, own, count, scalar));
  EXPECT_DONE(tuttiDeviceAllReduce(input, output, count, tuttiFloat32, scaled, comm, stream));
  EXPECT_EQ(rank.get(output, count), sum_of(num_ranks, 0, count, scalar));
  EXPECT_DONE(tuttiDeviceRedOpDestroy(scaled, comm));
  EXPECT_EQ(tuttiDeviceRedOpDestroy(scaled, comm), tuttiInvalidArgument);
  if (num_ranks % 3 != 0) {  // then quotients are exact
    EXPECT_DONE(tuttiDeviceAllReduce(input, output, count, tuttiFloat32, tuttiAvg, comm, stream));
    EXPECT_EQ(rank.get(output, count), sum_of(num_ranks, 0, count, 1.0F / static_cast<float>(num_ranks)));
  }
  rank.expect_no_error();
}

inline constexpr std::size_t kBytes = std::size_t{8} << 20U;

inline void expect_all_memory(const Rank& rank, int num_ranks) {
  constexpr std::size_t kMost = 30001;
  for (const std::size_t count : {std::size_t{1}, std::size_t{257}, kMost}) {
    expect_collectives(rank, num_ranks, rank.input(), rank.output(), count);
    void* memory = nullptr;
    const std::size_t bytes = 2 * kMost * static_cast<std::size_t>(num_ranks) * sizeof(float);
    ASSERT_DONE(tuttiDeviceMemAlloc(&memory, bytes, rank.comm()));
    auto* const buffers = static_cast<float*>(memory);
    const std::vector<float> zeros = rank.get(buffers, 1000);
    EXPECT_EQ(std::count(zeros.begin(), zeros.end(), 0.0F), 1000);
    expect_collectives(rank, num_ranks, buffers, buffers + kMost * static_cast<std::size_t>(num_ranks), count);
    ASSERT_DONE(tuttiDeviceMemFree(memory, rank.comm()));
    // Memory of cudaMalloc, made symmetric.
    ASSERT_DONE(tuttiDeviceCommRegister(rank.comm(), rank.input(), kBytes));
    ASSERT_DONE(tuttiDeviceCommRegister(rank.comm(), rank.output(), kBytes));
    expect_collectives(rank, num_ranks, rank.input(), rank.output(), count);
    ASSERT_DONE(tuttiDeviceCommDeregister(rank.comm(), rank.output()));
    ASSERT_DONE(tuttiDeviceCommDeregister(rank.comm(), rank.input()));
  }
}
}  // namespace tutti::device_api
