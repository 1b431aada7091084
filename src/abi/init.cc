// aclInit, aclFinalize and the functions that the program has called by them: SPEC 10 §§1, 2.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "abi/call.h"
#include "base/thread_annotations.h"
#include "belay/abi/bodies.h"
#include "options/text_file.h"
#include "runtime/init_config.h"
#include "trace/app_log.h"

namespace belay::abi::body {
using check::FindingId;
using runtime::InitConfig;
using runtime::Runtime;

namespace {
constexpr off_t kMostBytes = 10 << 20;  // SPEC 10 §1.2

// What initialising and finalising share. Leaked, like the runtime.
struct LifeState {
  template <class Function>
  struct Entry {
    aclRegisterCallbackType type;
    Function function;
    void* argument;
  };
  Mutex mutex;  // SPEC 10 §1: serialises the calls, the program's functions included
  std::string text BELAY_GUARDED_BY(mutex);       // of the configuration in force
  std::string canonical BELAY_GUARDED_BY(mutex);  // the same, for comparing
  std::vector<Entry<aclInitCallbackFunc>> at_init BELAY_GUARDED_BY(mutex);
  std::vector<Entry<aclFinalizeCallbackFunc>> at_finalize BELAY_GUARDED_BY(mutex);
};
LifeState& State() {
  static auto* state = new LifeState;
  return *state;
}

// Whether the calling thread is inside a function of the program that runs under the lock.
thread_local bool t_inside = false;

struct Inside {
  Inside() { t_inside = true; }
  ~Inside() { t_inside = false; }
};

// SPEC 10 §1.3
Status NeedOutside(const Call& call) {
  if (!t_inside) return Status();
  return call.Refuse(code::kInternal, FindingId::kCallbackMisuse)
      .Say("%s is called inside an initialise or finalise callback", call.name())
      .Rule("Such a callback neither initialises, finalises, registers nor unregisters (SPEC 10 §1.3)")
      .Fix("call it after the callback has returned")
      .End();
}

Status RefuseFile(const Call& call, int32_t code, const std::string& path, const std::string& why) {
  return call.Refuse(code, FindingId::kBadArgument)
      .Say("configPath \"%s\": %s", path.c_str(), why.c_str())
      .Rule("The configuration is a readable JSON file with an object at top level (SPEC 10 §1.2)")
      .Fix("correct the path or the file, or pass a null pointer for the defaults")
      .End();
}

// SPEC 10 §1: relative to the working directory, or, if it is not there, to the program's.
std::string Located(const char* path) {
  struct stat info;
  if (*path == '/' || stat(path, &info) == 0) return path;
  char program[4096];
  ssize_t length = readlink("/proc/self/exe", program, sizeof(program));
  if (length <= 0) return path;
  std::string beside(program, static_cast<size_t>(length));
  beside = beside.substr(0, beside.rfind('/') + 1) + path;
  return stat(beside.c_str(), &info) == 0 ? beside : path;
}

Status ReadText(const Call& call, const std::string& path, std::string* text) {
  const int32_t unreadable = call.machine().quirks().init_bad_path_code;
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return RefuseFile(call, unreadable, path, strerror(errno));
  if (S_ISDIR(info.st_mode)) return RefuseFile(call, unreadable, path, "is a directory");
  if (info.st_size > kMostBytes)
    return RefuseFile(call, code::kInvalidFileSize, path, "is larger than 10 MiB");
  FILE* file = fopen(path.c_str(), "re");
  if (file == nullptr) return RefuseFile(call, unreadable, path, strerror(errno));
  char room[4096];
  for (size_t got; (got = fread(room, 1, sizeof(room), file)) != 0;) text->append(room, got);
  bool failed = ferror(file) != 0;
  fclose(file);
  return failed ? RefuseFile(call, unreadable, path, "cannot be read") : Status();
}

Status ReadConfiguration(const Call& call, const char* path, std::string* text, InitConfig* config) {
  config->canonical = "{}";
  if (path == nullptr) return Status();
  const std::string located = Located(path);
  BELAY_TRY(ReadText(call, located, text));
  auto parsed = runtime::ParseInitConfig(*text);
  if (!parsed) return RefuseFile(call, parsed.error().code, located, parsed.error().why);
  *config = std::move(*parsed);
  return Status();
}

// What the file asks for and Belay does not do.
void NoteUnused(const Call& call, const InitConfig& config) {
  if (config.dumps) {
    call.Note(FindingId::kUnsupported)
        .Say("the configuration switches a dump on, and nothing is dumped")
        .Rule("A dump that aclInit's file switches on is reported, and aclInit goes on (SPEC 11 §7.4)")
        .Fix("do not rely on dump files in this run")
        .Send();
  }
  if (config.ignored.empty()) return;
  std::string keys;
  for (const std::string& key : config.ignored) keys += (keys.empty() ? "" : ", ") + key;
  trace::AppLog::Get().Write("BELAY", trace::AppLog::kDebug, {"aclInit", "init.cc", 0},
                             "keys without effect in the configuration: %s", keys.c_str());
}

// SPEC 10 §1: not an error, but only the first configuration holds.
void NoteOtherConfiguration(const Call& call, const char* path, const std::string& in_force) {
  std::string canonical = "{}";
  if (path != nullptr) {
    auto text = options::ReadTextFile(Located(path));
    auto parsed = runtime::ParseInitConfig(text.value_or(""));
    canonical = parsed ? parsed->canonical : "";
  }
  if (canonical == in_force) return;
  call.Note(FindingId::kBadArgument)
      .As(check::Severity::kWarning)
      .Say("aclInit is repeated with another configuration (\"%s\"), which has no effect",
           path != nullptr ? path : "null")
      .Rule("The first configuration stays in force until the process is finalised (SPEC 10 §1)")
      .Fix("pass the same configuration to every aclInit")
      .Send();
}

Status RefuseRepeat(const Call& call) {
  return call.Refuse(code::kRepeatInitialize, FindingId::kBadArgument)
      .Say("the process is initialised already")
      .Benign()
      .Plain()
      .End();
}

// The code that a function of the program gave back.
Status RefuseByCallback(const Call& call, int32_t code, const char* kind, int type) {
  return call.Refuse(code, FindingId::kCallbackMisuse)
      .As(check::Severity::kNote)
      .Say("the %s callback of type %d returned %d", kind, type, code)
      .Rule("What such a callback returns is what the call returns (SPEC 10 §1.3)")
      .Fix("look into the callback")
      .End();
}
}  // namespace

Status aclInit(Call& call, const char* configPath) {
  BELAY_TRY(NeedOutside(call));
  call.runtime().NoteFirstCall(call.now());
  LifeState& state = State();
  MutexLock lock(state.mutex);
  if (call.runtime().initialised()) {
    NoteOtherConfiguration(call, configPath, state.canonical);
    static_cast<void>(call.runtime().Init({}));  // counts
    return RefuseRepeat(call);
  }
  std::string text;
  InitConfig config;
  BELAY_TRY(ReadConfiguration(call, configPath, &text, &config));
  if (call.runtime().Init(config) != Runtime::InitResult::kFirst) return RefuseRepeat(call);
  state.text = std::move(text);
  state.canonical = config.canonical;
  NoteUnused(call, config);
  for (const auto& entry : state.at_init) {
    int32_t code;
    {
      Inside inside;
      code = entry.function(state.text.c_str(), state.text.size(), entry.argument);
    }
    if (code == 0) continue;
    call.runtime().UndoInit(call.now());
    return RefuseByCallback(call, code, "initialise", entry.type);
  }
  return Status();
}

namespace {
// SPEC 10 §2.3: all of them run, the latest first; the first code that is not 0 is the call's.
Status RunAtFinalize(const Call& call, LifeState& state) BELAY_REQUIRES(state.mutex) {
  Status first;
  for (auto entry = state.at_finalize.rbegin(); entry != state.at_finalize.rend(); ++entry) {
    int32_t code;
    {
      Inside inside;
      code = entry->function(entry->argument);
    }
    if (code == 0) continue;
    Status refused = RefuseByCallback(call, code, "finalise", entry->type);
    if (first.ok()) first = refused;
  }
  return first;
}

Status Finalize(Call& call, bool all, uint64_t* left) {
  BELAY_TRY(NeedOutside(call));
  LifeState& state = State();
  MutexLock lock(state.mutex);
  Status callbacks;
  if (call.runtime().WouldFinalize(all)) callbacks = RunAtFinalize(call, state);
  switch (call.runtime().Finalize(all, call.now(), left)) {
    case Runtime::FinalizeResult::kDone:
    case Runtime::FinalizeResult::kStillReferenced:
      return callbacks;
    case Runtime::FinalizeResult::kNeverInitialised:
      return call.Refuse(code::kUninitialized, FindingId::kBadArgument)
          .Say("%s without a successful aclInit", call.name())
          .Rule("Finalising ends what aclInit began (SPEC 10 §2.2)")
          .Fix("call aclInit first, or leave out %s", call.name())
          .End();
    case Runtime::FinalizeResult::kAlreadyFinalised:
      return call.Refuse(code::kRepeatFinalize, FindingId::kAfterFinalize)
          .Say("the runtime was finalised before")
          .Rule("Each initialisation is finalised once (SPEC 10 §2.2)")
          .Fix("leave out the second %s", call.name())
          .With("finalised", call.runtime().finalised())
          .End();
  }
  return Status();
}
}  // namespace

Status aclFinalize(Call& call) {
  uint64_t left = 0;
  return Finalize(call, true, &left);
}

Status aclFinalizeReference(Call& call, uint64_t* refCount) {
  uint64_t left = 0;
  Status status = Finalize(call, false, &left);
  if (refCount != nullptr) *refCount = left;  // SPEC 10 §2.2: also when refused
  return status;
}

// --- Callbacks (SPEC 10 §1.3)

namespace {
Status NeedCallback(const Call& call, aclRegisterCallbackType type, bool has_function) {
  if (!has_function) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("cbFunc is a null pointer")
        .Rule("A required pointer must not be null (SPEC 00 rule 1)")
        .Fix("pass the function that is to be called")
        .End();
  }
  if ((type < ACL_REG_TYPE_ACL_MODEL || type > ACL_REG_TYPE_ACL_RETR) && type != ACL_REG_TYPE_OTHER) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("type is %d", static_cast<int>(type))
        .Rule("The types are 0 to 7 and 65535 (SPEC 10 §1.3)")
        .Fix("pass a value of aclRegisterCallbackType")
        .End();
  }
  return NeedOutside(call);
}

template <class Entries, class Function>
auto FindEntry(Entries& entries, aclRegisterCallbackType type, Function function) {
  return std::find_if(entries.begin(), entries.end(),
                      [&](const auto& entry) { return entry.type == type && entry.function == function; });
}

Status RefusePair(const Call& call, aclRegisterCallbackType type, bool known) {
  return call.Refuse(code::kRtParam, FindingId::kBadArgument)
      .Say("this function is %s with type %d", known ? "registered already" : "not registered",
           static_cast<int>(type))
      .Rule("A pair of type and function is registered once and removed once (SPEC 10 §1.3)")
      .Fix(known ? "register it once" : "pass type and function as they were registered")
      .End();
}

template <class Entries, class Function>
Status Remove(const Call& call, Entries& entries, aclRegisterCallbackType type, Function function) {
  auto found = FindEntry(entries, type, function);
  if (found == entries.end()) return RefusePair(call, type, false);
  entries.erase(found);
  return Status();
}
}  // namespace

Status aclInitCallbackRegister(Call& call, aclRegisterCallbackType type, aclInitCallbackFunc cbFunc,
                               void* userData) {
  BELAY_TRY(NeedCallback(call, type, cbFunc != nullptr));
  LifeState& state = State();
  MutexLock lock(state.mutex);
  if (FindEntry(state.at_init, type, cbFunc) != state.at_init.end()) return RefusePair(call, type, true);
  if (call.runtime().initialised()) {
    int32_t code;
    {
      Inside inside;
      code = cbFunc(state.text.c_str(), state.text.size(), userData);
    }
    if (code != 0) return RefuseByCallback(call, code, "initialise", type);
  }
  state.at_init.push_back({type, cbFunc, userData});
  return Status();
}

Status aclInitCallbackUnRegister(Call& call, aclRegisterCallbackType type, aclInitCallbackFunc cbFunc) {
  BELAY_TRY(NeedCallback(call, type, cbFunc != nullptr));
  LifeState& state = State();
  MutexLock lock(state.mutex);
  return Remove(call, state.at_init, type, cbFunc);
}

Status aclFinalizeCallbackRegister(Call& call, aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc,
                                   void* userData) {
  BELAY_TRY(NeedCallback(call, type, cbFunc != nullptr));
  LifeState& state = State();
  MutexLock lock(state.mutex);
  if (FindEntry(state.at_finalize, type, cbFunc) != state.at_finalize.end())
    return RefusePair(call, type, true);
  state.at_finalize.push_back({type, cbFunc, userData});
  return Status();
}

Status aclFinalizeCallbackUnRegister(Call& call, aclRegisterCallbackType type,
                                     aclFinalizeCallbackFunc cbFunc) {
  BELAY_TRY(NeedCallback(call, type, cbFunc != nullptr));
  LifeState& state = State();
  MutexLock lock(state.mutex);
  return Remove(call, state.at_finalize, type, cbFunc);
}

}  // namespace belay::abi::body
