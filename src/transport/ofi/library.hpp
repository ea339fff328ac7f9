// SPDX-License-Identifier: Apache-2.0
// The functions that libfabric exports and the transport calls; all others are reached through the objects that these
// make. The library is opened at first use and stays open. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include <rdma/fabric.h>

#include "base/status.hpp"

namespace tutti::transport::ofi {

struct Library {
  // An error (Code::unsupported) says what is missing.
  [[nodiscard]] static Result<Library> open();

  // "Connection refused" of FI_ECONNREFUSED, positive or negative.
  [[nodiscard]] std::string words_of(std::int64_t error) const;

  int (*get_info)(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
                  const fi_info* hints, fi_info** info) = nullptr;
  void (*free_info)(fi_info* info) = nullptr;
  fi_info* (*dup_info)(const fi_info* info) = nullptr;
  int (*fabric)(fi_fabric_attr* attributes, fid_fabric** fabric, void* context) = nullptr;
  const char* (*strerror)(int error) = nullptr;
};

}  // namespace tutti::transport::ofi
