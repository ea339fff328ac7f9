// SPDX-License-Identifier: Apache-2.0
// Outputs that are JSON: an object, an array of objects, an object that has such an array, or an object a line with
// anything between them. An object with a time is a row.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "bench/outputs/fields.hpp"
#include "bench/outputs/readers.hpp"
#include "bench/outputs/words.hpp"

namespace tutti::harness {

namespace {

using Json = nlohmann::json;

// Deeper ones are nobody's results, and reading them takes stack.
constexpr int kDeepest = 64;

Json parse(std::string_view text) {
  const auto keep = [](int depth, Json::parse_event_t, const Json&) { return depth <= kDeepest; };
  return Json::parse(text.begin(), text.end(), keep, false);
}

struct TimeKey {
  std::string name;  // empty: time_ns, time_us, time_ms or time_s
  double nanos = 0;

  // The unit of a key that is the time; null of others.
  [[nodiscard]] std::optional<double> unit_of(const std::string& key) const {
    if (!name.empty()) return key == name ? std::optional(nanos) : std::nullopt;
    return is_time_field(key) ? unit_behind(key) : std::nullopt;
  }
};

class JsonRows {
 public:
  explicit JsonRows(const TimeKey& time) : time_(time) {}

  Output read(std::string_view text) {
    if (const Json whole = parse(text); !whole.is_discarded()) {
      take(whole);
    } else {
      for (const std::string_view line : lines_of(text)) {
        if (!trim(line).starts_with('{')) continue;
        const Json row = parse(line);
        if (row.is_object()) {
          take(row);
        } else {
          output_.note_unread(line);
        }
      }
    }
    if (!output_.readings.empty() || output_.num_unread > 0) output_.format = "json";
    return std::move(output_);
  }

 private:
  void take(const Json& json) {
    if (json.is_array()) {
      for (const Json& each : json) {
        if (each.is_object()) {
          take_row(each);
        } else {
          output_.note_unread(each.dump(-1, ' ', true, Json::error_handler_t::replace));
        }
      }
    } else if (json.is_object() && has_time(json)) {
      take_row(json);
    } else if (json.is_object()) {
      for (const auto& [key, value] : json.items())
        if (value.is_array() &&
            std::any_of(value.begin(), value.end(), [&](const Json& each) { return has_time(each); }))
          return take(value);
    }
  }

  [[nodiscard]] bool has_time(const Json& json) const {
    if (!json.is_object()) return false;
    for (const auto& [key, value] : json.items())
      if (time_.unit_of(key)) return true;
    return false;
  }

  void take_row(const Json& json) {
    Reading row;
    for (const auto& [key, value] : json.items()) {
      const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
      if (const auto unit = time_.unit_of(key)) {
        set_time(row, trim(text), *unit);
      } else if (value.is_primitive() && !value.is_null()) {
        set_field(row, key, text);
      }
    }
    if (!row.nanos && row.problem.empty())
      row.problem = fmt::format("an object has no {}", time_.name.empty() ? "time_us" : time_.name);
    output_.readings.push_back(std::move(row));
  }

  const TimeKey& time_;
  Output output_;
};

}  // namespace

Result<Reader> json_reader(std::string_view time) {
  TimeKey key;
  const std::size_t colon = time.rfind(':');
  key.name = trim(time.substr(0, colon));
  const std::optional<double> unit =
      colon == std::string_view::npos ? unit_behind(key.name) : unit_named(trim(time.substr(colon + 1)));
  if (!time.empty() && (!unit || key.name.empty()))
    return Status(Code::invalid_argument,
                  fmt::format("--time is {}; it takes the key of the time with its unit: time_us, or "
                              "real_time:ns (units: ns, us, ms, s)",
                              in_quotes(time)));
  key.nanos = unit.value_or(0);
  return Reader([key](std::string_view text) { return JsonRows(key).read(text); });
}

}  // namespace tutti::harness
