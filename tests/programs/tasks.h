#pragma once
// The threads of this process as the system lists them.

#include <dirent.h>
#include <poll.h>

#include <chrono>
#include <fstream>

#include "program.h"

namespace program {

struct Task {
  int id;
  std::string name;
  uint64_t blocked;  // signals, number 1 in the lowest bit
};

// A thread that ends while it is read is left out.
inline std::vector<Task> Tasks() {
  std::vector<Task> tasks;
  DIR* directory = opendir("/proc/self/task");
  CHECK(directory != nullptr);
  while (dirent* entry = readdir(directory)) {
    if (entry->d_name[0] == '.') continue;
    Task task{atoi(entry->d_name), "", 0};
    std::ifstream status(std::string("/proc/self/task/") + entry->d_name + "/status");
    bool whole = false;
    for (std::string line; std::getline(status, line);) {
      if (line.rfind("Name:\t", 0) == 0) task.name = line.substr(6);
      if (line.rfind("SigBlk:\t", 0) == 0) {
        task.blocked = std::stoull(line.substr(8), nullptr, 16);
        whole = true;
      }
    }
    if (whole) tasks.push_back(task);
  }
  closedir(directory);
  return tasks;
}

inline size_t CountTasks(const std::string& name) {
  size_t count = 0;
  for (const Task& task : Tasks()) count += task.name == name;
  return count;
}

// Looks again until the answer is yes or ten seconds have passed.
inline bool Eventually(const std::function<bool()>& answer) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!answer()) {
    if (std::chrono::steady_clock::now() > end) return false;
    poll(nullptr, 0, 2);
  }
  return true;
}

// User code that stays inside until the program says so.
struct Gate {
  Signal entered, go, passed;
  static void Body(void* gate) {
    auto& self = *static_cast<Gate*>(gate);
    self.entered.Set();
    self.go.Wait();
    self.passed.Set();
  }
};

}  // namespace program
