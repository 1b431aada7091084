#include "not_loaded.h"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "library.h"

extern char** environ;

namespace belay::tool {

namespace {

class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    struct stat facts {};
    if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0) {
      size_t bytes = static_cast<size_t>(facts.st_size);
      void* memory = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
      if (memory != MAP_FAILED) text_ = {static_cast<const char*>(memory), bytes};
      is_setuid_ = (facts.st_mode & (S_ISUID | S_ISGID)) != 0;
    }
    close(fd);
  }
  ~MappedFile() {
    if (!text_.empty()) munmap(const_cast<char*>(text_.data()), text_.size());
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view text() const { return text_; }
  bool is_setuid() const { return is_setuid_; }

 private:
  std::string_view text_;
  bool is_setuid_ = false;
};

struct ElfFacts {
  bool is_elf = false;
  bool is_dynamic = false;
  std::vector<std::string> needed;
  std::string rpath;
  std::string runpath;
};

// A copy of the T at `offset`; all zero if the file ends before.
template <class T>
T Read(std::string_view file, uint64_t offset) {
  T value{};
  if (offset <= file.size() && sizeof(T) <= file.size() - offset)
    memcpy(&value, file.data() + offset, sizeof(T));
  return value;
}

ElfFacts ReadElf(std::string_view file) {
  ElfFacts facts;
  if (!file.starts_with(ELFMAG) || file.size() < sizeof(Elf64_Ehdr) || file[EI_CLASS] != ELFCLASS64)
    return facts;
  facts.is_elf = true;
  const auto header = Read<Elf64_Ehdr>(file, 0);
  std::vector<Elf64_Phdr> segments;
  for (int i = 0; i < header.e_phnum; ++i) {
    segments.push_back(
        Read<Elf64_Phdr>(file, header.e_phoff + static_cast<uint64_t>(i) * header.e_phentsize));
  }
  auto file_offset = [&](uint64_t address) -> uint64_t {
    for (const auto& segment : segments) {
      bool holds = address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz;
      if (segment.p_type == PT_LOAD && holds) return segment.p_offset + (address - segment.p_vaddr);
    }
    return file.size();
  };
  std::vector<Elf64_Dyn> entries;
  uint64_t names = file.size();
  for (const auto& segment : segments) {
    if (segment.p_type == PT_INTERP) facts.is_dynamic = true;
    if (segment.p_type != PT_DYNAMIC) continue;
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment.p_filesz; at += sizeof(Elf64_Dyn)) {
      entries.push_back(Read<Elf64_Dyn>(file, segment.p_offset + at));
      if (entries.back().d_tag == DT_STRTAB) names = file_offset(entries.back().d_un.d_ptr);
    }
  }
  auto name_at = [&](uint64_t index) -> std::string {
    if (names >= file.size() || index >= file.size() - names) return "";
    std::string_view rest = file.substr(names + index, PATH_MAX);
    return std::string(rest.substr(0, rest.find('\0')));
  };
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag == DT_NEEDED) facts.needed.push_back(name_at(entry.d_un.d_val));
    if (entry.d_tag == DT_RPATH) facts.rpath = name_at(entry.d_un.d_val);
    if (entry.d_tag == DT_RUNPATH) facts.runpath = name_at(entry.d_un.d_val);
  }
  return facts;
}

std::string BaseName(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// Client builds link one of several names of the one library.
bool IsOurName(const std::string& path) {
  const std::string name = BaseName(path);
  return name.starts_with("libascendcl.so") || name.starts_with("libacl_rt.so");
}

// Texts of a binary that name the library with a directory: what it would hand to dlopen.
std::vector<std::string> PathsInside(std::string_view file) {
  std::vector<std::string> paths;
  for (size_t at = file.find(kLibraryName); at != std::string_view::npos;
       at = file.find(kLibraryName, at + 1)) {
    size_t first = at;
    while (first > 0 && at - first < 1024 && std::isgraph(static_cast<unsigned char>(file[first - 1])))
      --first;
    std::string path(file.substr(first, at - first + std::string_view(kLibraryName).size()));
    if (path.find('/') != std::string::npos && std::find(paths.begin(), paths.end(), path) == paths.end()) {
      paths.push_back(path);
    }
  }
  return paths;
}

// What the dynamic loader resolves the library to: it lists, and does not run the program, when this variable
// is set.
std::vector<std::string> AskLoader(const std::string& program, const std::string& search_path) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with("LD_LIBRARY_PATH=")) variables.emplace_back(*variable);
  }
  variables.push_back("LD_LIBRARY_PATH=" + search_path);
  variables.emplace_back("LD_TRACE_LOADED_OBJECTS=1");
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);

  int out[2];
  if (pipe2(out, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  char* words[] = {const_cast<char*>(program.c_str()), nullptr};
  pid_t child = 0;
  const bool started =
      posix_spawn(&child, program.c_str(), &actions, nullptr, words, environment.data()) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(out[1]);
  std::string text;
  char block[4096];
  for (ssize_t length; started && (length = read(out[0], block, sizeof block)) > 0;) {
    text.append(block, static_cast<size_t>(length));
  }
  close(out[0]);
  if (started) waitpid(child, nullptr, 0);

  // "\tlibx.so => /path/libx.so (0x...)", "\t/path/libx.so (0x...)" or "\tlibx.so => not found".
  std::vector<std::string> found;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    line.erase(0, line.find_first_not_of(" \t") == std::string::npos ? 0 : line.find_first_not_of(" \t"));
    const size_t arrow = line.find(" => ");
    if (!IsOurName(line.substr(0, std::min(arrow, line.find(" ("))))) continue;
    std::string path = arrow == std::string::npos ? line : line.substr(arrow + 4);
    found.push_back(path.substr(0, path.find(" (")));
  }
  return found;
}

std::string ExplainScript(std::string_view text) {
  std::string_view line = text.substr(2, text.find('\n') - 2);
  return " '" + std::string(line.substr(std::min(line.find_first_not_of(' '), line.size()))) +
         "' runs it as a script; nothing that it ran linked the library or opened it with dlopen.";
}

}  // namespace

std::string ExplainNotLoaded(const std::string& program, const std::string& library_directory,
                             const std::string& search_path) {
  const std::string ours = library_directory + "/" + kLibraryName;
  std::string answer = "no process of this run loaded " + ours + ".";
  MappedFile file(program);
  if (file.text().starts_with("#!")) return answer + ExplainScript(file.text());
  const ElfFacts facts = ReadElf(file.text());
  if (!facts.is_elf) return answer + " '" + program + "' is no 64-bit ELF program.";

  const std::vector<std::string> inside = PathsInside(file.text());
  std::string opens;
  for (const std::string& path : inside) opens += (opens.empty() ? "'" : ", '") + path + "'";
  if (!facts.is_dynamic) {
    return answer + " '" + program + "' is linked statically: link it with " + kLibraryName + " of " +
           library_directory + " instead.";
  }
  if (file.is_setuid()) {
    return answer + " '" + program +
           "' runs with the rights of another user or group, so the loader ignores LD_LIBRARY_PATH: run a "
           "copy "
           "without these rights.";
  }
  for (const std::string& needed : facts.needed) {
    if (needed.find('/') == std::string::npos || !IsOurName(needed)) continue;
    return answer + " '" + program + "' names '" + needed +
           "' with its directory, which no search path overrides: link it again with -L" + library_directory +
           " -lascendcl, or run `patchelf --replace-needed " + needed + " " + kLibraryName + " " + program +
           "`.";
  }
  for (const std::string& path : AskLoader(program, search_path)) {
    if (path == "not found") return answer + " The loader does not find the library: is " + ours + " there?";
    char real[PATH_MAX];
    char own[PATH_MAX];
    bool same = realpath(path.c_str(), real) != nullptr && realpath(ours.c_str(), own) != nullptr &&
                strcmp(real, own) == 0;
    if (same) {
      return answer + " The loader would take it, but the program ended before: did it fail to start?";
    }
    std::string why = " The loader took '" + path + "' instead";
    if (!facts.rpath.empty()) {
      return answer + why + ", because of the RPATH '" + facts.rpath + "' in '" + program +
             "', which outranks LD_LIBRARY_PATH: run `patchelf --remove-rpath " + program +
             "`, or link with -Wl,--enable-new-dtags.";
    }
    return answer + why +
           ": a library between the two may have an RPATH, or LD_PRELOAD names it (readelf -d shows "
           "them; `patchelf --remove-rpath FILE` mends).";
  }
  answer +=
      " '" + program + "' does not link " + kLibraryName + ", and nothing that it ran opened it with dlopen.";
  if (!opens.empty()) {
    answer += " It contains " + opens + ": a path with a directory is taken as it is, so let it open \"" +
              kLibraryName + "\" or " + ours + ".";
  } else {
    answer += " Link it with -L" + library_directory + " -lascendcl.";
  }
  return answer;
}

}  // namespace belay::tool
