#include "trace/app_log.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "os/thread.h"

namespace belay::trace {
namespace {

constexpr size_t kMostBytes = 1024;  // SPEC 11 §4.1: of a message, without what stands before it

const char* Variable(const char* name) {
  const char* value = getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// Makes every folder of the path; the last one decides.
bool MakeFolders(const std::string& path) {
  for (size_t at = 1; at != path.npos;) {
    at = path.find('/', at + 1);
    mkdir(path.substr(0, at).c_str(), 0750);
  }
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::string Stamp(const char* format, const timespec& now) {
  tm local;
  localtime_r(&now.tv_sec, &local);
  char text[64];
  return std::string(text, strftime(text, sizeof(text), format, &local));
}

void WriteAll(int fd, std::string_view text) {
  while (write(fd, text.data(), text.size()) < 0 && errno == EINTR) {
  }
}

}  // namespace

AppLog::Settings AppLog::FromEnvironment() {
  Settings settings;
  if (const char* level = Variable("ASCEND_GLOBAL_LOG_LEVEL");
      level != nullptr && level[1] == '\0' && *level >= '0' && *level <= '4')
    settings.least = *level - '0';
  const char* print = Variable("ASCEND_SLOG_PRINT_TO_STDOUT");
  settings.to_stdout = print != nullptr && strcmp(print, "1") == 0;
  if (const char* folder = Variable("ASCEND_PROCESS_LOG_PATH")) {
    settings.folder = folder;
  } else if (const char* work = Variable("ASCEND_WORK_PATH")) {
    settings.folder = work;
  } else if (const char* home = Variable("HOME")) {
    settings.folder = std::string(home) + "/ascend/log";
  }
  return settings;
}

AppLog& AppLog::Get() {
  static AppLog* log = new AppLog(FromEnvironment());
  return *log;
}

int AppLog::Target() {
  if (settings_.to_stdout) return STDOUT_FILENO;
  MutexLock lock(mutex_);
  if (owner_ == getpid()) return fd_;
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
  owner_ = getpid();
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  char millis[8];
  snprintf(millis, sizeof(millis), "%03d", static_cast<int>(now.tv_nsec / 1'000'000));
  const std::string folder = settings_.folder + "/debug/plog";
  path_ = folder + "/plog-" + std::to_string(owner_) + "_" + Stamp("%Y%m%d%H%M%S", now) + millis + ".log";
  if (!settings_.folder.empty() && MakeFolders(folder)) {
    fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  }
  if (fd_ < 0 && !failed_) {
    failed_ = true;
    WriteAll(STDERR_FILENO, "belay: the log file " + path_ + " cannot be written: " + strerror(errno) +
                                "; set ASCEND_PROCESS_LOG_PATH to a folder that can\n");
  }
  return fd_;
}

void AppLog::Write(const char* module, int32_t level, const Origin& origin, const char* format,
                   va_list args) {
  if (format == nullptr) return;
  if (level < kDebug || level > kError) level = kError;
  if (!Wants(level)) return;
  int fd = Target();
  if (fd < 0) return;
  static constexpr const char* kNames[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const int micros = static_cast<int>(now.tv_nsec / 1000);
  char fraction[16];
  snprintf(fraction, sizeof(fraction), ".%03d.%03d", micros / 1000, micros % 1000);
  auto shown = [](const char* text) { return text != nullptr ? text : "(null)"; };
  std::string entry = std::string("[") + kNames[level] + "] " + module + "(" + std::to_string(getpid()) +
                      "," + program_invocation_short_name + "):" + Stamp("%Y-%m-%d-%H:%M:%S", now) +
                      fraction + " [" + shown(origin.file) + ":" + std::to_string(origin.line) + "]" +
                      std::to_string(os::ThreadId()) + " " + shown(origin.function) + ":";
  char message[kMostBytes + 1];
  int wanted = vsnprintf(message, sizeof(message), format, args);
  if (wanted > 0) entry += message;
  WriteAll(fd, entry + "\n");
}

void AppLog::Write(const char* module, int32_t level, const Origin& origin, const char* format, ...) {
  va_list args;
  va_start(args, format);
  Write(module, level, origin, format, args);
  va_end(args);
}

std::string AppLog::path() {
  MutexLock lock(mutex_);
  return path_;
}

}  // namespace belay::trace
