// Host threads that work in the context of the thread that starts them, and end before it goes on.
#pragma once

#include <thread>

#include "corpus.h"

template <typename Work>
std::thread StartThread(Work work) {
  aclrtContext context = nullptr;
  OK(aclrtGetCurrentContext(&context));
  return std::thread([=] {
    OK(aclrtSetCurrentContext(context));
    work();
  });
}

template <typename Work>
void InThread(Work work) {
  StartThread(work).join();
}

// Calls work(0) and work(1) at the same time.
template <typename Work>
void InTwoThreads(Work work) {
  std::thread one = StartThread([=] { work(0); }), other = StartThread([=] { work(1); });
  one.join();
  other.join();
}
