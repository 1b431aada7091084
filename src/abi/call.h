// The way of every API call: from the exported entry to its body and back (docs/life-of-a-copy.md).
//
//   Enter<F>: process state -> null pointers -> profile -> body -> log
//
// The order of tests is the specification's (SPEC 00 rule 2). What the traits of a function rule out compiles
// away. A body returns Status() or what `call.Refuse(...)` gives, so that no failure passes without words.
// Cost with everything off: a thread-local load, a load of the mode word, a counter.
#pragma once

#include <cstdint>
#include <tuple>
#include <utility>

#include "abi/refusal.h"
#include "acl/acl.h"
#include "base/status.h"
#include "belay/abi/traits.h"
#include "belay/facts/functions.h"
#include "runtime/runtime.h"

#define BELAY_EXPORT __attribute__((visibility("default")))

namespace belay::abi {

// One running call.
class Call {
 public:
  Call(facts::Fn fn, void* caller, runtime::Runtime& runtime, runtime::ThreadState& thread)
      : fn_(fn), site_{reinterpret_cast<uint64_t>(caller)}, runtime_(runtime), thread_(thread) {}

  // For the functions of belay/control.h, which are not in the fact table.
  Call(const char* name, void* caller, runtime::Runtime& runtime, runtime::ThreadState& thread)
      : fn_(facts::Fn::kCount),
        site_{reinterpret_cast<uint64_t>(caller)},
        runtime_(runtime),
        thread_(thread),
        name_(name) {}

  facts::Fn fn() const { return fn_; }
  // A program may call it to find out whether it works.
  bool probe() const { return name_ == nullptr && facts::Facts(fn_).probe; }
  const char* name() const { return name_ == nullptr ? facts::Facts(fn_).name : name_; }
  Site site() const { return site_; }
  runtime::Runtime& runtime() const { return runtime_; }
  runtime::ThreadState& thread() const { return thread_; }
  const machine::Machine& machine() const { return runtime_.machine(); }
  memory::NodeMemory& memory() const { return runtime_.memory(); }
  engine::Engine& engine() const { return runtime_.engine(); }
  runtime::Moment now() const { return {name(), thread_.id, site_}; }

  // The thread's current context; null when it has none.
  runtime::Context* context() const { return thread_.Current(); }

  // Starts a refusal of this call.
  Refusal Refuse(int32_t code, check::FindingId id) const { return Refusal(*this, code, id); }
  // A finding about a call that goes on.
  Notice Note(check::FindingId id) const { return Notice(*this, id); }

 private:
  facts::Fn fn_;
  Site site_;
  runtime::Runtime& runtime_;
  runtime::ThreadState& thread_;
  const char* name_ = nullptr;
};

// A task that knows who submits it.
inline engine::Op SignedOp(const Call& call) {
  engine::Op op;
  op.thread = call.thread().id;
  op.site = call.site();
  op.api = call.name();
  return op;
}

// The end of a call that submitted a task.
inline Status Submitted(const Call& call, const engine::Op& op) {
  call.thread().last_task = op.task;
  return Status();
}

// The cold ways out of Enter.
[[gnu::cold]] Status RefuseNull(const Call& call, int parameter);
[[gnu::cold]] Status RefuseProfile(const Call& call);
[[gnu::cold]] Status RefuseNotBuilt(const Call& call);
// Whether the call may go on in this state; if not, fills `result`.
[[gnu::cold]] bool MayGoOn(const Call& call, Life life, uint32_t mode, Status* result);
// After the body, where the program gave functions of its own: such a function should not have called this.
[[gnu::cold]] void NoteInCallback(const Call& call, const Status& result);

namespace internal {

template <class T>
constexpr bool IsNull(const T& value) {
  if constexpr (std::is_pointer_v<T>) return value == nullptr;
  return false;
}

// The index of the first required pointer that is null, or -1.
template <facts::Fn F, class... Args, size_t... I>
int FirstNull(std::index_sequence<I...>, const Args&... args) {
  int found = -1;
  static_cast<void>((
      (((Traits<F>::kNonNull >> I) & 1) != 0 && IsNull(args) ? (found = static_cast<int>(I), true) : false) ||
      ...));
  return found;
}

template <class... Args, size_t... I>
void WriteArgs(trace::ArgWriter& writer, const facts::FnFacts& facts, std::index_sequence<I...>,
               const Args&... args) {
  (writer.Add(facts.params[I], args), ...);
}

// What a successful call left behind parameter `index`.
template <facts::Fn F, class T>
void WriteOut(trace::ArgWriter& writer, size_t index, const T& value) {
  if constexpr (trace::kPointsToValue<T>) {
    if ((Traits<F>::kWritten >> index & 1) == 0 || value == nullptr) return;
    writer.Add(facts::Facts(F).params[index], *value);
  }
}

template <facts::Fn F, class... Args, size_t... I>
void WriteOuts(trace::ArgWriter& writer, std::index_sequence<I...>, const Args&... args) {
  (WriteOut<F>(writer, I, args), ...);
}

[[gnu::cold]] void WriteLog(const Call& call, int32_t code, uint64_t start_ns, const trace::ArgWriter& args,
                            const trace::ArgWriter& outs);

template <facts::Fn F, class Body, class... Args>
Status Tested(Call& call, uint32_t mode, Body body, const Args&... args) {
  constexpr uint32_t kSpecial = ~static_cast<uint32_t>(runtime::kLogging);
  if constexpr (Traits<F>::kLife == Life::kFree) {  // SPEC 10 §2.3: a null free is wrong in every state
    int null = FirstNull<F>(std::index_sequence_for<Args...>(), args...);
    if (null >= 0) [[unlikely]]
      return RefuseNull(call, null);
  }
  if (Status result; (mode & kSpecial) != 0 && !MayGoOn(call, Traits<F>::kLife, mode, &result)) return result;
  if constexpr (Traits<F>::kNonNull != 0) {
    int null = FirstNull<F>(std::index_sequence_for<Args...>(), args...);
    if (null >= 0) [[unlikely]]
      return RefuseNull(call, null);
  }
  if constexpr (!Traits<F>::kEverywhere) {
    if (call.machine().Lacks(F)) [[unlikely]] {
      // SPEC 32 §2.1: callers that ignore the code shall see "no".
      if constexpr (F == facts::Fn::aclrtDeviceCanAccessPeer) *std::get<0>(std::tie(args...)) = 0;
      return RefuseProfile(call);
    }
  }
  if ((mode & runtime::kCallbacks) != 0) [[unlikely]] {
    Status result = body(call, args...);
    NoteInCallback(call, result);
    return result;
  }
  return body(call, args...);
}

template <facts::Fn F, class Body, class... Args>
[[gnu::cold]] aclError Logged(Call& call, uint32_t mode, Body body, const Args&... args) {
  uint64_t start = trace::ApiLog::Now();
  check::OrderChecker::BeginCall();
  Status status = Tested<F>(call, mode, body, args...);
  trace::ArgWriter writer, outs;
  WriteArgs(writer, facts::Facts(F), std::index_sequence_for<Args...>(), args...);
  if (status.ok()) WriteOuts<F>(outs, std::index_sequence_for<Args...>(), args...);
  WriteLog(call, status.code(), start, writer, outs);
  return status.code();
}

inline Call Begin(facts::Fn fn, void* caller, uint32_t* mode) {
  *mode = runtime::g_mode.load(std::memory_order_acquire);
  if ((*mode & runtime::kNotStarted) != 0) [[unlikely]] {
    runtime::Runtime::Start();
    *mode = runtime::g_mode.load(std::memory_order_acquire);
  }
  runtime::ThreadState& thread = runtime::CurrentThread();
  thread.counters->AddCall();
  return Call(fn, caller, *runtime::Runtime::Get(), thread);
}

// Enter of a thread's first call, or when the mode word says something. By value: a parameter whose address
// left Enter would lie in memory there too.
template <facts::Fn F, class Body, class... Args>
[[gnu::cold, gnu::noinline]] aclError EnterSpecially(void* caller, Body body, Args... args) {
  uint32_t mode;
  Call call = Begin(F, caller, &mode);
  if ((mode & runtime::kLogging) != 0) return Logged<F>(call, mode, body, args...);
  return Tested<F>(call, mode, body, args...).code();
}

}  // namespace internal

// Entry of a function that returns aclError.
template <facts::Fn F, class Body, class... Args>
inline aclError Enter(void* caller, Body body, const Args&... args) {
  runtime::ThreadState* thread = runtime::t_state;
  if (runtime::g_mode.load(std::memory_order_acquire) != 0 || thread == nullptr) [[unlikely]]
    return internal::EnterSpecially<F, Body, Args...>(caller, body, args...);
  thread->counters->AddCall();
  Call call(F, caller, *runtime::Runtime::Get(), *thread);
  return internal::Tested<F>(call, 0, body, args...).code();
}

// Entry of a function that returns a value. After finalise and in a forked child it gives `on_failure`.
template <facts::Fn F, class R, class Body, class... Args>
inline R EnterValue(void* caller, R on_failure, Body body, const Args&... args) {
  uint32_t mode;
  Call call = internal::Begin(F, caller, &mode);
  R result = on_failure;
  static_cast<void>(internal::Tested<F>(
      call, mode,
      [&](Call& inner, const auto&... values) {
        result = body(inner, values...);
        return Status();
      },
      args...));
  if ((mode & runtime::kLogging) != 0) [[unlikely]] {
    trace::ArgWriter writer;
    internal::WriteArgs(writer, facts::Facts(F), std::index_sequence_for<Args...>(), args...);
    internal::WriteLog(call, 0, trace::ApiLog::Now(), writer, {});
  }
  return result;
}

// Entry of a function that returns nothing.
template <facts::Fn F, class Body, class... Args>
inline void EnterVoid(void* caller, Body body, const Args&... args) {
  uint32_t mode;
  Call call = internal::Begin(F, caller, &mode);
  auto with_status = [&](Call& inner, const auto&... values) {
    body(inner, values...);
    return Status();
  };
  if ((mode & runtime::kLogging) != 0) [[unlikely]] {
    static_cast<void>(internal::Logged<F>(call, mode, with_status, args...));
    return;
  }
  static_cast<void>(internal::Tested<F>(call, mode, with_status, args...));
}

// Entries of functions without a body (SPEC 00 rule 7): refused before any argument is looked at.
template <facts::Fn F>
[[gnu::cold]] aclError Refuse(void* caller) {
  uint32_t mode;
  Call call = internal::Begin(F, caller, &mode);
  Status status;
  constexpr uint32_t kSpecial = ~static_cast<uint32_t>(runtime::kLogging);
  if ((mode & kSpecial) == 0 || MayGoOn(call, Traits<F>::kLife, mode, &status)) status = RefuseNotBuilt(call);
  if ((mode & runtime::kLogging) != 0) internal::WriteLog(call, status.code(), trace::ApiLog::Now(), {}, {});
  return status.code();
}

// An adapter of which only the name is known (api/adapters.toml).
[[gnu::cold]] aclError RefuseUnknown(const char* name, void* caller);

template <facts::Fn F, class R>
[[gnu::cold]] R RefuseValue(void* caller, R value) {
  static_cast<void>(Refuse<F>(caller));
  return value;
}

template <facts::Fn F>
[[gnu::cold]] void RefuseVoid(void* caller) {
  static_cast<void>(Refuse<F>(caller));
}

}  // namespace belay::abi
