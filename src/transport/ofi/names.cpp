// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/text.hpp"
#include "transport/ofi/endpoint.hpp"

namespace tutti::transport::ofi {

// A name is the provider, a line's end, and the address.
std::string provider_of(std::string_view name) { return printable(name.substr(0, name.find('\n'))); }

Status check_names(const std::vector<std::string>& names) {
  for (std::size_t rank = 0; rank < names.size(); ++rank) {
    if (names[rank].find('\n') == std::string::npos)
      return {Code::internal, fmt::format("rank {} gave no address of libfabric", rank), static_cast<int>(rank)};
    if (provider_of(names[rank]) != provider_of(names[0]))
      return {
          Code::invalid_usage,
          fmt::format("rank {} uses libfabric's provider {} and rank 0 uses {}; TUTTI_OFI_PROVIDER names one for all",
                      rank, provider_of(names[rank]), provider_of(names[0])),
          static_cast<int>(rank)};
  }
  return {};
}

}  // namespace tutti::transport::ofi
