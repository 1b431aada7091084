// Notifies and count notifies in one process: SPEC 20 §§5, 6. Sharing them between processes is built later.
#include "abi/call.h"
#include "abi/resolve.h"
#include "abi/sync.h"
#include "belay/abi/bodies.h"

namespace belay::abi::body {
using check::FindingId;
using engine::Signal;
using runtime::Context;
using runtime::NotifyObject;
using runtime::StreamObject;

namespace {
constexpr int64_t kSecond = 1'000'000'000;

const char* Noun(bool counts) {
  return counts ? "count notify" : "notify";
}

Status NeedNotify(const Call& call, const void* handle, bool counts, NotifyObject** notify) {
  if (handle == nullptr) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("the %s is null", Noun(counts))
        .Rule("A required handle must not be null (SPEC 20 §0.1)")
        .Fix("pass what the create call gave out")
        .End();
  }
  *notify = call.runtime().FindNotify(handle, counts);
  if (*notify != nullptr) [[likely]]
    return Status();
  const NotifyObject* dead = call.runtime().FindDeadNotify(handle, counts);
  Refusal refusal = call.Refuse(code::kHandle, FindingId::kBadHandle);
  if (dead != nullptr) {
    refusal.Say("%s %p was destroyed", Noun(counts), handle)
        .Fix("create a new one")
        .With("created", dead->created, dead->device->user)
        .With("destroyed", dead->destroyed, dead->device->user);
  } else {
    refusal.Say("%p is no %s of this process", handle, Noun(counts))
        .Fix("pass a value that the matching create call of this process gave out");
  }
  return refusal.Rule("A handle names a live object of its own kind (SPEC 00 rule 1)").End();
}

Status Create(Call& call, bool counts, void** handle) {
  Context* context = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  runtime::Device& device = *context->device;
  BELAY_TRY(NeedWhole(call, device));
  NotifyObject* created = call.runtime().CreateNotify(device, counts, call.now());
  if (created == nullptr) {
    return call.Refuse(code::kNoNotify, FindingId::kResourceExhausted)
        .On(device.user)
        .Say("device %d has no %s left: this process holds %u of %u", device.user, Noun(counts),
             device.notify_ids->held(), device.notify_ids->limit())
        .Rule("Notifies per device are limited (SPEC 20 §2.1)")
        .Fix("destroy notifies that are no longer used")
        .End();
  }
  *handle = created->handle;
  return Status();
}

Status Destroy(Call& call, void* handle, bool counts) {
  NotifyObject* found = nullptr;
  BELAY_TRY(NeedNotify(call, handle, counts, &found));
  if (found->signal->pending_waits.load(std::memory_order_acquire) != 0) {
    call.Note(FindingId::kTeardownOrder)
        .Say("%s %p is destroyed while a stream waits for it", Noun(counts), handle)
        .Rule("Tasks that use a notify end before it is destroyed (SPEC 20 §5)")
        .Fix("synchronise the streams that wait for it first")
        .With("created", found->created, found->device->user)
        .Send();
  }
  call.runtime().DestroyNotify(*found, counts, call.now());
  return Status();
}

// The notify and the stream of a task, in the documented order of tests.
Status NeedBoth(const Call& call, void* notify, bool counts, aclrtStream stream, bool waits,
                NotifyObject** found, StreamObject** on) {
  if (notify == nullptr) return NeedNotify(call, notify, counts, found);
  Context* context = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  BELAY_TRY(NeedNotify(call, notify, counts, found));
  BELAY_TRY(NeedStream(call, *context, stream, on));
  if (waits && (*found)->device != (*on)->device) {
    return call.Refuse(code::kStreamContext, FindingId::kWrongContext)
        .On((*on)->device->user, (*on)->id)
        .Say("%s %p belongs to device %d, but the stream belongs to device %d", Noun(counts), notify,
             (*found)->device->user, (*on)->device->user)
        .Rule("A wait runs on the device of its notify (SPEC 20 §5)")
        .Fix("create the notify while the device that waits is current")
        .With("created", (*found)->created, (*found)->device->user)
        .End();
  }
  return NeedStreamToSubmit(call, stream, on);
}

Status RefuseMode(const Call& call, const char* name, int value, const char* allowed) {
  return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
      .Say("%s is %d", name, value)
      .Rule("Modes and flags are documented values (SPEC 20 §§5, 6)")
      .Fix("pass %s", allowed)
      .End();
}
}  // namespace

// --- One bit

Status aclrtCreateNotify(Call& call, aclrtNotify* notify, uint64_t flag) {
  if (flag != ACL_NOTIFY_DEFAULT && flag != ACL_NOTIFY_DEVICE_USE_ONLY) {
    return RefuseMode(call, "flag", static_cast<int>(flag), "ACL_NOTIFY_DEFAULT");
  }
  return Create(call, false, notify);
}

Status aclrtDestroyNotify(Call& call, aclrtNotify notify) {
  return Destroy(call, notify, false);
}

Status aclrtRecordNotify(Call& call, aclrtNotify notify, aclrtStream stream) {
  NotifyObject* found = nullptr;
  StreamObject* on = nullptr;
  BELAY_TRY(NeedBoth(call, notify, false, stream, false, &found, &on));
  const bool untaken = found->waits_ahead.load(std::memory_order_relaxed) < 0;
  if (untaken && found->signal->value() != 0) {
    call.Note(FindingId::kEventMisuse)
        .On(on->device->user, on->id)
        .Say("notify %p is set already, and nobody waited for it since", notify)
        .Rule("Records of a notify that is set are one: they release one waiter (SPEC 20 §5)")
        .Fix("wait for each record before the next one, or use one notify for each")
        .With("recorded before", found->last_record.Get())
        .With("notify created", found->created, found->device->user)
        .Send();
  } else {
    found->waits_ahead.fetch_sub(1, std::memory_order_relaxed);
  }
  found->last_record.Set(call.now());
  engine::Op op = SignedOp(call);
  call.engine().SubmitSignal(*on->stream, *found->signal, Signal::Change::kSet, 1, op);
  return Submitted(call, op);
}

Status aclrtWaitAndResetNotify(Call& call, aclrtNotify notify, aclrtStream stream, uint32_t timeout) {
  NotifyObject* found = nullptr;
  StreamObject* on = nullptr;
  BELAY_TRY(NeedBoth(call, notify, false, stream, true, &found, &on));
  engine::Op op = SignedOp(call);
  found->waits_ahead.fetch_add(1, std::memory_order_relaxed);
  call.engine().SubmitAwait(*on->stream, *found->signal, Signal::Condition::kGreaterOrEqual, 1, true,
                            timeout * kSecond, op);
  return Submitted(call, op);
}

Status aclrtGetNotifyId(Call& call, aclrtNotify notify, uint32_t* notifyId) {
  NotifyObject* found = nullptr;
  BELAY_TRY(NeedNotify(call, notify, false, &found));
  *notifyId = found->id;
  return Status();
}

Status aclrtNotifyBatchReset(Call& call, aclrtNotify* notifies, size_t num) {
  if (num == 0) return RefuseMode(call, "num", 0, "the number of notifies");
  std::vector<NotifyObject*> found(num);
  for (size_t i = 0; i < num; ++i) BELAY_TRY(NeedNotify(call, notifies[i], false, &found[i]));
  for (NotifyObject* notify : found) {
    call.engine().ChangeNow(*notify->signal, Signal::Change::kSet, 0);
    notify->waits_ahead.store(0, std::memory_order_relaxed);
  }
  return Status();
}

// --- A counter

Status aclrtCntNotifyCreate(Call& call, aclrtCntNotify* cntNotify, uint64_t flag) {
  if (flag != 0) return RefuseMode(call, "flag", static_cast<int>(flag), "0");
  return Create(call, true, cntNotify);
}

Status aclrtCntNotifyDestroy(Call& call, aclrtCntNotify cntNotify) {
  return Destroy(call, cntNotify, true);
}

Status aclrtCntNotifyRecord(Call& call, aclrtCntNotify cntNotify, aclrtStream stream,
                            aclrtCntNotifyRecordInfo* info) {
  Signal::Change change;
  switch (static_cast<int>(info->mode)) {
    case ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE:
      change = Signal::Change::kSet;
      break;
    case ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE:
      change = Signal::Change::kAdd;
      break;
    case ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE:
      change = Signal::Change::kOr;
      break;
    case ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE:
      change = Signal::Change::kAnd;
      break;
    default:
      return RefuseMode(call, "info->mode", static_cast<int>(info->mode),
                        "0 (set), 1 (add), 2 (or) or 4 (and)");
  }
  NotifyObject* found = nullptr;
  StreamObject* on = nullptr;
  BELAY_TRY(NeedBoth(call, cntNotify, true, stream, false, &found, &on));
  engine::Op op = SignedOp(call);
  call.engine().SubmitSignal(*on->stream, *found->signal, change, info->value, op);
  return Submitted(call, op);
}

Status aclrtCntNotifyWaitWithTimeout(Call& call, aclrtCntNotify cntNotify, aclrtStream stream,
                                     aclrtCntNotifyWaitInfo* info) {
  static constexpr Signal::Condition kConditions[] = {
      Signal::Condition::kLess, Signal::Condition::kEqual, Signal::Condition::kGreater,
      Signal::Condition::kGreaterOrEqual, Signal::Condition::kMask};
  auto mode = static_cast<unsigned>(info->mode);
  if (mode >= std::size(kConditions)) {
    return RefuseMode(call, "info->mode", static_cast<int>(info->mode),
                      "one of aclrtCntNotifyWaitMode, 0 to 4");
  }
  NotifyObject* found = nullptr;
  StreamObject* on = nullptr;
  BELAY_TRY(NeedBoth(call, cntNotify, true, stream, true, &found, &on));
  engine::Op op = SignedOp(call);
  call.engine().SubmitAwait(*on->stream, *found->signal, kConditions[mode], info->value, info->isClear != 0,
                            info->timeout * kSecond, op);
  return Submitted(call, op);
}

Status aclrtCntNotifyReset(Call& call, aclrtCntNotify cntNotify, aclrtStream stream) {
  NotifyObject* found = nullptr;
  StreamObject* on = nullptr;
  BELAY_TRY(NeedBoth(call, cntNotify, true, stream, false, &found, &on));
  engine::Op op = SignedOp(call);
  call.engine().SubmitSignal(*on->stream, *found->signal, Signal::Change::kSet, 0, op);
  return Submitted(call, op);
}

Status aclrtCntNotifyGetId(Call& call, aclrtCntNotify cntNotify, uint32_t* notifyId) {
  NotifyObject* found = nullptr;
  BELAY_TRY(NeedNotify(call, cntNotify, true, &found));
  *notifyId = found->id;
  return Status();
}

}  // namespace belay::abi::body
