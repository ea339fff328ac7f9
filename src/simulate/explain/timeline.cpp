// SPDX-License-Identifier: Apache-2.0
#include "simulate/explain/timeline.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace tutti::simulate {

namespace {

constexpr double kMicro = 1000;
// The thread of the messages, behind all lanes.
constexpr std::uint32_t kMessages = 1'000'000;

}  // namespace

void Timeline::step(std::uint32_t rank, std::uint32_t lane, std::uint64_t round, const Step& step, double begin,
                    double end) {
  num_ranks_ = std::max(num_ranks_, rank + 1);
  num_lanes_ = std::max(num_lanes_, lane + 1);
  fmt::format_to(std::back_inserter(events_),
                 ",\n{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{:.6f},\"dur\":{:.6f},\"name\":\"{}\","
                 "\"args\":{{\"step\":\"{}\",\"round\":{}}}}}",
                 rank, lane, begin / kMicro, (end - begin) / kMicro, words_ ? words_(rank, lane, step) : name_of(step),
                 words_ ? words_(rank, lane, step) : to_string(step), round);
}

void Timeline::message(std::uint32_t from, std::uint32_t to, double bytes, double begin, double end) {
  num_ranks_ = std::max({num_ranks_, from + 1, to + 1});
  fmt::format_to(std::back_inserter(events_),
                 ",\n{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{:.6f},\"dur\":{:.6f},\"name\":\"from rank {}\","
                 "\"args\":{{\"bytes\":{:.0f}}}}}",
                 to, kMessages, begin / kMicro, (end - begin) / kMicro, from, bytes);
}

std::string Timeline::to_json() const {
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"tutti\",\"pid\":0}";
  for (std::uint32_t rank = 0; rank < num_ranks_; ++rank) {
    const auto name = [&](std::string_view what, std::uint32_t thread, std::string_view value) {
      fmt::format_to(std::back_inserter(text),
                     ",\n{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":\"{}\"}}}}", what,
                     rank, thread, value);
    };
    name("process_name", 0, fmt::format("rank {}", rank));
    for (std::uint32_t lane = 0; lane < num_lanes_; ++lane) name("thread_name", lane, fmt::format("lane {}", lane));
    name("thread_name", kMessages, "messages that come");
  }
  return text + events_ + "\n]}\n";
}

}  // namespace tutti::simulate
