// SPDX-License-Identifier: Apache-2.0
#include "base/variables/variables.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/variables/bench_variables.hpp"
#include "base/variables/conf.hpp"

namespace tutti {

namespace {

constexpr std::string_view kHidden = "(hidden)";

VariableValue initial_value(const VariableRow& row) {
  if (row.initial.empty()) {
    if (row.type == VariableType::text) return std::string();
    if (row.type == VariableType::list) return VariableList();
    return {};
  }
  Result<VariableValue> value = parse_variable(row, row.initial);
  TUTTI_ASSERT(value.ok(), "a row of kVariables has a default that it does not allow");
  return std::move(value).value();
}

// One place that gives a variable a value.
struct Setting {
  std::string value;
  VariableOrigin origin;
  int strength = 0;  // lower goes first: environment, user's file, system's file

  [[nodiscard]] bool is_own() const { return origin.alias.empty(); }
};

constexpr int kEnvironmentStrength = 0;

// The names a row goes by, its own first.
std::vector<std::string_view> names_of(const VariableRow& row) {
  std::vector<std::string_view> names{row.name};
  std::copy_if(row.aliases.begin(), row.aliases.end(), std::back_inserter(names),
               [](std::string_view alias) { return !alias.empty(); });
  return names;
}

const VariableRow* row_with_exact_name(std::string_view name) {
  for (const VariableRow& row : kVariables) {
    if (row.name == name ||
        (!name.empty() && std::find(row.aliases.begin(), row.aliases.end(), name) != row.aliases.end()))
      return &row;
  }
  return nullptr;
}

std::string shown(const VariableRow& row, std::string_view value) {
  return row.secret ? std::string(kHidden) : in_quotes(value);
}

bool differ(const VariableRow& row, const Setting& a, const Setting& b) {
  const Result<VariableValue> first = parse_variable(row, a.value);
  const Result<VariableValue> second = parse_variable(row, b.value);
  if (first.ok() && second.ok()) return *first != *second;
  return trim(a.value) != trim(b.value);
}

}  // namespace

// Collects from every source who sets what, then settles each row.
class VariablesReader {
 public:
  explicit VariablesReader(const Environment& environment) : environment_(environment) {}

  VariablesReading read(const ConfPaths& paths) && {
    take_environment();
    take_files(paths);
    for (const VariableRow& row : kVariables) settle(row);
    return std::move(reading_);
  }

 private:
  void take_environment() {
    for (const VariableRow& row : kVariables) {
      for (const std::string_view name : names_of(row)) {
        std::optional<std::string> value = environment_.lookup(name);
        if (!value) continue;
        VariableOrigin origin{.source = VariableOrigin::Source::environment,
                              .where = std::string(environment_.place_of(name))};
        if (name != row.name) origin.alias = name;
        settings_[index_of(row.id)].push_back({std::move(*value), std::move(origin), kEnvironmentStrength});
      }
    }
    for (const std::string& name : environment_.names()) {
      if (std::string unknown = unknown_variable(name, environment_.place_of(name)); !unknown.empty())
        warn(std::move(unknown));
    }
  }

  void take_files(const ConfPaths& paths) {
    const std::vector<Setting>& named = settings_[index_of(VariableId::conf_file)];
    if (named.empty()) {
      for (const auto& [path, strength] : {std::pair(&paths.user, 1), std::pair(&paths.system, 2)}) {
        const Result<bool> taken = take_file(*path, strength);
        // This is a default file: an unreadable home directory counts as one without it.
        if (!taken.ok()) warn(fmt::format("{}; the file is ignored", taken.status().to_string()));
      }
      return;
    }
    const Setting& setting = named.front();
    if (setting.value.empty()) return;
    const Result<bool> taken = take_file(setting.value, 1);
    if (!taken.ok()) return wrong(std::nullopt, taken.status().to_string());
    if (!*taken)
      wrong(VariableId::conf_file,
            fmt::format("TUTTI_CONF_FILE ({}): there is no file {}; name one that exists, or nothing "
                        "for none",
                        setting.origin.to_string(), in_quotes(setting.value)));
  }

  // Whether there is such a file; an error where there is one that cannot be read.
  Result<bool> take_file(const std::string& path, int strength) {
    if (path.empty()) return false;
    TUTTI_TRY_ASSIGN(const std::optional<std::string> text, read_conf(path));
    if (!text.has_value()) return false;
    const std::string shown_path = printable(path);
    ConfContents contents = parse_conf(*text, shown_path);
    for (std::string& error : contents.errors) wrong(std::nullopt, std::move(error));
    for (const ConfLine& line : contents.lines) take_line(line, shown_path, strength);
    return true;
  }

  void take_line(const ConfLine& line, const std::string& path, int strength) {
    VariableOrigin origin{.source = VariableOrigin::Source::file, .where = path, .line = line.number};
    const VariableRow* row = row_with_exact_name(line.name);
    if (row == nullptr) {
      // Who names NCCL's own file by NCCL_CONF_FILE has lines in it that are for NCCL alone.
      const bool is_originals = line.name.starts_with("NCCL_") || line.name.starts_with("RCCL_");
      if (is_originals) return;
      warn(find_bench_variable(line.name) == nullptr
               ? no_such_variable(line.name, origin.to_string())
               : fmt::format("{} ({}): benchmarks take it from the environment only", line.name, origin.to_string()));
      return;
    }
    if (row->environment_only) {
      wrong(row->id, fmt::format("{} ({}): it is taken from the environment only; remove the line", line.name,
                                 origin.to_string()));
      return;
    }
    if (line.name != row->name) origin.alias = line.name;
    settings_[index_of(row->id)].push_back({line.value, std::move(origin), strength});
  }

  void settle(const VariableRow& row) {
    const std::vector<Setting>& settings = settings_[index_of(row.id)];
    if (settings.empty()) return;
    const auto own = std::find_if(settings.begin(), settings.end(), [](const Setting& s) { return s.is_own(); });
    const Setting& chosen = own != settings.end() ? *own : settings.front();
    for (const Setting& other : settings) {
      // That a stronger source overrides a weaker one is what sources are for; that an own name overrides an alias
      // beside or above it may be an oversight.
      const bool expected = other.is_own() || other.strength > chosen.strength || &other == &chosen;
      if (!expected && differ(row, chosen, other)) warn_of_difference(row, chosen, other);
    }
    const std::string value = without_foreign_words(row, chosen);
    reading_.variables.origins_[index_of(row.id)] = chosen.origin;
    if (row.type == VariableType::list && value.find_first_not_of('^') == std::string::npos && value != chosen.value) {
      reading_.variables.values_[index_of(row.id)] = VariableList{{}, value == "^"};
      return;
    }
    Result<VariableValue> parsed = parse_variable(row, value);
    if (!parsed.ok()) {
      wrong(row.id, fmt::format("{} ({}): {}", row.name, chosen.origin.to_string(), parsed.status().message()));
      return;
    }
    reading_.variables.values_[index_of(row.id)] = std::move(parsed).value();
  }

  void warn_of_difference(const VariableRow& row, const Setting& chosen, const Setting& other) {
    warn(fmt::format("{} is {} ({}) and {} is {} ({}); {} counts", chosen.is_own() ? row.name : chosen.origin.alias,
                     shown(row, chosen.value), chosen.origin.place(), other.origin.alias, shown(row, other.value),
                     other.origin.place(), chosen.is_own() ? "the first" : "the first alias"));
  }

  // The originals have more words for their lists (subsystems such as NET) than Tutti has use for. Under their name
  // those are left out with a warning, so that an environment made for them does not stop Tutti.
  std::string without_foreign_words(const VariableRow& row, const Setting& setting) {
    if (setting.is_own() || row.type != VariableType::list || row.choices.empty()) return setting.value;
    std::string_view text = trim(setting.value);
    const bool inverted = text.starts_with('^');
    if (inverted) text.remove_prefix(1);
    std::vector<std::string_view> known;
    for (const std::string_view word : split(text, ',')) {
      const auto same = [&](std::string_view choice) { return same_name(choice, word); };
      if (word.empty() || std::any_of(row.choices.begin(), row.choices.end(), same)) {
        known.push_back(word);
      } else {
        warn(fmt::format("{} ({}): {} means nothing to Tutti and is left out; allowed: {}", row.name,
                         setting.origin.to_string(), in_quotes(word), allowed_text(row)));
      }
    }
    return fmt::format("{}{}", inverted ? "^" : "", fmt::join(known, ","));
  }

  void warn(std::string text) { reading_.variables.warnings_.push_back(std::move(text)); }
  void wrong(std::optional<VariableId> id, std::string text) { reading_.problems.push_back({id, std::move(text)}); }

  const Environment& environment_;
  // Of each row, stronger sources first.
  std::array<std::vector<Setting>, kNumVariables> settings_;
  VariablesReading reading_;
};

std::string VariableOrigin::place() const {
  switch (source) {
    case Source::initial: return "default";
    case Source::environment: return where;
    case Source::file: return fmt::format("{}:{}", where, line);
  }
  return "unknown";
}

std::string VariableOrigin::to_string() const {
  return alias.empty() ? place() : fmt::format("{} as {}", place(), alias);
}

ConfPaths ConfPaths::standard(const Environment& environment) {
  ConfPaths paths{.user = {}, .system = "/etc/tutti.conf"};
  const std::string configuration = environment.lookup("XDG_CONFIG_HOME").value_or("");
  const std::string home = environment.lookup("HOME").value_or("");
  if (configuration.starts_with('/')) {
    paths.user = configuration + "/tutti/tutti.conf";
  } else if (!home.empty()) {
    paths.user = home + "/.config/tutti/tutti.conf";
  }
  return paths;
}

Variables::Variables() { std::transform(kVariables.begin(), kVariables.end(), values_.begin(), initial_value); }

VariablesReading Variables::read(const Environment& environment, const ConfPaths& paths) {
  VariablesReading reading = VariablesReader(environment).read(paths);
  reading.variables.data_folder_ = environment.data_folder();
  return reading;
}

Result<Variables> Variables::load(const Environment& environment, const ConfPaths& paths) {
  VariablesReading reading = read(environment, paths);
  if (reading.problems.empty()) return std::move(reading.variables);
  std::string lines;
  for (const VariableProblem& problem : reading.problems) {
    if (!lines.empty()) lines += '\n';
    lines += problem.text;
  }
  return Status(Code::invalid_argument, std::move(lines));
}

std::string Variables::text(VariableId id) const {
  const VariableRow& row = row_of(id);
  const std::string value = to_text(row, values_[index_of(id)]);
  return row.secret && !value.empty() ? std::string(kHidden) : value;
}

}  // namespace tutti
