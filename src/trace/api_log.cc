#include "trace/api_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "os/thread.h"

namespace belay::trace {
namespace {

constexpr size_t kLongestText = 256;
constexpr std::string_view kCutMark = "\"cut\":1";

// At most 6 bytes for each byte of the text.
template <size_t N>
void AppendJsonString(Text<N>& out, std::string_view text) {
  out.Append("\"");
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.Append("\\").Append({&c, 1});
    } else if (byte < 0x20 || byte > 0x7e) {
      // Bytes, not characters: a user's text need not be UTF-8, but a log line must be.
      out.Format("\\u%04x", byte);
    } else {
      out.Append({&c, 1});
    }
  }
  out.Append("\"");
}

}  // namespace

void ArgWriter::AddPointer(const char* name, const void* pointer) {
  Text<32> json;
  json.Format("\"0x%" PRIxPTR "\"", reinterpret_cast<uintptr_t>(pointer));
  AddRaw(name, json.view());
}

void ArgWriter::AddSigned(const char* name, int64_t value) {
  Text<32> json;
  json.Format("%" PRId64, value);
  AddRaw(name, json.view());
}

void ArgWriter::AddUnsigned(const char* name, uint64_t value) {
  Text<32> json;
  json.Format("%" PRIu64, value);
  AddRaw(name, json.view());
}

void ArgWriter::AddReal(const char* name, double value) {
  if (!std::isfinite(value)) return AddRaw(name, "null");
  Text<32> json;
  json.Format("%.17g", value);
  AddRaw(name, json.view());
}

void ArgWriter::AddText(const char* name, const char* text) {
  if (text == nullptr) return AddRaw(name, "null");
  Text<6 * kLongestText + 8> json;
  AppendJsonString(json, {text, strnlen(text, kLongestText)});
  AddRaw(name, json.view());
}

void ArgWriter::AddRaw(const char* name, std::string_view json) {
  if (cut_) return;
  size_t wanted = strlen(name) + json.size() + sizeof "\"\":,";
  cut_ = text_.size() + wanted + kCutMark.size() + 2 > kRoom;
  if (!text_.empty()) text_.Append(",");
  if (cut_) {
    text_.Append(kCutMark);
  } else {
    text_.Append("\"").Append(name).Append("\":").Append(json);
  }
}

tl::expected<std::unique_ptr<ApiLog>, std::string> ApiLog::Open(const std::string& path) {
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) {
    Text<512> why;
    why.Format("log: cannot write %s: %s", path.c_str(), strerror(errno));
    return tl::unexpected<std::string>(why.c_str());
  }
  return std::unique_ptr<ApiLog>(new ApiLog(fd, path));
}

ApiLog::~ApiLog() {
  close(fd_);
}

void ApiLog::Record(const char* api, int32_t code, uint64_t start_ns, uint64_t duration_ns,
                    const ArgWriter& args, const ArgWriter& outs, uint64_t order) {
  Text<2 * ArgWriter::kRoom + 512> line;
  line.Format("{\"api\":\"%s\",\"code\":%" PRId32 ",\"thread\":%d,\"ns\":%" PRIu64 ",\"dur\":%" PRIu64
              ",\"args\":{",
              api, code, static_cast<int>(os::ThreadId()), start_ns, duration_ns);
  line.Append(args.view()).Append("}");
  if (!outs.view().empty()) line.Append(",\"out\":{").Append(outs.view()).Append("}");
  if (order != 0) line.Format(",\"order\":%" PRIu64, order);
  line.Append("}\n");
  Append(line.view());
}

void ApiLog::Append(std::string_view line) {
  if (!enabled()) return;
  ssize_t written = 0;
  do {
    written = write(fd_, line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(line.size()) || !enabled_.exchange(false)) return;
  const char* why = written < 0 ? strerror(errno) : "the file took only a part of a line";
  fprintf(stderr, "belay: log %s ends here: %s\n", path_.c_str(), why);
}

uint64_t ApiLog::Now() {
  return static_cast<uint64_t>(os::MonotonicNs());
}

}  // namespace belay::trace
