// SPDX-License-Identifier: Apache-2.0
/* Each rank adds up vectors on its CUDA device, in symmetric memory, and the next step sees the result in the stream:
 *   tutti launch -n 2 -- build/release/examples/device
 * Ranks take the devices in turn. Without a device it says so and ends with 77. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#include <tutti/device.h>

static void check(tuttiResult_t result) {
  if (result == tuttiSuccess) return;
  fprintf(stderr, "%s: %s\n", tuttiGetErrorString(result), tuttiGetLastError(NULL));
  exit(1);
}
static void check_cuda(cudaError_t error) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "%s\n", cudaGetErrorString(error));
  exit(1);
}

int main(void) {
  enum { kCount = 1000000 };
  int devices = 0, ranks = 0, rank = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    printf("there is no CUDA device\n");
    return 77;
  }
  tuttiComm_t comm = NULL;
  check(tuttiCommInitLaunched(&comm));
  check(tuttiCommCount(comm, &ranks));
  check(tuttiCommUserRank(comm, &rank));

  check_cuda(cudaSetDevice(rank % devices));
  cudaStream_t stream = NULL;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  tuttiDeviceComm_t device = NULL;
  check(tuttiDeviceCommInit(&device, comm, NULL));

  /* Symmetric memory is read and written by the other ranks where it lies. */
  void* memory = NULL;
  check(tuttiDeviceMemAlloc(&memory, kCount * sizeof(float), device));
  float* host = malloc(kCount * sizeof(float));
  if (host == NULL) return 1;
  for (int i = 0; i < kCount; ++i) host[i] = (float)(i % 100 + rank);
  check_cuda(cudaMemcpyAsync(memory, host, kCount * sizeof(float), cudaMemcpyHostToDevice, stream));
  check(tuttiDeviceAllReduce(memory, memory, kCount, tuttiFloat32, tuttiSum, device, stream));
  check_cuda(cudaMemcpyAsync(host, memory, kCount * sizeof(float), cudaMemcpyDeviceToHost, stream));
  check_cuda(cudaStreamSynchronize(stream));
  tuttiResult_t error = tuttiSuccess;
  check(tuttiDeviceCommGetAsyncError(device, &error));
  check(error);

  for (int i = 0; i < kCount; ++i) {
    const float expected = (float)(ranks * (i % 100) + ranks * (ranks - 1) / 2);
    if (host[i] != expected) {
      printf("rank %d: element %d is %g, not %g\n", rank, i, (double)host[i], (double)expected);
      return 1;
    }
  }
  if (rank == 0) printf("ranks: %d, elements: %d, the last one is %g\n", ranks, kCount, (double)host[kCount - 1]);
  free(host);
  check(tuttiDeviceCommDestroy(device));
  check_cuda(cudaStreamDestroy(stream));
  check(tuttiCommDestroy(comm));
  return 0;
}
