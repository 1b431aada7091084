// One finding: what went wrong, who was involved, which rule says so, how to mend it.
//
// Guarantees: building and reporting one allocates nothing, because the fault handler makes findings too.
// Threading: a value.
#pragma once

#include <cstdint>

#include "base/site.h"
#include "base/text.h"
#include "check/finding_id.h"

namespace belay::check {

// One side of a finding. Unknown members keep their defaults and are printed as unknown, never invented.
struct Place {
  const char* role =
      "";  // "call", "allocated", "freed", "submitted", "created", "destroyed", "finalised", ...
  const char* api = nullptr;  // the public function, static text; null when it was not an API call
  uint32_t thread = 0;        // kernel thread id; 0 = unknown
  int32_t device = -1;        // user id; -1 = none or unknown
  int32_t stream = -1;        // aclrtStreamGetId value; -1 = none or unknown
  Site site;
};

struct Finding {
  static constexpr int kMaxRelated = 4;

  FindingId id = FindingId::kBadArgument;
  Severity severity = Severity::kError;
  Text<600> message;  // what happened, with the values involved
  Place where;        // the call that is refused or warned about
  Place related[kMaxRelated];
  int related_count = 0;
  uint64_t times = 1;  // how often it happened: what `count` grows by
  Text<300> rule;      // one sentence; ends with the section, "(SPEC 32 §3)"
  Text<300> fix;       // one concrete thing to do

  Finding() = default;
  explicit Finding(FindingId finding_id) : id(finding_id), severity(Kind(finding_id).severity) {}

  // Ignored when full: four sides are more than a reader follows.
  void AddRelated(const Place& place) {
    if (related_count < kMaxRelated) related[related_count++] = place;
  }
};

}  // namespace belay::check
