// SPDX-License-Identifier: Apache-2.0
// A device that is none: what the worker calls of CUDA's driver or, with FAKE_HIP, of the HIP runtime. Its memory is
// the host's, at addresses from kBegin on, by which the fake NCCL knows it; everything is done at once.
//   FAKE_DEVICES   how many there are; 4
//   FAKE_FAIL      the name of a function that fails
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <sys/mman.h>

#if defined(FAKE_HIP)
#define NAME(cuda, hip) hip
#else
#define NAME(cuda, hip) cuda
#endif
#define STRING_OF(name) #name
#define STRING(name) STRING_OF(name)
#define FAKE(cuda, hip, ...) extern "C" __attribute__((visibility("default"))) int NAME(cuda, hip)(__VA_ARGS__)
#define MAY_FAIL(cuda, hip) \
  if (must_fail(STRING(NAME(cuda, hip)))) return kFailed

// NOLINTBEGIN(readability-identifier-naming, cppcoreguidelines-avoid-non-const-global-variables): its names are not
// ours, and it is one library in one process.
namespace {

constexpr int kFailed = 2;
constexpr std::uintptr_t kBegin = std::uintptr_t{1} << 45;

bool must_fail(std::string_view name) {
  const char* failing = std::getenv("FAKE_FAIL");
  return failing != nullptr && name == failing;
}

struct Event {
  std::chrono::steady_clock::time_point time;
};

std::uintptr_t next_free = kBegin;
int context = 0;

}  // namespace

FAKE(cuInit, hipInit, unsigned) {
  MAY_FAIL(cuInit, hipInit);
  return 0;
}
FAKE(cuDeviceGetCount, hipGetDeviceCount, int* count) {
  MAY_FAIL(cuDeviceGetCount, hipGetDeviceCount);
  const char* number = std::getenv("FAKE_DEVICES");
  *count = number != nullptr ? std::atoi(number) : 4;
  return 0;
}
FAKE(cuDeviceGet, hipDeviceGet, int* device, int ordinal) {
  *device = ordinal;
  return 0;
}
FAKE(cuDeviceGetName, hipDeviceGetName, char* name, int length, int) {
  std::strncpy(name, "fake device", static_cast<std::size_t>(length));
  return 0;
}
FAKE(cuMemAlloc_v2, hipMalloc, void** memory, std::size_t bytes) {
  MAY_FAIL(cuMemAlloc_v2, hipMalloc);
  void* wanted = reinterpret_cast<void*>(next_free);
  *memory = ::mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (*memory != wanted) return kFailed;
  constexpr std::uintptr_t kPage = 4096;
  next_free += (bytes + kPage - 1) / kPage * kPage;
  return 0;
}
// Not used again: who reads what was given back reads nothing that is right.
FAKE(cuMemFree_v2, hipFree, void*) { return 0; }
FAKE(cuMemcpyHtoD_v2, hipMemcpyHtoD, void* on_device, const void* on_host, std::size_t bytes) {
  MAY_FAIL(cuMemcpyHtoD_v2, hipMemcpyHtoD);
  std::memcpy(on_device, on_host, bytes);
  return 0;
}
FAKE(cuMemcpyDtoH_v2, hipMemcpyDtoH, void* on_host, const void* on_device, std::size_t bytes) {
  MAY_FAIL(cuMemcpyDtoH_v2, hipMemcpyDtoH);
  std::memcpy(on_host, on_device, bytes);
  return 0;
}
FAKE(cuCtxSynchronize, hipDeviceSynchronize) { return 0; }
FAKE(cuStreamCreate, hipStreamCreateWithFlags, void** stream, unsigned) {
  MAY_FAIL(cuStreamCreate, hipStreamCreateWithFlags);
  *stream = &context;
  return 0;
}
FAKE(cuStreamSynchronize, hipStreamSynchronize, void*) {
  MAY_FAIL(cuStreamSynchronize, hipStreamSynchronize);
  return 0;
}
FAKE(cuEventCreate, hipEventCreateWithFlags, void** event, unsigned) {
  MAY_FAIL(cuEventCreate, hipEventCreateWithFlags);
  *event = new Event;
  return 0;
}
FAKE(cuEventRecord, hipEventRecord, void* event, void*) {
  static_cast<Event*>(event)->time = std::chrono::steady_clock::now();
  return 0;
}
FAKE(cuEventElapsedTime, hipEventElapsedTime, float* milliseconds, void* first, void* last) {
  *milliseconds =
      std::chrono::duration<float, std::milli>(static_cast<Event*>(last)->time - static_cast<Event*>(first)->time)
          .count();
  return 0;
}

#if defined(FAKE_HIP)
FAKE(, hipSetDevice, int) { return 0; }
extern "C" __attribute__((visibility("default"))) const char* hipGetErrorString(int) { return "told to fail"; }
#else
FAKE(cuDevicePrimaryCtxRetain, , void** made, int) {
  MAY_FAIL(cuDevicePrimaryCtxRetain, );
  *made = &context;
  return 0;
}
FAKE(cuCtxSetCurrent, , void*) { return 0; }
FAKE(cuGetErrorString, , int, const char** words) {
  *words = "told to fail";
  return 0;
}
#endif
// NOLINTEND(readability-identifier-naming, cppcoreguidelines-avoid-non-const-global-variables)
