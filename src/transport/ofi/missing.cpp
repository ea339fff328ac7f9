// SPDX-License-Identifier: Apache-2.0
// Where Tutti is built without libfabric's headers.
#include "transport/ofi/endpoint.hpp"

namespace tutti::transport::ofi {

Result<std::unique_ptr<Door>> open_door(const DoorOptions& /*options*/) {
  return Status(Code::unsupported,
                "this build of Tutti has no transport over libfabric, since libfabric's headers were not there when it "
                "was built (on Debian: libfabric-dev)");
}

Result<std::unique_ptr<Endpoint>> make_ofi_endpoint(std::unique_ptr<Door> /*door*/, OfiOptions /*options*/) {
  return Status(Code::unsupported, "this build of Tutti has no transport over libfabric");
}

}  // namespace tutti::transport::ofi
