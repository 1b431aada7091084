// Cuts a failing program down to calls that are all needed.
#pragma once

#include <functional>

#include "program.h"

namespace model {

// The interpreter accepts it, with the expectation of each call.
struct Expectation;
bool Accept(const Program& program, std::vector<Expectation>* expected);

// `fails` is asked about smaller programs, all of them accepted, and ends the search by returning false.
Program Minimise(Program program, const std::function<bool(const Program&)>& fails);

}  // namespace model
