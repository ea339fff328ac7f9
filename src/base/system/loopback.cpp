// SPDX-License-Identifier: Apache-2.0
#include "base/system/loopback.hpp"

#include <ifaddrs.h>
#include <net/if.h>

namespace tutti {

bool is_loopback_up() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return true;
  bool is_up = false;
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next)
    is_up = is_up || ((each->ifa_flags & IFF_LOOPBACK) != 0 && (each->ifa_flags & IFF_UP) != 0);
  ::freeifaddrs(first);
  return is_up;
}

}  // namespace tutti
