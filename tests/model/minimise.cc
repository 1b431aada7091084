#include "minimise.h"

#include <algorithm>

#include "interpreter.h"

namespace model {
namespace {

Program Without(const Program& program, size_t first, size_t count) {
  Program smaller = program;
  const auto begin = smaller.calls.begin() + static_cast<long>(first);
  smaller.calls.erase(begin, begin + static_cast<long>(count));
  return smaller;
}

// All calls on one thread, if that has a meaning.
Program OnOneThread(const Program& program) {
  Program simpler = program;
  auto goes = [](const Call& call) {
    return call.kind == Kind::kFork || call.kind == Kind::kJoin || call.kind == Kind::kSignal ||
           call.kind == Kind::kAwait;
  };
  simpler.calls.erase(std::remove_if(simpler.calls.begin(), simpler.calls.end(), goes), simpler.calls.end());
  for (Call& call : simpler.calls) call.thread = 0;
  return simpler;
}

}  // namespace

bool Accept(const Program& program, std::vector<Expectation>* expected) {
  Interpreter interpreter(program, expected != nullptr);
  for (const Call& call : program.calls) {
    Expectation out;
    if (!interpreter.Apply(call, &out)) return false;
    if (expected != nullptr) expected->push_back(std::move(out));
  }
  return interpreter.Finished();
}

Program Minimise(Program program, const std::function<bool(const Program&)>& fails) {
  auto keep = [&](Program smaller) {
    if (!Accept(smaller, nullptr) || !fails(smaller)) return false;
    program = std::move(smaller);
    return true;
  };
  keep(OnOneThread(program));
  for (size_t chunk = std::max<size_t>(program.calls.size() / 2, 1);;) {
    bool changed = false;
    for (size_t end = program.calls.size(); end > 0;) {
      const size_t first = end > chunk ? end - chunk : 0;
      changed = keep(Without(program, first, end - first)) || changed;
      end = first;
    }
    if (chunk == 1) {
      if (!changed) return program;
      // Pairs that need each other: a hold and its release, a wait and what it waits for.
      for (size_t i = program.calls.size(); i-- > 0;) {
        for (size_t j = std::min(i, program.calls.size() - 1); j-- > 0 && i < program.calls.size();) {
          if (keep(Without(Without(program, i, 1), j, 1))) i = std::min(i, program.calls.size()) - 1;
        }
      }
      continue;
    }
    chunk /= 2;
  }
}

}  // namespace model
