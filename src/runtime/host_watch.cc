#include "runtime/host_watch.h"

#include <pthread.h>
#include <unistd.h>

#include <cinttypes>

#include "engine/callback_scope.h"
#include "engine/event_record.h"
#include "engine/stream.h"
#include "os/symbolizer.h"
#include "os/thread.h"
#include "runtime/runtime.h"

namespace belay::runtime {
namespace {
using check::Finding;
using check::FindingId;
using check::HostKnowledge;
using engine::CallbackScope;
using engine::Op;
using engine::OpKind;
using memory::HostGuard;
using Range = HostGuard::Range;
using Use = HostGuard::Use;

std::atomic<HostWatch*> g_forks{nullptr};

HostGuard::Config ConfigOf(const check::Reporter& reporter) {
  return {reporter.Wants(FindingId::kHostSourceChanged), reporter.Wants(FindingId::kHostTargetEarly)};
}

// A fault that another thread repaired in the meantime is tried again; one that comes back for ever is not
// ours.
struct Retries {
  uintptr_t address, pc;
  int count;
};
constinit thread_local Retries t_retries __attribute__((tls_model("initial-exec"))) = {};

bool MayRetry(const os::Fault& fault) {
  constexpr int kMost = 1000;
  if (t_retries.address != fault.address || t_retries.pc != fault.pc)
    t_retries = {fault.address, fault.pc, 0};
  return ++t_retries.count <= kMost;
}

// --- Which instruction of the program it was

bool IsLibrary(std::string_view module) {
  size_t slash = module.rfind('/');
  std::string_view name = slash == std::string_view::npos ? module : module.substr(slash + 1);
  for (std::string_view prefix : {"libc.", "libc-", "libstdc++.", "libasan.", "libtsan."}) {
    if (name.substr(0, prefix.size()) == prefix) return true;
  }
  return false;
}

bool IsSystemHeader(std::string_view file) {
  return file.substr(0, 5) == "/usr/" && file.substr(0, 9) != "/usr/src/" &&
         file.substr(0, 11) != "/usr/local/";
}

// The site is a return address: one past the instruction is inside it. Inside memcpy and its like, or a
// template of the standard library, the caller is the one to blame. A function of libc that touches memory
// calls none, so the caller's address lies on top of the stack; behind it the frame pointers are followed,
// where there are some.
Site GuiltySite(const os::Fault& fault) {
  const Site site{fault.pc + 1};
  const os::Symbol guilty = os::Symbolize(site.value, os::SymbolContext::kSignal);
  const bool library = IsLibrary(guilty.module.view());
  if (!library && !IsSystemHeader(guilty.file.view())) return site;
  constexpr int kFrames = 10;
  uintptr_t frame[2] = {fault.fp, 0};
  if (library) os::ReadPast(fault.sp, &frame[1], sizeof frame[1]);
  for (int i = 0; i <= kFrames; ++i) {
    if (frame[1] != 0) {
      const os::Symbol caller = os::Symbolize(frame[1], os::SymbolContext::kSignal);
      const bool known = !caller.file.empty() || (i == 0 && !caller.module.empty());
      if (known && !IsLibrary(caller.module.view()) && !IsSystemHeader(caller.file.view()))
        return Site{frame[1]};
    }
    const uintptr_t next = frame[0];
    constexpr uintptr_t kMostFrames = 64 << 10;
    if (next < fault.sp || next - fault.sp > kMostFrames || !os::ReadPast(next, frame, sizeof frame)) break;
  }
  return site;
}
}  // namespace

bool HostWatch::Wanted(const check::Reporter& reporter) {
  return reporter.Wants(FindingId::kHostSourceChanged) || reporter.Wants(FindingId::kHostTargetEarly) ||
         reporter.Wants(FindingId::kHostBufferGone);
}

HostWatch::HostWatch(Runtime& runtime) : runtime_(runtime), guard_(ConfigOf(runtime.reporter())) {
  g_forks.store(this, std::memory_order_release);
  pthread_atfork(
      [] {
        HostWatch& watch = *g_forks.load(std::memory_order_acquire);
        watch.knowledge_.BeforeFork();
        watch.guard_.BeforeFork();
      },
      [] {
        HostWatch& watch = *g_forks.load(std::memory_order_acquire);
        watch.guard_.AfterForkInParent();
        watch.knowledge_.AfterForkInParent();
      },
      [] {
        HostWatch& watch = *g_forks.load(std::memory_order_acquire);
        watch.guard_.AfterForkInChild();
        watch.knowledge_.AfterForkInChild();
        os::ReopenOwnMemory();
      });
}

// --- What is guarded, and how long

void HostWatch::LookedAt(const engine::Submission& submission) {
  const Op& op = submission.op;
  if (op.kind == OpKind::kCopy) {
    const engine::CopyShape& shape = op.copy.shape;
    if (op.copy.src.memory == nullptr && !op.owns_source) {
      Guard(submission, Use::kSource, shape.src, shape.width, shape.src_pitch, shape.height,
            op.copy.src.block != nullptr);
    }
    if (op.copy.dst.memory == nullptr) {
      Guard(submission, Use::kTarget, shape.dst, shape.width, shape.dst_pitch, shape.height,
            op.copy.dst.block != nullptr);
    }
  } else if (op.kind == OpKind::kFill && op.fill.dst.memory == nullptr) {
    Guard(submission, Use::kTarget, op.fill.at, op.fill.bytes, op.fill.bytes, 1,
          op.fill.dst.block != nullptr);
  }
}

void HostWatch::Submitted(const engine::Submission& submission) {
  const Op& op = submission.op;
  const HostKnowledge::Point task{submission.stream, submission.sequence};
  switch (op.kind) {
    case OpKind::kWait:
      if (op.wait.record != nullptr) {
        knowledge_.AddWait(task, {op.wait.record->stream(), op.wait.record->sequence()});
      }
      break;
    case OpKind::kRecord:
      if (submission.bit != nullptr) knowledge_.AddChange(task, submission.bit);
      break;
    case OpKind::kSignal:
      knowledge_.AddChange(task, op.signal.signal);
      break;
    case OpKind::kAwait:
      knowledge_.AddAwait(task, op.await.signal);
      break;
    case OpKind::kValueWrite:
      knowledge_.AddChange(task, op.value.at);
      break;
    case OpKind::kValueWait:
      knowledge_.AddAwait(task, op.value.at);
      break;
    case OpKind::kCopy:
    case OpKind::kFill:
    case OpKind::kReduce:  // of device memory alone
    case OpKind::kReset:
    case OpKind::kPrefetch:
    case OpKind::kHostFunc:
    case OpKind::kCallback:
      break;
  }
}

void HostWatch::Guard(const engine::Submission& submission, Use use, const uint8_t* begin, uint64_t width,
                      uint64_t pitch, uint64_t rows, bool pinned) {
  if (width == 0 || rows == 0 || ended_.load(std::memory_order_relaxed)) return;
  Range range;
  range.begin = reinterpret_cast<uintptr_t>(begin);
  range.width = width;
  range.pitch = rows == 1 ? width : pitch;
  range.rows = rows;
  if (!pinned) {
    memory::HostMemory::Registration around;
    // A copy of a range that is mapped but not pinned is done when its call returns.
    if (!runtime_.memory().host().FindRegistration(range.begin, &around) || !around.can_guard ||
        !around.pinned || range.end() - around.start > around.bytes) {
      return;
    }
  }
  if (!HandlerIsOurs()) return;
  range.stream = submission.stream;
  range.sequence = submission.sequence;
  range.use = use;
  range.device = submission.device;
  range.stream_id = submission.stream_id;
  range.thread = submission.op.thread;
  range.api = submission.op.api;
  range.site = submission.op.site;
  const bool guarded = guard_.Add(range);
  // Learned before, or meanwhile: nobody would open it any more.
  if (knowledge_.Knows({range.stream, range.sequence})) return guard_.Release(range.stream, range.sequence);
  if (guarded || runtime_.options().quiet) return;
  if (unguarded_said_.exchange(true, std::memory_order_relaxed)) return;
  constexpr std::string_view kLine =
      "belay: note: the system refuses to protect pages (see vm.max_map_count); some copies are not "
      "guarded\n";
  static_cast<void>(!write(STDERR_FILENO, kLine.data(), kLine.size()));
}

bool HostWatch::HandlerIsOurs() {
  if (os::FaultHandlerInstalled()) return true;
  guard_.ReleaseAll();
  if (replaced_said_.exchange(true, std::memory_order_relaxed) || runtime_.options().quiet) return false;
  constexpr std::string_view kLine =
      "belay: note: the program replaced the SIGSEGV handler, so host buffers are not guarded from here on\n";
  static_cast<void>(!write(STDERR_FILENO, kLine.data(), kLine.size()));
  return false;
}

bool HostWatch::CanGuard(uintptr_t begin, uint64_t bytes) const {
  constexpr uintptr_t kPage = 4096;
  const uintptr_t first = begin & ~(kPage - 1);
  return os::IsReadWrite(first, ((begin + bytes + kPage - 1) & ~(kPage - 1)) - first);
}

void HostWatch::Learned(const engine::Stream& stream, uint64_t sequence) {
  knowledge_.Learn({&stream, sequence},
                   [this](HostKnowledge::Point point) { guard_.Release(point.stream, point.sequence); });
}

void HostWatch::LearnedRecord(const engine::EventRecord& record) {
  if (record.stream() != nullptr) Learned(*record.stream(), record.sequence());
}

// They never run.
void HostWatch::Dropped(const engine::Stream& stream, uint64_t sequence) {
  guard_.Release(&stream, sequence);
}

void HostWatch::End() {
  ended_.store(true, std::memory_order_relaxed);
  guard_.ReleaseAll();
}

// --- What was caught

check::Place HostWatch::SubmittedAt(const Range& range) const {
  return {"submitted", range.api, range.thread, runtime_.UserId(range.device), range.stream_id, range.site};
}

bool HostWatch::Borrows(const Range& range) const {
  const CallbackScope* scope = CallbackScope::Current();
  if (scope == nullptr || scope->stream == nullptr) return false;
  if (scope->kind != CallbackScope::Kind::kHostFunction && scope->kind != CallbackScope::Kind::kCallback)
    return false;
  // The function is what its stream waits for.
  return knowledge_.Before({scope->stream, scope->stream->done() + 1}, {range.stream, range.sequence});
}

template <class Report>
size_t HostWatch::Judge(const Range& access, bool is_write, Report&& report) {
  constexpr size_t kMost = 16;
  Range found[kMost];
  size_t all = 0;
  for (;;) {
    const size_t count = guard_.FindTouched(access, is_write, found, kMost);
    for (size_t i = 0; i < count; ++i) {
      if (Borrows(found[i])) {
        guard_.Lend(found[i], CallbackScope::Current()->stream);
      } else if (guard_.Disarm(found[i])) {
        report(found[i]);
      }
    }
    all += count;
    if (count < kMost) return all;
  }
}

void HostWatch::Describe(const Range& range, const char* who, const Range& access, bool is_write,
                         Finding& finding) const {
  const bool source = range.use == Use::kSource;
  finding.message.Format("%s %s ", who, is_write ? "wrote" : "read");
  if (access.bytes() == 1) {
    finding.message.Format("byte %" PRIu64 " of", static_cast<uint64_t>(access.begin - range.begin));
  } else {
    finding.message.Format("%" PRIu64 " bytes at 0x%" PRIxPTR ", some of which are of", access.bytes(),
                           access.begin);
  }
  finding.message.Format(" the %" PRIu64 " bytes at 0x%" PRIxPTR
                         " that %s on stream %d of device %d %s, before it could "
                         "know that this was complete",
                         range.bytes(), range.begin, range.api != nullptr ? range.api : "a task",
                         range.stream_id, runtime_.UserId(range.device), source ? "copies" : "writes");
  finding.AddRelated(SubmittedAt(range));
  finding.rule.Append(
      source ? "The source of an asynchronous copy stays unchanged until the host knows that the copy is "
               "complete (SPEC 20 §1.3)"
             : "The target of an asynchronous copy is not touched until the host knows that the copy is "
               "complete (SPEC 20 §1.3)");
  finding.fix.Format(
      "synchronise stream %d, or wait for an event that was recorded after the copy, before %s",
      range.stream_id, source ? "the buffer is written again; or fill another buffer" : "the buffer is used");
}

void HostWatch::Touched(const Moment& by, const Access& access) {
  if (guard_.live() == 0 || access.width == 0 || access.rows == 0) return;
  Range box;
  box.begin = access.begin;
  box.width = access.width;
  box.pitch = access.rows == 1 ? access.width : access.pitch;
  box.rows = access.rows;
  Judge(box, access.is_write, [&](const Range& range) {
    Finding finding(range.use == Use::kSource ? FindingId::kHostSourceChanged : FindingId::kHostTargetEarly);
    finding.where = {"call", by.api, by.thread, -1, -1, by.site};
    Describe(range, by.api, box, access.is_write, finding);
    runtime_.reporter().Report(finding);
  });
}

void HostWatch::Gone(const Moment& by, uintptr_t begin, uint64_t bytes) {
  constexpr size_t kMost = 16;
  Range taken[kMost];
  for (;;) {
    const size_t count = guard_.TakeWithin(begin, bytes, taken, kMost);
    for (size_t i = 0; i < count; ++i) {
      const Range& range = taken[i];
      Finding finding(FindingId::kHostBufferGone);
      finding.where = {"call", by.api, by.thread, -1, -1, by.site};
      finding.message.Format("%s took away the %" PRIu64 " bytes at 0x%" PRIxPTR
                             " that %s on stream %d of device %d %s, "
                             "before the host could know that this was complete",
                             by.api, range.bytes(), range.begin, range.api != nullptr ? range.api : "a task",
                             range.stream_id, runtime_.UserId(range.device),
                             range.use == Use::kSource ? "copies" : "writes");
      finding.AddRelated(SubmittedAt(range));
      finding.rule.Append(
          "The host memory of an asynchronous copy stays pinned or registered until the copy is complete "
          "(SPEC 20 §1.3)");
      finding.fix.Format("synchronise stream %d before %s", range.stream_id, by.api);
      runtime_.reporter().Report(finding);
    }
    if (count < kMost) return;
  }
}

// Signal context: nothing here allocates.
os::FaultVerdict HostWatch::OnFault(const os::Fault& fault) {
  if (!fault.mapped || HostGuard::Inside()) return os::FaultVerdict::kNotOurs;
  const bool is_write = fault.is_write || guard_.ReadOnly(fault.address);
  Range access;
  access.begin = fault.address;
  access.width = access.pitch = 1;
  Site site;
  const size_t victims = Judge(access, is_write, [&](const Range& range) {
    if (!site.known()) site = GuiltySite(fault);
    Finding finding(range.use == Use::kSource ? FindingId::kHostSourceChanged : FindingId::kHostTargetEarly);
    finding.where.role = is_write ? "write" : "read";
    finding.where.thread = os::ThreadId();
    finding.where.site = site;
    Describe(range, "the host", access, is_write, finding);
    runtime_.reporter().ReportFromSignal(finding);
  });
  switch (guard_.OpenPage(fault.address)) {
    case HostGuard::Page::kForeign:
      return os::FaultVerdict::kNotOurs;
    case HostGuard::Page::kClosed:
      return os::FaultVerdict::kRepaired;
    case HostGuard::Page::kOpen:
      break;
  }
  return victims != 0 || MayRetry(fault) ? os::FaultVerdict::kRepaired : os::FaultVerdict::kNotOurs;
}

}  // namespace belay::runtime
