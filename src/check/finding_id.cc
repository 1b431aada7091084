#include "check/finding_id.h"

#include "base/check.h"

namespace belay::check {

namespace {

constexpr FindingKind kKinds[] = {
    {"no-context", "the thread has no device or context and the call needs one", Severity::kError, true},
    {"wrong-context", "a stream or event belongs to another device or context than the call requires",
     Severity::kError, true},
    {"bad-argument", "an argument that the documented rules exclude", Severity::kError, true},
    {"bad-handle", "a destroyed, foreign or garbage handle", Severity::kError, true},
    {"unsupported", "not available on the selected product or version", Severity::kWarning, true},
    {"wrong-side", "the copy kind does not fit where the pointers really are", Severity::kError, true},
    {"out-of-bounds", "a range leaves its allocation", Severity::kError, true},
    {"use-after-free", "a freed allocation is used", Severity::kError, true},
    {"double-free", "an allocation is freed twice", Severity::kError, true},
    {"unknown-pointer", "no allocation or registration covers an address that needs one", Severity::kError,
     true},
    {"uninitialized-read", "bytes are read that nothing wrote", Severity::kWarning, true},
    {"device-pointer-touched", "host code dereferenced a device address", Severity::kError, true},
    {"peer-not-enabled", "a cross-device access in a direction that was not enabled", Severity::kError, true},
    {"peer-unreachable", "the topology has no peer path between two devices", Severity::kError, true},
    {"missing-order", "two accesses to the same bytes, one a write, with no order between them",
     Severity::kError, true},
    {"host-source-changed",
     "the host wrote the source of an asynchronous copy that it could not know complete", Severity::kError,
     true},
    {"host-target-early",
     "the host touched the target of an asynchronous copy that it could not know complete", Severity::kError,
     true},
    {"host-buffer-gone", "a host range of an asynchronous copy was freed or unregistered", Severity::kError,
     true},
    {"implicit-order", "correct only because a call happens to wait", Severity::kWarning, true},
    {"never-fires", "a wait that nothing can satisfy", Severity::kError, true},
    {"event-misuse", "an event is used in a way that does not do what it seems to", Severity::kWarning, true},
    {"callback-misuse", "a callback does what a callback may not, or has no thread to run on",
     Severity::kError, true},
    {"unknown-kernel", "a launch of a kernel that nobody registered", Severity::kError, false},
    {"capture-violation", "a call that an open capture forbids", Severity::kError, false},
    {"teardown-order", "destroyed or reset while work is pending, or in the wrong order", Severity::kWarning,
     true},
    {"leak", "still live at the end", Severity::kWarning, true},
    {"after-finalize", "a call after the runtime was finalised", Severity::kError, true},
    {"fork-after-init", "a forked child uses the runtime of its parent", Severity::kError, true},
    {"resource-exhausted", "out of memory, streams, events or handles", Severity::kError, true},
    {"device-fault", "a device fault", Severity::kError, true},
    {"ipc-denied", "an import from another process was refused", Severity::kError, false},
    {"version-dependent", "behaviour differs between versions or products", Severity::kNote, true},
    {"slow-pattern", "correct but needlessly slow", Severity::kNote, true},
};
static_assert(sizeof kKinds / sizeof kKinds[0] == static_cast<size_t>(FindingId::kCount));

}  // namespace

const FindingKind& Kind(FindingId id) {
  BELAY_CHECK(id < FindingId::kCount);
  return kKinds[static_cast<size_t>(id)];
}

const char* SeverityName(Severity severity) {
  constexpr const char* kNames[] = {"note", "warning", "error"};
  return kNames[static_cast<size_t>(severity)];
}

}  // namespace belay::check
