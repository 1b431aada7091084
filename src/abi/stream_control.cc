// Streams that are emptied, stopped or switched by the program: SPEC 20 §3, §3.3.
#include "abi/call.h"
#include "abi/resolve.h"
#include "abi/sync.h"
#include "belay/abi/bodies.h"

namespace belay::abi::body {
using check::FindingId;
using facts::Cann;
using facts::Family;
using runtime::StreamObject;

namespace {
constexpr int32_t kEqualToLessOrEqual = 5;  // aclrtCondition goes from 0 to this

Status RefuseKind(const Call& call, const StreamObject& stream, const char* what) {
  return call.Refuse(code::kNotSupported, FindingId::kUnsupported)
      .On(stream.device->user, stream.id)
      .Say("stream %d %s", stream.id, what)
      .Rule("Not every kind of stream can be aborted or stopped (SPEC 20 §3, §3.3)")
      .Fix("pass a stream that aclrtCreateStream gave out")
      .With("stream created", stream.created, stream.device->user, stream.id)
      .End();
}

constexpr char kInModels[] = "Streams are activated and switched inside a model (SPEC 20 §3)";
}  // namespace

Status aclrtStreamAbort(Call& call, aclrtStream stream) {
  if (stream == nullptr && call.machine().cann() < Cann::k90) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("stream is null")
        .Rule("Up to 8.5 the default stream cannot be aborted (SPEC 20 §3.3)")
        .Fix("pass a stream that aclrtCreateStream gave out")
        .End();
  }
  if (stream == nullptr && call.machine().family() == Family::k950) {
    return call.Refuse(code::kNotSupported, FindingId::kUnsupported)
        .Say("stream is null, the default stream, which %s does not abort",
             call.machine().product().name.c_str())
        .Rule("On 950 the default stream cannot be aborted (SPEC 20 §3.3)")
        .Fix("pass a stream that aclrtCreateStream gave out")
        .End();
  }
  StreamObject* found = nullptr;
  BELAY_TRY(NeedCurrentStream(call, stream, &found));
  BELAY_TRY(NeedOtherStream(call, found->stream, nullptr));
  if ((found->flags & ACL_STREAM_DEVICE_USE_ONLY) != 0) {
    // What aclrtStreamStop stopped may be ended by an abort (SPEC 20 §3).
    if (!found->stopped.load(std::memory_order_relaxed)) {
      return RefuseKind(call, *found, "is driven by the device only, and cannot be aborted");
    }
  }
  call.engine().Abort({found->stream}, code::kStreamAbort);
  if (found->stopped.exchange(false)) call.engine().Resume(*found->stream, engine::Engine::Holder::kStop);
  return Status();
}

Status aclrtStreamStop(Call& call, aclrtStream stream) {
  if (stream == nullptr) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("stream is null, the default stream, which cannot be stopped")
        .Rule("The default stream and streams of a model cannot be stopped (SPEC 20 §3)")
        .Fix("pass a stream that aclrtCreateStreamWithConfig gave out")
        .End();
  }
  StreamObject* found = nullptr;
  BELAY_TRY(NeedCurrentStream(call, stream, &found));
  bool device_only = (found->flags & ACL_STREAM_DEVICE_USE_ONLY) != 0;
  if (found->is_default || (call.machine().family() != Family::k950 && !device_only)) {
    return RefuseKind(call, *found,
                      found->is_default
                          ? "is a default stream, and cannot be stopped"
                          : "was not created with ACL_STREAM_DEVICE_USE_ONLY, which this product asks for");
  }
  found->stopped.store(true);
  call.engine().Hold(*found->stream, engine::Engine::Holder::kStop);
  return Status();
}

Status aclrtActiveStream(Call& call, aclrtStream activeStream, aclrtStream stream) {
  if (activeStream == nullptr) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("activeStream is null")
        .Rule("A required handle must not be null (SPEC 20 §0.1)")
        .Fix("pass the stream to activate")
        .End();
  }
  StreamObject *active = nullptr, *found = nullptr;
  BELAY_TRY(NeedCurrentStream(call, activeStream, &active));
  BELAY_TRY(NeedStreamToSubmit(call, stream, &found));
  return RefuseUnbound(call, *active, kInModels);
}

Status aclrtSwitchStream(Call& call, void* leftValue, aclrtCondition cond, void* rightValue,
                         aclrtCompareDataType dataType, aclrtStream trueStream, aclrtStream falseStream,
                         aclrtStream stream) {
  auto refuse = [&call](const char* name, long value, const char* allowed) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("%s is %ld", name, value)
        .Rule(
            "The condition and the type are documented values; falseStream is reserved from 9.0 on (SPEC "
            "20 §3)")
        .Fix("pass %s", allowed)
        .End();
  };
  static_cast<void>(leftValue);
  static_cast<void>(rightValue);
  if (trueStream == nullptr) return refuse("trueStream", 0, "a stream of the model");
  auto condition = static_cast<int>(cond);
  if (condition < 0 || condition > kEqualToLessOrEqual) return refuse("cond", condition, "0 to 5");
  auto type = static_cast<int>(dataType);
  if (type != 0 && type != 1) return refuse("dataType", type, "0 for 32 bits or 1 for 64");
  if (falseStream != nullptr && call.machine().cann() >= Cann::k90) {
    return refuse("falseStream", static_cast<long>(reinterpret_cast<intptr_t>(falseStream)), "NULL");
  }
  StreamObject *on_true = nullptr, *found = nullptr;
  BELAY_TRY(NeedCurrentStream(call, trueStream, &on_true));
  if (falseStream != nullptr) BELAY_TRY(NeedCurrentStream(call, falseStream, &on_true));
  BELAY_TRY(NeedStreamToSubmit(call, stream, &found));
  if (reinterpret_cast<uintptr_t>(leftValue) % (type == 0 ? 4 : 8) != 0 ||
      reinterpret_cast<uintptr_t>(rightValue) % (type == 0 ? 4 : 8) != 0) {
    return call.Refuse(code::kRtParam, FindingId::kBadArgument)
        .Say("leftValue %p or rightValue %p is not aligned to its %d bytes", leftValue, rightValue,
             type == 0 ? 4 : 8)
        .Rule("The compared values are aligned device memory (SPEC 20 §3)")
        .Fix("pass addresses from aclrtMalloc at multiples of the type's size")
        .End();
  }
  return RefuseUnbound(call, *found, kInModels);
}

Status aclrtPersistentTaskClean(Call& call, aclrtStream stream) {
  StreamObject* found = nullptr;
  BELAY_TRY(NeedCurrentStream(call, stream, &found));
  if (!found->stream->persistent()) {
    return call.Refuse(code::kRtParam, FindingId::kBadArgument)
        .On(found->device->user, found->id)
        .Say("stream %d was not created with ACL_STREAM_PERSISTENT", found->id)
        .Rule("Only persistent streams keep tasks that can be dropped (SPEC 20 §3)")
        .Fix("create the stream with ACL_STREAM_PERSISTENT")
        .With("stream created", found->created, found->device->user, found->id)
        .End();
  }
  call.engine().Abort({found->stream}, code::kStreamAbort);
  return Status();
}

}  // namespace belay::abi::body
