#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace belay::tool {

namespace {

constexpr int kForwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

std::atomic<pid_t> g_child = 0;

void Forward(int signal, siginfo_t* info, void*) {
  const pid_t child = g_child.load(std::memory_order_relaxed);
  // The kernel's own come from the terminal.
  if (child > 0 && info->si_code != SI_KERNEL) kill(child, signal);
}

// Blocks the forwarded signals until the child exists, and passes them on from then on.
class Forwarding {
 public:
  Forwarding() {
    sigset_t set;
    sigemptyset(&set);
    for (int signal : kForwarded) sigaddset(&set, signal);
    sigprocmask(SIG_BLOCK, &set, &mask_);
    struct sigaction action {};
    action.sa_sigaction = Forward;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    for (size_t i = 0; i < std::size(kForwarded); ++i) {
      sigaction(kForwarded[i], nullptr, &before_[i]);
      // Who started us with a signal ignored (nohup) wants it ignored by the child too.
      if (before_[i].sa_handler != SIG_IGN) sigaction(kForwarded[i], &action, nullptr);
    }
  }

  void StartedInParent(pid_t child) {
    g_child.store(child, std::memory_order_relaxed);
    sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }

  // As it was when the tool started.
  void RestoreInChild() {
    for (size_t i = 0; i < std::size(kForwarded); ++i) sigaction(kForwarded[i], &before_[i], nullptr);
    sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }

  void Finish() { g_child.store(0, std::memory_order_relaxed); }

 private:
  sigset_t mask_;
  struct sigaction before_[std::size(kForwarded)];
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
  Forwarding forwarding;
  const pid_t child = fork();
  if (child == 0) {
    forwarding.RestoreInChild();
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    execvp(words[0], words.data());
    const int code = errno;
    if (write(failure[1], &code, sizeof code) < 0) _exit(126);
    _exit(127);
  }
  const int fork_code = errno;
  close(failure[1]);
  if (child < 0) {
    close(failure[0]);
    return {126, 0, std::string("no new process: ") + strerror(fork_code)};
  }
  forwarding.StartedInParent(child);

  int code = 0;
  ssize_t length;
  do {
    length = read(failure[0], &code, sizeof code);
  } while (length < 0 && errno == EINTR);
  close(failure[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  forwarding.Finish();
  if (length == sizeof code) {
    return {code == ENOENT || code == ENOTDIR ? 127 : 126, 0, WhyNotStarted(command[0], code)};
  }
  if (WIFSIGNALED(status)) return {128 + WTERMSIG(status), WTERMSIG(status), ""};
  return {WEXITSTATUS(status), 0, ""};
}

}  // namespace belay::tool
