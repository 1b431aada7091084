// Combining device memory with device memory on a stream: SPEC 31 §5.
#include "abi/call.h"
#include "abi/copy_check.h"
#include "abi/ranges.h"
#include "abi/resolve.h"
#include "abi/sync.h"
#include "belay/abi/bodies.h"

namespace belay::abi::body {
using check::FindingId;
using engine::ElementType;
using engine::ReduceKind;
using facts::Family;
using runtime::StreamObject;

namespace {
constexpr unsigned Bit(Family family) {
  return 1U << static_cast<unsigned>(family);
}
constexpr unsigned kLarge = Bit(Family::k950) | Bit(Family::kA3) | Bit(Family::kA2);

struct Type {
  aclDataType value;
  ElementType type;
  const char* name;
  unsigned families;
};
constexpr Type kTypes[] = {
    {ACL_INT8, ElementType::kInt8, "ACL_INT8", kLarge | Bit(Family::k200I)},
    {ACL_INT16, ElementType::kInt16, "ACL_INT16", kLarge | Bit(Family::k200I) | Bit(Family::kInf)},
    {ACL_INT32, ElementType::kInt32, "ACL_INT32", kLarge | Bit(Family::k200I)},
    {ACL_UINT32, ElementType::kUint32, "ACL_UINT32", Bit(Family::k950)},
    {ACL_FLOAT16, ElementType::kHalf, "ACL_FLOAT16", kLarge | Bit(Family::k200I) | Bit(Family::kInf)},
    {ACL_FLOAT, ElementType::kFloat, "ACL_FLOAT", ~0U},
    {ACL_BF16, ElementType::kBfloat, "ACL_BF16", kLarge},
};
constexpr char kSupport[] = "Which types and kinds a product combines follows from its family (SPEC 31 §5)";

Status NeedKind(const Call& call, int value, ReduceKind* kind) {
  const Family family = call.machine().family();
  switch (value) {
    case ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM:
      *kind = ReduceKind::kSum;
      return Status();
    case ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX:
      *kind = ReduceKind::kMax;
      break;
    case ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN:
      *kind = ReduceKind::kMin;
      break;
    case ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL:
      return call.Refuse(code::kNotSupported, FindingId::kUnsupported)
          .Say("kind is ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL")
          .Rule("Belay combines by sum, maximum and minimum; what EQUAL does is not documented (SPEC 31 §5)")
          .Fix("copy the bytes with aclrtMemcpyAsync")
          .End();
    default:
      return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
          .Say("kind is %d", value)
          .Rule("The kinds of aclrtReduceKind are 10 to 13 (SPEC 31 §5)")
          .Fix("pass ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, _MAX or _MIN")
          .End();
  }
  if (family != Family::kInf && family != Family::kTrn) return Status();
  return call.Refuse(code::kNotSupported, FindingId::kUnsupported)
      .Say("kind is %d on a product of a family that only sums", value)
      .Rule(kSupport)
      .Fix("pass ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM")
      .End();
}

Status NeedType(const Call& call, int value, ElementType* type) {
  const char* name = "a type that no product combines";
  for (const Type& known : kTypes) {
    if (known.value != value) continue;
    *type = known.type;
    if ((known.families & Bit(call.machine().family())) != 0) return Status();
    name = known.name;
  }
  return call.Refuse(code::kNotSupported, FindingId::kUnsupported)
      .Say("type %d is %s, which this product does not combine", value, name)
      .Rule(kSupport)
      .Fix("pass ACL_FLOAT, which every product combines")
      .End();
}

Status RefuseCountOf(const Call& call, uint64_t count, size_t element) {
  return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
      .Say("count %llu is no multiple of %zu, the bytes of an element",
           static_cast<unsigned long long>(count), element)
      .Rule("count is the number of bytes of whole elements (SPEC 31 §5)")
      .Fix("pass the number of elements times %zu", element)
      .End();
}

constexpr char kOwnMemory[] = "Both addresses lie on the device of the stream (SPEC 31 §5)";
}  // namespace

Status aclrtReduceAsync(Call& call, void* dst, const void* src, uint64_t count, aclrtReduceKind kind,
                        aclDataType type, aclrtStream stream, void* reserve) {
  if (reserve != nullptr) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("reserve is %p", reserve)
        .Rule("reserve is null (SPEC 31 §5)")
        .Fix("pass a null pointer")
        .End();
  }
  engine::Op op = SignedOp(call);
  op.kind = engine::OpKind::kReduce;
  op.reduce = {};
  BELAY_TRY(NeedKind(call, kind, &op.reduce.kind));
  BELAY_TRY(NeedType(call, type, &op.reduce.type));
  const size_t element = engine::ElementBytes(op.reduce.type);
  if (count % element != 0) return RefuseCountOf(call, count, element);
  StreamObject* on = nullptr;
  BELAY_TRY(NeedStreamToSubmit(call, stream, &on));
  if (count == 0) return Status();
  Range to, from;
  BELAY_TRY(NeedRangeOfStream(call, *on, dst, count, "dst", kOwnMemory, &to));
  BELAY_TRY(NeedRangeOfStream(call, *on, src, count, "src", kOwnMemory, &from));
  const size_t apart = Distance(to, from);
  if (apart != 0 && apart < count) {
    return call.Refuse(code::kRtParam, FindingId::kBadArgument)
        .On(on->device->user, on->id)
        .Say("dst and src overlap: they are %zu bytes apart and %llu bytes are combined", apart,
             static_cast<unsigned long long>(count))
        .Rule("dst and src are the same range, or have no byte in common (SPEC 31 §5)")
        .Fix("combine with a copy of the source")
        .End();
  }
  op.reduce.dst = to.bytes;
  op.reduce.src = from.bytes;
  op.reduce.bytes = count;
  op.reduce.dst_side = SideOf(to);
  op.reduce.src_side = SideOf(from);
  op.reduce.executor = static_cast<int16_t>(on->device->logical);
  call.engine().Submit(*on->stream, op, count);
  return Submitted(call, op);
}

}  // namespace belay::abi::body
