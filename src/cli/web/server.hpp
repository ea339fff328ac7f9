// SPDX-License-Identifier: Apache-2.0
// The network side of `tutti web`: connections, requests as cpp-httplib reads them, and streams of events. A build
// without that library has none.
//
// What others may do to it is bounded: the size of a request and the time that it takes to come, the time that a reply
// takes to be fetched, the number of connections that are served at a time, and the number of streams among them.
// Whoever is too slow or too long is hung up on.
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

// Answers whoever connects until `is_over` says so, which is asked several times a second. The calling thread accepts;
// threads of its own answer.
[[nodiscard]] Status serve(const Listener& listener, const WebSite& site, const StoreWatch& watch,
                           const std::function<bool()>& is_over);

}  // namespace tutti::cli
