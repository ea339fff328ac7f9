// SPDX-License-Identifier: Apache-2.0
#include "cli/launch/elf_symbols.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>

#include <elf.h>

#include "base/system/file.hpp"

namespace tutti::cli {

namespace {

constexpr std::size_t kMostFunctions = 1U << 20U;
constexpr std::uint64_t kMostProgramBytes = std::uint64_t{512} << 20U;

// A record of the file; zeros where it ends before.
template <typename Record>
Record record_at(std::string_view file, std::uint64_t offset) {
  Record record{};
  if (offset <= file.size() && file.size() - offset >= sizeof record)
    std::memcpy(&record, file.data() + offset, sizeof record);
  return record;
}

std::string text_at(std::string_view file, std::uint64_t offset) {
  if (offset >= file.size()) return {};
  constexpr std::size_t kMostName = 4096;
  const std::string_view rest = file.substr(offset, kMostName);
  return std::string(rest.substr(0, rest.find('\0')));
}

// The address that the first byte of the file is meant for.
std::uint64_t base_of(std::string_view file, const Elf64_Ehdr& header) {
  std::uint64_t base = std::numeric_limits<std::uint64_t>::max();
  for (std::uint64_t number = 0; number < header.e_phnum; ++number) {
    const auto segment = record_at<Elf64_Phdr>(file, header.e_phoff + number * sizeof(Elf64_Phdr));
    if (segment.p_type == PT_LOAD) base = std::min(base, segment.p_vaddr - segment.p_offset);
  }
  return base == std::numeric_limits<std::uint64_t>::max() ? 0 : base;
}

}  // namespace

ElfSymbols::Functions ElfSymbols::read(const std::string& path) {
  Functions functions;
  const Result<std::string> file = read_file(path, kMostProgramBytes);
  if (!file.ok() || !file->starts_with(ELFMAG) || file->size() < sizeof(Elf64_Ehdr) || (*file)[EI_CLASS] != ELFCLASS64)
    return functions;
  const auto header = record_at<Elf64_Ehdr>(*file, 0);
  const std::uint64_t base = base_of(*file, header);
  for (std::uint64_t number = 0; number < header.e_shnum; ++number) {
    const auto table = record_at<Elf64_Shdr>(*file, header.e_shoff + number * sizeof(Elf64_Shdr));
    if (table.sh_type != SHT_SYMTAB) continue;
    const auto names = record_at<Elf64_Shdr>(*file, header.e_shoff + table.sh_link * sizeof(Elf64_Shdr));
    const std::uint64_t most = std::min<std::uint64_t>(table.sh_size, file->size()) / sizeof(Elf64_Sym);
    for (std::uint64_t index = 0; index < most && functions.size() < kMostFunctions; ++index) {
      const auto symbol = record_at<Elf64_Sym>(*file, table.sh_offset + index * sizeof(Elf64_Sym));
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF || symbol.st_size == 0) continue;
      functions.push_back({symbol.st_value - base, symbol.st_value - base + symbol.st_size,
                           text_at(*file, names.sh_offset + symbol.st_name)});
    }
  }
  std::sort(functions.begin(), functions.end(), [](const Function& a, const Function& b) { return a.begin < b.begin; });
  return functions;
}

CallSite ElfSymbols::named(const CallSite& site) {
  if (site.module.empty() || site.offset == 0) return site;
  const auto [file, is_new] = files_.try_emplace(site.module);
  if (is_new) file->second = read(site.module);
  // The call lies before the address that it returns to.
  const std::uint64_t call = site.offset - 1;
  auto found = std::upper_bound(file->second.begin(), file->second.end(), call,
                                [](std::uint64_t offset, const Function& each) { return offset < each.begin; });
  if (found == file->second.begin() || (--found)->end <= call || found->name.empty()) return site;
  CallSite named = site;
  named.symbol = found->name;
  named.in_symbol = site.offset - found->begin;
  return named;
}

}  // namespace tutti::cli
