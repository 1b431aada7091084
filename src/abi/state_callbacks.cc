#include "abi/state_callbacks.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "base/thread_annotations.h"
#include "belay/abi/bodies.h"
#include "engine/callback_scope.h"

namespace belay::abi {
namespace {
using check::FindingId;

// The registered functions of one kind, in order of registration.
template <class Function>
class Registry {
 public:
  struct Entry {
    std::string name;
    Function function;
    void* argument;
  };

  bool empty() const { return count_.load(std::memory_order_acquire) == 0; }
  std::vector<Entry> All() {
    MutexLock lock(mutex_);
    return entries_;
  }
  // False when the name is taken, or unknown for a removal (`function` null).
  bool Put(const char* name, Function function, void* argument) {
    MutexLock lock(mutex_);
    auto found = std::find_if(entries_.begin(), entries_.end(),
                              [name](const Entry& entry) { return entry.name == name; });
    bool known = found != entries_.end();
    if (known == (function != nullptr)) return false;
    if (function == nullptr) {
      entries_.erase(found);
    } else {
      entries_.push_back({name, function, argument});
    }
    count_.store(entries_.size(), std::memory_order_release);
    return true;
  }

 private:
  Mutex mutex_;
  std::vector<Entry> entries_ BELAY_GUARDED_BY(mutex_);
  std::atomic<size_t> count_{0};
};

// Leaked, like the runtime: static destructors of the program may still call.
template <class Function>
Registry<Function>& TheRegistry() {
  static auto* registry = new Registry<Function>;
  return *registry;
}

template <class Function>
Status Register(Call& call, const char* name, Function function, void* argument) {
  if (*name == '\0') {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("regName is empty")
        .Rule("A registered function has a name of its own (SPEC 21 §7.1)")
        .Fix("pass a name that no other library uses")
        .End();
  }
  runtime::g_mode.fetch_or(runtime::kCallbacks, std::memory_order_release);
  if (TheRegistry<Function>().Put(name, function, argument)) return Status();
  return call.Refuse(code::kRtParam, FindingId::kBadArgument)
      .Say(function != nullptr ? "regName \"%s\" is in use" : "nothing is registered as \"%s\"", name)
      .Rule("A name is registered once, and removed by registering NULL under it (SPEC 21 §7.1)")
      .Fix(function != nullptr ? "choose another name, or remove the first registration"
                               : "pass the name that was registered")
      .End();
}

template <class Function, class... Args>
void Run(const Call& call, Args... args) {
  if (TheRegistry<Function>().empty()) return;
  for (const auto& entry : TheRegistry<Function>().All()) {
    engine::CallbackScope scope(engine::CallbackScope::Kind::kState, nullptr, call.name(), call.thread().id,
                                call.site());
    entry.function(args..., entry.argument);
  }
}
}  // namespace

void RunStreamCallbacks(const Call& call, const runtime::StreamObject& stream, aclrtStreamState state) {
  Run<aclrtStreamStateCallback>(call, static_cast<aclrtStream>(stream.handle), state);
}

void RunDeviceCallbacks(const Call& call, int device, aclrtDeviceState state) {
  Run<aclrtDeviceStateCallback>(call, static_cast<uint32_t>(device), state);
}

void RunAbortCallbacks(const Call& call, int device, aclrtDeviceTaskAbortStage stage, uint32_t timeout_ms) {
  Run<aclrtDeviceTaskAbortCallback>(call, static_cast<int32_t>(device), stage, timeout_ms);
}

namespace body {
Status aclrtRegStreamStateCallback(Call& call, const char* regName, aclrtStreamStateCallback callback,
                                   void* args) {
  return Register(call, regName, callback, args);
}
Status aclrtRegDeviceStateCallback(Call& call, const char* regName, aclrtDeviceStateCallback callback,
                                   void* args) {
  return Register(call, regName, callback, args);
}
Status aclrtSetDeviceTaskAbortCallback(Call& call, const char* regName, aclrtDeviceTaskAbortCallback callback,
                                       void* args) {
  return Register(call, regName, callback, args);
}
}  // namespace body

}  // namespace belay::abi
