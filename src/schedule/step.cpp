// SPDX-License-Identifier: Apache-2.0
#include "schedule/step.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tutti {

namespace {

bool any_at(const std::vector<Endpoint>& ends, Place place) {
  return std::any_of(ends.begin(), ends.end(), [&](const Endpoint& end) { return end.place == place; });
}

std::string name_of_combine(const Step& step) {
  const bool received = any_at(step.sources, Place::message);
  const bool pulled = any_at(step.sources, Place::remote);
  const bool sent = any_at(step.destinations, Place::message);
  const bool pushed = any_at(step.destinations, Place::remote);
  const bool reduced = step.sources.size() > 1;
  const bool cast = any_at(step.destinations, Place::multicast);
  std::string name;
  const auto add = [&name](std::string_view word) {
    if (!name.empty()) name += '_';
    name += word;
  };
  if (received) add("recv");
  if (pulled) add("pull");
  if (any_at(step.sources, Place::multicast)) add("multicast_reduce");
  if (reduced) add("reduce");
  if (sent) add("send");
  if (pushed) add("push");
  if (cast) add("multicast");
  return name.empty() ? "copy" : name;
}

std::string to_string(const Endpoint& end) {
  switch (end.place) {
    case Place::local: return to_string(end.slice);
    case Place::message:
      if (end.channel == 0) return fmt::format("message({})", end.rank);
      return fmt::format("message({}, channel {})", end.rank, end.channel);
    case Place::remote: return fmt::format("rank {} {} (post {})", end.rank, to_string(end.slice), end.post);
    case Place::multicast: return fmt::format("all ranks' {} (post {})", to_string(end.slice), end.post);
  }
  return "?";
}

std::string join(const std::vector<Endpoint>& ends, std::string_view separator) {
  std::string text;
  for (const Endpoint& end : ends) {
    if (!text.empty()) text += separator;
    text += to_string(end);
  }
  return text;
}

}  // namespace

std::string name_of(const Step& step) {
  switch (step.kind) {
    case StepKind::combine: return name_of_combine(step);
    case StepKind::expose: return "expose";
    case StepKind::open: return "open";
    case StepKind::signal: return "signal";
    case StepKind::wait: return "wait";
    case StepKind::close: return "close";
  }
  return "unknown";
}

bool is_multicast(const Step& step) {
  return any_at(step.sources, Place::multicast) || any_at(step.destinations, Place::multicast);
}

bool is_direct(const Step& step) {
  return any_at(step.sources, Place::remote) || any_at(step.destinations, Place::remote) || is_multicast(step);
}

std::string to_string(const Slice& slice) {
  const std::string_view space = name_of(slice.space);
  std::string where = fmt::format("{}.{}", slice.block, slice.first_piece);
  if (slice.num_pieces != 1) where += fmt::format("-{}", slice.first_piece + slice.num_pieces - 1);
  if (slice.num_blocks == 1) return fmt::format("{}[{}]", space, where);
  if (slice.stride == 1) return fmt::format("{}[{} blocks from {}]", space, slice.num_blocks, where);
  return fmt::format("{}[{} blocks from {}, {} every {}]", space, slice.num_blocks, where, slice.run, slice.stride);
}

std::string on_channel(std::uint32_t channel) {
  return channel == 0 ? std::string() : fmt::format(" on channel {}", channel);
}

std::string to_string(const Step& step) {
  std::string name = name_of(step);
  switch (step.kind) {
    case StepKind::combine:
      return fmt::format("{} {} = {}", name, join(step.destinations, ", "), join(step.sources, " + "));
    case StepKind::expose:
    case StepKind::open: return fmt::format("{} {} as post {}", name, join(step.sources, ", "), step.post);
    case StepKind::signal: return fmt::format("signal as post {}", step.post);
    case StepKind::wait: {
      std::string peers;
      for (const std::uint32_t peer : step.peers) peers += fmt::format("{}{}", peers.empty() ? "" : ", ", peer);
      return fmt::format("wait for post {} of {}", step.post, peers);
    }
    case StepKind::close: return name;
  }
  return name;
}

}  // namespace tutti
