// Data types, half precision and data buffers: SPEC 11 §§6.1 to 6.3. And the log of the program: §4.1.
#include <new>

#include "abi/call.h"
#include "base/half.h"
#include "belay/abi/bodies.h"
#include "runtime/handle_table.h"
#include "trace/app_log.h"

namespace belay::abi::body {
using check::FindingId;

size_t aclDataTypeSize(Call&, aclDataType dataType) {
  switch (dataType) {
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_BOOL:
    case ACL_HIFLOAT8:
    case ACL_FLOAT8_E5M2:
    case ACL_FLOAT8_E4M3FN:
    case ACL_FLOAT8_E8M0:
      return 1;
    case ACL_FLOAT16:
    case ACL_INT16:
    case ACL_UINT16:
    case ACL_BF16:
      return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_COMPLEX32:
      return 4;
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_DOUBLE:
    case ACL_COMPLEX64:
      return 8;
    case ACL_COMPLEX128:
      return 16;
    default:  // no fixed size, less than a byte, or no type
      return 0;
  }
}

float aclFloat16ToFloat(Call&, aclFloat16 value) {
  return HalfToFloat(value);
}
aclFloat16 aclFloatToFloat16(Call&, float value) {
  return FloatToHalf(value);
}

// --- Data buffers

namespace {
struct DataBuffer {
  std::atomic<void*> data{nullptr};
  std::atomic<size_t> size{0};
  runtime::Moment created, destroyed;
};

// Leaked, like the runtime.
using Buffers = runtime::HandleTable<DataBuffer, 0xDB>;
Buffers& AllBuffers() {
  static auto* buffers = new Buffers;
  return *buffers;
}

Status NeedBuffer(const Call& call, const aclDataBuffer* handle, DataBuffer** buffer) {
  *buffer = AllBuffers().Find(handle);
  if (*buffer != nullptr) return Status();
  Refusal refusal = call.Refuse(code::kHandle, FindingId::kBadHandle);
  if (const DataBuffer* dead = AllBuffers().FindDead(handle)) {
    refusal.Say("data buffer %p was destroyed", static_cast<const void*>(handle))
        .With("created", dead->created)
        .With("destroyed", dead->destroyed);
  } else {
    refusal.Say("%p is no data buffer of this process", static_cast<const void*>(handle));
  }
  return refusal.Rule("A handle names a live object of its own kind (SPEC 00 rule 1)")
      .Fix("pass what aclCreateDataBuffer gave out, before aclDestroyDataBuffer")
      .End();
}
}  // namespace

aclDataBuffer* aclCreateDataBuffer(Call& call, void* data, size_t size) {
  void* handle = nullptr;
  DataBuffer* made = nullptr;
  try {
    made = AllBuffers().Add(&handle, [&](DataBuffer& buffer) {
      buffer.data.store(data, std::memory_order_relaxed);
      buffer.size.store(size, std::memory_order_relaxed);
      buffer.created = call.now();
      buffer.destroyed = {};
    });
  } catch (const std::bad_alloc&) {
  }
  if (made != nullptr) return static_cast<aclDataBuffer*>(handle);
  static_cast<void>(call.Refuse(code::kNoMemory, FindingId::kResourceExhausted)
                        .Say("there is no room for another data buffer")
                        .Rule("A data buffer takes host memory of its own (SPEC 11 §6.3)")
                        .Fix("destroy data buffers that are no longer used")
                        .End());
  return nullptr;
}

Status aclDestroyDataBuffer(Call& call, const aclDataBuffer* dataBuffer) {
  DataBuffer* buffer = nullptr;
  BELAY_TRY(NeedBuffer(call, dataBuffer, &buffer));
  buffer->destroyed = call.now();
  AllBuffers().Remove(dataBuffer);
  return Status();
}

Status aclUpdateDataBuffer(Call& call, aclDataBuffer* dataBuffer, void* data, size_t size) {
  DataBuffer* buffer = nullptr;
  BELAY_TRY(NeedBuffer(call, dataBuffer, &buffer));
  buffer->data.store(data, std::memory_order_relaxed);
  buffer->size.store(size, std::memory_order_relaxed);
  return Status();
}

void* aclGetDataBufferAddr(Call& call, const aclDataBuffer* dataBuffer) {
  DataBuffer* buffer = nullptr;
  if (!NeedBuffer(call, dataBuffer, &buffer).ok()) return nullptr;
  return buffer->data.load(std::memory_order_relaxed);
}

size_t aclGetDataBufferSizeV2(Call& call, const aclDataBuffer* dataBuffer) {
  DataBuffer* buffer = nullptr;
  if (!NeedBuffer(call, dataBuffer, &buffer).ok()) return 0;
  return buffer->size.load(std::memory_order_relaxed);
}

uint32_t aclGetDataBufferSize(Call& call, const aclDataBuffer* dataBuffer) {
  const size_t size = aclGetDataBufferSizeV2(call, dataBuffer);
  if (size > UINT32_MAX) {
    call.Note(FindingId::kVersionDependent)
        .As(check::Severity::kWarning)
        .Say("the data buffer has %zu bytes, of which aclGetDataBufferSize gives the low 32 bits", size)
        .Rule("The function is deprecated and gives 32 bits (SPEC 11 §6.3)")
        .Fix("call aclGetDataBufferSizeV2")
        .Send();
  }
  return static_cast<uint32_t>(size);
}

// --- The log

void aclAppLog(Call&, aclLogLevel logLevel, const char* func, const char* file, uint32_t line,
               const char* fmt, va_list rest) {
  trace::AppLog::Get().Write("APP", static_cast<int32_t>(logLevel), {func, file, line}, fmt, rest);
}

}  // namespace belay::abi::body
