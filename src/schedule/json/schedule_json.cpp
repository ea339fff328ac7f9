// SPDX-License-Identifier: Apache-2.0
#include "schedule/json/schedule_json.hpp"

#include <nlohmann/json.hpp>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Endpoint& end) {
  Json json;
  switch (end.place) {
    case Place::local: json["place"] = "local"; break;
    case Place::message: json["place"] = "message"; break;
    case Place::remote: json["place"] = "remote"; break;
    case Place::multicast: json["place"] = "multicast"; break;
  }
  const bool has_rank = end.place == Place::message || end.place == Place::remote;
  if (has_rank) json["rank"] = end.rank;
  if (end.place == Place::message && end.channel != 0) json["channel"] = end.channel;
  if (end.place == Place::remote || end.place == Place::multicast) json["post"] = end.post;
  json["space"] = name_of(end.slice.space);
  json["block"] = end.slice.block;
  json["first_piece"] = end.slice.first_piece;
  json["num_pieces"] = end.slice.num_pieces;
  if (end.slice.num_blocks > 1) {
    json["num_blocks"] = end.slice.num_blocks;
    json["run"] = end.slice.run;
    json["stride"] = end.slice.stride;
  }
  return json;
}

Json to_json(const Step& step) {
  Json json = {{"number", step.number}, {"kind", name_of(step)}};
  const bool posts = is_post(step);
  if (posts || step.kind == StepKind::wait) json["post"] = step.post;
  for (const Endpoint& end : step.sources) json["sources"].push_back(to_json(end));
  for (const Endpoint& end : step.destinations) json["destinations"].push_back(to_json(end));
  if (!step.peers.empty()) json["peers"] = step.peers;
  for (const After& after : step.after) json["after"].push_back({{"lane", after.lane}, {"step", after.step}});
  if (step.completes) json["completes"] = true;
  if (step.gives_up_source) json["gives_up_source"] = true;
  return json;
}

}  // namespace

std::string schedule_to_json(const Programs& programs, std::optional<std::uint32_t> only) {
  const Schedule& schedule = programs.schedule();
  Json json = {{"name", schedule.name},
               {"collective", name_of(schedule.collective)},
               {"num_ranks", schedule.num_ranks},
               {"root", schedule.root},
               {"order", name_of(schedule.order)},
               {"pieces", schedule.division(Space::input).pieces},
               {"scratch_blocks", schedule.division(Space::scratch).blocks},
               {"allows_in_place", schedule.allows_in_place},
               {"allows_out_of_place", schedule.allows_out_of_place},
               {"ranks", Json::array()}};
  for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank) {
    if (only && *only != rank) continue;
    Json lanes = Json::array();
    for (const std::vector<Step>& lane : programs.program(rank).lanes) {
      Json steps = Json::array();
      for (const Step& step : lane) steps.push_back(to_json(step));
      lanes.push_back(std::move(steps));
    }
    json["ranks"].push_back({{"rank", rank}, {"lanes", std::move(lanes)}});
  }
  return json.dump(2) + "\n";
}

}  // namespace tutti
