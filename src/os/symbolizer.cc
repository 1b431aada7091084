#include "os/symbolizer.h"

#include <cxxabi.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "os/thread.h"

#ifdef BELAY_HAVE_BACKTRACE
#include <backtrace.h>
#endif

namespace belay::os {

namespace {

struct Module {
  uint64_t pc = 0;
  bool found = false;
  bool is_program = false;
  uint64_t base = 0;
  uint64_t name_hash = 0;
};

struct ModuleQuery {
  Module module;
  Symbol* symbol = nullptr;
};

uint64_t HashName(const char* name) {
  uint64_t hash = 14695981039346656037u;
  for (; *name != '\0'; ++name) hash = (hash ^ static_cast<unsigned char>(*name)) * 1099511628211u;
  return hash;
}

int VisitModule(dl_phdr_info* info, size_t, void* data) {
  auto* query = static_cast<ModuleQuery*>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    uint64_t start = info->dlpi_addr + header.p_vaddr;
    if (query->module.pc < start || query->module.pc >= start + header.p_memsz) continue;
    query->module.found = true;
    query->module.base = info->dlpi_addr;
    query->module.is_program = info->dlpi_name == nullptr || info->dlpi_name[0] == '\0';
    query->module.name_hash = query->module.is_program ? 0 : HashName(info->dlpi_name);
    query->symbol->offset = query->module.pc - info->dlpi_addr;
    if (!query->module.is_program) query->symbol->module.Append(info->dlpi_name);
    return 1;
  }
  return 0;
}

// The loader's list has a lock that a fork copies as it is: a child whose parent was inside could never look
// at the list again. So a fork waits until nobody is inside, and who comes meanwhile waits for the fork.
class InsideLoader {
 public:
  InsideLoader() {
    // Bounded: a signal handler may have interrupted the fork.
    for (int64_t end = MonotonicNs() + kMostNs;;) {
      inside_.fetch_add(1, std::memory_order_seq_cst);
      if (!forking_.load(std::memory_order_seq_cst) || MonotonicNs() > end) return;
      inside_.fetch_sub(1, std::memory_order_seq_cst);
      sched_yield();
    }
  }
  ~InsideLoader() { inside_.fetch_sub(1, std::memory_order_seq_cst); }
  InsideLoader(const InsideLoader&) = delete;
  InsideLoader& operator=(const InsideLoader&) = delete;

 private:
  static constexpr int64_t kMostNs = 2'000'000'000;

  static void BeforeFork() {
    forking_.store(true, std::memory_order_seq_cst);
    for (int64_t end = MonotonicNs() + kMostNs; MonotonicNs() < end;) {
      if (inside_.load(std::memory_order_seq_cst) == 0) return;
      sched_yield();
    }
  }
  static void AfterForkInParent() { forking_.store(false, std::memory_order_seq_cst); }
  static void AfterForkInChild() {
    inside_.store(0, std::memory_order_seq_cst);
    forking_.store(false, std::memory_order_seq_cst);
  }

  static inline std::atomic<int> inside_{0};
  static inline std::atomic<bool> forking_{false};
  static inline const int registered_ = pthread_atfork(BeforeFork, AfterForkInParent, AfterForkInChild);
};

Module FindModule(uint64_t pc, Symbol* symbol) {
  ModuleQuery query;
  query.module.pc = pc;
  query.symbol = symbol;
  {
    InsideLoader inside;
    dl_iterate_phdr(VisitModule, &query);
  }
  if (query.module.found && query.module.is_program) {
    char path[256];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    if (length > 0) symbol->module.Append({path, static_cast<size_t>(length)});
  }
  return query.module;
}

#ifdef BELAY_HAVE_BACKTRACE

// One user at a time, never waited for without a bound. A plain word instead of a mutex: a handler that
// interrupts the owner must see that it is the owner itself, and a forked child may inherit it taken.
class Turn {
 public:
  explicit Turn() {
    const int32_t self = static_cast<int32_t>(syscall(SYS_gettid));
    constexpr int kTries = 4000;  // about two seconds; the owner may be reading large debug information
    for (int i = 0; i < kTries; ++i) {
      int32_t owner = 0;
      if (owner_.compare_exchange_strong(owner, self, std::memory_order_acquire)) {
        taken_ = true;
        return;
      }
      if (owner == self) return;
      timespec pause{.tv_sec = 0, .tv_nsec = 500'000};
      nanosleep(&pause, nullptr);
    }
  }
  ~Turn() {
    if (taken_) owner_.store(0, std::memory_order_release);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  bool taken() const { return taken_; }

 private:
  static inline std::atomic<int32_t> owner_ = 0;
  bool taken_ = false;
};

void IgnoreError(void*, const char*, int) {}

// The reader's state, and the modules that were loaded when it was made: it never looks for others again.
struct Reader {
  static constexpr int kMaxModules = 1024;
  // Each one reads the debug information of every module anew and keeps the old one mapped.
  static constexpr int kMaxStates = 32;

  backtrace_state* state = nullptr;
  int states = 0;
  int modules = 0;
  uint64_t bases[kMaxModules];
  uint64_t name_hashes[kMaxModules];

  bool Knows(const Module& module) const {
    for (int i = 0; i < modules; ++i) {
      if (bases[i] == module.base && name_hashes[i] == module.name_hash) return true;
    }
    return false;
  }

  static int Remember(dl_phdr_info* info, size_t, void* data) {
    auto* reader = static_cast<Reader*>(data);
    if (reader->modules == kMaxModules) return 1;
    bool is_program = info->dlpi_name == nullptr || info->dlpi_name[0] == '\0';
    reader->bases[reader->modules] = info->dlpi_addr;
    reader->name_hashes[reader->modules] = is_program ? 0 : HashName(info->dlpi_name);
    ++reader->modules;
    return 0;
  }

  bool Prepare(const Module& module) {
    if (state != nullptr && Knows(module)) return true;
    if (states == kMaxStates) return false;
    ++states;
    modules = 0;
    dl_iterate_phdr(Remember, this);
    state = backtrace_create_state(nullptr, /*threaded=*/0, IgnoreError, nullptr);
    return state != nullptr && Knows(module);
  }
};

Reader g_reader;

bool IsSystemHeader(std::string_view file) {
  return file.starts_with("/usr/include/") || file.starts_with("/usr/lib/gcc/") ||
         file.starts_with("/usr/bin/../lib/gcc/") || file.starts_with("/usr/lib/llvm");
}

struct FrameQuery {
  Symbol* symbol = nullptr;
  Text<512> mangled;
  bool found = false;
};

// Called from the innermost inlined frame outwards.
int VisitFrame(void* data, uintptr_t, const char* file, int line, const char* function) {
  auto* query = static_cast<FrameQuery*>(data);
  if (file == nullptr && function == nullptr) return 0;
  bool system = file != nullptr && IsSystemHeader(file);
  if (query->found && system) return 0;
  query->symbol->file.clear();
  query->mangled.clear();
  if (file != nullptr) query->symbol->file.Append(file);
  if (function != nullptr) query->mangled.Append(function);
  query->symbol->line = line > 0 ? static_cast<uint32_t>(line) : 0;
  query->found = true;
  return system ? 0 : 1;
}

void VisitName(void* data, uintptr_t, const char* name, uintptr_t, uintptr_t) {
  auto* query = static_cast<FrameQuery*>(data);
  if (name != nullptr && query->mangled.empty()) query->mangled.Append(name);
}

// The qualified name of a function that is no template, without its parameters: "_ZN5train4stepEPf" gives
// "train::step". Allocates nothing.
bool PlainName(std::string_view mangled, Text<256>* out) {
  if (!mangled.starts_with("_Z")) return false;
  mangled.remove_prefix(2);
  bool nested = mangled.starts_with("N");
  if (nested) mangled.remove_prefix(mangled.starts_with("NK") ? 2 : 1);
  if (mangled.starts_with("L")) mangled.remove_prefix(1);  // a static function
  Text<256> name;
  do {
    size_t digits = 0;
    size_t length = 0;
    while (digits < mangled.size() && mangled[digits] >= '0' && mangled[digits] <= '9' && digits < 4) {
      length = length * 10 + static_cast<size_t>(mangled[digits++] - '0');
    }
    if (length == 0 || digits + length > mangled.size()) return false;
    std::string_view part = mangled.substr(digits, length);
    mangled.remove_prefix(digits + length);
    if (!name.empty()) name.Append("::");
    name.Append(part.starts_with("_GLOBAL__N_") ? "(anonymous namespace)" : part);
    if (mangled.starts_with("I") || mangled.starts_with("B")) return false;  // template arguments, ABI tags
  } while (nested && !mangled.starts_with("E"));
  out->Append(name.view());
  return true;
}

void DropParameters(char* name) {
  size_t length = std::string_view(name).size();
  if (length > 6 && std::string_view(name).ends_with(" const")) length -= 6;
  if (length == 0 || name[length - 1] != ')') return;
  int depth = 0;
  for (size_t i = length; i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) {
      if (i > 0) name[i] = '\0';
      return;
    }
  }
}

void SetFunction(const char* mangled, SymbolContext context, Symbol* symbol) {
  if (PlainName(mangled, &symbol->function)) return;
  char* readable = nullptr;
  if (context == SymbolContext::kNormal && mangled[0] == '_' && mangled[1] == 'Z') {
    readable = abi::__cxa_demangle(mangled, nullptr, nullptr, nullptr);
  }
  if (readable != nullptr) DropParameters(readable);
  symbol->function.Append(readable != nullptr ? readable : mangled);
  free(readable);
}

void ReadDebugInfo(const Module& module, SymbolContext context, Symbol* symbol) {
  FrameQuery query;
  query.symbol = symbol;
  {
    Turn turn;
    InsideLoader inside;  // the library looks at the list too, and reads files while it does
    if (!turn.taken() || !g_reader.Prepare(module)) return;
    backtrace_pcinfo(g_reader.state, module.pc, VisitFrame, IgnoreError, &query);
    if (query.mangled.empty()) backtrace_syminfo(g_reader.state, module.pc, VisitName, IgnoreError, &query);
  }
  if (!query.mangled.empty()) SetFunction(query.mangled.c_str(), context, symbol);
}

#endif

}  // namespace

Symbol Symbolize(uint64_t return_address, SymbolContext context) {
  Symbol symbol;
  if (return_address == 0) return symbol;
  Module module = FindModule(return_address - 1, &symbol);
  if (!module.found) return symbol;
#ifdef BELAY_HAVE_BACKTRACE
  ReadDebugInfo(module, context, &symbol);
#else
  static_cast<void>(context);
#endif
  return symbol;
}

bool HasDebugInfoReader() {
#ifdef BELAY_HAVE_BACKTRACE
  return true;
#else
  return false;
#endif
}

}  // namespace belay::os
