// How one finding looks: a block of text for people, an object for report.json.
//
// Guarantees: allocates nothing. Threading: pure functions.
#pragma once

#include "base/text.h"
#include "check/finding.h"
#include "check/json_text.h"
#include "os/symbolizer.h"

namespace belay::check {

// A finding with its sites looked up: 0 is `where`, i + 1 is related[i].
struct ResolvedFinding {
  const Finding* finding = nullptr;
  os::Symbol symbols[Finding::kMaxRelated + 1];
};

struct TextStyle {
  bool color = false;
  bool under_run = true;  // how to silence: options of `belay run`, or the variable BELAY
};

using FindingText = Text<12 * 1024>;

// Lines of at most 100 columns where the words allow it; ends in a newline.
void FormatFinding(const ResolvedFinding& resolved, TextStyle style, FindingText* out);

// The object of report.json without its member "count"; returns where in the object that member belongs.
size_t PutFindingJson(const ResolvedFinding& resolved, BufferSink* sink);

}  // namespace belay::check
