// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/export/export_formats.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/system/file.hpp"
#include "base/text.hpp"
#include "cli/launch/own_library.hpp"
#include "cli/number.hpp"
#include "tune/export/json_tree.hpp"
#include "tune/export/mpich_selection.hpp"
#include "tune/export/nccl_tuner.hpp"
#include "tune/export/openmpi_rules.hpp"
#include "tune/export/ucc_score.hpp"

namespace tutti::cli {

namespace {

constexpr auto kExportNames = std::to_array<std::string_view>({"openmpi", "mpich", "nccl", "ucc"});
constexpr std::uint32_t kReleaseOfDebian = 4;
constexpr std::uint64_t kMostLibraryBytes = std::uint64_t{256} << 20U;
constexpr std::string_view kElf = "\177ELF";

// Of a peer that Tutti measures.
tune::ForcedBy forced_by_registry(std::string peer, const BenchWorld& world) {
  return [peer, &world](Collective collective, std::uint32_t ranks,
                        std::string_view algorithm) -> Result<tune::PeerVariables> {
    const std::vector<harness::ForcedAlgorithm> known = world.algorithms_of(peer, name_of(collective));
    std::vector<std::string_view> names;
    for (const harness::ForcedAlgorithm& each : known) {
      names.push_back(each.name);
      if (!same_name(each.name, algorithm)) continue;
      if (!harness::allows(each.ranks, static_cast<int>(ranks)))
        return wrong_argument(
            fmt::format("{} of {} works with {} ranks, not with {}", algorithm, peer, name_of(each.ranks), ranks));
      tune::PeerVariables variables;
      for (const harness::Setting& setting : each.settings)
        variables.emplace_back(setting.name, setting.value.value_or(""));
      return variables;
    }
    return wrong_argument(fmt::format("{} has no algorithm {} of {}{}", peer, in_quotes(algorithm), name_of(collective),
                                      nearest_hint(algorithm, names)));
  };
}

Result<tune::PeerVariables> forced_by_name(Collective, std::uint32_t, std::string_view algorithm) {
  return tune::PeerVariables{{std::string(tune::kUccAlgorithm), std::string(algorithm)}};
}

// MPICH's own tree: from a file of its sources or a library.
Result<tune::MpichSelection> mpich_base(const std::string& path) {
  std::string place = path;
#ifdef TUTTI_MPICH_LIBRARY
  if (place.empty()) place = TUTTI_MPICH_LIBRARY;
#endif
  if (place.empty())
    return Status(Code::unsupported,
                  "--base is needed, since Tutti was built without MPICH: your libmpich.so, or "
                  "maint/tuning/coll/mpir/generic.json of its sources");
  Result<std::string> text = read_file(place, kMostLibraryBytes);
  if (!text.ok()) return text.status().with_context("cannot read what MPICH selects by itself (--base)");
  if (text->starts_with(kElf)) text = tune::selection_in_library(*text, place);
  if (!text.ok()) return text.status();
  return tune::read_mpich_selection(*text, place);
}

Result<int> release_of(const ExportChoice& choice) {
  if (choice.release.empty()) return static_cast<int>(kReleaseOfDebian);
  const auto release = read_number<std::uint32_t>(choice.release, 4, 6);
  if (!release)
    return wrong_argument(fmt::format("--release is {}; it takes 4, 5 or 6, of Open MPI", in_quotes(choice.release)));
  return static_cast<int>(*release);
}

// The path of the plugin; its bare name if it is not found.
std::string own_nccl_plugin() {
  const std::string name = tune::NcclPlugin{}.library;
  const std::string path = find_own_library(name);
  return path.empty() ? name : path;
}

Result<tune::NcclPlugin> nccl_plugin(const ExportChoice& choice) {
  constexpr auto kPlugins = std::to_array<std::string_view>({"tutti", "example"});
  if (choice.plugin.empty() || same_name(choice.plugin, kPlugins[0]))
    return tune::NcclPlugin{.library = own_nccl_plugin()};
  if (same_name(choice.plugin, kPlugins[1]))
    return tune::NcclPlugin{.library = "libnccl-tuner-example.so", .has_catch_alls = true};
  return wrong_argument(fmt::format("--plugin is {}; it takes tutti or example, tuners of NCCL{}",
                                    in_quotes(choice.plugin), nearest_hint(choice.plugin, kPlugins)));
}

Status check_choice(const ExportChoice& choice) {
  if (!choice.release.empty() && !same_name(choice.to, "openmpi"))
    return wrong_argument(fmt::format("--release is of Open MPI; --to is {}", choice.to));
  if (!choice.plugin.empty() && !same_name(choice.to, "nccl"))
    return wrong_argument(fmt::format("--plugin is of NCCL; --to is {}", choice.to));
  if (!choice.base.empty() && !same_name(choice.to, "mpich"))
    return wrong_argument(fmt::format("--base is for MPICH; --to is {}", choice.to));
  return {};
}

}  // namespace

std::string names_of_formats() { return fmt::format("{}", fmt::join(kExportNames, ", ")); }

Result<ExportFormat> find_format(const ExportChoice& choice, const BenchWorld& world) {
  const auto found = std::find_if(kExportNames.begin(), kExportNames.end(),
                                  [&](std::string_view name) { return same_name(name, choice.to); });
  if (found == kExportNames.end())
    return wrong_argument(fmt::format("--to is {}; it takes one of {}, profile{}", in_quotes(choice.to),
                                      names_of_formats(), nearest_hint(choice.to, kExportNames)));
  TUTTI_TRY(check_choice(choice));
  ExportFormat format;
  format.peer = *found;
  format.forced_by = forced_by_registry(format.peer, world);
  if (format.peer == "openmpi") {
    TUTTI_TRY_ASSIGN(const int release, release_of(choice));
    format.translate = [release](tune::Rules rules) -> Result<tune::Exported> {
      return tune::export_to_openmpi(std::move(rules), release);
    };
    format.can_verify = true;
  } else if (format.peer == "mpich") {
    Result<tune::MpichSelection> base = mpich_base(choice.base);
    if (!base.ok()) return base.status();
    const auto shared = std::make_shared<const tune::MpichSelection>(std::move(*base));
    format.translate = [shared](tune::Rules rules) { return tune::export_to_mpich(std::move(rules), *shared); };
    format.can_verify = true;
  } else if (format.peer == "nccl") {
    TUTTI_TRY_ASSIGN(const tune::NcclPlugin plugin, nccl_plugin(choice));
    format.translate = [plugin](tune::Rules rules) -> Result<tune::Exported> {
      return tune::export_to_nccl(std::move(rules), plugin);
    };
  } else {
    format.forced_by = forced_by_name;
    format.translate = [](tune::Rules rules) -> Result<tune::Exported> {
      return tune::export_to_ucc(std::move(rules));
    };
  }
  return format;
}

}  // namespace tutti::cli
