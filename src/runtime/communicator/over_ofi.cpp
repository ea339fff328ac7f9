// SPDX-License-Identifier: Apache-2.0
#include "runtime/communicator/over_ofi.hpp"

#include <algorithm>
#include <utility>

namespace tutti {

transport::EndpointShape shape_between_hosts(const shm::RegionShape& region) {
  // At least so many messages are on their way to another host before the first has been taken there.
  constexpr std::uint32_t kLeastDepth = 8;
  return {.depth = std::max(kLeastDepth, region.message_depth), .slot = region.message_slot};
}

std::function<Result<std::string>(const Address& own)> door_opener(const Settings& settings, int num_ranks,
                                                                   std::unique_ptr<transport::ofi::Door>& door) {
  return [&settings, num_ranks, &door](const Address& own) -> Result<std::string> {
    const auto count = static_cast<std::uint32_t>(num_ranks);
    Result<std::unique_ptr<transport::ofi::Door>> opened =
        transport::ofi::open_door({.provider = settings.transport.provider,
                                   .address = own,
                                   .num_ranks = count,
                                   .shape = shape_between_hosts(settings.region_for(count))});
    if (!opened.ok()) return opened.status().with_context("TUTTI_TRANSPORT=ofi");
    door = std::move(*opened);
    return door->name();
  };
}

Result<std::unique_ptr<transport::Endpoint>> make_endpoint_over_ofi(std::unique_ptr<transport::ofi::Door> door,
                                                                    Membership& membership, const Token& token,
                                                                    const transport::EndpointShape& shape,
                                                                    std::chrono::nanoseconds restore_within, Log& log) {
  TUTTI_TRY(transport::ofi::check_names(membership.endpoint_names));
  log.info(LogSubsystem::net, "messages between hosts go over libfabric's provider {}",
           transport::ofi::provider_of(door->name()));
  transport::ofi::OfiOptions options;
  options.rank = static_cast<std::uint32_t>(membership.links.rank);
  options.num_ranks = static_cast<std::uint32_t>(membership.links.num_ranks);
  options.shape = shape;
  options.token = token;
  options.communicator = membership.generation;
  options.names = std::move(membership.endpoint_names);
  options.restore_within = restore_within;
  options.warn = [&log](std::string_view text) { log.warn(LogSubsystem::net, "{}", text); };
  return transport::ofi::make_ofi_endpoint(std::move(door), std::move(options));
}

}  // namespace tutti
