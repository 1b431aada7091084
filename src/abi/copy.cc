// Copies and fills, in one and two dimensions, at once and on streams: SPEC 31 §§1, 2, 4.
//
// Every call makes one CopyShape or fill, checks it by the same rules, and gives the engine one Op.
#include <cstdlib>
#include <cstring>

#include "abi/call.h"
#include "abi/copy_check.h"
#include "abi/ranges.h"
#include "abi/resolve.h"
#include "abi/sync.h"
#include "belay/abi/bodies.h"

namespace belay::abi {
namespace {
using check::FindingId;
using engine::CopyShape;
using engine::CopyTask;
using engine::FillTask;
using engine::Op;
using engine::OpKind;
using runtime::Context;
using runtime::StreamObject;

constexpr size_t kMostAsyncRows = 5 * 1024 * 1024;  // SPEC 31 §2

CopyTask TaskOf(int executor, const Range& dst, const Range& src, const CopyShape& shape) {
  CopyTask task{shape, SideOf(dst), SideOf(src), static_cast<int16_t>(executor)};
  task.shape.dst = dst.bytes;
  task.shape.src = src.bytes;
  return task;
}

[[gnu::cold]] Status RefuseHostRam(const Call& call) {
  memory::PhysicalMemory& physical = call.memory().physical();
  return call.Refuse(code::kNoMemory, FindingId::kResourceExhausted)
      .Say("the host RAM for device bytes is used up: %llu MiB of %llu MiB are taken, in pages of 2 MiB",
           static_cast<unsigned long long>(physical.used_bytes() >> 20),
           static_cast<unsigned long long>(physical.budget_bytes() >> 20))
      .Rule("Device bytes that were written take host RAM, at most `host-memory` (SPEC 31 §0.5)")
      .Fix("raise --host-memory, or write fewer bytes")
      .End();
}

// The host itself touches bytes, at once: the findings about order look at that.
check::OrderActor HostActor(const Call& call) {
  check::OrderActor actor;
  actor.api = call.name();
  actor.thread = call.thread().id;
  if (call.context() != nullptr) actor.device = call.context()->device->user;
  actor.site = call.site();
  return actor;
}

// The end of a call that moves bytes at once.
Status Moved(const Call& call, bool done, uint64_t bytes) {
  if (!done) [[unlikely]]
    return RefuseHostRam(call);
  call.engine().WordsChanged();
  call.thread().counters->AddCopy(bytes);
  return Status();
}

// A copy or fill at once touches memory of the host like an instruction of the program.
void NoteTouched(const Call& call, const Range& range, uint64_t width, uint64_t pitch, uint64_t rows,
                 bool is_write) {
  runtime::HostWatch* watch = call.runtime().host_watch();
  // Where missing-order is looked for, it says the same of calls, and more.
  if (watch == nullptr || range.on_device() || call.runtime().reporter().Wants(FindingId::kMissingOrder))
    return;
  watch->Touched(call.now(), {reinterpret_cast<uintptr_t>(range.bytes), width, pitch, rows, is_write});
}

Status CopyAtOnce(const Call& call, int executor, const Range& dst, const Range& src,
                  const CopyShape& shape) {
  const CopyTask task = TaskOf(executor, dst, src, shape);
  if (call.engine().watched()) [[unlikely]] {
    if (check::OrderChecker* order = call.runtime().order()) order->HostCopies(task, HostActor(call));
    NoteTouched(call, src, shape.width, shape.src_pitch, shape.height, false);
    NoteTouched(call, dst, shape.width, shape.dst_pitch, shape.height, true);
  }
  return Moved(call, call.engine().CopyNow(task), shape.Bytes());
}

// The host side of an asynchronous copy that is not pinned; null if there is none.
const char* PageableSide(const Call& call, const void* dst, const void* src, const Range& dst_range,
                         const Range& src_range, const CopyShape& shape) {
  auto pageable = [&](const Range& range, const void* address, uint64_t extent) {
    return range.region == memory::AddressSpace::Region::kHost &&
           !call.memory().host().IsPinned(reinterpret_cast<uintptr_t>(address), extent);
  };
  if (pageable(src_range, src, shape.SrcExtent())) return "src";
  if (pageable(dst_range, dst, shape.DstExtent())) return "dst";
  return nullptr;
}

[[gnu::cold]] void NotePageable(const Call& call, const char* parameter) {
  call.Note(FindingId::kSlowPattern)
      .Say("%s is pageable host memory, so the call waits until its copy is done", parameter)
      .Rule("Asynchronous copies are asynchronous for pinned host memory only (SPEC 31 §0.3)")
      .Fix("allocate the buffer with aclrtMallocHost")
      .Send();
  if (call.machine().cann() >= facts::Cann::k85) return;
  call.Note(FindingId::kVersionDependent)
      .Say("up to version 8.1 the result of an asynchronous copy with pageable memory is not defined")
      .Rule("Belay waits for it in every profile (SPEC 31 §0.3)")
      .Fix("allocate the buffer with aclrtMallocHost")
      .Send();
}

// Queues a copy whose ranges, sides and reach are right.
Status Enqueue(const Call& call, StreamObject& stream, const void* dst, const void* src,
               const Range& dst_range, const Range& src_range, const CopyShape& shape, bool stage) {
  Op op = SignedOp(call);
  op.copy = TaskOf(stream.device->logical, dst_range, src_range, shape);
  const char* pageable = nullptr;
  if (stage) {  // SPEC 31 §1.2: kind 5 takes the bytes during the call
    auto* copy = static_cast<uint8_t*>(malloc(shape.Bytes()));
    if (copy == nullptr) return RefuseHostRam(call);
    if (call.engine().watched()) [[unlikely]] {
      if (check::OrderChecker* order = call.runtime().order()) order->HostReads(op.copy, HostActor(call));
      NoteTouched(call, src_range, shape.width, shape.src_pitch, shape.height, false);
    }
    if (memory::HostGuard* guard = call.engine().guard(); guard != nullptr) {
      engine::CopyGuarded(*guard, CopyShape::Linear(copy, src_range.bytes, shape.Bytes()),
                          !src_range.on_device(), false);
    } else {
      memcpy(copy, src, shape.Bytes());
    }
    op.copy.shape.src = copy;
    op.copy.src = {};
    op.owns_source = true;
  } else {
    pageable = PageableSide(call, dst, src, dst_range, src_range, shape);
  }
  uint64_t sequence = call.engine().Submit(*stream.stream, op, shape.Bytes());
  call.thread().last_task = op.task;
  call.thread().counters->AddCopy(shape.Bytes());
  bool of_host = !dst_range.on_device() || !src_range.on_device();
  if (of_host && !stage && pageable == nullptr && !call.runtime().guards_host())
    call.thread().counters->AddUnguardedCopy();
  if (pageable != nullptr) {
    NotePageable(call, pageable);
    call.engine().WaitByTheWay(*stream.stream, sequence);
  }
  return Status();
}

// SPEC 31 §0.4.6: the bytes are moved as through a temporary buffer, which not every version promises.
void CheckOverlap(const Call& call, const Range& dst, const Range& src, size_t count) {
  size_t distance = Distance(dst, src);
  if (distance >= count) [[likely]]
    return;
  call.Note(FindingId::kVersionDependent)
      .Say("dst and src overlap: they are %zu bytes apart and %zu bytes are copied", distance, count)
      .Rule(
          "Belay copies overlapping ranges as through a temporary buffer; the documentation is silent (SPEC "
          "31 §0.4)")
      .Fix("copy to a buffer of its own first")
      .Send();
}

Status RefuseCount(const Call& call, size_t count, size_t capacity, const char* capacity_name) {
  return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
      .Say("count %zu is larger than %s %zu", count, capacity_name, capacity)
      .Rule("No more bytes are moved than the destination holds (SPEC 31 §0.4)")
      .Fix("pass the size of the destination as %s", capacity_name)
      .End();
}

Status CopyAsync(const Call& call, void* dst, size_t destMax, const void* src, size_t count, int kind,
                 aclrtStream handle) {
  if (kind == CopyKind::kHostToHost) {
    return call.Refuse(code::kNotSupported, FindingId::kUnsupported)
        .Say("kind ACL_MEMCPY_HOST_TO_HOST on a stream")
        .Rule("Asynchronous copies inside the host are not supported (SPEC 31 §0.2)")
        .Fix("call aclrtMemcpy, or memcpy")
        .End();
  }
  BELAY_TRY(NeedKnownKind(call, kind));
  if (count > destMax) return RefuseCount(call, count, destMax, "destMax");
  StreamObject* stream = nullptr;
  BELAY_TRY(NeedStreamToSubmit(call, handle, &stream));
  if (count == 0) return Status();
  Range dst_range, src_range;
  BELAY_TRY(NeedRange(call, dst, count, "dst", &dst_range));
  BELAY_TRY(NeedRange(call, src, count, "src", &src_range));
  int inferred = InferKind(dst_range, src_range);
  if (inferred == CopyKind::kHostToHost && kind == CopyKind::kDefault) {
    return call.Refuse(code::kNotSupported, FindingId::kUnsupported)
        .Say("dst %p and src %p are both host memory", dst, src)
        .Rule("Asynchronous copies inside the host are not supported (SPEC 31 §0.2)")
        .Fix("call aclrtMemcpy, or memcpy")
        .End();
  }
  if (!KindFits(kind, inferred, dst_range, src_range)) {
    return RefuseSides(call, kind, inferred, dst, src, dst_range, src_range);
  }
  BELAY_TRY(NeedReach(call, stream->device->logical, dst_range, src_range));
  CheckOverlap(call, dst_range, src_range, count);
  return Enqueue(call, *stream, dst, src, dst_range, src_range,
                 CopyShape::Linear(dst_range.bytes, src_range.bytes, count),
                 kind == CopyKind::kHostToBufferToDevice);
}

// --- Two dimensions

Status NeedRows(const Call& call, size_t dpitch, size_t spitch, size_t width, size_t height,
                CopyShape* shape) {
  std::optional<CopyShape> rows = CopyShape::Rows(nullptr, dpitch, nullptr, spitch, width, height);
  if (rows) {
    *shape = *rows;
    return Status();
  }
  Refusal refusal = call.Refuse(code::kInvalidParam, FindingId::kBadArgument);
  if (dpitch < width || spitch < width) {
    refusal.Say("width %zu is larger than %s %zu", width, dpitch < width ? "dpitch" : "spitch",
                dpitch < width ? dpitch : spitch);
  } else {
    refusal.Say("height %zu rows at dpitch %zu and spitch %zu leave the address space", height, dpitch,
                spitch);
  }
  return refusal
      .Rule(
          "Rows do not overlap: width is at most each pitch, in bytes, and the extent is an address (SPEC 31 "
          "§2)")
      .Fix("pass the distance between the starts of two rows, in bytes, as the pitch")
      .End();
}

Status NeedPlaneKind(const Call& call, int kind) {
  // No support table says so, hence no test before the body. // SPEC 00 rule 11
  if (call.machine().Lacks(call.fn())) {
    return call.Refuse(code::kNotSupported, FindingId::kUnsupported)
        .Say("%s does not exist on %s, a board", call.name(), call.machine().product().name.c_str())
        .Rule("The board form has no copies of rows (SPEC 00 rule 11)")
        .Fix("copy row by row with aclrtMemcpy or aclrtMemcpyAsync")
        .End();
  }
  if (kind == CopyKind::kHostToDevice || kind == CopyKind::kDeviceToHost) return Status();
  if (kind < 0 || kind > CopyKind::kLast) return NeedKnownKind(call, kind);
  return call.Refuse(code::kNotSupported, FindingId::kUnsupported)
      .Say("kind is %s", KindName(kind))
      .Rule("2D copies go from host to device or back, nothing else (SPEC 31 §2)")
      .Fix("copy row by row with aclrtMemcpy, or go through host memory")
      .End();
}

struct Plane {
  Range dst, src;
  CopyShape shape;
};

// What the two calls have in common once the context is known.
Status NeedPlane(const Call& call, void* dst, const void* src, int kind, Plane* plane) {
  BELAY_TRY(NeedRange(call, dst, plane->shape.DstExtent(), "dst", &plane->dst));
  BELAY_TRY(NeedRange(call, src, plane->shape.SrcExtent(), "src", &plane->src));
  int inferred = InferKind(plane->dst, plane->src);
  if (kind == inferred) return Status();
  return RefuseSides(call, kind, inferred, dst, src, plane->dst, plane->src);
}

// --- Fills

Status NeedFill(const Call& call, void* devPtr, int32_t value, size_t count, Range* range, FillTask* fill) {
  BELAY_TRY(NeedRange(call, devPtr, count, "devPtr", range));
  *fill = {range->bytes, count, SideOf(*range), static_cast<uint8_t>(value)};
  return Status();
}

// --- Copies at once

// Whether a copy breaks no rule, is worth no word and needs no byte to be prepared.
inline bool IsUsual(const Call& call, const Range& dst, const Range& src, size_t count, int kind) {
  if (!dst.Holds(count) || !src.Holds(count)) return false;
  int inferred = InferKind(dst, src);
  if (kind != inferred && kind != CopyKind::kDefault) return false;
  bool crosses = inferred == CopyKind::kDeviceToDevice && dst.device != src.device;
  if (crosses && !FreeBetween(call, dst.device, src.device)) return false;
  if (Distance(dst, src) < count) return false;
  return engine::Engine::ReadyToCopy(dst, src, count);
}

// Any copy, rule by rule.
[[gnu::noinline]] Status CopyWithCare(const Call& call, void* dst, size_t destMax, const void* src,
                                      size_t count, int kind) {
  if (static_cast<unsigned>(kind) > CopyKind::kDefault) BELAY_TRY(NeedKnownKind(call, kind));
  if (count > destMax) [[unlikely]]
    return RefuseCount(call, count, destMax, "destMax");
  Context* context = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  if (count == 0) return Status();
  Range dst_range, src_range;
  BELAY_TRY(NeedRange(call, dst, count, "dst", &dst_range));
  BELAY_TRY(NeedRange(call, src, count, "src", &src_range));
  int inferred = InferKind(dst_range, src_range);
  if (!KindFits(kind, inferred, dst_range, src_range)) [[unlikely]] {
    // SPEC 31 §0.4.5: the direction follows from the pointers, and the kind changes nothing.
    call.Note(FindingId::kWrongSide)
        .As(check::Severity::kWarning)
        .Say("kind says %s, the pointers say %s", KindName(kind), KindName(inferred))
        .Rule("aclrtMemcpy infers the direction and ignores the kind; other copies refuse it (SPEC 31 §0.4)")
        .Fix("pass %s or ACL_MEMCPY_DEFAULT", KindName(inferred))
        .Send();
  }
  int executor = SyncExecutor(context->device->logical, dst_range, src_range);
  BELAY_TRY(NeedReach(call, executor, dst_range, src_range));
  CheckOverlap(call, dst_range, src_range, count);
  CopyShape shape = CopyShape::Linear(dst_range.bytes, src_range.bytes, count);
  return CopyAtOnce(call, executor, dst_range, src_range, shape);
}
}  // namespace

namespace body {

Status aclrtMemcpy(Call& call, void* dst, size_t destMax, const void* src, size_t count,
                   aclrtMemcpyKind kind) {
  // The usual copy is made here, with what is known of the two ranges in registers: 4 KiB move in 40 ns, and
  // the careful way, which passes it on in memory, adds 25. Nothing has happened yet when it is another copy.
  if (call.context() != nullptr && count != 0 && count <= destMax && !call.engine().watched()) [[likely]] {
    Range dst_range = Locate(call, dst), src_range = Locate(call, src);
    if (IsUsual(call, dst_range, src_range, count, kind)) [[likely]] {
      call.thread().counters->AddCopy(count);
      engine::CopyApart(dst_range.bytes, src_range.bytes, count);
      call.engine().WordsChanged();
      return Status();
    }
  }
  return CopyWithCare(call, dst, destMax, src, count, kind);
}

Status aclrtMemcpyAsync(Call& call, void* dst, size_t destMax, const void* src, size_t count,
                        aclrtMemcpyKind kind, aclrtStream stream) {
  return CopyAsync(call, dst, destMax, src, count, kind, stream);
}

// SPEC 31 §1.3: the same call under another name.
Status aclrtMemcpyAsyncWithCondition(Call& call, void* dst, size_t destMax, const void* src, size_t count,
                                     aclrtMemcpyKind kind, aclrtStream stream) {
  return CopyAsync(call, dst, destMax, src, count, kind, stream);
}

Status aclrtMemcpy2d(Call& call, void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                     size_t height, aclrtMemcpyKind kind) {
  Plane plane;
  BELAY_TRY(NeedPlaneKind(call, kind));
  BELAY_TRY(NeedRows(call, dpitch, spitch, width, height, &plane.shape));
  Context* context = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  if (plane.shape.empty()) return Status();
  BELAY_TRY(NeedPlane(call, dst, src, kind, &plane));
  int executor = SyncExecutor(context->device->logical, plane.dst, plane.src);
  return CopyAtOnce(call, executor, plane.dst, plane.src, plane.shape);
}

Status aclrtMemcpy2dAsync(Call& call, void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                          size_t height, aclrtMemcpyKind kind, aclrtStream stream) {
  Plane plane;
  BELAY_TRY(NeedPlaneKind(call, kind));
  BELAY_TRY(NeedRows(call, dpitch, spitch, width, height, &plane.shape));
  if (height > kMostAsyncRows) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("height is %zu", height)
        .Rule("An asynchronous 2D copy has at most 5242880 rows (SPEC 31 §2)")
        .Fix("split the copy, or call aclrtMemcpy2d, which has no such limit")
        .End();
  }
  StreamObject* found = nullptr;
  BELAY_TRY(NeedStreamToSubmit(call, stream, &found));
  if (plane.shape.empty()) return Status();
  BELAY_TRY(NeedPlane(call, dst, src, kind, &plane));
  BELAY_TRY(NeedReach(call, found->device->logical, plane.dst, plane.src));
  return Enqueue(call, *found, dst, src, plane.dst, plane.src, plane.shape, false);
}

Status aclrtMemset(Call& call, void* devPtr, size_t maxCount, int32_t value, size_t count) {
  if (count > maxCount) return RefuseCount(call, count, maxCount, "maxCount");
  Context* context = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  if (count == 0) return Status();
  Range range;
  FillTask fill;
  BELAY_TRY(NeedFill(call, devPtr, value, count, &range, &fill));
  if (call.engine().watched()) [[unlikely]] {
    if (check::OrderChecker* order = call.runtime().order()) order->HostFills(fill, HostActor(call));
    NoteTouched(call, range, count, count, 1, true);
  }
  return Moved(call, call.engine().FillNow(fill), count);
}

Status aclrtMemsetAsync(Call& call, void* devPtr, size_t maxCount, int32_t value, size_t count,
                        aclrtStream stream) {
  if (count > maxCount) return RefuseCount(call, count, maxCount, "maxCount");
  StreamObject* found = nullptr;
  BELAY_TRY(NeedStreamToSubmit(call, stream, &found));
  if (count == 0) return Status();
  Range range;
  Op op = SignedOp(call);
  op.kind = OpKind::kFill;
  BELAY_TRY(NeedFill(call, devPtr, value, count, &range, &op.fill));
  BELAY_TRY(NeedReach(call, found->device->logical, range, Range()));
  bool pageable = range.region == memory::AddressSpace::Region::kHost &&
                  !call.memory().host().IsPinned(reinterpret_cast<uintptr_t>(devPtr), count);
  uint64_t sequence = call.engine().Submit(*found->stream, op, count);
  call.thread().last_task = op.task;
  call.thread().counters->AddCopy(count);
  if (pageable) {
    NotePageable(call, "devPtr");
    call.engine().WaitByTheWay(*found->stream, sequence);
  }
  return Status();
}

}  // namespace body
}  // namespace belay::abi
