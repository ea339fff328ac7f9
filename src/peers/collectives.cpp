// SPDX-License-Identifier: Apache-2.0
#include "peers/collectives.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"
#include "data/message_size.hpp"
#include "data/no_element.hpp"
#include "peers/known_data.hpp"
#include "peers/registry.hpp"

namespace tutti::peers {

namespace {

bool scans(Collective collective) { return collective == Collective::scan || collective == Collective::exclusive_scan; }

// --- checks: the values that an axis accepts, whatever those of the others

constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;

std::string check_number(AxisValue& value, std::int64_t least, std::int64_t most, const char* wanted) {
  // "1e6" is a fraction to the reader of values.
  if (const auto* number = std::get_if<double>(&value); number != nullptr && *number == std::floor(*number))
    if (std::fabs(*number) <= static_cast<double>(kMostBytes)) value = static_cast<std::int64_t>(*number);
  const auto* whole = std::get_if<std::int64_t>(&value);
  return whole != nullptr && *whole >= least && *whole <= most ? "" : fmt::format("it takes {}", wanted);
}

std::string check_bytes(AxisValue& value) {
  return check_number(value, 0, kMostBytes, "sizes from 0 to 1T, such as 64 or 4M");
}
std::string check_root(AxisValue& value) { return check_number(value, 0, INT32_MAX, "ranks, from 0 on"); }
std::string check_in_place(AxisValue& value) {
  return check_number(value, 0, 1, "0 (two buffers) and 1 (the input is the output's place)");
}

std::string check_type(AxisValue& value) {
  const auto* word = std::get_if<std::string>(&value);
  const std::optional<Type> type = word == nullptr ? std::nullopt : type_from_name(*word);
  if (!type) return fmt::format("there are: {}; 'tutti list types' has their other names", all_type_names());
  value = std::string(name_of(*type));
  return "";
}

std::string check_op(AxisValue& value) {
  const auto* word = std::get_if<std::string>(&value);
  const std::optional<Op> op = word == nullptr ? std::nullopt : op_from_name(*word);
  if (!op) return fmt::format("there are: {}; 'tutti list operators' has their other names", all_op_names());
  if (*op == Op::premultiplied_sum || *op == Op::user) return "it needs more than a name, so no bench measures it";
  value = std::string(name_of(*op));
  return "";
}

// --- rules: why a combination makes no sense for any peer

struct Asked {
  std::optional<Type> type;
  std::optional<Op> op;
  std::optional<std::int64_t> bytes;
  std::optional<std::int64_t> root;
};

Asked asked_in(const Bench::Values& values) {
  Asked asked;
  for (const auto& [name, value] : values) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      if (name == "bytes") asked.bytes = *number;
      if (name == "root") asked.root = *number;
    } else if (const auto* word = std::get_if<std::string>(&value)) {
      if (name == "type") asked.type = type_from_name(*word);
      if (name == "op") asked.op = op_from_name(*word);
    }
  }
  return asked;
}

std::string why_not(Collective collective, const Asked& asked, int num_ranks) {
  if (asked.root && (*asked.root < 0 || *asked.root >= num_ranks))
    return fmt::format("there is no rank {} among {}", *asked.root, num_ranks);
  if (!asked.type) return "";
  if (asked.op && !is_defined(*asked.op, *asked.type))
    return fmt::format("{} means nothing on {}", name_of(*asked.op), name_of(*asked.type));
  if (asked.op == Op::average && scans(collective)) return "there is no average of some of the ranks";
  if (asked.bytes && *asked.bytes >= 0 &&
      elements_of_block(collective, static_cast<std::uint32_t>(num_ranks), static_cast<std::uint64_t>(*asked.bytes),
                        size_of(*asked.type)) == 0)
    return holds_no_element(static_cast<std::uint64_t>(*asked.bytes), *asked.type,
                            num_blocks(collective, static_cast<std::uint32_t>(num_ranks)));
  return "";
}

// --- the body

template <typename T>
T known(const State& state, const std::optional<T>& value, std::string_view axis) {
  if (!value) state.fail(fmt::format("axis {} is {}, which is none", axis, in_quotes(state.word(axis))));
  return *value;
}

std::int64_t within(const State& state, std::string_view axis, std::int64_t least, std::int64_t most) {
  const std::int64_t value = state.integer(axis);
  if (value < least || value > most)
    state.fail(fmt::format("axis {} is {}; it goes from {} to {}", axis, value, least, most));
  return value;
}

Request request_in(const State& state, Collective collective, int num_ranks) {
  Request request;
  request.collective = collective;
  if (collective == Collective::barrier) return request;
  request.type = known(state, type_from_name(state.word("type")), "type");
  if (facts_of(collective).folds) request.op = known(state, op_from_name(state.word("op")), "op");
  if (facts_of(collective).has_root) request.root = static_cast<int>(within(state, "root", 0, num_ranks - 1));
  request.in_place = within(state, "in_place", 0, 1) != 0;
  const auto bytes = static_cast<std::uint64_t>(within(state, "bytes", 0, kMostBytes));
  request.count = elements_of_block(collective, static_cast<std::uint32_t>(num_ranks), bytes, size_of(request.type));
  return request;
}

void tell_sizes(State& state, const Request& request, int num_ranks) {
  if (request.collective == Collective::barrier) return;
  const std::size_t blocks = num_blocks(request.collective, static_cast<std::uint32_t>(num_ranks));
  const auto bytes = static_cast<double>(request.count * blocks * size_of(request.type));
  state.set_message(bytes, harness::traffic_of(request.collective));
  state.counter("count", static_cast<double>(request.count));
}

// What a variable of another collective holds says nothing of this one.
harness::Evidence evidence_of(const Peer& peer, const harness::Setting& setting, Collective collective) {
  const std::vector<Collective> concerned = collectives_of(setting.name);
  if (concerned.empty() || std::find(concerned.begin(), concerned.end(), collective) != concerned.end())
    return peer.evidence(setting);
  std::string names;
  for (const Collective each : concerned) names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(each));
  return unverifiable(fmt::format("it concerns {}, not {}", names, name_of(collective)));
}

void measure(Peer& peer, Collective collective, State& state, Context& context) {
  Request request = request_in(state, collective, context.num_ranks());
  // Peers differ on what they make of nothing.
  if (request.count == 0 && collective != Collective::barrier) return state.skip("bytes hold no element");
  Result<KnownData> data = KnownData::make(request, context.rank(), context.num_ranks());
  if (!data.ok()) state.fail(data.status().to_string());
  const Result<Operation> operation = peer.prepare(request);
  if (!operation.ok()) {
    const Status status = operation.status();
    if (status.code() != Code::unsupported) state.fail(status.to_string());
    return state.skip(status.message());
  }
  tell_sizes(state, request, context.num_ranks());
  const auto load = [&] {
    data->reset();
    if (operation->load) operation->load();
  };
  load();
  // A barrier has no result that could be looked at.
  if (peer.gives_results() && operation->is_exact && collective != Collective::barrier)
    state.set_check(load, [&] {
      if (operation->store) operation->store();
      return data->verdict(operation->output);
    });
  state.exec(operation->run);
  if (operation->other_microseconds) state.counter(operation->other_counter, operation->other_microseconds());
  const std::string ran = peer.ran(request);
  if (!ran.empty()) state.set_ran(ran);
  for (const harness::Setting& setting : peer.settings()) {
    const harness::Evidence evidence = evidence_of(peer, setting, collective);
    state.set_evidence(setting.name, evidence.obeyed, evidence.how);
  }
}

Bench declared(Collective collective, Peer* peer) {
  Bench bench{std::string(name_of(collective))};
  bench.num_ranks({2});
  if (collective != Collective::barrier) {
    bench.axis("bytes", "8:16M:x8").axis("type", {"f32"});
    if (facts_of(collective).folds) bench.axis("op", {"sum"});
    if (facts_of(collective).has_root) bench.axis("root", {0});
    // A broadcast has one buffer nearly everywhere.
    bench.axis("in_place", {collective == Collective::broadcast ? 1 : 0});
    bench.check("bytes", check_bytes).check("type", check_type).check("op", check_op);
    bench.check("root", check_root).check("in_place", check_in_place);
    bench.skip_if([collective](const Bench::Values& values, int num_ranks) {
      return why_not(collective, asked_in(values), num_ranks);
    });
  }
  bench.run([collective, peer](State& state, Context& context) {
    if (peer != nullptr) measure(*peer, collective, state, context);
  });
  return bench;
}

}  // namespace

std::vector<Bench> collective_benches(Peer* peer) {
  std::vector<Bench> benches;
  benches.reserve(kNumRegular);
  for (int each = 0; each < kNumRegular; ++each) benches.push_back(declared(static_cast<Collective>(each), peer));
  return benches;
}

}  // namespace tutti::peers
