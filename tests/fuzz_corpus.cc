// Runs every fuzz entry over its corpus folder (tests/corpus/<name>/*), and over seeded mutations
// of each file: truncation at every byte, flipped bits, doubled and spliced parts.
//
//   fuzz_corpus <corpus folder> [--rounds N] [--seed S] [--only name]
#include <dirent.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/rng.h"

struct FuzzEntry {
  const char* name;
  int (*run)(const uint8_t*, size_t);
};
extern const FuzzEntry kFuzzEntries[];

namespace {

using Input = std::vector<uint8_t>;

std::vector<Input> load(const std::string& folder) {
  std::vector<std::string> names;
  if (DIR* dir = opendir(folder.c_str())) {
    while (const dirent* e = readdir(dir)) {
      if (e->d_name[0] != '.') names.emplace_back(e->d_name);
    }
    closedir(dir);
  }
  std::sort(names.begin(), names.end());
  std::vector<Input> out;
  for (const std::string& name : names) {
    std::ifstream in(folder + "/" + name, std::ios::binary);
    out.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return out;
}

Input mutate(const std::vector<Input>& corpus, culvert::Rng& rng) {
  Input in = corpus[rng.below(corpus.size())];
  for (uint64_t n = 1 + rng.below(4); n > 0; --n) {
    const size_t at = in.empty() ? 0 : rng.below(in.size());
    switch (rng.below(6)) {
      case 0:
        if (!in.empty()) in[at] ^= static_cast<uint8_t>(1u << rng.below(8));
        break;
      case 1:
        if (!in.empty()) in[at] = static_cast<uint8_t>(rng.below(256));
        break;
      case 2:
        in.resize(at);
        break;
      case 3:
        in.insert(in.begin() + static_cast<long>(at), static_cast<uint8_t>(rng.below(256)));
        break;
      case 4: {
        const Input& other = corpus[rng.below(corpus.size())];
        const size_t from = other.empty() ? 0 : rng.below(other.size());
        in.insert(in.begin() + static_cast<long>(at), other.begin() + static_cast<long>(from),
                  other.end());
        break;
      }
      default: {
        if (in.empty()) break;
        const Input part(in.begin() + static_cast<long>(at), in.end());
        for (uint64_t k = rng.below(8); k > 0 && in.size() < 65536; --k) {
          in.insert(in.end(), part.begin(), part.end());
        }
        break;
      }
    }
  }
  return in;
}

}  // namespace

int main(int argc, char** argv) {
  std::string folder, only;
  uint64_t rounds = 2000, seed = 1;
  for (int i = 1; i < argc; ++i) {
    const bool more = i + 1 < argc;
    if (std::strcmp(argv[i], "--rounds") == 0 && more) {
      rounds = std::strtoull(argv[++i], nullptr, 10);
    } else if (std::strcmp(argv[i], "--seed") == 0 && more) {
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (std::strcmp(argv[i], "--only") == 0 && more) {
      only = argv[++i];
    } else {
      folder = argv[i];
    }
  }
  int passed = 0, failed = 0;
  for (const FuzzEntry* e = kFuzzEntries; e->name != nullptr; ++e) {
    if (!only.empty() && only != e->name) continue;
    std::vector<Input> corpus = load(folder + "/" + e->name);
    if (corpus.empty()) {
      std::printf("FAIL %s: no corpus in %s/%s\n", e->name, folder.c_str(), e->name);
      ++failed;
      continue;
    }
    uint64_t runs = 0;
    for (const Input& in : corpus) {
      // An exact-size heap copy, so that a read past the end is seen by the sanitizer.
      for (size_t n = 0; n <= in.size(); ++n) {
        Input cut(in.begin(), in.begin() + static_cast<long>(n));
        cut.shrink_to_fit();
        e->run(cut.data(), cut.size());
        ++runs;
        if (in.size() > 4096 && n + 64 < in.size()) n += in.size() / 64;
      }
    }
    culvert::SeededRng rng(seed);
    for (uint64_t i = 0; i < rounds; ++i) {
      Input in = mutate(corpus, rng);
      in.shrink_to_fit();
      e->run(in.data(), in.size());
      ++runs;
    }
    std::printf("PASS %s: %zu files, %llu runs\n", e->name, corpus.size(),
                static_cast<unsigned long long>(runs));
    ++passed;
  }
  std::printf("fuzz: %d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
