#include "bench/views.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tutti::harness {

namespace {

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

Cell to_cell(const Value& value) {
  if (value.is_integer()) return value.integer();
  if (value.is_number()) return value.number();
  return value.word();
}

// Four digits that mean something; what is not a number is null.
Cell rounded(double value) {
  if (!std::isfinite(value)) return {};
  if (value == 0) return 0.0;
  const double scale = std::pow(10.0, 3 - std::floor(std::log10(std::fabs(value))));
  return std::round(value * scale) / scale;
}

// A figure of a bench's own: whole numbers stay as they are.
Cell counted(double value) {
  constexpr double kMostExact = 9007199254740992;  // 2^53
  const bool is_whole = std::trunc(value) == value && std::fabs(value) <= kMostExact;
  return is_whole ? Cell(static_cast<std::int64_t>(value)) : rounded(value);
}

Cell micros(double nanos) { return rounded(nanos / 1000); }

Cell half_width(const Summary& summary) {
  if (!summary.interval || summary.median <= 0) return {};
  return rounded((summary.interval->high - summary.interval->low) / 2 / summary.median * 100);
}

Cell text_or_null(const std::string& text) { return text.empty() ? Cell() : Cell(text); }

std::string check_of(const Row& row) {
  if (row.outcome == Outcome::wrong) return "wrong";
  if (row.outcome != Outcome::ok) return std::string(name_of(row.outcome));
  return row.is_checked ? "ok" : "unchecked";
}

// What is to be known of a row that is all right.
std::string remarks(const Row& row, const Summary* summary) {
  std::string text = row.note;
  const auto add = [&](std::string words) { text += (text.empty() ? "" : "; ") + std::move(words); };
  if (row.shares_cores) add("more ranks than cores");
  const std::uint64_t all = row.invalid + row.samples.size();
  if (row.invalid * 20 > all)
    add(fmt::format("{:.0f} % of iterations begun late",
                    100.0 * static_cast<double>(row.invalid) / static_cast<double>(all)));
  if (summary != nullptr && summary->outliers * 10 > summary->count) add(fmt::format("{} outliers", summary->outliers));
  if (summary != nullptr && row.stop != Stop::precise)
    add(row.stop == Stop::time ? "budget spent" : "most samples taken");
  for (const auto& [name, evidence] : row.evidence)
    if (evidence.obeyed != State::Obeyed::confirmed) add(fmt::format("{} {}", name, name_of(evidence.obeyed)));
  return text;
}

}  // namespace

View View::of(const std::vector<Row>& rows) {
  View view;
  for (const Row& row : rows) {
    for (const Setting& setting : row.settings) add_once(view.variables_, setting.name);
    for (const auto& [name, value] : row.point.values) add_once(view.axes_, name);
    for (const auto& [name, value] : row.counters) add_once(view.counters_, name);
  }
  return view;
}

View View::side_by_side(const std::vector<Group>& groups) {
  View view;
  for (const Group& group : groups)
    for (const Case& each : group.cases)
      for (const auto& [name, value] : each.point.values)
        if (name != kAlgorithmAxis) add_once(view.axes_, name);
  return view;
}

std::vector<Column> View::columns() const {
  std::vector<Column> all = {{"bench"}, {"peer"}, {"ranks"}};
  for (const std::string& name : variables_) all.push_back({name});
  for (const std::string& name : axes_) all.push_back({name});
  for (const char* name : {"time_us", "plus_minus_percent", "min_us", "mean_us", "p99_us", "samples", "algbw_gbs",
                           "busbw_gbs", "items_per_s", "gflops"})
    all.push_back({name});
  for (const std::string& name : counters_) all.push_back({name});
  for (const char* name : {"check", "ran"}) all.push_back({name});
  all.push_back({"note", 60});
  return all;
}

std::vector<Cell> View::cells_of_case(const Row& row) const {
  std::vector<Cell> cells = {row.bench, row.peer, std::int64_t{row.num_ranks}};
  for (const std::string& name : variables_) {
    const auto found =
        std::find_if(row.settings.begin(), row.settings.end(), [&](const Setting& each) { return each.name == name; });
    // A variable that does not concern the peer is not there, which is another thing than unset.
    cells.push_back(found == row.settings.end() ? Cell() : Cell(shown(found->value)));
  }
  for (const std::string& name : axes_) {
    const Value* value = row.point.find(name);
    cells.push_back(value == nullptr ? Cell() : to_cell(*value));
  }
  return cells;
}

std::vector<Cell> View::cells(const Row& row) const {
  std::vector<Cell> cells = cells_of_case(row);
  const bool has_times = !row.samples.empty() && (row.outcome == Outcome::ok || row.outcome == Outcome::wrong);
  if (!has_times) {
    cells.resize(cells.size() + 10 + counters_.size());
    cells.push_back(check_of(row));
    cells.push_back(text_or_null(row.ran));
    cells.push_back(text_or_null(remarks(row, nullptr)));
    return cells;
  }
  const Summary summary = summarize(row.samples);
  cells.push_back(micros(summary.median));
  cells.push_back(half_width(summary));
  cells.push_back(micros(summary.minimum));
  cells.push_back(micros(summary.mean));
  cells.push_back(summary.p99 ? micros(*summary.p99) : Cell());
  cells.push_back(static_cast<std::int64_t>(summary.count));
  // Bytes a nanosecond are gigabytes a second.
  const std::optional<double> bytes = row.message ? std::optional(row.message->bytes) : row.bytes;
  cells.push_back(bytes ? rounded(*bytes / summary.median) : Cell());
  const std::optional<double> factor = row.message ? bus_factor(row.message->traffic, row.num_ranks) : std::nullopt;
  cells.push_back(factor ? rounded(row.message->bytes * *factor / summary.median) : Cell());
  cells.push_back(row.items ? rounded(*row.items / summary.median * 1e9) : Cell());
  cells.push_back(row.flops ? rounded(*row.flops / summary.median) : Cell());
  for (const std::string& name : counters_) {
    const auto found = row.counters.find(name);
    cells.push_back(found == row.counters.end() ? Cell() : counted(found->second));
  }
  cells.push_back(check_of(row));
  cells.push_back(text_or_null(row.ran));
  cells.push_back(text_or_null(remarks(row, &summary)));
  return cells;
}

std::vector<Column> View::columns_compared(const std::vector<std::string>& labels) const {
  std::vector<Column> all = {{"bench"}, {"ranks"}};
  for (const std::string& name : axes_) all.push_back({name});
  for (std::size_t each = 0; each < labels.size(); ++each) {
    all.push_back({fmt::format("{}_us", labels[each])});
    if (each == 0) continue;
    all.push_back({fmt::format("{}_ratio", labels[each])});
    all.push_back({fmt::format("{}_interval", labels[each])});
    all.push_back({fmt::format("{}_verdict", labels[each])});
  }
  all.push_back({"note", 60});
  return all;
}

std::vector<Cell> View::cells_compared(const Compared& compared) const {
  const Row& first = compared.rows.front();
  std::vector<Cell> cells = {first.bench, std::int64_t{first.num_ranks}};
  for (const std::string& name : axes_) {
    const Value* value = first.point.find(name);
    cells.push_back(value == nullptr ? Cell() : to_cell(*value));
  }
  std::string notes;
  for (std::size_t each = 0; each < compared.rows.size(); ++each) {
    const Row& row = compared.rows[each];
    const bool has_times = row.outcome == Outcome::ok && !row.samples.empty();
    cells.push_back(has_times ? micros(summarize(row.samples).median) : Cell(std::string(name_of(row.outcome))));
    if (!row.note.empty()) notes += fmt::format("{}{}: {}", notes.empty() ? "" : "; ", row.peer, row.note);
    if (each == 0) continue;
    const std::optional<Ratio>& ratio = compared.against[each];
    cells.push_back(ratio ? rounded(ratio->ratio) : Cell());
    cells.push_back(ratio && ratio->interval
                        ? Cell(fmt::format("{:.3f}-{:.3f}", ratio->interval->low, ratio->interval->high))
                        : Cell());
    cells.push_back(ratio ? Cell(std::string(name_of(ratio->verdict))) : Cell());
  }
  cells.push_back(text_or_null(notes));
  return cells;
}

std::vector<std::string> labels_of(const std::vector<const Group*>& groups) {
  std::vector<std::string> labels;
  for (const Group* group : groups) {
    std::string label = group->label;
    if (const Value* algorithm = group->algorithm()) {
      const bool differs = std::any_of(groups.begin(), groups.end(), [&](const Group* other) {
        const Value* of_other = other->algorithm();
        return of_other != nullptr && *of_other != *algorithm;
      });
      if (differs) label += " " + algorithm->text();
    }
    for (std::size_t each = 0; each < group->settings.size(); ++each) {
      const Setting& setting = group->settings[each];
      const bool differs = std::any_of(groups.begin(), groups.end(), [&](const Group* other) {
        return std::find(other->settings.begin(), other->settings.end(), setting) == other->settings.end();
      });
      if (differs) label += fmt::format(" {}={}", setting.name, shown(setting.value));
    }
    labels.push_back(std::move(label));
  }
  return labels;
}

std::string in_a_line(const Row& row) {
  std::string text = fmt::format("{} {}, {} rank{}", row.bench, row.peer, row.num_ranks, row.num_ranks == 1 ? "" : "s");
  for (const Setting& setting : row.settings) text += fmt::format(", {}={}", setting.name, shown(setting.value));
  if (!row.point.values.empty()) text += ", " + to_string(row.point);
  if (row.samples.empty() || row.outcome == Outcome::error || row.outcome == Outcome::skipped)
    return text + fmt::format(": {}: {}", name_of(row.outcome), row.note);
  const Summary summary = summarize(row.samples);
  text += fmt::format(": {:.4g} us", summary.median / 1000);
  return row.outcome == Outcome::wrong ? text + fmt::format(", WRONG: {}", row.note) : text;
}

}  // namespace tutti::harness
