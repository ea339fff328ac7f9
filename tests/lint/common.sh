# SPDX-License-Identifier: Apache-2.0
# Sourced by every check. A check looks at the tree named by its first argument, or at the one it stands in; prints
# what is wrong as file:line: words; and exits with 0 (right), 1 (wrong) or 77 (its tool is not installed).
# shellcheck shell=bash
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "${root:-$here/../..}" || exit

# Files that are tracked, or would be by `git add .`; without git, all but the build's.
project_files() {
  { git ls-files --cached --others --exclude-standard 2>/dev/null || find . -type f -printf '%P\n'; } |
    grep -vE '^(\.git|build|\.cache)/' | sort -u |
    while IFS= read -r file; do if [[ -f $file ]]; then printf '%s\n' "$file"; fi; done
}

# The project's files whose paths match an extended regular expression; none is no error.
files_matching() { project_files | grep -E "$1" || true; }

scripts() {
  local file first
  project_files | while IFS= read -r file; do
    IFS= read -r -n 64 first <"$file" 2>/dev/null || true
    if [[ $first == '#!'*sh || $file == *.sh ]]; then printf '%s\n' "$file"; fi
  done
}

need_tool() {
  if ! command -v "$1" >/dev/null; then
    echo "$1 is not installed: not checked" >&2
    exit 77
  fi
}
