// SPDX-License-Identifier: Apache-2.0
// `tutti man`: the manual page, made from what --help shows.
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/text.hpp"
#include "base/variables/variables_table.hpp"
#include "cli/description.hpp"
#include "cli/output.hpp"
#include "cli/shell/shell_commands.hpp"

namespace tutti::cli {

namespace {

// The code point that begins there; moves on behind it. The text is UTF-8 of this program's own.
char32_t next_character(std::string_view text, std::size_t& at) {
  const auto first = static_cast<unsigned char>(text[at++]);
  if (first < 0x80) return first;
  const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  char32_t code = first & (0x3FU >> static_cast<unsigned>(more));
  for (int i = 0; i < more && at < text.size(); ++i)
    code = code << 6U | (static_cast<unsigned char>(text[at++]) & 0x3FU);
  return code;
}

// As plain text for troff, where a line that begins with a dot or an apostrophe is a request.
std::string escaped(std::string_view text) {
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins_line = made.empty() || made.back() == '\n';
    const char32_t code = next_character(text, at);
    if (code >= 0x80) {
      made += fmt::format("\\[u{:04X}]", static_cast<std::uint32_t>(code));
    } else if (code == '\\') {
      made += "\\e";
    } else if (code == '-') {
      made += "\\-";
    } else if (code == '\'') {
      made += "\\(aq";
    } else if (code == '.' && begins_line) {
      made += "\\&.";
    } else {
      made += static_cast<char>(code);
    }
  }
  return made;
}

std::string page_of(const CommandDescription& command) {
  std::string text = fmt::format(".SS tutti {}\n{}.\n.PP\n.B tutti {}\n", escaped(command.name),
                                 escaped(command.summary), escaped(command.usage));
  std::string group = "Options";
  for (const OptionDescription& option : command.options) {
    if (!option.is_positional && option.group != group) {
      group = option.group;
      text += fmt::format(".PP\n{}:\n", escaped(group));
    }
    text += fmt::format(".TP\n.B {}\n{}\n", escaped(option.heading()), escaped(option.help));
  }
  text += ".PP\nExamples:\n.PP\n.nf\n";
  for (const std::string& example : command.examples) text += escaped("  " + example) + "\n";
  return text + ".fi\n";
}

std::string man_page(std::span<const Command> commands) {
  std::string text = fmt::format(".TH TUTTI 1 \"\" \"Tutti {}\" \"User Commands\"\n", TUTTI_VERSION);
  text +=
      ".SH NAME\ntutti \\- measure, prove, simulate and start collective operations\n"
      ".SH SYNOPSIS\n.B tutti\n.I COMMAND\n[\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]\n.br\n.B tutti help\n.I COMMAND\n"
      ".SH DESCRIPTION\n"
      "Tutti does collective operations between processes, and looks for the fastest way to do each on the machine at "
      "hand.\nThis program measures Tutti and other libraries side by side, proves algorithms, simulates them on "
      "machines that are described, and starts the ranks of a program.\n"
      ".SH COMMANDS\n";
  for (const CommandDescription& command : describe_all(commands)) text += page_of(command);
  text += ".SH ENVIRONMENT\n";
  for (const VariableRow& row : kVariables)
    text += fmt::format(".TP\n.B {}\n{}\n", escaped(row.name), escaped(row.meaning));
  text +=
      ".SH EXIT STATUS\n"
      ".TP\n.B 0\nDone.\n"
      ".TP\n.B 1\nA check failed, or the system refused: a file is missing or cannot be written, a disk is full, a "
      "limit is reached.\n"
      ".TP\n.B 2\nThe program was called wrongly: an option, a value, or the text of a file.\n"
      ".TP\n.B 130, 143\nSIGINT or SIGTERM interrupted it. Earlier measurements are kept.\n"
      ".PP\n.B tutti launch\npasses on the exit status of the ranks.\n"
      ".SH FILES\n.TP\n.I ~/.config/tutti/tutti.conf, /etc/tutti.conf\nVariables.\n"
      ".TP\n.I ~/.local/share/tutti/results.db\nResults of runs.\n";
  return text;
}

}  // namespace

Command man_command(std::span<const Command> commands) {
  return {.name = "man",
          .summary = "Print the manual page; an installation shows it with 'man tutti'",
          .examples = "tutti man -o tutti.1\ntutti man | man -l -",
          .define = [commands](CLI::App& app) -> Run {
            const auto output = std::make_shared<OutputOptions>();
            app.add_option("-o,--output", output->path, "Write it to this file instead of standard output")
                ->type_name("FILE")
                ->check(objection_to_file);
            return [commands, output](const Context& context) {
              const Status written = write_output(man_page(commands), *output, context);
              return written.ok() ? Exit::done : failed(context, "man", written);
            };
          }};
}

}  // namespace tutti::cli
