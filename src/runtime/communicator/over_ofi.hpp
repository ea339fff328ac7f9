// SPDX-License-Identifier: Apache-2.0
// The endpoint over libfabric of a communicator on several hosts (TUTTI_TRANSPORT=ofi): its door is opened before the
// ranks meet, so that its name travels with the rank's addresses. Not thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/log.hpp"
#include "base/status.hpp"
#include "base/unique_id.hpp"
#include "runtime/bootstrap/bootstrap.hpp"
#include "runtime/communicator/settings.hpp"
#include "transport/ofi/endpoint.hpp"

namespace tutti {

// Of the endpoint between hosts of a communicator with that region.
[[nodiscard]] transport::EndpointShape shape_between_hosts(const shm::RegionShape& region);

// For JoinRequest::open_transport: opens the door into `door`. All are borrowed.
[[nodiscard]] std::function<Result<std::string>(const Address& own)> door_opener(
    const Settings& settings, int num_ranks, std::unique_ptr<transport::ofi::Door>& door);

// An error where ranks have opened doors of different providers.
[[nodiscard]] Result<std::unique_ptr<transport::Endpoint>> make_endpoint_over_ofi(
    std::unique_ptr<transport::ofi::Door> door, Membership& membership, const Token& token,
    const transport::EndpointShape& shape, std::chrono::nanoseconds restore_within, Log& log);

}  // namespace tutti
