// SPDX-License-Identifier: Apache-2.0
#include "runtime/selection/algorithm_file.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/digest.hpp"
#include "base/system/file.hpp"
#include "base/text.hpp"
#include "base/variables/variables_table.hpp"
#include "schedule/text/text_form.hpp"

namespace tutti {

namespace {

// What keeps a right schedule from running on this transport; empty if nothing does.
std::string objection(const Plan& plan, const Proof& proof, const shm::RegionShape& shape) {
  const auto posts_scratch = [](const Posted& post) {
    return post.kind != StepKind::signal && post.slice.space == Space::scratch;
  };
  if (proof.least_depth_fused > shape.message_depth)
    return fmt::format(
        "it needs {} messages in flight on a connection, and there are {}; set TUTTI_STAGING_DEPTH higher",
        proof.least_depth_fused, shape.message_depth);
  if (!plan.opens && std::max(proof.least_slots, plan.exposes_per_round) > shape.num_slots())
    return fmt::format("it needs {} staging slots, and there are {}; set TUTTI_STAGING_DEPTH higher",
                       std::max(proof.least_slots, plan.exposes_per_round), shape.num_slots());
  constexpr std::uint64_t kLargestElement = 8;
  if (plan.has_messages && plan.widest_message * kLargestElement > shape.message_slot)
    return fmt::format(
        "it has messages of {} pieces, and a slot of {} bytes has no room for an element of each; set "
        "TUTTI_STAGING_SLOT higher",
        plan.widest_message, shape.message_slot);
  if (!plan.opens && plan.widest_expose * kLargestElement > shape.staging_slot)
    return fmt::format(
        "it exposes {} pieces at once, and a slot of {} bytes has no room for an element of each; set "
        "TUTTI_STAGING_SLOT higher",
        plan.widest_expose, shape.staging_slot);
  if (!plan.opens) return "";
  if (facts_of(plan.schedule.collective).has_root)
    return "it opens memory, and with a root some ranks lack a buffer by which they could tell where in symmetric "
           "memory the others' is; in ordinary memory only algorithms that come with Tutti do that";
  for (const std::vector<Posted>& posts : plan.posts)
    if (std::any_of(posts.begin(), posts.end(), posts_scratch))
      return "it opens some memory, so all that it posts is reached by name, and scratch has no name for other ranks";
  return "";
}

// Whether calls of that kind are right. What opens memory runs by name, so what it exposes must be safe by name.
bool allows(const Plan& plan, bool allowed, const ExposureProof& proof) {
  return allowed && (!plan.opens || proof.exposure != Exposure::copy_only);
}

}  // namespace

std::optional<AlgorithmFile> AlgorithmFile::of(std::string_view variable, std::string_view value) {
  if (!value.starts_with(variable_choices::kFilePrefix)) return std::nullopt;
  AlgorithmFile file;
  file.variable = variable;
  file.path = value.substr(variable_choices::kFilePrefix.size());
  Result<std::string> text = read_file(file.path, schedule_text::kMostBytes);
  if (text.ok()) {
    file.text = std::move(*text);
  } else {
    file.unread = text.status().with_context(file.variable);
  }
  return file;
}

std::string AlgorithmFile::agreement() const {
  // One line, whatever the path holds.
  const std::string value = printable(fmt::format("{}{}", variable_choices::kFilePrefix, path));
  if (!unread.ok()) return value + " (unreadable)";
  return fmt::format("{} ({}, digest {:016x})", value, counted(text.size(), "byte"), digest(text));
}

Result<OwnAlgorithm> own_algorithm(const AlgorithmFile& file, Collective collective, const shm::RegionShape& shape) {
  const auto refuse = [&](Code code, std::string_view why) {
    return Status(code, fmt::format("{}: {}: {}", file.variable, printable(file.path), why));
  };
  if (trim(std::string_view(file.text).substr(0, 4096)).starts_with('<'))
    return refuse(
        Code::unsupported,
        "this is XML; 'tutti schedule --file PROGRAM.xml -o PROGRAM.sched' writes it in the form that is read "
        "here");
  Result<Schedule> schedule = read_schedule(file.text, file.path);
  if (!schedule.ok()) return schedule.status().with_context(file.variable);
  if (schedule->collective != collective)
    return refuse(Code::invalid_argument,
                  fmt::format("the schedule is one of {}, not {}", name_of(schedule->collective), name_of(collective)));
  if (schedule->num_ranks != shape.num_ranks)
    return refuse(Code::invalid_argument, fmt::format("the schedule is for {}, and the communicator has {}",
                                                      counted(schedule->num_ranks, "rank"), shape.num_ranks));
  const Proof proof = prove(*schedule);
  if (!proof.ok()) return refuse(Code::invalid_argument, "the schedule is wrong: " + proof.failure->to_string());
  const Result<Plan> plan = make_plan(*schedule, 0);
  if (!plan.ok()) return refuse(plan.status().code(), plan.status().message());
  if (const std::string against = objection(*plan, proof, shape); !against.empty())
    return refuse(Code::unsupported, against);
  Demands demands{
      .opens = plan->opens,
      .keeps_rank_order = proof.order <= OrderClass::rank_order,
      .allows_in_place = allows(*plan, schedule->allows_in_place, proof.in_place),
      .allows_out_of_place = allows(*plan, schedule->allows_out_of_place, proof.out_of_place),
      .root = facts_of(collective).has_root ? std::optional(schedule->root) : std::nullopt,
  };
  return OwnAlgorithm{std::move(*schedule), demands};
}

}  // namespace tutti
