// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/plan.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "schedule/empty_messages.hpp"
#include "schedule/programs.hpp"
#include "transport/shm/line.hpp"

namespace tutti {

namespace {

Result<std::vector<Posted>> posts_of(const Program& program, std::uint32_t rank) {
  std::vector<Posted> posts;
  std::uint32_t lanes_that_post = 0;
  std::uint32_t exposes = 0;
  for (const std::vector<Step>& lane : program.lanes) {
    const std::size_t before = posts.size();
    for (const Step& step : lane) {
      if (!is_post(step)) continue;
      if (step.post != posts.size())
        return Status(Code::internal,
                      fmt::format("rank {}: {} stands where post {} is due", rank, to_string(step), posts.size()));
      const std::uint32_t expose = step.kind == StepKind::expose ? exposes++ : 0;
      posts.push_back({step.kind, step.sources.empty() ? Slice{} : step.sources[0].slice, expose, {}});
    }
    if (posts.size() != before) ++lanes_that_post;
  }
  if (lanes_that_post > 1)
    return Status(Code::internal,
                  fmt::format("rank {} posts in {} lanes; all posts of a rank belong into one", rank, lanes_that_post));
  return posts;
}

// Which pieces of a rank's exposures the others read: by post and piece.
using PiecesRead = std::set<std::pair<std::uint32_t, std::uint32_t>>;

void note_pieces_read(const Step& step, std::uint32_t rank, PiecesRead& read) {
  for (const Endpoint& end : step.sources)
    if (end.place == Place::remote && end.rank == rank)
      for (std::uint32_t piece = 0; piece < end.slice.num_pieces; ++piece)
        read.emplace(end.post, end.slice.first_piece + piece);
}

std::vector<Slice> runs_read(const Slice& exposed, std::uint32_t post, const PiecesRead& read) {
  std::vector<Slice> runs;
  for (std::uint32_t piece = exposed.first_piece; piece < exposed.first_piece + exposed.num_pieces; ++piece) {
    if (!read.contains({post, piece})) continue;
    if (runs.empty() || runs.back().first_piece + runs.back().num_pieces != piece) {
      Slice& run = runs.emplace_back(exposed);
      run.first_piece = piece;
      run.num_pieces = 0;
    }
    ++runs.back().num_pieces;
  }
  return runs;
}

bool uses_channels(const Step& step) {
  const auto has_channel = [](const Endpoint& end) { return end.channel != 0; };
  return std::any_of(step.sources.begin(), step.sources.end(), has_channel) ||
         std::any_of(step.destinations.begin(), step.destinations.end(), has_channel);
}

Status check_possible(const Schedule& schedule, const Step& step) {
  if (is_multicast(step))
    return {Code::unsupported, fmt::format("{} needs multicast, which shared memory has not", schedule.name)};
  if (uses_channels(step))
    return {Code::unsupported,
            fmt::format("{} needs several connections between two ranks, and the runtime has one: {}", schedule.name,
                        to_string(step))};
  return {};
}

// A rank that does a step relies on what others expose, or have posted.
bool crosses_hosts(const Step& step, std::uint32_t rank, const Hosts& hosts) {
  const auto is_far = [&](const Endpoint& end) {
    return end.place == Place::remote && !hosts.are_near(rank, end.rank);
  };
  return std::any_of(step.sources.begin(), step.sources.end(), is_far) ||
         std::any_of(step.destinations.begin(), step.destinations.end(), is_far) ||
         std::any_of(step.peers.begin(), step.peers.end(),
                     [&](std::uint32_t peer) { return !hosts.are_near(rank, peer); });
}

void look_at(const Step& step, Plan& plan) {
  if (step.kind == StepKind::open) plan.opens = true;
  if (step.kind == StepKind::expose) {
    plan.widest_expose = std::max(plan.widest_expose, step.sources[0].slice.size());
  }
  for (const auto* ends : {&step.sources, &step.destinations})
    for (const Endpoint& end : *ends)
      if (end.place == Place::message) {
        plan.has_messages = true;
        plan.widest_message = std::max(plan.widest_message, end.slice.size());
      }
}

// What follows from the posts of all ranks.
void note_posts(Plan& plan, const PiecesRead& read) {
  std::vector<Posted>& own = plan.posts[plan.rank];
  for (std::uint32_t post = 0; post < own.size(); ++post)
    if (own[post].kind == StepKind::expose) own[post].read = runs_read(own[post].slice, post, read);
  bool all_expose = true;
  for (std::vector<Posted>& posts : plan.posts) {
    posts.resize(plan.posts_per_round);
    const auto exposes =
        std::count_if(posts.begin(), posts.end(), [](const Posted& post) { return post.kind == StepKind::expose; });
    plan.exposes_per_round = std::max(plan.exposes_per_round, static_cast<std::uint32_t>(exposes));
    all_expose = all_expose && static_cast<std::size_t>(exposes) == posts.size();
  }
  plan.exposes_several = plan.posts_first && plan.posts_per_round > 1 && plan.widest_expose == 1 && all_expose;
}

void find_fold_order(Plan& plan) {
  if (plan.posts_per_round != 1 || !is_exchange(plan.schedule, plan.program)) return;
  for (const Endpoint& end : plan.program.lanes[1][0].sources)
    plan.fold_order.push_back(end.place == Place::local ? plan.rank : end.rank);
}

}  // namespace

Result<Plan> make_plan(Schedule schedule, std::uint32_t rank, const std::function<bool()>& is_interrupted,
                       const Hosts& hosts) {
  Plan plan;
  plan.rank = rank;
  plan.posts.resize(schedule.num_ranks);
  bool has_direct_steps = false;
  PiecesRead read;
  // All ranks' programs are looked at, because a reader must know what its peers expose, and all must agree on how
  // wide a round may be.
  for (std::uint32_t each = 0; each < schedule.num_ranks; ++each) {
    if (is_interrupted && is_interrupted()) return Status(Code::aborted, "interrupted");
    Program program = collect(schedule, each, Fusion::neighbours);
    TUTTI_TRY_ASSIGN(plan.posts[each], posts_of(program, each));
    plan.posts_per_round = std::max(plan.posts_per_round, static_cast<std::uint32_t>(plan.posts[each].size()));
    plan.posts_first = plan.posts_first && posts_first(program);
    for (const std::vector<Step>& lane : program.lanes) {
      for (const Step& step : lane) {
        TUTTI_TRY(check_possible(schedule, step));
        look_at(step, plan);
        plan.crosses_hosts = plan.crosses_hosts || crosses_hosts(step, each, hosts);
        has_direct_steps = has_direct_steps || is_direct(step);
        note_pieces_read(step, rank, read);
      }
    }
    if (each == rank) plan.program = std::move(program);
  }
  plan.orders = sends_empty_messages(schedule, [&] { return has_direct_steps; });
  note_posts(plan, read);
  if (plan.opens && plan.posts_per_round > shm::kMaxPlaces)
    return Status(Code::unsupported, fmt::format("{} posts {} times a round; by name at most {} are possible",
                                                 schedule.name, plan.posts_per_round, shm::kMaxPlaces));
  for (const std::vector<Step>& lane : plan.program.lanes) {
    const auto last = std::find_if(lane.rbegin(), lane.rend(), is_direct);
    plan.last_remote.push_back(static_cast<std::int32_t>(lane.rend() - last) - 1);
  }
  plan.schedule = std::move(schedule);
  find_fold_order(plan);
  return plan;
}

}  // namespace tutti
