// SPDX-License-Identifier: Apache-2.0
#include "cli/shell/completion_scripts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tutti::cli {

namespace {

std::string names_of(std::span<const CompletedCommand> commands) {
  std::string names;
  for (const CompletedCommand& each : commands) names += (names.empty() ? "" : " ") + each.command.name;
  return names;
}

// For single quotes: 'it'\''s'.
std::string in_single_quotes(std::string_view text) {
  std::string made;
  for (const char c : text)
    if (c == '\'') {
      made += "'\\''";
    } else {
      made += c;
    }
  return made;
}

// --- bash

constexpr std::string_view kBashHead = R"(# bash completion for tutti, written by 'tutti completion bash'
_tutti() {
  local word=${COMP_WORDS[COMP_CWORD]} at=$COMP_CWORD before command='' each words='' kind=''
  COMPREPLY=()
  for each in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $each == -- ]]; then compopt -o default; return; fi
    if [[ -z $command && $each != -* ]]; then command=$each; fi
  done
  # --option=value comes as three words.
  if [[ $word == = ]]; then word=''; else at=$((at - 1)); fi
  before=${COMP_WORDS[at]}
  if [[ $before == = ]]; then at=$((at - 1)); before=${COMP_WORDS[at]}; fi
  if [[ $at != $((COMP_CWORD - 1)) && $before != -* ]]; then return; fi
  case "$command $before" in
)";

constexpr std::string_view kBashTail = R"(  esac
  local prefix=''
  case $kind in
    list) if [[ $word == *,* ]]; then prefix=${word%,*},; fi ;;
    goes_on) compopt -o nospace ;;
    file) compopt -o default ;;
    folder) compopt -o dirnames ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -P "$prefix" -- "${word#"$prefix"}")
}
complete -F _tutti tutti
)";

std::string bash_set(const Completion& value) {
  const std::string_view kind = value.is_list       ? " kind=list"
                                : value.goes_on     ? " kind=goes_on"
                                : value.has_files   ? " kind=file"
                                : value.has_folders ? " kind=folder"
                                                    : "";
  return fmt::format("words='{}'{}", in_single_quotes(fmt::format("{}", fmt::join(value.words, " "))), kind);
}

}  // namespace

std::string bash_completion(std::span<const CompletedCommand> commands) {
  std::string text(kBashHead);
  for (const CompletedCommand& each : commands)
    for (std::size_t i = 0; i < each.values.size(); ++i) {
      const OptionDescription& option = each.command.options[i];
      if (option.is_positional || option.is_flag()) continue;
      std::string patterns;
      for (const std::string& name : option.names)
        patterns += fmt::format("{}'{} {}'", patterns.empty() ? "" : " | ", each.command.name, name);
      text += fmt::format("    {}) {} ;;\n", patterns, bash_set(each.values[i]));
    }
  text += fmt::format("    ' '*) words='{} --help --version' ;;\n", names_of(commands));
  for (const CompletedCommand& each : commands) {
    Completion all;
    for (std::size_t i = 0; i < each.values.size(); ++i) {
      const OptionDescription& option = each.command.options[i];
      if (!option.is_positional) {
        all.words.insert(all.words.end(), option.names.begin(), option.names.end());
        continue;
      }
      all.words.insert(all.words.end(), each.values[i].words.begin(), each.values[i].words.end());
      all.has_files = all.has_files || each.values[i].has_files;
    }
    text += fmt::format("    '{} '*) {} ;;\n", each.command.name, bash_set(all));
  }
  return text + std::string(kBashTail);
}

// --- zsh

namespace {

// Within [...] and between colons of a specification for _arguments, in single quotes.
std::string zsh_text(std::string_view text) {
  std::string made;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') made += '\\';
    made += c;
  }
  return in_single_quotes(made);
}

std::string zsh_action(const Completion& value) {
  if (value.is_list) return fmt::format("_sequence compadd - {}", fmt::join(value.words, " "));
  if (value.goes_on) return fmt::format("compadd -S \"\" - {}", fmt::join(value.words, " "));
  if (value.has_files && value.words.empty()) return "_files";
  if (value.has_files)
    // The blank in front keeps _arguments from putting options in between; a bare colon would end the action.
    return fmt::format(R"zsh( _alternative "words\:word\:({})" "files\:file\:_files")zsh", fmt::join(value.words, " "));
  if (value.has_folders) return "_files -/";
  return value.words.empty() ? " " : fmt::format("({})", fmt::join(value.words, " "));
}

std::string zsh_argument(const OptionDescription& option, const Completion& value) {
  if (option.is_positional)
    return fmt::format("'{}:{}:{}'",
                       option.is_repeated   ? "*"
                       : option.is_required ? ""
                                            : ":",
                       zsh_text(option.names[0]), zsh_action(value));
  const std::string behind =
      fmt::format("[{}]{}", zsh_text(option.help),
                  option.is_flag() ? "" : fmt::format(":{}:{}", zsh_text(option.value), zsh_action(value)));
  std::string all;
  for (const std::string& name : option.names) {
    const std::string_view joined = option.is_flag() ? "" : name.starts_with("--") ? "=" : "+";
    all += fmt::format("{}'*{}{}{}'", all.empty() ? "" : " ", name, joined, behind);
  }
  return all;
}

}  // namespace

std::string zsh_completion(std::span<const CompletedCommand> commands) {
  std::string text =
      "#compdef tutti\n# zsh completion for tutti, written by 'tutti completion zsh'\n_tutti() {\n"
      "  local -i mark=$words[(i)--]\n"
      "  if (( mark < CURRENT )); then\n"
      "    words=(\"${(@)words[mark + 1,-1]}\")\n    (( CURRENT -= mark ))\n    _normal\n    return\n  fi\n"
      "  if (( CURRENT == 2 )); then\n    local -a commands=(\n";
  for (const CompletedCommand& each : commands)
    text += fmt::format("      '{}:{}'\n", each.command.name, zsh_text(each.command.summary));
  text +=
      "    )\n    _describe command commands\n    compadd - --help --version\n    return\n  fi\n"
      "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n";
  for (const CompletedCommand& each : commands) {
    text += fmt::format("    {})\n      _arguments", each.command.name);
    for (std::size_t i = 0; i < each.values.size(); ++i)
      text += fmt::format(" \\\n        {}", zsh_argument(each.command.options[i], each.values[i]));
    text += "\n      ;;\n";
  }
  return text + "  esac\n}\nif [[ $funcstack[1] == _tutti ]]; then _tutti \"$@\"; else compdef _tutti tutti; fi\n";
}

// --- fish

namespace {

std::string fish_text(std::string_view text) {
  std::string made;
  for (const char c : text) {
    if (c == '\'' || c == '\\') made += '\\';
    made += c;
  }
  return made;
}

std::string fish_values(const Completion& value) {
  std::string text = value.has_files || value.has_folders ? " -r -F" : " -x";
  if (value.is_list) return fmt::format(" -x -a '(__fish_append , {})'", fmt::join(value.words, " "));
  if (!value.words.empty()) text += fmt::format(" -a '{}'", fish_text(fmt::format("{}", fmt::join(value.words, " "))));
  return text;
}

}  // namespace

std::string fish_completion(std::span<const CompletedCommand> commands) {
  std::string text =
      "# fish completion for tutti, written by 'tutti completion fish'\n"
      "function __tutti_is_at_command\n  set -l words (commandline -opc)\n"
      "  test (count $words) -eq 1; or test \"$words[2..]\" = help\nend\n"
      "function __tutti_is_behind_mark\n  contains -- -- (commandline -opc)\nend\n"
      "function __tutti_is_in\n  set -l words (commandline -opc)\n"
      "  test \"$words[2]\" = $argv[1]; and not contains -- -- $words\nend\n"
      "complete -c tutti -f\n"
      "complete -c tutti -n __tutti_is_behind_mark -F\n"
      "complete -c tutti -n __tutti_is_at_command -l help -d 'Print this and exit'\n"
      "complete -c tutti -n __tutti_is_at_command -l version -d 'Print the version and exit'\n";
  for (const CompletedCommand& each : commands) {
    text += fmt::format("complete -c tutti -n __tutti_is_at_command -a {} -d '{}'\n", each.command.name,
                        fish_text(each.command.summary));
    for (std::size_t i = 0; i < each.values.size(); ++i) {
      const OptionDescription& option = each.command.options[i];
      const Completion& value = each.values[i];
      text += fmt::format("complete -c tutti -n '__tutti_is_in {}'", each.command.name);
      if (option.is_positional) {
        if (value.has_files) text += " -F";
        if (!value.words.empty())
          text += fmt::format(" -a '{}'", fish_text(fmt::format("{}", fmt::join(value.words, " "))));
        text += "\n";
        continue;
      }
      for (const std::string& name : option.names)
        text += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2)) : fmt::format(" -s {}", name.substr(1));
      if (!option.is_flag()) text += fish_values(value);
      text += fmt::format(" -d '{}'\n", fish_text(option.help));
    }
  }
  return text;
}

}  // namespace tutti::cli
