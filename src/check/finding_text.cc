#include "check/finding_text.h"

namespace belay::check {

namespace {

constexpr size_t kColumns = 100;
constexpr size_t kLabelColumns = 14;  // two blanks, the label, blanks

std::string_view BaseName(std::string_view path) {
  size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// Words of `text`, broken before column 100 and indented under each other. `column` is where the cursor
// stands.
void Wrap(std::string_view text, size_t column, FindingText* out) {
  bool line_start = true;
  while (!text.empty()) {
    size_t blank = text.find_first_of(" \n");
    std::string_view word = text.substr(0, blank);
    if (!word.empty()) {
      size_t wanted = column + (line_start ? 0 : 1) + word.size();
      if (!line_start && wanted > kColumns) {
        out->Format("\n%*s", static_cast<int>(kLabelColumns), "");
        column = kLabelColumns;
        line_start = true;
      }
      if (!line_start) out->Append(" "), ++column;
      out->Append(word);
      column += word.size();
      line_start = false;
    }
    if (blank == std::string_view::npos) break;
    if (text[blank] == '\n' && blank + 1 < text.size()) {
      out->Format("\n%*s", static_cast<int>(kLabelColumns), "");
      column = kLabelColumns;
      line_start = true;
    }
    text.remove_prefix(blank + 1);
  }
  out->Append("\n");
}

void PutField(const char* label, std::string_view text, FindingText* out) {
  if (text.empty()) return;
  Text<64> head;
  head.Format("  %s:", label);
  do {
    head.Append(" ");
  } while (head.size() < kLabelColumns);
  out->Append(head.view());
  Wrap(text, head.size(), out);
}

void PutSite(const os::Symbol& symbol, Text<1200>* out) {
  if (!symbol.function.empty()) out->Append(symbol.function.view());
  if (!symbol.file.empty()) {
    out->Format("%s%s", symbol.function.empty() ? "" : " ", symbol.file.c_str());
    if (symbol.line != 0) out->Format(":%u", symbol.line);
  } else if (!symbol.module.empty()) {
    out->Format("%s%s+0x%llx", symbol.function.empty() ? "" : " in ", symbol.module.c_str(),
                static_cast<unsigned long long>(symbol.offset));
  } else if (symbol.function.empty()) {
    out->Append("an unknown place");
  }
}

void PutNumber(const char* name, bool known, int64_t number, Text<1200>* out) {
  if (known) {
    out->Format("%s %lld", name, static_cast<long long>(number));
  } else {
    out->Format("%s -", name);
  }
}

void PutPlace(const Place& place, const os::Symbol& symbol, const char* role, FindingText* out) {
  Text<1200> text;
  if (place.api != nullptr) text.Format("%s at ", place.api);
  PutSite(symbol, &text);
  text.Append("\n");
  PutNumber("thread", place.thread != 0, place.thread, &text);
  PutNumber(", device", place.device >= 0, place.device, &text);
  PutNumber(", stream", place.stream >= 0, place.stream, &text);
  PutField(role[0] == '\0' ? "call" : role, text.view(), out);
}

void PutSilence(const ResolvedFinding& resolved, TextStyle style, FindingText* out) {
  const char* id = Kind(resolved.finding->id).id;
  const os::Symbol& site = resolved.symbols[0];
  Text<400> line;
  line.Append(id);
  if (!site.function.empty()) {
    line.Format(":%s", site.function.c_str());
  } else if (!site.file.empty()) {
    line.Append(":").Append(BaseName(site.file.view())).Format(":%u", site.line);
  } else if (!site.module.empty()) {
    line.Append(":").Append(BaseName(site.module.view()));
  }
  Text<600> text;
  const char* form = style.under_run
                         ? "--suppress FILE with the line '%s' in it, or --check=-%s"
                         : "BELAY=\"suppress=FILE\" with the line '%s' in FILE, or BELAY=\"check=-%s\"";
  text.Format(form, line.c_str(), id);  // NOLINT: one of two literals
  PutField("silence", text.view(), out);
}

const char* ColorOf(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "\033[1;31m";
    case Severity::kWarning:
      return "\033[1;35m";
    case Severity::kNote:
      return "\033[1;36m";
  }
  return "";
}

void PutMember(BufferSink* sink, const char* name, std::string_view text) {
  sink->Put(",\"");
  sink->Put(name);
  sink->Put("\":");
  PutJsonStringOrNull(*sink, text);
}

void PutMember(BufferSink* sink, const char* name, bool known, int64_t number) {
  sink->Put(",\"");
  sink->Put(name);
  sink->Put("\":");
  if (known) {
    PutJsonNumber(*sink, number);
  } else {
    sink->Put("null");
  }
}

void PutPlaceMembers(const Place& place, const os::Symbol& symbol, BufferSink* sink) {
  PutMember(sink, "api", place.api == nullptr ? "" : place.api);
  PutMember(sink, "thread", place.thread != 0, place.thread);
  PutMember(sink, "device", place.device >= 0, place.device);
  PutMember(sink, "stream", place.stream >= 0, place.stream);
  sink->Put(",\"site\":{\"function\":");
  PutJsonStringOrNull(*sink, symbol.function.view());
  PutMember(sink, "file", symbol.file.view());
  PutMember(sink, "line", symbol.line != 0, symbol.line);
  PutMember(sink, "module", symbol.module.view());
  PutMember(sink, "offset", !symbol.module.empty(), static_cast<int64_t>(symbol.offset));
  sink->Put("}");
}

}  // namespace

void FormatFinding(const ResolvedFinding& resolved, TextStyle style, FindingText* out) {
  const Finding& finding = *resolved.finding;
  const FindingKind& kind = Kind(finding.id);
  const char* bold = style.color ? "\033[1m" : "";
  const char* plain = style.color ? "\033[0m" : "";
  out->Format("belay: %s%s:%s %s%s%s: %s\n", style.color ? ColorOf(finding.severity) : "",
              SeverityName(finding.severity), plain, bold, kind.id, plain, kind.title);
  PutField("what", finding.message.view(), out);
  PutPlace(finding.where, resolved.symbols[0], finding.where.role, out);
  for (int i = 0; i < finding.related_count; ++i) {
    const Place& place = finding.related[i];
    PutPlace(place, resolved.symbols[i + 1], place.role[0] == '\0' ? "related" : place.role, out);
  }
  PutField("rule", finding.rule.view(), out);
  PutField("fix", finding.fix.view(), out);
  PutSilence(resolved, style, out);
}

size_t PutFindingJson(const ResolvedFinding& resolved, BufferSink* sink) {
  const Finding& finding = *resolved.finding;
  sink->Put("{\"id\":");
  PutJsonString(*sink, Kind(finding.id).id);
  PutMember(sink, "severity", SeverityName(finding.severity));
  PutMember(sink, "message", finding.message.view());
  const size_t count_at = sink->size();
  PutPlaceMembers(finding.where, resolved.symbols[0], sink);
  sink->Put(",\"related\":[");
  for (int i = 0; i < finding.related_count; ++i) {
    sink->Put(i == 0 ? "{\"role\":" : ",{\"role\":");
    PutJsonStringOrNull(*sink, finding.related[i].role);
    PutPlaceMembers(finding.related[i], resolved.symbols[i + 1], sink);
    sink->Put("}");
  }
  sink->Put("]");
  PutMember(sink, "rule", finding.rule.view());
  PutMember(sink, "fix", finding.fix.view());
  sink->Put("}");
  return count_at;
}

}  // namespace belay::check
