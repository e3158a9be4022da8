#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace house {

/// Everything in the tree under `root` that breaks a rule of docs/architecture.md, one line each: "file:line: what is wrong".
/// Looks at include, src, tools, tests, bench, examples, cmake and ./dev, and at the words of README.md, docs and python. Reads
/// nothing else and follows no link.
std::vector<std::string> violations(const std::filesystem::path& root);

}  // namespace house
