// SPDX-License-Identifier: Apache-2.0
// A stand-in for Tutti on devices, linked into the worker: collectives of the host on the fake device's memory, which
// is the host's. What is not on the device, or goes into no stream, is refused.
//   FAKE_NO_CUDA    the library was built without devices
//   FAKE_LATE_FAULT calls fail later, as those that the device has ended
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include <dlfcn.h>

#include "base/text.hpp"
#include "data/collective.hpp"
#include "table/table_file.hpp"
#include <tutti/device.h>

struct tuttiDeviceComm {
  tuttiComm_t comm = nullptr;
  std::map<std::uintptr_t, std::size_t> symmetric;
};

namespace {

using tutti::Collective;

std::string last_error;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

tuttiResult_t refuse(tuttiResult_t result, std::string words) {
  last_error = std::move(words);
  return result;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_symmetric(const void* memory, tuttiDeviceComm_t comm) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const auto after = comm->symmetric.upper_bound(address);
  if (after == comm->symmetric.begin()) return false;
  const auto& [begin, bytes] = *std::prev(after);
  return address < begin + bytes;
}
bool is_on_device(const void* memory, tuttiDeviceComm_t comm) {
  constexpr std::uintptr_t kBegin = std::uintptr_t{1} << 45;
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  return is_symmetric(memory, comm) || (address >= kBegin && address < kBegin + (std::uintptr_t{1} << 43));
}

template <typename Call>
tuttiResult_t checked(const void* in, const void* out, tuttiDeviceComm_t comm, tuttiDeviceStream_t stream, Call call) {
  if (!is_on_device(in, comm) || !is_on_device(out, comm)) return refuse(tuttiInvalidArgument, "not on the device");
  if (stream == nullptr) return refuse(tuttiInvalidArgument, "no stream");
  return call();
}

// As TUTTI_DEVICE_ALGORITHM has it, or the table.
std::string wanted(Collective collective, bool is_symmetric, std::string& why) {
  const std::string asked = variable("TUTTI_DEVICE_ALGORITHM");
  for (const std::string_view part : tutti::split(asked, ','))
    if (part.substr(0, part.find('=')) == name_of(collective)) {
      why = "asked for";
      return std::string(part.substr(part.find('=') + 1));
    }
  std::ifstream file(variable("TUTTI_DEVICE_TABLE"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto table = tutti::read_table(text, "the table");
  const auto memory = is_symmetric ? tutti::TableMemory::symmetric : tutti::TableMemory::ordinary;
  const auto answer = table.ok() ? find_section(*table, {.collective = collective, .memory = memory}) : std::nullopt;
  const std::string name = answer ? answer->section->ranges.front().way.algorithm : "";
  why = name.empty() ? "the first that can" : "by the table";
  if (!name.empty()) return name;
  return collective == Collective::all_reduce ? "one_shot" : "direct";
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): its names are not ours.
extern "C" {

const char* tuttiGetLastError(tuttiComm_t comm) {
  if (!last_error.empty()) return last_error.c_str();
  using Function = const char* (*)(tuttiComm_t);
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "tuttiGetLastError"))(comm);
}

tuttiResult_t tuttiDeviceCommInit(tuttiDeviceComm_t* device_comm, tuttiComm_t comm, const tuttiConfig_t*) {
  *device_comm = new tuttiDeviceComm{.comm = comm, .symmetric = {}};
  return tuttiSuccess;
}
tuttiResult_t tuttiDeviceCommDestroy(tuttiDeviceComm_t comm) {
  delete comm;
  return tuttiSuccess;
}
tuttiResult_t tuttiDeviceCommCount(tuttiDeviceComm_t comm, int* count) {
  if (!variable("FAKE_NO_CUDA").empty()) return refuse(tuttiUnsupported, "this libtutti was built without CUDA");
  return comm == nullptr ? tuttiInvalidArgument : tuttiCommCount(comm->comm, count);
}
tuttiResult_t tuttiDeviceCommUserRank(tuttiDeviceComm_t comm, int* rank) { return tuttiCommUserRank(comm->comm, rank); }
tuttiResult_t tuttiDeviceCommGetAsyncError(tuttiDeviceComm_t, tuttiResult_t* error) {
  *error = variable("FAKE_LATE_FAULT").empty() ? tuttiSuccess : refuse(tuttiInternalError, "the device has ended it");
  return tuttiSuccess;
}
tuttiResult_t tuttiDeviceMemAlloc(void** memory, std::size_t bytes, tuttiDeviceComm_t comm) {
  const tuttiResult_t result = tuttiMemAlloc(memory, bytes, comm->comm);
  if (result == tuttiSuccess) comm->symmetric[reinterpret_cast<std::uintptr_t>(*memory)] = bytes;
  return result;
}
tuttiResult_t tuttiDeviceMemFree(void* memory, tuttiDeviceComm_t comm) {
  comm->symmetric.erase(reinterpret_cast<std::uintptr_t>(memory));
  return tuttiMemFree(memory, comm->comm);
}
tuttiResult_t tuttiDeviceGetAlgorithm(const char* collective, const void* in, const void* out, std::size_t,
                                      tuttiDataType_t, tuttiRedOp_t, int, tuttiDeviceComm_t comm,
                                      const char** algorithm, const char** why) {
  static std::string name;
  static std::string reason;
  const bool symmetric = is_symmetric(in, comm) && is_symmetric(out, comm);
  name = wanted(*tutti::find_collective(collective), symmetric, reason);
  if (!symmetric && (name == "two_shot" || name == "push_pull"))
    return refuse(tuttiUnsupported, name + " wants symmetric memory");
  *algorithm = name.c_str();
  *why = reason.c_str();
  return tuttiSuccess;
}

tuttiResult_t tuttiDeviceAllReduce(const void* in, void* out, std::size_t count, tuttiDataType_t type, tuttiRedOp_t op,
                                   tuttiDeviceComm_t comm, tuttiDeviceStream_t stream) {
  return checked(in, out, comm, stream, [&] { return tuttiAllReduce(in, out, count, type, op, comm->comm); });
}
tuttiResult_t tuttiDeviceAllGather(const void* in, void* out, std::size_t count, tuttiDataType_t type,
                                   tuttiDeviceComm_t comm, tuttiDeviceStream_t stream) {
  return checked(in, out, comm, stream, [&] { return tuttiAllGather(in, out, count, type, comm->comm); });
}
tuttiResult_t tuttiDeviceReduceScatter(const void* in, void* out, std::size_t count, tuttiDataType_t type,
                                       tuttiRedOp_t op, tuttiDeviceComm_t comm, tuttiDeviceStream_t stream) {
  return checked(in, out, comm, stream, [&] { return tuttiReduceScatter(in, out, count, type, op, comm->comm); });
}
tuttiResult_t tuttiDeviceBroadcast(const void* in, void* out, std::size_t count, tuttiDataType_t type, int root,
                                   tuttiDeviceComm_t comm, tuttiDeviceStream_t stream) {
  return checked(in, out, comm, stream, [&] { return tuttiBroadcast(in, out, count, type, root, comm->comm); });
}
tuttiResult_t tuttiDeviceReduce(const void* in, void* out, std::size_t count, tuttiDataType_t type, tuttiRedOp_t op,
                                int root, tuttiDeviceComm_t comm, tuttiDeviceStream_t stream) {
  return checked(in, out, comm, stream, [&] { return tuttiReduce(in, out, count, type, op, root, comm->comm); });
}
tuttiResult_t tuttiDeviceAlltoAll(const void* in, void* out, std::size_t count, tuttiDataType_t type,
                                  tuttiDeviceComm_t comm, tuttiDeviceStream_t stream) {
  return checked(in, out, comm, stream, [&] { return tuttiAlltoAll(in, out, count, type, comm->comm); });
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
