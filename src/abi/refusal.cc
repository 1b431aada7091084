#include "abi/refusal.h"

#include <atomic>
#include <cstdlib>

#include "abi/call.h"

namespace belay::abi {
namespace {
using check::FindingId;
using check::Severity;

// Functions that already said that they are not supported, or gave their documented refusal: once each is
// enough.
std::atomic<bool> g_said[static_cast<size_t>(facts::Fn::kCount)];

bool SaidBefore(facts::Fn fn) {
  return g_said[static_cast<size_t>(fn)].exchange(true, std::memory_order_relaxed);
}
}  // namespace

Notice::Notice(const Call& call, FindingId id) : call_(call), finding_(id) {
  finding_.where.role = "call";
  finding_.where.api = call.name();
  finding_.where.thread = call.thread().id;
  finding_.where.site = call.site();
  if (runtime::Context* context = call.context(); context != nullptr)
    finding_.where.device = context->device->user;
}

Notice& Notice::Say(const char* format, ...) {
  va_list args;
  va_start(args, format);
  finding_.message.VFormat(format, args);
  va_end(args);
  return *this;
}

Notice& Notice::Fix(const char* format, ...) {
  va_list args;
  va_start(args, format);
  finding_.fix.VFormat(format, args);
  va_end(args);
  return *this;
}

Notice& Notice::Rule(const char* rule) {
  finding_.rule.Append(rule);
  return *this;
}

Notice& Notice::As(Severity severity) {
  finding_.severity = severity;
  return *this;
}

Notice& Notice::On(int device, int stream) {
  finding_.where.device = device;
  finding_.where.stream = stream;
  return *this;
}

Notice& Notice::With(const char* role, const runtime::Moment& moment, int device, int stream) {
  if (moment.thread == 0 && !moment.site.known()) return *this;
  finding_.AddRelated({role, moment.api, moment.thread, device, stream, moment.site});
  return *this;
}

void Notice::Send() {
  call_.runtime().reporter().Report(finding_);
}

Refusal& Refusal::Say(const char* format, ...) {
  va_list args;
  va_start(args, format);
  finding_.message.VFormat(format, args);
  va_end(args);
  return *this;
}

Refusal& Refusal::Fix(const char* format, ...) {
  va_list args;
  va_start(args, format);
  finding_.fix.VFormat(format, args);
  va_end(args);
  return *this;
}

Status Refusal::End() {
  if (!benign_) {
    call_.thread().last_error = code_;
    call_.runtime().AddMessage(call_.thread(), code_, finding_);
  }
  if (plain_) return Status(code_);
  bool unsupported = finding_.id == FindingId::kUnsupported;
  bool probe = call_.probe();
  // Programs probe: the documented refusal of a probe is a note (contract: rules that hold everywhere).
  bool documented = unsupported || finding_.id == FindingId::kNoContext;
  if (probe && documented) finding_.severity = Severity::kNote;
  if ((unsupported || (probe && documented)) && SaidBefore(call_.fn())) return Status(code_);
  call_.runtime().reporter().Report(finding_);
  if (unsupported && call_.runtime().options().unsupported == options::Unsupported::kAbort) abort();
  return Status(code_);
}

}  // namespace belay::abi
