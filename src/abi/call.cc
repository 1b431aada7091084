#include "abi/call.h"

#include <unistd.h>

#include <string_view>

#include "engine/callback_scope.h"
#include "engine/stream.h"

namespace belay::abi {
using check::FindingId;

Status RefuseNull(const Call& call, int parameter) {
  // SPEC 00 rule 1; also when the size beside it is 0 (SPEC 31 §0.4.1).
  return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
      .Say("%s is a null pointer", facts::Facts(call.fn()).params[parameter])
      .Rule("A required pointer must not be null, whatever the size beside it (SPEC 00 rule 1)")
      .Fix("pass the address of existing memory as %s", facts::Facts(call.fn()).params[parameter])
      .End();
}

Status RefuseProfile(const Call& call) {
  const machine::Machine& machine = call.machine();
  return call.Refuse(code::kNotSupported, FindingId::kUnsupported)
      .Say("%s does not exist on %s with version %s", call.name(), machine.product().name.c_str(),
           facts::CannName(machine.cann()))
      .Rule("A function that the product or version lacks answers 207000 (SPEC 00 rule 1)")
      .Fix("test for 207000 and take another way, or choose another profile with --product or --cann")
      .End();
}

Status RefuseNotBuilt(const Call& call) {
  bool by_spec = facts::Facts(call.fn()).state == facts::State::kRefused || call.machine().Lacks(call.fn());
  return call.Refuse(code::kNotSupported, FindingId::kUnsupported)
      .Say(by_spec ? "%s is not supported" : "%s is not built yet in this version of Belay", call.name())
      .Rule("What is not there answers 207000 and never succeeds silently (SPEC 00 rule 7)")
      .Fix("test for 207000; docs/api-coverage.md lists what is built")
      .End();
}

aclError RefuseUnknown(const char* name, void* caller) {
  runtime::Runtime& runtime = runtime::Runtime::Start();
  Call call(name, caller, runtime, runtime::CurrentThread());
  // SPEC 00, "Specified only by signature": before any argument and any state.
  return call.Refuse(code::kNotSupported, FindingId::kUnsupported)
      .Say("%s is not supported: only its name is known", name)
      .Rule("What is not there answers 207000 and never succeeds silently (SPEC 00 rule 7)")
      .Fix("use the aclrt function that does the same")
      .End()
      .code();
}

namespace {
// Data types, data buffers and the program's log: no state of the runtime is touched (SPEC 11 §§4, 6).
bool IsPure(facts::Fn fn) {
  const std::string_view section = facts::Facts(fn).section;
  return section.starts_with("11 §4") || section.starts_with("11 §6");
}

// What is called before aclInit by its nature, or tells only how many devices of which kind there are.
bool WorksBeforeInit(facts::Fn fn) {
  const std::string_view section = facts::Facts(fn).section;
  return fn == facts::Fn::aclrtGetDeviceCount || fn == facts::Fn::aclrtGetSocName ||
         section.starts_with("10 §1.3");
}

// SPEC 21 §3.1: what a callback may call.
bool AllowedInCallback(facts::Fn fn, bool strict) {
  switch (fn) {
    case facts::Fn::aclGetRecentErrMsg:
    case facts::Fn::aclrtGetLastError:
    case facts::Fn::aclrtPeekAtLastError:
    case facts::Fn::aclrtGetTaskIdFromExceptionInfo:
    case facts::Fn::aclrtGetStreamIdFromExceptionInfo:
    case facts::Fn::aclrtGetThreadIdFromExceptionInfo:
    case facts::Fn::aclrtGetDeviceIdFromExceptionInfo:
    case facts::Fn::aclrtGetErrorCodeFromExceptionInfo:
      return true;
    case facts::Fn::aclrtSetCurrentContext:
    case facts::Fn::aclrtGetCurrentContext:
    case facts::Fn::aclrtSetDevice:
    case facts::Fn::aclrtGetDevice:
      return !strict;
    default:
      return IsPure(fn) && !strict;
  }
}

using Kind = engine::CallbackScope::Kind;
constexpr char kTellAnother[] = "tell another thread what to do, and let that thread call";

bool IsStrict(const Call& call, const engine::CallbackScope& scope) {
  return scope.kind == Kind::kHostFunction && call.machine().quirks().callback_strict;
}

runtime::Moment SubmissionOf(const engine::CallbackScope& scope) {
  return {scope.api, scope.thread, scope.site};
}
}  // namespace

// Most calls are not allowed inside a function of the program; they work all the same, but for those that
// would wait for ever: their bodies refuse with 107000 and better words than these.
void NoteInCallback(const Call& call, const Status& result) {
  const engine::CallbackScope* scope = engine::CallbackScope::Current();
  if (scope == nullptr || AllowedInCallback(call.fn(), IsStrict(call, *scope)) ||
      result.code() == code::kRtParam)
    return;
  const char* kind = scope->kind == Kind::kHostFunction ? "host function"
                     : scope->kind == Kind::kCallback   ? "callback"
                     : scope->kind == Kind::kException  ? "exception callback"
                                                        : "state callback";
  Notice notice = call.Note(FindingId::kCallbackMisuse);
  if (scope->stream != nullptr) notice.On(call.runtime().UserId(scope->stream->device), scope->stream->id);
  notice.Say("%s is called inside a %s", call.name(), kind)
      .Rule("A callback allocates, waits and submits nothing (SPEC 21 §3.1)")
      .Fix("%s", kTellAnother)
      .With("function submitted", SubmissionOf(*scope))
      .Send();
}

bool MayGoOn(const Call& call, Life life, uint32_t mode, Status* result) {
  bool error_query = call.fn() == facts::Fn::aclGetRecentErrMsg ||
                     call.fn() == facts::Fn::aclrtGetLastError ||
                     call.fn() == facts::Fn::aclrtPeekAtLastError;
  if ((mode & runtime::kForked) != 0 && !error_query &&
      !(call.fn() != facts::Fn::kCount && IsPure(call.fn()))) {
    // SPEC 10 §7.4
    runtime::Moment first = call.runtime().first_call();
    *result =
        call.Refuse(code::kInternal, FindingId::kForkAfterInit)
            .Say("process %d is a forked child of %d, which had opened a device before the fork", getpid(),
                 getppid())
            .Rule("A forked child must not use its parent's runtime (SPEC 10 §7.4)")
            .Fix("start workers with spawn or exec instead of fork, or fork before the first device is set")
            .With("first call of the parent", first)
            .End();
    return false;
  }
  if ((mode & runtime::kFinalised) != 0 && life != Life::kAlways) {
    // SPEC 10 §2.3
    runtime::Moment finalised = call.runtime().finalised();
    constexpr char kRule[] =
        "After the last finalise nothing works but a new aclInit; frees are accepted as no-ops (SPEC 10 "
        "§2.3)";
    constexpr char kFix[] =
        "finalise last, after static objects and other threads have released what they hold";
    if (life == Life::kFree) {
      Notice notice = call.Note(FindingId::kAfterFinalize);
      notice.Say("%s was called after the runtime was finalised, which had released the memory", call.name());
      notice.Rule(kRule).Fix("%s", kFix).With("finalised", finalised).Send();
      *result = Status();
    } else {
      *result = call.Refuse(code::kUninitialized, FindingId::kAfterFinalize)
                    .Say("%s was called after the runtime was finalised", call.name())
                    .Rule(kRule)
                    .Fix("%s", kFix)
                    .With("finalised", finalised)
                    .End();
    }
    return false;
  }
  if ((mode & runtime::kStrict) != 0 && life == Life::kNormal && !WorksBeforeInit(call.fn())) {
    *result = call.Refuse(code::kUninitialized, FindingId::kBadArgument)
                  .Say("%s was called before aclInit", call.name())
                  .Rule("With the quirk strict_init nothing works before aclInit (SPEC 10 §2.4)")
                  .Fix("call aclInit first")
                  .End();
    return false;
  }
  const engine::CallbackScope* scope = engine::CallbackScope::Current();
  if (scope != nullptr && IsStrict(call, *scope) && !AllowedInCallback(call.fn(), true)) {
    *result =
        call.Refuse(code::kRtParam, FindingId::kCallbackMisuse)
            .Say("%s is called inside a host function", call.name())
            .Rule("With the quirk callback_strict no runtime call works in a host function (SPEC 21 §3.1)")
            .Fix("%s", kTellAnother)
            .With("function submitted", SubmissionOf(*scope))
            .End();
    return false;
  }
  return true;
}

namespace internal {
void WriteLog(const Call& call, int32_t code, uint64_t start_ns, const trace::ArgWriter& args,
              const trace::ArgWriter& outs) {
  trace::ApiLog* log = call.runtime().log();
  if (log == nullptr || !log->enabled()) return;
  log->Record(call.name(), code, start_ns, trace::ApiLog::Now() - start_ns, args, outs,
              check::OrderChecker::first_event());
}
}  // namespace internal

}  // namespace belay::abi
