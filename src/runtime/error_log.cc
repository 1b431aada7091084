#include "runtime/error_log.h"

#include <unistd.h>
#include <ctime>

#include <cstring>
#include <string_view>
#include <utility>

#include "belay/facts/codes.h"
#include "os/symbolizer.h"

namespace belay::runtime {
namespace {
constexpr char kIndent[] = "        ";

void AppendTime(std::string& out, int64_t unix_ns) {
  time_t seconds = static_cast<time_t>(unix_ns / 1'000'000'000);
  tm local;
  localtime_r(&seconds, &local);
  char text[64];
  strftime(text, sizeof(text), "%Y-%m-%d-%H:%M:%S", &local);
  Text<96> stamp;
  int64_t micros = unix_ns / 1000 % 1'000'000;
  stamp.Format("%s.%03d.%03d ", text, static_cast<int>(micros / 1000), static_cast<int>(micros % 1000));
  out += stamp.c_str();
}

// The section mark is the one character of the rules that is not ASCII (SPEC 11 §3.2).
void AppendAscii(std::string& out, std::string_view text) {
  constexpr std::string_view kMark = "\u00a7";
  for (size_t at; (at = text.find(kMark)) != text.npos; text.remove_prefix(at + kMark.size())) {
    out += text.substr(0, at);
    out += "section ";
  }
  out += text;
}

void AppendPlace(std::string& out, const char* text, Site site) {
  os::Symbol symbol = os::Symbolize(site.value, os::SymbolContext::kNormal);
  out += kIndent;
  out += text;
  out += "[FUNC:";
  out += symbol.function.empty() ? "?" : symbol.function.c_str();
  out += "][FILE:";
  out += !symbol.file.empty() ? symbol.file.c_str() : symbol.module.c_str();
  out += "][LINE:" + std::to_string(symbol.line) + "]\n";
}

// SPEC 11 §3.2: the layout that clients parse.
void AppendRecord(std::string& out, const ErrorLog::Record& record, facts::Cann cann) {
  const check::Finding& finding = record.finding;
  const char* api = finding.where.api != nullptr ? finding.where.api : "?";
  bool memory_call = strncmp(api, "aclrtM", 6) == 0 || strncmp(api, "aclrtFree", 9) == 0 ||
                     strncmp(api, "aclrtDevice", 11) == 0 || strncmp(api, "aclrtHost", 9) == 0;
  const char* message_class = MessageClass(record.code, cann, memory_call);
  std::string pid = "[PID: " + std::to_string(getpid()) + "] ";
  if (cann >= facts::Cann::k90) {
    out += pid;
    AppendTime(out, record.unix_ns);
    const char* name = facts::CodeName(record.code);
    const char* title = name == nullptr ? "Error" : strncmp(name, "ACL_ERROR_", 10) == 0 ? name + 10 : name;
    out += std::string(title) + "(" + message_class + "): ";
  } else {
    out += std::string(message_class) + ": " + pid;
    AppendTime(out, record.unix_ns);
  }
  out += std::string(api) + " returned " + std::to_string(record.code) + ". Reason: ";
  AppendAscii(out, finding.message.view());
  out += '\n';
  for (auto [label, text] :
       {std::pair("Possible Cause: ", finding.rule.view()), {"Solution: ", finding.fix.view()}}) {
    if (text.empty()) continue;
    out += std::string(kIndent) + label;
    AppendAscii(out, text);
    out += '\n';
  }
  out += std::string(kIndent) + "TraceBack (most recent call last):\n";
  std::string call = std::string(api) + " in thread " + std::to_string(finding.where.thread);
  AppendPlace(out, call.c_str(), finding.where.site);
  for (int i = 0; i < finding.related_count; ++i) {
    const check::Place& place = finding.related[i];
    std::string text = std::string(place.role) + " by " + (place.api != nullptr ? place.api : "the program") +
                       " in thread " + std::to_string(place.thread);
    AppendPlace(out, text.c_str(), place.site);
  }
  // SPEC 11 §3.3: older clients look for this word to tell that memory ran out.
  if (strcmp(message_class, "EL0019") == 0) out += std::string(kIndent) + "also known as EL0004\n";
}
}  // namespace

const char* MessageClass(int32_t code, facts::Cann cann, bool memory_call) {
  switch (code) {
    case 507046:
    case 507047:
      return "EE1002";
    case 207001:
    case 207018:
      return cann >= facts::Cann::k91 ? "EL0019" : "EL0004";
    case 507033:
      return "EL0001";
    case 207005:
      return "EL0005";
    case 207006:
      return "EL0007";
    case 207007:
      return "EL0008";
    case 207008:
      return "EL0009";
    case 207009:
      return "EL0010";
    case 207010:
      return "EL0011";
    case 207000:
      return "EL0014";
    case 507899:
      return "EL9999";
    case 507000:
      return "EE9999";
    case 107000:
      if (memory_call) return "EL0003";
      [[fallthrough]];
    case 100000:
      return cann >= facts::Cann::k85 ? "EE1011" : "EE1001";
    default:
      return "EE1001";
  }
}

void ErrorLog::Add(int32_t code, const check::Finding& finding) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  auto record = std::make_unique<Record>();
  record->code = code;
  record->unix_ns = static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
  record->finding = finding;
  records_.push_front(std::move(record));
  if (records_.size() <= kMostRecords) return;
  records_.pop_back();
  ++dropped_;
}

const char* ErrorLog::Take(facts::Cann cann) {
  if (records_.empty()) return nullptr;
  std::string text;
  for (const auto& record : records_) AppendRecord(text, *record, cann);
  if (dropped_ != 0) text += "(" + std::to_string(dropped_) + " older messages were dropped)\n";
  records_.clear();
  dropped_ = 0;
  text_ = std::move(text);
  return text_.c_str();
}

}  // namespace belay::runtime
