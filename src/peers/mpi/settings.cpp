// SPDX-License-Identifier: Apache-2.0
#include "peers/mpi/settings.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "peers/mpi/rules_file.hpp"
#include "peers/registry.hpp"

namespace tutti::peers {

namespace {

#if defined(OPEN_MPI)
constexpr bool kIsOpenMpi = true;
constexpr std::string_view kName = "Open MPI";
#else
constexpr bool kIsOpenMpi = false;
constexpr std::string_view kName = "MPICH";
#endif

constexpr std::string_view kDynamicRules = "coll_tuned_use_dynamic_rules";
constexpr std::string_view kRulesFile = "coll_tuned_dynamic_rules_filename";
constexpr std::string_view kDeviceCollectives = "MPIR_CVAR_DEVICE_COLLECTIVES";

// Components of Open MPI that take whole communicators of several ranks on a host, if their priority is the highest.
constexpr auto kRivalsOfTuned = std::to_array<std::string_view>(
    {"acoll", "adapt", "basic", "cuda", "fca", "han", "hcoll", "libnbc", "ml", "sm", "ucc", "xhc"});

// Parts of Open MPI that only mpirun has.
constexpr auto kOfLauncher =
    std::to_array<std::string_view>({"errmgr", "ess", "filem", "grpcomm", "iof", "odls", "oob", "orte", "plm", "ras",
                                     "rmaps", "routed", "rtc", "schizo", "snapc", "state"});

std::string number_text(MPI_Datatype type, const void* from) {
  if (type == MPI_INT) return fmt::to_string(*static_cast<const int*>(from));
  if (type == MPI_UNSIGNED) return fmt::to_string(*static_cast<const unsigned*>(from));
  if (type == MPI_LONG) return fmt::to_string(*static_cast<const long*>(from));
  if (type == MPI_UNSIGNED_LONG) return fmt::to_string(*static_cast<const unsigned long*>(from));
  if (type == MPI_UNSIGNED_LONG_LONG) return fmt::to_string(*static_cast<const unsigned long long*>(from));
  if (type == MPI_COUNT) return fmt::to_string(*static_cast<const MPI_Count*>(from));
  if (type == MPI_C_BOOL) return *static_cast<const unsigned char*>(from) != 0 ? "1" : "0";
  if (type == MPI_DOUBLE) return fmt::to_string(*static_cast<const double*>(from));
  return "";
}

std::string word_for(MPI_T_enum words, const std::string& value) {
  int num_items = 0;
  std::array<char, 256> name{};
  int length = static_cast<int>(name.size());
  if (words == MPI_T_ENUM_NULL || MPI_T_enum_get_info(words, &num_items, name.data(), &length) != MPI_SUCCESS)
    return "";
  for (int item = 0; item < num_items; ++item) {
    int number = 0;
    length = static_cast<int>(name.size());
    if (MPI_T_enum_get_item(words, item, &number, name.data(), &length) == MPI_SUCCESS &&
        fmt::to_string(number) == value)
      return name.data();
  }
  return "";
}

bool is_true(std::string_view text) {
  constexpr auto kWords = std::to_array<std::string_view>({"1", "true", "t", "yes", "y", "enabled", "on"});
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) { return same_name(word, text); });
}

bool is_false(std::string_view text) {
  constexpr auto kWords = std::to_array<std::string_view>({"0", "false", "f", "no", "n", "disabled", "off"});
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) { return same_name(word, text); });
}

// Whether what the variable holds is what was written: the number, the word for it, or a size.
bool means(const MpiSettings::Held& held, const std::string& ordered) {
  if (held.value == ordered || (!held.word.empty() && same_name(held.word, ordered))) return true;
  if (is_true(ordered) && is_true(held.value)) return true;
  if (is_false(ordered) && is_false(held.value)) return true;
  const Result<Bytes> size = parse_bytes(ordered);
  return size.ok() && fmt::to_string(size->value()) == held.value;
}

// Words of MPICH are numbers to MPI_T, which has no names for them; but MPI_Init refuses words it does not know.
bool is_number_for_word(const MpiSettings::Held& held, const std::string& ordered) {
  const bool is_word = !parse_integer(ordered).ok() && !is_true(ordered) && !is_false(ordered);
  return is_word && parse_integer(held.value).ok();
}

std::string shown(const MpiSettings::Held& held) {
  if (held.word.empty() || held.word == held.value) return in_quotes(held.value);
  return fmt::format("{} ({})", held.value, held.word);
}

// The words of a list of components: "a,b" takes these, "^a,b" all others.
bool takes(std::string_view list, std::string_view component) {
  const bool excludes = list.starts_with('^');
  const std::vector<std::string_view> named = split(list.substr(excludes ? 1 : 0), ',');
  return (std::find(named.begin(), named.end(), component) != named.end()) != excludes;
}

std::string_view cvar_part(Collective collective) {
  switch (collective) {
    case Collective::all_reduce: return kIsOpenMpi ? "allreduce" : "ALLREDUCE";
    case Collective::all_gather: return kIsOpenMpi ? "allgather" : "ALLGATHER";
    case Collective::reduce_scatter: return kIsOpenMpi ? "reduce_scatter_block" : "REDUCE_SCATTER_BLOCK";
    case Collective::broadcast: return kIsOpenMpi ? "bcast" : "BCAST";
    case Collective::reduce: return kIsOpenMpi ? "reduce" : "REDUCE";
    case Collective::all_to_all: return kIsOpenMpi ? "alltoall" : "ALLTOALL";
    case Collective::gather: return kIsOpenMpi ? "gather" : "GATHER";
    case Collective::scatter: return kIsOpenMpi ? "scatter" : "SCATTER";
    case Collective::scan: return kIsOpenMpi ? "scan" : "SCAN";
    case Collective::exclusive_scan: return kIsOpenMpi ? "exscan" : "EXSCAN";
    case Collective::barrier: return kIsOpenMpi ? "barrier" : "BARRIER";
    default: return "";
  }
}

}  // namespace

MpiSettings::MpiSettings() {
  int provided = 0;
  works_ = MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS;
}

MpiSettings::~MpiSettings() {
  if (works_) MPI_T_finalize();
}

std::optional<MpiSettings::Held> MpiSettings::held(const std::string& name) const {
  int index = 0;
  if (!works_ || MPI_T_cvar_get_index(name.c_str(), &index) != MPI_SUCCESS) return std::nullopt;
  int verbosity = 0;
  int bound = 0;
  int scope = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum words = MPI_T_ENUM_NULL;
  if (MPI_T_cvar_get_info(index, nullptr, nullptr, &verbosity, &type, &words, nullptr, nullptr, &bound, &scope) !=
          MPI_SUCCESS ||
      bound != MPI_T_BIND_NO_OBJECT)
    return std::nullopt;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int count = 0;
  if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS) return std::nullopt;
  // Room for `count` of the widest type, and a zero behind text.
  std::vector<std::uint64_t> room(static_cast<std::size_t>(std::max(count, 1)) + 1);
  const bool is_read = MPI_T_cvar_read(handle, room.data()) == MPI_SUCCESS;
  MPI_T_cvar_handle_free(&handle);
  if (!is_read) return std::nullopt;
  if (type == MPI_CHAR) return Held{reinterpret_cast<const char*>(room.data()), ""};
  if (count != 1) return std::nullopt;
  std::string value = number_text(type, room.data());
  if (value.empty()) return std::nullopt;
  std::string word = word_for(words, value);
  return Held{std::move(value), std::move(word)};
}

bool MpiSettings::is_on(const std::string& name) const {
  const std::optional<Held> found = held(name);
  return found && is_true(found->value);
}

harness::Evidence MpiSettings::evidence(const harness::Setting& setting) const {
  const std::string& name = setting.name;
  if (!works_) return unverifiable(fmt::format("{} has no tools interface here", kName));
  const std::string_view prefix = kIsOpenMpi ? "OMPI_MCA_" : "MPIR_CVAR_";
  if (!name.starts_with(prefix))
    return unverifiable(fmt::format("{} reads back only what begins with {}", kName, prefix));
  return compared(setting, kIsOpenMpi ? name.substr(prefix.size()) : name);
}

harness::Evidence MpiSettings::compared(const harness::Setting& setting, const std::string& name) const {
  const std::optional<Held> found = held(name);
  if (!found) {
    const std::string_view framework = std::string_view(name).substr(0, name.find('_'));
    if (std::find(kOfLauncher.begin(), kOfLauncher.end(), framework) != kOfLauncher.end())
      return unverifiable(fmt::format("{} is mpirun's, which a rank cannot ask", name));
    int index = 0;
    if (MPI_T_cvar_get_index(name.c_str(), &index) == MPI_SUCCESS)
      return unverifiable(fmt::format("the value of {} cannot be read", name));
    if (!setting.value) return confirmed(fmt::format("{} knows no {}", kName, name));
    return ignored(fmt::format("{} knows no {} here", kName, name));
  }
  const std::string how = fmt::format("{} is {} (MPI_T)", name, shown(*found));
  if (!setting.value) return without(name, *found, how);
  if (means(*found, *setting.value)) return effect(name, how);
  if (!kIsOpenMpi && is_number_for_word(*found, *setting.value))
    return effect(name, fmt::format("{}; MPI_Init refuses words it does not know", how));
  // Seen in MPICH 4.0, of every text.
  if (!kIsOpenMpi && found->value.empty())
    return unverifiable(fmt::format("{}, as which MPICH reads back any text", how));
  return ignored(fmt::format("{}, where {} was ordered", how, in_quotes(*setting.value)));
}

// MPI_T does not tell a default from a value that came from elsewhere.
harness::Evidence MpiSettings::without(const std::string& name, const Held& held, std::string how) {
  if (kIsOpenMpi) {
    // The word of coll/tuned's algorithms for none.
    if (held.word == "ignore") return confirmed(std::move(how));
    return unverifiable(fmt::format("{}, which a file such as openmpi-mca-params.conf may have set", how));
  }
  // MPICH reads nothing but its environment, where each variable has two other names.
  for (const std::string_view prefix : {"MPIR_PARAM_", "MPICH_"}) {
    const std::string other = fmt::format("{}{}", prefix, name.substr(std::string_view("MPIR_CVAR_").size()));
    if (std::getenv(other.c_str()) != nullptr)
      return unverifiable(fmt::format("{}, which {} may have set", how, other));
  }
  return confirmed(std::move(how));
}

std::string MpiSettings::why_not_tuned() const {
  const std::optional<Held> list = held("coll");
  if (list && !list->value.empty() && !takes(list->value, "tuned"))
    return fmt::format("coll is {}, which leaves out coll/tuned", in_quotes(list->value));
  const auto priority = [&](std::string_view component) {
    const std::optional<Held> found = held(fmt::format("coll_{}_priority", component));
    const Result<std::int64_t> number = parse_integer(found ? found->value : "");
    return number.ok() ? *number : -1;
  };
  const std::int64_t of_tuned = priority("tuned");
  if (of_tuned < 0) return "coll/tuned is not here";
  for (const std::string_view rival : kRivalsOfTuned) {
    const bool is_chosen = !list || list->value.empty() || takes(list->value, rival);
    if (is_chosen && priority(rival) > of_tuned)
      return fmt::format("coll/{} has priority {}, and coll/tuned {}", rival, priority(rival), of_tuned);
  }
  return "";
}

harness::Evidence MpiSettings::effect(const std::string& name, std::string how) const {
  if (kIsOpenMpi) {
    const bool wants_rules = name.starts_with("coll_tuned_") && name.find("_algorithm") != std::string::npos;
    if ((wants_rules || name == kRulesFile) && !is_on(std::string(kDynamicRules)))
      return ignored(fmt::format("{}, but {} is not on, without which it has no effect", how, kDynamicRules));
    if (name.starts_with("coll_tuned_"))
      if (const std::string why = why_not_tuned(); !why.empty())
        return unverifiable(fmt::format("{}, but {}", how, why));
    // Of those that a bench has, the benches look after it.
    if (wants_rules && collectives_of(fmt::format("OMPI_MCA_{}", name)).empty())
      return unverifiable(fmt::format("{}, and no bench calls what it is for", how));
    if (name != kRulesFile) return confirmed(std::move(how));
    const Status file = check_rules_file(held(name)->value);
    if (!file.ok()) return ignored(fmt::format("Open MPI leaves a rules file aside in silence: {}", file.to_string()));
    return confirmed(fmt::format("{}, and the file is as Open MPI reads it", how));
  }
  const bool is_algorithm = name.ends_with("_INTRA_ALGORITHM") && name.find("_POSIX_") == std::string::npos;
  const std::optional<Held> device = held(std::string(kDeviceCollectives));
  // 0: all, 1: none, 2: percoll.
  if (is_algorithm && device && device->value != "1")
    return unverifiable(
        fmt::format("{}, but MPICH's device may go its own way where {} is not none", how, kDeviceCollectives));
  if (name.ends_with("_ALGORITHM") && collectives_of(name).empty())
    return unverifiable(fmt::format("{}, and no bench calls what it is for", how));
  return confirmed(std::move(how));
}

std::string MpiSettings::ran(const Request& request, int num_ranks) const {
  if (!kIsOpenMpi) return "";
  const std::string name = fmt::format("coll_tuned_{}_algorithm", cvar_part(request.collective));
  const std::optional<Held> found = held(name);
  if (!found || found->value == "0" || !is_on(std::string(kDynamicRules))) return "";
  std::string text = fmt::format("coll/tuned {} {}", cvar_part(request.collective), shown(*found));
  if (request.collective != Collective::all_reduce) return text;
  // Seen in Open MPI 4.1: with fewer elements than ranks, and where there are no segments.
  const bool is_few = request.count < static_cast<std::size_t>(num_ranks);
  const std::optional<Held> segment = held(name + "_segmentsize");
  if (is_few && (found->word == "ring" || found->word == "segmented_ring")) text += ", handed on to recursive_doubling";
  if (is_few && found->word == "rabenseifner") text += ", handed on to basic_linear where powers of two want more";
  if (!is_few && found->word == "segmented_ring" && segment && segment->value == "0")
    text += ", handed on to ring: its segment size is 0";
  return text;
}

}  // namespace tutti::peers
