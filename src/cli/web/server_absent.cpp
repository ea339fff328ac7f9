// SPDX-License-Identifier: Apache-2.0
// In the place of server.cpp in a build without cpp-httplib.
#include <string>

#include "cli/web/server.hpp"

namespace tutti::cli {

bool has_web_server() { return false; }

Status serve(const Listener& /*listener*/, const WebSite& /*site*/, const StoreWatch& /*watch*/,
             const std::function<bool()>& /*is_over*/) {
  return {Code::unsupported, std::string(kServerIsMissing)};
}

}  // namespace tutti::cli
