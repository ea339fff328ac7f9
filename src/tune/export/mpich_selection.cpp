// SPDX-License-Identifier: Apache-2.0
// Reading and asking a tree.
#include "tune/export/mpich_selection.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"
#include "data/message_size.hpp"
#include "tune/export/json_tree.hpp"
#include "tune/export/mpich_names.hpp"

namespace tutti::tune {

namespace {

using document::TomlEntry;
using document::TomlTable;

// Keys with a number behind them.
enum class Numbered : std::uint8_t { ranks, average_bytes, total_bytes, count, ranks_of_node };
struct NumberedKey {
  std::string_view begins;
  Numbered of;
  bool includes;  // <= in place of <
};
constexpr auto kNumberedKeys = std::to_array<NumberedKey>({
    {"comm_size<=", Numbered::ranks, true},
    {"comm_size<", Numbered::ranks, false},
    {"avg_msg_size<=", Numbered::average_bytes, true},
    {"avg_msg_size<", Numbered::average_bytes, false},
    {"total_msg_size<=", Numbered::total_bytes, true},
    {"total_msg_size<", Numbered::total_bytes, false},
    {"count<=", Numbered::count, true},
    {"comm_avg_ppn<=", Numbered::ranks_of_node, true},
    {"comm_avg_ppn<", Numbered::ranks_of_node, false},
});

// Keys of a yes or no: what they ask, and whether MPICH wants an answer for the other case as well.
using Question = bool (*)(const MpichCall&);
struct PlainKey {
  std::string_view key;
  Question holds;
  bool wants_other = false;
};
constexpr auto kPlainKeys = std::to_array<PlainKey>({
    {"is_multi_threaded=yes", [](const MpichCall&) { return false; }},
    {"is_multi_threaded=no", [](const MpichCall&) { return true; }},
    {"comm_type=intra", [](const MpichCall&) { return true; }},
    {"comm_type=inter", [](const MpichCall&) { return false; }},
    {"comm_size=pow2", [](const MpichCall& call) { return (call.ranks & (call.ranks - 1)) == 0; }, true},
    {"comm_size=node_comm_size", [](const MpichCall& call) { return call.is_parent; }, true},
    {"count<pow2", [](const MpichCall& call) { return call.has_few; }, true},
    {"is_commutative=yes", [](const MpichCall& call) { return call.is_commutative; }},
    {"is_commutative=no", [](const MpichCall& call) { return !call.is_commutative; }},
    {"is_sendbuf_inplace=yes", [](const MpichCall& call) { return call.is_in_place; }},
    {"is_sendbuf_inplace=no", [](const MpichCall& call) { return !call.is_in_place; }},
    {"is_op_built_in=yes", [](const MpichCall& call) { return call.is_built_in; }},
    {"is_op_built_in=no", [](const MpichCall& call) { return !call.is_built_in; }},
    {"is_block_regular=yes", [](const MpichCall&) { return true; }},
    {"is_block_regular=no", [](const MpichCall&) { return false; }},
    {"is_node_consecutive=yes", [](const MpichCall& call) { return call.is_consecutive; }},
    {"is_node_consecutive=no", [](const MpichCall& call) { return !call.is_consecutive; }},
    {"comm_hierarchy=parent", [](const MpichCall& call) { return call.is_parent; }},
    {"comm_hierarchy=node", [](const MpichCall& call) { return !call.is_parent; }},
    {"comm_hierarchy=node_roots", [](const MpichCall& call) { return !call.is_parent; }},
    {"comm_hierarchy=flat", [](const MpichCall& call) { return !call.is_parent; }},
});

constexpr std::string_view kCollectiveKey = "collective=";
constexpr auto kLeafKeys = std::to_array<std::string_view>({"algorithm=", "composition="});

std::string without_blanks(std::string_view key) {
  std::string kept;
  for (const char c : key)
    if (c != ' ') kept += c;
  return kept;
}

bool is_any(std::string_view key) { return key == "any" || key.ends_with("=any"); }

// The function; empty where the key is none.
std::string_view leaf_of(std::string_view key) {
  for (const std::string_view begins : kLeafKeys)
    if (key.starts_with(begins)) return key.substr(begins.size());
  return "";
}

const PlainKey* plain_key(std::string_view key) {
  const auto found =
      std::find_if(kPlainKeys.begin(), kPlainKeys.end(), [&](const PlainKey& each) { return each.key == key; });
  return found == kPlainKeys.end() ? nullptr : &*found;
}

struct NumberedQuestion {
  const NumberedKey* key = nullptr;
  std::uint64_t number = 0;
};

std::optional<NumberedQuestion> numbered_question(std::string_view key) {
  for (const NumberedKey& each : kNumberedKeys) {
    if (!key.starts_with(each.begins)) continue;
    const std::string_view digits = key.substr(each.begins.size());
    // MPICH reads an int.
    std::int32_t number = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || stop != digits.data() + digits.size() || number < 0) continue;
    return NumberedQuestion{&each, static_cast<std::uint64_t>(number)};
  }
  return std::nullopt;
}

// --- checking

class SelectionCheck {
 public:
  explicit SelectionCheck(std::string_view place) : place_(printable(place)) {}

  Status check(const TomlTable& node, std::uint32_t line) {
    if (node.entries.empty()) return wrong(line, "nothing follows: an operator or an algorithm is missing");
    for (std::size_t each = 0; each < node.entries.size(); ++each) {
      const TomlEntry& entry = node.entries[each];
      const std::string key = without_blanks(entry.key);
      const auto* const below = std::get_if<TomlTable>(&entry.value.value);
      if (below == nullptr) return wrong(entry.value.line, fmt::format("{} has no object", in_quotes(key)));
      if (!leaf_of(key).empty()) {
        if (node.entries.size() > 1)
          return wrong(entry.value.line, fmt::format("{} does not stand alone", in_quotes(key)));
        return {};
      }
      const bool is_last = each + 1 == node.entries.size();
      TUTTI_TRY(check_key(key, entry.value.line, is_last));
      TUTTI_TRY(check(*below, entry.value.line));
    }
    return {};
  }

 private:
  [[nodiscard]] Status wrong(std::uint32_t line, std::string_view words) const {
    return wrong_argument(fmt::format("{}:{}: {}", place_, line, words));
  }

  [[nodiscard]] Status check_key(std::string_view key, std::uint32_t line, bool is_last) const {
    if (is_any(key)) return is_last ? Status() : wrong(line, fmt::format("{} is not the last one", in_quotes(key)));
    if (key.starts_with(kCollectiveKey)) {
      const std::string_view word = key.substr(kCollectiveKey.size());
      return is_mpich_collective(word) ? Status() : wrong(line, fmt::format("{} is no collective", in_quotes(word)));
    }
    const PlainKey* const plain = plain_key(key);
    const bool is_numbered = plain == nullptr && numbered_question(key).has_value();
    if (plain == nullptr && !is_numbered)
      return wrong(line, fmt::format("{} is no operator of MPICH's", in_quotes(key)));
    if (is_last && (is_numbered || plain->wants_other))
      return wrong(line, fmt::format("{} has nothing behind it for all other cases", in_quotes(key)));
    return {};
  }

  std::string place_;
};

// --- asking

bool holds(const NumberedQuestion& question, const MpichCall& call) {
  const std::uint64_t blocks = num_blocks(call.collective, call.ranks);
  const bool is_total_alone = facts_of(call.collective).many_inputs != facts_of(call.collective).many_outputs;
  std::uint64_t value = 0;
  switch (question.key->of) {
    case Numbered::ranks: value = call.ranks; break;
    case Numbered::average_bytes: value = call.bytes / blocks; break;
    case Numbered::total_bytes: value = is_total_alone || blocks > 1 ? call.bytes : call.bytes * call.ranks; break;
    case Numbered::count: value = call.bytes; break;  // of single bytes
    case Numbered::ranks_of_node: value = call.is_parent ? call.ranks : kNoEnd; break;
  }
  return question.key->includes ? value <= question.number : value < question.number;
}

bool holds(const std::string& key, const MpichCall& call) {
  if (is_any(key)) return true;
  if (key.starts_with(kCollectiveKey)) return key.substr(kCollectiveKey.size()) == mpich_word_of(call.collective);
  if (const PlainKey* const plain = plain_key(key)) return plain->holds(call);
  const std::optional<NumberedQuestion> question = numbered_question(key);
  return question && holds(*question, call);
}

}  // namespace

Result<std::string> MpichSelection::find(const MpichCall& call) const {
  for (const TomlTable* node = &tree_; node != nullptr;) {
    const TomlTable* next = nullptr;
    for (const TomlEntry& entry : node->entries) {
      const std::string key = without_blanks(entry.key);
      if (const std::string_view leaf = leaf_of(key); !leaf.empty()) return std::string(leaf);
      if (!holds(key, call)) continue;
      next = std::get_if<TomlTable>(&entry.value.value);
      break;
    }
    node = next;
  }
  return Status(Code::unsupported, fmt::format("nothing is selected for {} of {} bytes on {} ranks",
                                               name_of(call.collective), call.bytes, call.ranks));
}

Result<MpichSelection> read_mpich_selection(std::string_view text, std::string_view place) {
  TUTTI_TRY_ASSIGN(TomlTable tree, parse_json(text, place));
  TUTTI_TRY(SelectionCheck(place).check(tree, 1));
  return MpichSelection(std::move(tree));
}

Result<std::string> selection_in_library(std::string_view library, std::string_view place) {
  constexpr std::string_view kBegin = "{\"collective=";
  constexpr std::string_view kOwnSections = "\"algorithm=MPIR_";
  // A device has trees of its own, which are not complete.
  std::string_view longest;
  for (std::size_t at = library.find(kBegin); at != std::string_view::npos; at = library.find(kBegin, at + 1)) {
    const std::string_view text = library.substr(at, std::min(library.find('\0', at), library.size()) - at);
    if (text.find(kOwnSections) != std::string_view::npos && text.size() > longest.size()) longest = text;
  }
  if (longest.empty())
    return Status(Code::unsupported, fmt::format("{} has no selection of algorithms built in", printable(place)));
  return std::string(longest);
}

}  // namespace tutti::tune
