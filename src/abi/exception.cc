// The exception callback and what it may read: SPEC 21 §4.
#include "abi/call.h"
#include "belay/abi/bodies.h"

namespace belay::abi::body {
using runtime::ExceptionInfo;

namespace {
// A field of an info while its callback runs, else 0xFFFFFFFF.
uint32_t Field(const Call& call, const void* info, uint32_t ExceptionInfo::*field) {
  const ExceptionInfo* found = call.runtime().tasks().exceptions().Find(info);
  if (found != nullptr) return found->*field;
  call.Note(check::FindingId::kBadHandle)
      .Say("info %p is not what a running exception callback was given", info)
      .Rule("The info is valid only while its callback runs (SPEC 21 §4)")
      .Fix("copy what you need inside the callback")
      .Send();
  return ExceptionInfo::kNone;
}
}  // namespace

Status aclrtSetExceptionInfoCallback(Call& call, aclrtExceptionInfoCallback callback) {
  runtime::g_mode.fetch_or(runtime::kCallbacks, std::memory_order_release);
  // The info is opaque to the program; only its type differs.
  call.runtime().tasks().exceptions().Set(
      reinterpret_cast<runtime::ExceptionThread::Callback>(reinterpret_cast<void*>(callback)));
  return Status();
}

uint32_t aclrtGetTaskIdFromExceptionInfo(Call& call, const aclrtExceptionInfo* info) {
  return Field(call, info, &ExceptionInfo::task);
}
uint32_t aclrtGetStreamIdFromExceptionInfo(Call& call, const aclrtExceptionInfo* info) {
  return Field(call, info, &ExceptionInfo::stream);
}
uint32_t aclrtGetThreadIdFromExceptionInfo(Call& call, const aclrtExceptionInfo* info) {
  return Field(call, info, &ExceptionInfo::thread);
}
uint32_t aclrtGetDeviceIdFromExceptionInfo(Call& call, const aclrtExceptionInfo* info) {
  return Field(call, info, &ExceptionInfo::device);
}
uint32_t aclrtGetErrorCodeFromExceptionInfo(Call& call, const aclrtExceptionInfo* info) {
  return Field(call, info, &ExceptionInfo::code);
}

}  // namespace belay::abi::body
