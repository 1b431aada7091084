#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace belay::tool {

namespace {

constexpr int kForwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

// Holds the forwarded signals back from the tool, so that it takes them one by one while it waits. No
// handler: what happens in between is then never interrupted.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&held_);
    sigaddset(&held_, SIGCHLD);
    for (int signal : kForwarded) {
      // Who started us with a signal ignored (nohup) wants it ignored by the child too.
      struct sigaction before {};
      sigaction(signal, nullptr, &before);
      if (before.sa_handler != SIG_IGN) sigaddset(&held_, signal);
    }
    sigprocmask(SIG_BLOCK, &held_, &mask_);
    // Where it is ignored, children vanish and leave no status.
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &standard, &child_before_);
  }

  // As it was when the tool started.
  void RestoreInChild() const {
    sigaction(SIGCHLD, &child_before_, nullptr);
    sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }

  // Passes signals on until the child ends; returns its status.
  int WaitFor(pid_t child) const {
    int status = 0;
    while (waitpid(child, &status, WNOHANG) != child) {
      siginfo_t info{};
      const int signal = sigwaitinfo(&held_, &info);
      // The kernel's own come from the terminal, and reach the child by themselves.
      if (signal > 0 && signal != SIGCHLD && info.si_code != SI_KERNEL) kill(child, signal);
    }
    return status;
  }

  void Release() const { sigprocmask(SIG_SETMASK, &mask_, nullptr); }

 private:
  sigset_t held_;
  sigset_t mask_;
  struct sigaction child_before_ {};
};

std::string WhyNotStarted(const std::string& program, int code) {
  if (code == ENOENT && FindProgram(program).empty()) {
    bool path = program.find('/') != std::string::npos;
    return "there is no program '" + program + "'" +
           (path ? "" : " in PATH; one in this directory is ./" + program);
  }
  if (code == ENOENT)
    return "'" + program + "' needs an interpreter that does not exist (look at its first line)";
  return "'" + program + "' cannot be executed: " + strerror(code);
}

}  // namespace

std::string FindProgram(const std::string& program) {
  auto is_file = [](const std::string& path) {
    struct stat facts {};
    return stat(path.c_str(), &facts) == 0 && !S_ISDIR(facts.st_mode);
  };
  if (program.find('/') != std::string::npos) return is_file(program) ? program : "";
  const char* variable = getenv("PATH");
  std::string_view path = variable == nullptr ? "/bin:/usr/bin" : variable;
  std::string refused;
  while (true) {
    const size_t colon = path.find(':');
    std::string file(path.substr(0, colon));
    file = (file.empty() ? "." : file) + "/" + program;
    if (is_file(file)) {
      if (access(file.c_str(), X_OK) == 0) return file;
      if (refused.empty()) refused = file;
    }
    if (colon == std::string_view::npos) return refused;
    path.remove_prefix(colon + 1);
  }
}

ChildEnd RunChild(const std::vector<std::string>& command, const Variables& variables) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);

  int failure[2];
  if (pipe2(failure, O_CLOEXEC) != 0) return {126, 0, std::string("no pipe: ") + strerror(errno)};
  fflush(nullptr);
  const HeldSignals signals;
  const pid_t child = fork();
  if (child == 0) {
    signals.RestoreInChild();
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    execvp(words[0], words.data());
    const int code = errno;
    if (write(failure[1], &code, sizeof code) < 0) _exit(126);
    _exit(127);
  }
  const int fork_code = errno;
  close(failure[1]);
  if (child < 0) {
    signals.Release();
    close(failure[0]);
    return {126, 0, std::string("no new process: ") + strerror(fork_code)};
  }
  int code = 0;
  ssize_t length;
  do {
    length = read(failure[0], &code, sizeof code);
  } while (length < 0 && errno == EINTR);
  close(failure[0]);
  // The signals stay held: a key at the terminal may have ended the child before it was seen here, and the
  // reports are still to be written.
  const int status = signals.WaitFor(child);
  if (length == sizeof code) {
    return {code == ENOENT || code == ENOTDIR ? 127 : 126, 0, WhyNotStarted(command[0], code)};
  }
  if (WIFSIGNALED(status)) return {128 + WTERMSIG(status), WTERMSIG(status), ""};
  return {WEXITSTATUS(status), 0, ""};
}

}  // namespace belay::tool
