#include "check/report_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "check/json_text.h"

#ifndef BELAY_VERSION
#define BELAY_VERSION "unknown"
#endif

namespace belay::check {

namespace {

// Returns 0 or the errno.
int WriteFile(const std::string& file, int flags, std::string_view text) {
  int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
  if (fd < 0) return errno;
  int code = 0;
  while (!text.empty() && code == 0) {
    ssize_t written = write(fd, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      code = written == 0 ? EIO : errno;
    }
  }
  if (close(fd) != 0 && code == 0) code = errno;
  return code;
}

void PutCommand(StringSink* sink, const std::vector<std::string>& command) {
  sink->Put("[");
  for (size_t i = 0; i < command.size(); ++i) {
    if (i > 0) sink->Put(",");
    PutJsonString(*sink, command[i]);
  }
  sink->Put("]");
}

void PutFindings(StringSink* sink, const RunPage& page) {
  sink->Put("[");
  bool first = true;
  for (uint32_t i = 0; i < page.finding_slots(); ++i) {
    RunPage::StoredFinding finding;
    if (!page.ReadFinding(i, &finding)) continue;
    sink->Put(first ? "\n  " : ",\n  ");
    first = false;
    sink->Put(finding.head);
    sink->Put(",\"count\":");
    PutJsonNumber(*sink, static_cast<int64_t>(finding.count));
    sink->Put(finding.tail);
  }
  sink->Put(first ? "]" : "\n ]");
}

void PutResources(StringSink* sink, const RunPage& page) {
  const RunTotals totals = page.totals();
  auto member = [&](const char* name, uint64_t number) {
    sink->Put(std::string("\"") + name + "\":");
    PutJsonNumber(*sink, static_cast<int64_t>(number));
    sink->Put(",");
  };
  sink->Put("{");
  member("processes", page.processes());
  member("calls", totals.calls);
  member("copies", totals.copies);
  member("bytes", totals.bytes);
  member("lost_findings", page.lost());
  sink->Put("\"opened_devices\":[");
  bool first = true;
  for (int device = 0; device < RunPage::kDevices; ++device) {
    if (!page.device_opened(device)) continue;
    if (!first) sink->Put(",");
    PutJsonNumber(*sink, device);
    first = false;
  }
  sink->Put("]}");
}

}  // namespace

std::string RefuseReportFile(const std::string& file) {
  std::string_view name = file;
  if (name.ends_with(".sarif") || name.ends_with(".html")) {
    return "report: '" + file + "': reports of the kind '" + file.substr(file.rfind('.')) +
           "' are not built yet";
  }
  if (!name.ends_with(".json")) {
    return "report: '" + file + "' says no kind of report: the name must end in .json";
  }
  return "";
}

std::string ReportJson(const RunPage& page, const RunFacts& facts) {
  StringSink sink;
  sink.Put("{\"belay\":\"" BELAY_VERSION "\",\n \"schema\":1,\n \"command\":");
  PutCommand(&sink, facts.command);
  sink.Put(",\n \"exit_status\":");
  if (facts.exit_status) {
    PutJsonNumber(sink, *facts.exit_status);
  } else {
    sink.Put("null");
  }
  sink.Put(",\n \"profile\":{\"product\":");
  PutJsonStringOrNull(sink, page.product());
  sink.Put(",\"cann\":");
  PutJsonStringOrNull(sink, page.cann());
  sink.Put(",\"devices\":");
  if (page.has_profile()) {
    PutJsonNumber(sink, page.devices());
  } else {
    sink.Put("null");
  }
  sink.Put("},\n \"findings\":");
  PutFindings(&sink, page);
  sink.Put(",\n \"faults\":[],\n \"resources\":");
  PutResources(&sink, page);
  sink.Put("}\n");
  return std::move(sink.text());
}

std::string WriteReport(const std::string& file, const RunPage& page, const RunFacts& facts) {
  std::string refusal = RefuseReportFile(file);
  if (!refusal.empty()) return refusal;
  const std::string text = ReportJson(page, facts);
  struct stat there {};
  int code = 0;
  if (stat(file.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) {
    code = WriteFile(file, 0, text);  // a pipe or a device stays what it is
  } else {
    const std::string temporary = file + ".tmp." + std::to_string(getpid());
    code = WriteFile(temporary, O_TRUNC, text);
    if (code == 0 && rename(temporary.c_str(), file.c_str()) != 0) code = errno;
    if (code != 0) unlink(temporary.c_str());
  }
  return code == 0 ? "" : "report: cannot write '" + file + "': " + strerror(code);
}

}  // namespace belay::check
