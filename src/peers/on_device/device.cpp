// SPDX-License-Identifier: Apache-2.0
#include "peers/on_device/device.hpp"

#include <array>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/system/dynamic_library.hpp"

namespace tutti::peers::on_device {

namespace {

// CU_STREAM_NON_BLOCKING, hipStreamNonBlocking: streams do not wait for the default one.
constexpr unsigned kNonBlocking = 1;

}  // namespace

// Results are CUresult or hipError_t, 0 where all is well; a CUdeviceptr is as wide as a pointer and passed like one.
struct Device::Calls {
  int (*init)(unsigned flags);
  int (*count)(int* count);
  int (*get)(int* device, int ordinal);
  int (*name)(char* name, int length, int device);
  int (*allocate)(void** memory, std::size_t bytes);
  int (*release)(void* memory);
  int (*copy_in)(void* on_device, const void* on_host, std::size_t bytes);
  int (*copy_out)(void* on_host, const void* on_device, std::size_t bytes);
  int (*synchronize)();
  int (*stream_create)(Stream** stream, unsigned flags);
  int (*stream_synchronize)(Stream* stream);
  int (*event_create)(Event** event, unsigned flags);
  int (*event_record)(Event* event, Stream* stream);
  int (*event_elapsed)(float* milliseconds, Event* first, Event* second);
  // CUDA's driver has contexts, and words for errors behind a pointer.
  int (*context_retain)(void** context, int device);
  int (*context_set)(void* context);
  int (*error_to)(int error, const char** words);
  // HIP has a current device.
  int (*set_device)(int device);
  const char* (*error_words)(int error);
};

Device::Device(const Platform& platform) : platform_(platform), calls_(new Calls{}) {}

void Device::FreeCalls::operator()(Calls* calls) const { delete calls; }

void Device::Release::operator()(void* memory) const { static_cast<void>(device->calls_->release(memory)); }

Status Device::find_calls() {
  const Result<DynamicLibrary> library = DynamicLibrary::open(platform_.library);
  if (!library.ok()) return {Code::unsupported, fmt::format("{}; {}", library.status().message(), platform_.advice)};
  const bool is_cuda = platform_.maker == Maker::nvidia;
  Status status;
  const auto find = [&](auto& function, const char* cuda, const char* hip) {
    if (status.ok()) status = library->find(is_cuda ? cuda : hip, function);
  };
  find(calls_->init, "cuInit", "hipInit");
  find(calls_->count, "cuDeviceGetCount", "hipGetDeviceCount");
  find(calls_->get, "cuDeviceGet", "hipDeviceGet");
  find(calls_->name, "cuDeviceGetName", "hipDeviceGetName");
  find(calls_->allocate, "cuMemAlloc_v2", "hipMalloc");
  find(calls_->release, "cuMemFree_v2", "hipFree");
  find(calls_->copy_in, "cuMemcpyHtoD_v2", "hipMemcpyHtoD");
  find(calls_->copy_out, "cuMemcpyDtoH_v2", "hipMemcpyDtoH");
  find(calls_->synchronize, "cuCtxSynchronize", "hipDeviceSynchronize");
  find(calls_->stream_create, "cuStreamCreate", "hipStreamCreateWithFlags");
  find(calls_->stream_synchronize, "cuStreamSynchronize", "hipStreamSynchronize");
  find(calls_->event_create, "cuEventCreate", "hipEventCreateWithFlags");
  find(calls_->event_record, "cuEventRecord", "hipEventRecord");
  find(calls_->event_elapsed, "cuEventElapsedTime", "hipEventElapsedTime");
  if (is_cuda) {
    find(calls_->context_retain, "cuDevicePrimaryCtxRetain", nullptr);
    find(calls_->context_set, "cuCtxSetCurrent", nullptr);
    find(calls_->error_to, "cuGetErrorString", nullptr);
  } else {
    find(calls_->set_device, nullptr, "hipSetDevice");
    find(calls_->error_words, nullptr, "hipGetErrorString");
  }
  return status;
}

Status Device::status_of(int result, const char* what) const {
  if (result == 0) return {};
  const char* words = nullptr;
  if (calls_->error_words != nullptr) words = calls_->error_words(result);
  if (calls_->error_to != nullptr) static_cast<void>(calls_->error_to(result, &words));
  return {Code::system, fmt::format("{} cannot {}: {} ({})", platform_.name, what,
                                    words != nullptr ? words : "it does not say why", result)};
}

Result<std::unique_ptr<Device>> Device::open(const Platform& platform) {
  std::unique_ptr<Device> device(new Device(platform));
  TUTTI_TRY(device->find_calls());
  TUTTI_TRY(device->status_of(device->calls_->init(0), "start"));
  TUTTI_TRY(device->status_of(device->calls_->count(&device->count_), "count devices"));
  if (device->count_ < 1) return Status(Code::unsupported, fmt::format("there is no {} device", platform.name));
  return device;
}

Result<std::string> Device::name(int device) const {
  int handle = 0;
  std::array<char, 256> name{};
  TUTTI_TRY(status_of(calls_->get(&handle, device), "get a device"));
  TUTTI_TRY(status_of(calls_->name(name.data(), static_cast<int>(name.size()), handle), "name a device"));
  return std::string(name.data());
}

Result<std::string> Device::summary() const {
  TUTTI_TRY_ASSIGN(const std::string first, name(0));
  return fmt::format("{} ({})", counted(static_cast<std::uint64_t>(count_), "device"), first);
}

Status Device::use(int device) {
  if (calls_->set_device != nullptr) return status_of(calls_->set_device(device), "use a device");
  // The primary context is the one that CUDA's runtime works in, within NCCL and Tutti.
  int handle = 0;
  void* context = nullptr;
  TUTTI_TRY(status_of(calls_->get(&handle, device), "get a device"));
  TUTTI_TRY(status_of(calls_->context_retain(&context, handle), "use a device"));
  return status_of(calls_->context_set(context), "use a device");
}

Result<Device::Memory> Device::allocate(std::size_t bytes) {
  void* memory = nullptr;
  TUTTI_TRY(status_of(calls_->allocate(&memory, bytes), "allocate memory"));
  return Memory(memory, Release{this});
}

Status Device::copy_in(void* on_device, const void* on_host, std::size_t bytes) {
  TUTTI_TRY(status_of(calls_->copy_in(on_device, on_host, bytes), "copy to the device"));
  // The copy may come back when the last bytes are still on their way.
  return status_of(calls_->synchronize(), "copy to the device");
}

Status Device::copy_out(void* on_host, const void* on_device, std::size_t bytes) {
  return status_of(calls_->copy_out(on_host, on_device, bytes), "copy from the device");
}

Result<Stream*> Device::make_stream() {
  Stream* stream = nullptr;
  TUTTI_TRY(status_of(calls_->stream_create(&stream, kNonBlocking), "make a stream"));
  return stream;
}

Status Device::synchronize(Stream* stream) {
  return status_of(calls_->stream_synchronize(stream), "wait for a stream");
}

Result<Event*> Device::make_event() {
  Event* event = nullptr;
  TUTTI_TRY(status_of(calls_->event_create(&event, 0), "make an event"));
  return event;
}

Status Device::record(Event* event, Stream* stream) {
  return status_of(calls_->event_record(event, stream), "record an event");
}

Result<double> Device::microseconds_between(Event* first, Event* second) {
  float milliseconds = 0;
  TUTTI_TRY(status_of(calls_->event_elapsed(&milliseconds, first, second), "take the time between events"));
  return static_cast<double>(milliseconds) * 1e3;
}

}  // namespace tutti::peers::on_device
