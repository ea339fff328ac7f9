// SPDX-License-Identifier: Apache-2.0
#include "bench/process/session.hpp"

#include <algorithm>
#include <ctime>

#include <fmt/format.h>

#include "base/text.hpp"
#include "bench/axes/declaration.hpp"
#include "bench/measure/clock.hpp"
#include "bench/measure/statistics.hpp"

namespace tutti {

namespace harness {

namespace {

constexpr std::string_view kBeingEnded = "the group is being ended";

// What the process has used of processors.
std::int64_t processor_time() {
  std::timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

Point point_of(const Json& order) {
  Point point;
  for (const Json& pair : order.at("point")) {
    const Json& value = pair.at(1);
    Value held = value.is_number_integer() ? Value(value.get<std::int64_t>())
                 : value.is_number()       ? Value(value.get<double>())
                                           : Value(value.get<std::string>());
    point.values.emplace_back(pair.at(0).get<std::string>(), std::move(held));
  }
  return point;
}

}  // namespace

const Value& Session::value(std::string_view axis) const {
  if (const Value* found = point_.find(axis)) return *found;
  throw CaseEnded{fmt::format("there is no axis {}; there are: {}", in_quotes(axis), to_string(point_))};
}

void Session::answer(Json message) {
  message["processor_time"] = processor_time();
  const Status sent = connection_.send(message);
  if (!sent.ok()) throw CaseEnded{std::string(sent.message())};
}

Json Session::await_order() {
  Result<Json> order = connection_.await();
  if (!order.ok()) throw CaseEnded{std::string(order.status().message())};
  return std::move(*order);
}

// Whatever user's code throws, in words; empty where it throws nothing.
template <typename Code>
std::string failure_of(const char* what, Code code) {
  try {
    code();
    return "";
  } catch (const CaseEnded& ended) {
    return ended.why;
  } catch (const std::exception& thrown) {
    return fmt::format("{} threw: {}", what, thrown.what());
  }
}

std::string Session::set_up(const Declaration& declaration) {
  Context context(*this, backend_.rank(), backend_.num_ranks());
  if (!declaration.set_up) return "";
  return failure_of("setting up", [&] { declaration.set_up(context); });
}

void Session::tear_down(const Declaration& declaration) {
  Context context(*this, backend_.rank(), backend_.num_ranks());
  // The runner has heard all that it wanted to hear.
  if (declaration.tear_down) static_cast<void>(failure_of("tearing down", [&] { declaration.tear_down(context); }));
}

std::string Session::run_body(const Declaration& declaration, const Json& order,
                              std::vector<const Declaration*>& used) {
  if (std::find(used.begin(), used.end(), &declaration) == used.end()) {
    if (std::string failure = set_up(declaration); !failure.empty()) return failure;
    used.push_back(&declaration);
  }
  return failure_of("the body", [&] {
    point_ = point_of(order);
    State state(*this);
    Context context(*this, backend_.rank(), backend_.num_ranks());
    declaration.body(state, context);
    if (!has_run_ && skipped.empty()) throw CaseEnded{"the body came back without calling exec"};
  });
}

Status Session::run_case(const Json& order, const std::vector<Bench>& benches, std::vector<const Declaration*>& used) {
  const std::string name = order.value("bench", "");
  const Declaration* declaration = find(benches, name);
  const std::string failure = declaration != nullptr && declaration->body
                                  ? run_body(*declaration, order, used)
                                  : fmt::format("this worker has no bench {}", in_quotes(name));
  try {
    if (!failure.empty()) {
      answer({{"failed", failure}});
    } else if (!has_run_) {
      answer({{"skipped", skipped}});
    } else {
      said["ended"] = true;
      answer(said);
    }
  } catch (const CaseEnded& ended) {
    return {Code::system, ended.why};
  }
  return {};
}

void Session::barrier() {
  if (backend_.has_barrier()) {
    backend_.barrier();
  } else {
    meet();
  }
}

void Session::meet() {
  if (!place_.meet()) throw CaseEnded{std::string(kBeingEnded)};
}

std::string Session::broadcast(std::string_view bytes, int root) {
  if (root < 0 || root >= backend_.num_ranks())
    throw CaseEnded{fmt::format("a broadcast from rank {}, where there are {}", root, backend_.num_ranks())};
  std::optional<std::string> all = place_.broadcast(bytes, root);
  if (!all) throw CaseEnded{std::string(kBeingEnded)};
  return std::move(*all);
}

void Session::exec(const std::function<void()>& call) {
  if (has_run_) throw CaseEnded{"the body called exec twice"};
  has_run_ = true;
  answer({{"prepared", true}});
  while (true) {
    const Json order = await_order();
    const std::string what = order.value("order", "");
    if (what == "run") {
      answer(samples(order, call));
    } else if (what == "check") {
      answer(checked(call));
    } else if (what == "end") {
      return;
    } else {
      throw CaseEnded{fmt::format("an order of {}, where run, check or end was due", in_quotes(what))};
    }
  }
}

Json Session::samples(const Json& order, const std::function<void()>& call) {
  const std::int64_t begun = processor_time();
  const auto iterations = order.at("iterations").get<std::size_t>();
  const auto margin = order.at("margin").get<std::int64_t>();
  const std::string sync = order.at("sync");
  std::vector<std::int64_t> starts(iterations);
  std::vector<std::int64_t> ends(iterations);
  std::vector<std::size_t> late;
  // Of a group that others have run in between; all ranks have as many.
  for (auto untimed = order.at("untimed").get<std::size_t>(); untimed > 0; --untimed) call();
  const bool is_by_clock = sync == "round";
  if (is_by_clock && !place_.begin_round()) throw CaseEnded{std::string(kBeingEnded)};
  for (std::size_t each = 0; each < iterations; ++each) {
    if (is_by_clock) {
      const MeetingPlace::Start start = place_.start_together(margin);
      if (start.is_over) throw CaseEnded{std::string(kBeingEnded)};
      starts[each] = start.time;
      if (start.is_late) late.push_back(each);
    } else {
      if (sync == "barrier") {
        barrier();
      } else {
        meet();
      }
      starts[each] = now();
    }
    call();
    ends[each] = now();
  }
  if (is_by_clock && place_.spans_hosts()) {
    if (!place_.end_round(starts, ends)) throw CaseEnded{std::string(kBeingEnded)};
    constexpr double kNanosAMicrosecond = 1000;
    clock_errors_.push_back(static_cast<double>(place_.clock_error()) / kNanosAMicrosecond);
    said["counters"][std::string(kClockError)] = median_of(clock_errors_);
  }
  return {{"samples", {{"starts", starts}, {"ends", ends}, {"late", late}}}, {"processor_time_before", begun}};
}

Json Session::checked(const std::function<void()>& call) {
  if (!after_check) return {{"checked", nullptr}};
  if (before_check) before_check();
  barrier();
  call();
  // Nobody's buffers change before all have looked.
  const std::string wrong = after_check();
  barrier();
  return {{"checked", wrong}};
}

}  // namespace harness

std::int64_t State::integer(std::string_view axis) const {
  const harness::Value& value = session_.value(axis);
  if (!value.is_integer())
    throw harness::CaseEnded{fmt::format("axis {} is {}, where a whole number is due", axis, in_quotes(value.text()))};
  return value.integer();
}

double State::number(std::string_view axis) const {
  const harness::Value& value = session_.value(axis);
  if (!value.is_number())
    throw harness::CaseEnded{fmt::format("axis {} is {}, where a number is due", axis, in_quotes(value.text()))};
  return value.number();
}

std::string State::word(std::string_view axis) const {
  const harness::Value& value = session_.value(axis);
  return value.is_word() ? value.word() : value.text();
}
bool State::has(std::string_view axis) const { return session_.has(axis); }

void State::set_bytes(double bytes) { session_.said["bytes"] = bytes; }
void State::set_message(double bytes, Traffic traffic) {
  session_.said["message"] = {{"bytes", bytes}, {"traffic", static_cast<int>(traffic)}};
}
void State::set_items(double items) { session_.said["items"] = items; }
void State::set_flops(double flops) { session_.said["flops"] = flops; }
void State::counter(std::string_view name, double value) { session_.said["counters"][std::string(name)] = value; }
void State::set_ran(std::string_view what) { session_.said["ran"] = std::string(what); }
void State::set_evidence(std::string_view variable, Obeyed obeyed, std::string_view how) {
  session_.said["evidence"][std::string(variable)] = {{"obeyed", static_cast<int>(obeyed)}, {"how", std::string(how)}};
}
void State::skip(std::string_view reason) { session_.skipped = reason.empty() ? "skipped" : std::string(reason); }
void State::fail(std::string_view reason) const { throw harness::CaseEnded{std::string(reason)}; }
void State::set_check(std::function<void()> before, std::function<std::string()> after) {
  session_.before_check = std::move(before);
  session_.after_check = std::move(after);
}
void State::exec(const std::function<void()>& call) { session_.exec(call); }
void Context::barrier() { session_.barrier(); }
std::string Context::broadcast(std::string_view bytes, int root) { return session_.broadcast(bytes, root); }

}  // namespace tutti
