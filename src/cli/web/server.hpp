// SPDX-License-Identifier: Apache-2.0
// The network side of `tutti web`: connections, requests as cpp-httplib reads them, and streams of events. A build
// without that library has none.
//
// Limits hold for the size of a request, the time in which it must arrive, the time in which a reply must be fetched,
// the number of connections that are served at a time, and the number of event streams among them. A connection that
// exceeds a limit is closed.
#pragma once

#include <functional>
#include <string_view>

#include "base/status.hpp"
#include "base/system/socket.hpp"
#include "cli/web/site.hpp"
#include "cli/web/store_watch.hpp"

namespace tutti::cli {

[[nodiscard]] bool has_web_server();
inline constexpr std::string_view kServerIsMissing =
    "built without cpp-httplib 0.11 (Debian: libcpp-httplib-dev); 'tutti report' writes the same pages as files";

// Serves until `is_over` returns true, which is asked several times a second. The calling thread accepts connections;
// other threads answer.
[[nodiscard]] Status serve(const Listener& listener, const WebSite& site, const StoreWatch& watch,
                           const std::function<bool()>& is_over);

}  // namespace tutti::cli
