#pragma once

#include <string>

#include "preload/program_file.hpp"

namespace elbowroom {

/// The file that execvp() takes; empty where there is none.
std::string found_in_path(const std::string& program);

/// How the program of a command is started: the file that PATH leads to, or the interpreter of a script. Reads the begin of a few
/// files at most.
preload::ProgramFile::Kind program_kind(const std::string& program);

/// The program that reads a script; empty where it is no script.
std::string interpreter_of_script(const std::string& program);

}  // namespace elbowroom
