#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "host_numbers.hpp"

/// What ranks that are several processes tell each other, as files of one folder: each writes its own, whole or not at all.
namespace fake_hip {

struct Transfer {
  int peer;
  void* data;
  std::size_t count;
};

/// What another process sent.
struct SentFile {
  struct Message {
    int peer = 0;
    std::vector<char> data;
    std::size_t count = 0;
  };
  std::vector<char> sent;
  std::vector<Message> messages;

  [[nodiscard]] std::vector<Transfer> sends() {
    std::vector<Transfer> sends;
    for (Message& message : messages) { sends.push_back({message.peer, message.data.data(), message.count}); }
    return sends;
  }
};

inline bool is_there(const std::string& path) { return access(path.c_str(), R_OK) == 0; }

inline void write_block(std::ofstream& file, const void* data, std::size_t bytes) {
  file << bytes << '\n';
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
}

inline std::vector<char> read_block(std::ifstream& file) {
  std::size_t bytes = 0;
  file >> bytes;
  file.ignore(1);
  std::vector<char> data(bytes);
  file.read(data.data(), static_cast<std::streamsize>(bytes));
  return data;
}

inline void write(const std::string& path, const Numbers& send, std::size_t count, const std::vector<Transfer>& sends) {
  const std::string begun = path + ".begun";
  {
    std::ofstream file(begun, std::ios::binary);
    write_block(file, send.data, send.data == nullptr ? 0 : count * send.bytes());
    file << sends.size() << '\n';
    for (const Transfer& one : sends) {
      file << one.peer << '\n' << one.count << '\n';
      write_block(file, one.data, one.count * send.bytes());
    }
  }
  static_cast<void>(std::rename(begun.c_str(), path.c_str()));
}

inline SentFile read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  SentFile read;
  read.sent = read_block(file);
  std::size_t messages = 0;
  file >> messages;
  for (std::size_t at = 0; at < messages; ++at) {
    SentFile::Message message;
    file >> message.peer >> message.count;
    message.data = read_block(file);
    read.messages.push_back(std::move(message));
  }
  return read;
}

}  // namespace fake_hip
