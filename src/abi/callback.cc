// Functions of the program in a stream: callbacks on the program's threads, host functions on ours. SPEC 21
// §§2, 3.
#include "abi/call.h"
#include "abi/resolve.h"
#include "abi/subscription.h"
#include "abi/sync.h"
#include "belay/abi/bodies.h"
#include "engine/callback_scope.h"

namespace belay::abi::body {
using check::FindingId;
using runtime::ReportBoard;
using runtime::StreamObject;

namespace {

void Announce() {
  runtime::g_mode.fetch_or(runtime::kCallbacks, std::memory_order_release);
}

Status RefuseNullFunction(const Call& call) {
  return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
      .Say("fn is a null pointer")
      .Rule("A callback needs a function (SPEC 21 §2)")
      .Fix("pass the function to run")
      .End();
}

Status RefuseMixed(const Call& call, const StreamObject& stream, const char* what,
                   const runtime::Moment& subscribed) {
  return call.Refuse(code::kRtParam, FindingId::kCallbackMisuse)
      .On(stream.device->user, stream.id)
      .Say("stream %d %s", stream.id, what)
      .Rule("Host functions and subscribed callbacks are not mixed on one stream (SPEC 21 §3)")
      .Fix("use one stream for each kind")
      .With("subscribed", subscribed, stream.device->user, stream.id)
      .With("stream created", stream.created, stream.device->user, stream.id)
      .End();
}

Status RefuseBinding(const Call& call, int32_t code, const StreamObject& stream, uint64_t thread,
                     const char* what, const char* fix) {
  runtime::Moment subscribed;
  call.runtime().tasks().reports().IsBound(*stream.stream, &subscribed);
  return call.Refuse(code, FindingId::kCallbackMisuse)
      .On(stream.device->user, stream.id)
      .Say("stream %d and thread %llu: %s", stream.id, static_cast<unsigned long long>(thread), what)
      .Rule("A stream reports to one thread; a thread serves streams of one device (SPEC 21 §2)")
      .Fix("%s", fix)
      .With("subscribed", subscribed, stream.device->user, stream.id)
      .End();
}

engine::Op HostOp(const Call& call, engine::OpKind kind, void (*function)(void*), void* argument,
                  bool blocks) {
  engine::Op op = SignedOp(call);
  op.kind = kind;
  op.host = {function, argument, blocks};
  return op;
}
}  // namespace
}  // namespace belay::abi::body

namespace belay::abi {
void NoteSubscribed(const Call& call, const runtime::StreamObject& stream) {
  runtime::Moment subscribed;
  if (!call.runtime().tasks().reports().IsBound(*stream.stream, &subscribed)) return;
  call.Note(check::FindingId::kTeardownOrder)
      .On(stream.device->user, stream.id)
      .Say("stream %d is destroyed while a thread is subscribed to its callbacks", stream.id)
      .Rule("A stream is unsubscribed before it is destroyed (SPEC 21 §2)")
      .Fix("call aclrtUnSubscribeReport before %s", call.name())
      .With("subscribed", subscribed, stream.device->user, stream.id)
      .With("stream created", stream.created, stream.device->user, stream.id)
      .Send();
}
}  // namespace belay::abi

namespace belay::abi::body {
Status aclrtSubscribeReport(Call& call, uint64_t threadId, aclrtStream stream) {
  StreamObject* found = nullptr;
  BELAY_TRY(NeedCurrentStream(call, stream, &found));
  if (found->stream->done() < found->last_host_function.load(std::memory_order_relaxed)) {
    return RefuseMixed(call, *found, "has host functions that did not run yet", {});
  }
  Announce();
  switch (call.runtime().tasks().reports().Subscribe(threadId, *found->stream, found->device->logical,
                                                     call.now())) {
    case ReportBoard::Binding::kBound:
      return Status();
    case ReportBoard::Binding::kStreamIsBound:
      return RefuseBinding(call, code::kStreamSubscribe, *found, threadId, "the stream has a thread already",
                           "call aclrtUnSubscribeReport first");
    case ReportBoard::Binding::kThreadHasOtherDevice:
      return RefuseBinding(call, code::kThreadSubscribe, *found, threadId,
                           "the thread serves streams of another device", "use one thread for each device");
    case ReportBoard::Binding::kTooManyThreads:
      break;
  }
  return call.Refuse(code::kResource, FindingId::kResourceExhausted)
      .Say("%zu threads of this process serve callbacks already", ReportBoard::kMostThreads)
      .Rule("At most 1024 threads of a process are subscribed (SPEC 21 §2)")
      .Fix("let one thread serve several streams of a device")
      .End();
}

Status aclrtUnSubscribeReport(Call& call, uint64_t threadId, aclrtStream stream) {
  StreamObject* found = nullptr;
  BELAY_TRY(NeedReadableStream(call, stream, &found));  // SPEC 21 §2: of any context
  const engine::CallbackScope* scope = engine::CallbackScope::Current();
  if (scope != nullptr && scope->kind == engine::CallbackScope::Kind::kCallback) {
    return call.Refuse(code::kRtParam, FindingId::kCallbackMisuse)
        .On(found->device->user, found->id)
        .Say("aclrtUnSubscribeReport is called from inside a callback")
        .Rule("A callback does not end its own subscription (SPEC 21 §2)")
        .Fix("unsubscribe in the thread that subscribed, after the stream is done")
        .With("callback submitted", {scope->api, scope->thread, scope->site})
        .End();
  }
  ReportBoard::Lost lost;
  switch (call.runtime().tasks().reports().Unsubscribe(call.engine(), threadId, *found->stream, &lost)) {
    case ReportBoard::Ending::kEnded:
      break;
    case ReportBoard::Ending::kNotBound:
      return RefuseBinding(call, code::kStreamSubscribe, *found, threadId, "the stream has no thread",
                           "pair every aclrtUnSubscribeReport with one aclrtSubscribeReport");
    case ReportBoard::Ending::kOtherThread:
      return RefuseBinding(call, code::kThreadSubscribe, *found, threadId, "the stream has another thread",
                           "pass the thread id that was subscribed");
  }
  if (lost.count != 0) {
    call.Note(FindingId::kCallbackMisuse)
        .On(found->device->user, found->id)
        .Say("%zu callback%s of stream %d never ran: the thread ended, or never called aclrtProcessReport",
             lost.count, lost.count == 1 ? "" : "s", found->id)
        .Rule("The thread polls until the stream is unsubscribed (SPEC 21 §2)")
        .Fix("synchronise the stream, unsubscribe, then end the thread")
        .With("first callback submitted", {lost.first.api, lost.first.thread, lost.first.site},
              found->device->user, found->id)
        .Send();
  }
  return Status();
}

Status aclrtLaunchCallback(Call& call, aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType,
                           aclrtStream stream) {
  if (fn == nullptr) return RefuseNullFunction(call);
  auto type = static_cast<int>(blockType);
  if (type != ACL_CALLBACK_NO_BLOCK && type != ACL_CALLBACK_BLOCK) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("blockType is %d", type)
        .Rule("blockType is ACL_CALLBACK_NO_BLOCK or ACL_CALLBACK_BLOCK (SPEC 21 §2)")
        .Fix("pass ACL_CALLBACK_BLOCK if later tasks need what the callback does")
        .End();
  }
  StreamObject* found = nullptr;
  BELAY_TRY(NeedStreamToSubmit(call, stream, &found));
  if (!call.runtime().tasks().reports().IsBound(*found->stream)) {
    return call.Refuse(code::kNoCallbackThread, FindingId::kCallbackMisuse)
        .On(found->device->user, found->id)
        .Say("stream %d has no thread for callbacks", found->id)
        .Rule("A thread is subscribed before callbacks are launched (SPEC 21 §2)")
        .Fix("call aclrtSubscribeReport first, or use aclrtLaunchHostFunc")
        .With("stream created", found->created, found->device->user, found->id)
        .End();
  }
  Announce();
  engine::Op op = HostOp(call, engine::OpKind::kCallback, fn, userData, type == ACL_CALLBACK_BLOCK);
  call.engine().Submit(*found->stream, op, 0);
  return Submitted(call, op);
}

Status aclrtProcessReport(Call& call, int32_t timeout) {
  if (timeout == 0 || timeout < -1) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("timeout is %d", timeout)
        .Rule("A timeout is -1 for ever, or milliseconds above 0 (SPEC 21 §2)")
        .Fix("pass 100 and call in a loop")
        .End();
  }
  ReportBoard::Outcome outcome = call.runtime().tasks().reports().Process(call.engine(), timeout);
  switch (outcome.report) {
    case ReportBoard::Report::kRan:
      if (outcome.threw) {
        call.runtime().tasks().CallbackThrew(*outcome.stream, outcome.op, outcome.what.c_str(), "callback");
      }
      return Status();
    case ReportBoard::Report::kNothing:
      return call.Refuse(code::kReportTimeout, FindingId::kNeverFires)
          .Say("no callback came within %d ms", timeout)
          .Rule("A thread that polls looks again (SPEC 21 §2)")
          .Plain()
          .Benign()
          .End();
    case ReportBoard::Report::kNotBound:
      break;
  }
  // No finding: the documented order starts the thread before it is subscribed, and ends it after.
  return call.Refuse(code::kThreadSubscribe, FindingId::kCallbackMisuse)
      .Plain()
      .Say("the calling thread is subscribed to no stream")
      .Rule("aclrtProcessReport is called in the thread that was subscribed (SPEC 21 §2)")
      .Fix("pass this thread's pthread_self() to aclrtSubscribeReport")
      .End();
}

Status aclrtLaunchHostFunc(Call& call, aclrtStream stream, aclrtHostFunc fn, void* args) {
  if (fn == nullptr) return RefuseNullFunction(call);
  StreamObject* found = nullptr;
  BELAY_TRY(NeedStreamToSubmit(call, stream, &found));
  if (runtime::Moment subscribed; call.runtime().tasks().reports().IsBound(*found->stream, &subscribed)) {
    return RefuseMixed(call, *found, "has a thread for callbacks", subscribed);
  }
  Announce();
  engine::Op op = HostOp(call, engine::OpKind::kHostFunc, fn, args, true);
  uint64_t sequence = call.engine().Submit(*found->stream, op, 0);
  found->last_host_function.store(sequence, std::memory_order_relaxed);
  return Submitted(call, op);
}

Status aclrtGetThreadLastTaskId(Call& call, uint32_t* taskId) {
  *taskId = call.thread().last_task;
  return Status();
}

}  // namespace belay::abi::body
