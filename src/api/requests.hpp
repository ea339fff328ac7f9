// SPDX-License-Identifier: Apache-2.0
// How the C API makes requests of what its collectives and transfers ask for.
#pragma once

#include <cstdint>

#include "runtime/communicator/invocation.hpp"
#include "runtime/progress/pairs.hpp"
#include <tutti/tutti.h>

namespace tutti::api {

enum class Life : std::uint8_t { once, persistent };

// Begun, where it lives once.
tuttiResult_t make_request(Life life, Invocation asked, tuttiDataType_t datatype, tuttiComm_t comm,
                           tuttiRequest_t* request, const void* site) noexcept;

tuttiResult_t make_request(Life life, const Transfer& transfer, tuttiDataType_t datatype, tuttiComm_t comm,
                           tuttiRequest_t* request) noexcept;

}  // namespace tutti::api
