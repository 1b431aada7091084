// Report files: what a run page holds, as report.json.
//
// Used by the library at exit and by `belay run`. Unknown values are null, never absent.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "check/run_page.h"

namespace belay::check {

struct RunFacts {
  std::vector<std::string> command;
  std::optional<int> exit_status;
};

// "" if `file` can be written as a report, else why not: kinds that are not built yet are refused by name.
std::string RefuseReportFile(const std::string& file);

std::string ReportJson(const RunPage& page, const RunFacts& facts);

// Replaces `file` in one step, so a reader never sees half a report. Returns "" or the error.
std::string WriteReport(const std::string& file, const RunPage& page, const RunFacts& facts);

}  // namespace belay::check
