#include "steps/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/most_ranks.hpp"
#include "model/step_limits.hpp"
#include "steps/local_shape.hpp"
#include "steps/pipeline_schedule.hpp"

namespace elbowroom::steps {
namespace {

// So that two and a half times as much is a side.
constexpr std::int64_t kSequence = 16;
constexpr std::int64_t kLongest = std::int64_t{1} << 20;
constexpr std::int64_t kMostLayers = 1'000;
constexpr std::int64_t kMostHeads = 4'096;
constexpr std::int64_t kMostExperts = 1'024;
constexpr std::int64_t kMostMicro = 1'000;
constexpr std::int64_t kMostTokens = std::int64_t{1} << 30;

Error bad_option(std::string_view option, double value, const std::string& expected) {
  return invalid_input(fmt::format("--{}: {}, expected {}", option, value, expected));
}

struct Whole {
  std::string_view option;
  std::int64_t value;
  std::int64_t least;
  std::int64_t greatest;
};

struct Multiple {
  std::string_view option;
  std::int64_t value;
  std::int64_t of;
  std::int64_t greatest;
  std::string why;
  /// What all rules of the option ask for together, so that what a refusal names is refused by none of them; 0: `of` is all.
  std::int64_t of_all = 0;
};

/// The end of a refusal: the least greater value that works, where there is one.
std::string the_next(std::int64_t next, std::int64_t greatest) {
  return next <= greatest ? fmt::format("; the next is {}", next) : "";
}

std::int64_t next_multiple(std::int64_t value, std::int64_t of) { return (value / of + 1) * of; }

Status check_all(const std::vector<Whole>& numbers) {
  for (const Whole& number : numbers) {
    if (number.value >= number.least && number.value <= number.greatest) { continue; }
    return bad_option(number.option, static_cast<double>(number.value), fmt::format("{} to {}", number.least, number.greatest));
  }
  return {};
}

Status check_all(const std::vector<Multiple>& numbers) {
  for (const Multiple& number : numbers) {
    if (number.value % number.of == 0) { continue; }
    const std::int64_t next = next_multiple(number.value, number.of_all == 0 ? number.of : number.of_all);
    return bad_option(number.option, static_cast<double>(number.value),
                      fmt::format("a multiple of {} ({}){}", number.of, number.why, the_next(next, number.greatest)));
  }
  return {};
}

Status check_ranges(const TransformerStep& request) {
  const Decoder& decoder = request.decoder;
  const Parallelism& parallel = request.parallel;
  const int most = kMostRanks;
  return check_all(std::vector<Whole>{{"layers", decoder.layers, 1, kMostLayers},
                                      {"hidden", decoder.hidden, kProductSide, kLongest},
                                      {"ffn", decoder.ffn, kProductSide, kLongest},
                                      {"heads", decoder.heads, 1, kMostHeads},
                                      {"kv-heads", decoder.kv_heads, 1, decoder.heads},
                                      {"vocabulary", decoder.vocabulary, 0, kLongest},
                                      {"head-width", decoder.head_width.value_or(kProductSide), 1, kLongest},
                                      {"experts", decoder.experts, 0, kMostExperts},
                                      {"tokens", request.tokens, kSequence, kMostTokens},
                                      {"dp", parallel.dp, 1, most},
                                      {"fsdp", parallel.fsdp, 1, most},
                                      {"tp", parallel.tp, 1, most},
                                      {"pp", parallel.pp, 1, most},
                                      {"ep", parallel.ep, 1, most},
                                      {"micro", parallel.micro, 1, kMostMicro},
                                      {"repeats", request.repeats, 1, detail::kMostRepeats},
                                      {"bucket", request.bucket.count(), 1, std::int64_t{1} << 40}});
}

Status check_ranks(const Parallelism& parallel) {
  std::int64_t ranks = 1;
  for (const int size : {parallel.dp, parallel.fsdp, parallel.tp, parallel.pp, parallel.ep}) {
    ranks *= size;
    if (ranks > kMostRanks) {
      return invalid_input(fmt::format("--dp, --fsdp, --tp, --pp, --ep: more than {} ranks in all", kMostRanks));
    }
  }
  if (ranks > 1) { return {}; }
  return invalid_input("--dp, --fsdp, --tp, --pp, --ep: 1 each, expected one above 1 (a single rank communicates with nobody)");
}

/// Operations of a layer and a micro-batch, at least.
std::int64_t least_of_layer(const TransformerStep& request) {
  // Eight kernels forward and twelve backward, of each expert three and six.
  constexpr std::int64_t of_layer = 20;
  constexpr std::int64_t of_expert = 9;
  return std::max(of_layer, of_expert * (request.decoder.experts / request.parallel.ep));
}

/// That a step of the request's micro-batches, or layers, may have.
std::int64_t most_layers(const TransformerStep& request) {
  const auto most = static_cast<std::int64_t>(detail::kMostOperations);
  return std::min(kMostLayers, most / (request.parallel.micro * least_of_layer(request)));
}
std::int64_t most_micro(const TransformerStep& request) {
  const auto most = static_cast<std::int64_t>(detail::kMostOperations);
  return std::min(kMostMicro, most / (request.decoder.layers * least_of_layer(request)));
}

/// Before anything is made: some requests would fill the memory.
Status check_least_length(const TransformerStep& request) {
  return check_length(
      static_cast<std::size_t>(std::int64_t{request.decoder.layers} * request.parallel.micro * least_of_layer(request)));
}

/// No rank lacks keys, and all heads share them.
Status check_kv_heads(const Decoder& decoder, int tp) {
  if (decoder.kv_heads % tp == 0) { return {}; }
  int next = decoder.kv_heads + 1;
  while (next <= decoder.heads && (next % tp != 0 || decoder.heads % next != 0)) { ++next; }
  return bad_option("kv-heads", decoder.kv_heads,
                    fmt::format("a multiple of {} (--tp {}: no rank may lack keys){}", tp, tp, the_next(next, decoder.heads)));
}

Status check_sequence(const TransformerStep& request, std::int64_t tokens) {
  const auto fits = [&](std::int64_t sequence) {
    return sequence >= kSequence && sequence % kSequence == 0 &&
           static_cast<double>(sequence) * 5 / 2 / request.attention_rate <= kLongest && tokens % sequence == 0;
  };
  const std::int64_t asked = sequence_of(request);
  if (fits(asked)) { return {}; }
  std::int64_t next = std::max(next_multiple(asked, kSequence), kSequence);
  while (next <= tokens && !fits(next)) { next += kSequence; }
  return bad_option(
      "sequence", static_cast<double>(asked),
      fmt::format("a multiple of {} that divides the {} tokens of a micro-batch{}", kSequence, tokens, the_next(next, tokens)));
}

Status check_sizes(const TransformerStep& request) {
  const Decoder& decoder = request.decoder;
  const Parallelism& parallel = request.parallel;
  const std::int64_t tp = parallel.tp;
  const std::int64_t heads = std::lcm<std::int64_t>(decoder.kv_heads, tp);
  const std::int64_t tokens_of_part = parallel.sequence_parallel ? std::lcm(kSequence, tp * kProductSide) : kSequence;
  if (Status sizes = check_all(std::vector<Multiple>{
          {"hidden", decoder.hidden, decoder.head_width ? kProductSide : decoder.heads * kProductSide, kLongest,
           fmt::format("{} heads of whole eights", decoder.heads)},
          {"head-width", decoder.head_width.value_or(kProductSide), kProductSide, kLongest, "whole eights"},
          {"heads", decoder.heads, decoder.kv_heads, kMostHeads, fmt::format("--kv-heads {}", decoder.kv_heads), heads},
          {"heads", decoder.heads, tp, kMostHeads, fmt::format("--tp {}", tp), heads},
          {"ffn", decoder.ffn, tp * kProductSide, kLongest, fmt::format("--tp {} parts of whole eights", tp)},
          {"vocabulary", decoder.vocabulary, tp * kProductSide, kLongest, fmt::format("--tp {} parts of whole eights", tp)},
          {"layers", decoder.layers, std::int64_t{parallel.pp} * chunks_of(parallel), most_layers(request),
           fmt::format("--pp {}{}", parallel.pp,
                       chunks_of(parallel) > 1 ? fmt::format(" stages of {} chunks", parallel.chunks) : "")},
          {"tokens", request.tokens, parallel.micro * kSequence, kMostTokens,
           fmt::format("--micro {} parts of whole sixteens", parallel.micro), parallel.micro * tokens_of_part}});
      !sizes) {
    return sizes;
  }
  if (Status keys = check_kv_heads(decoder, parallel.tp); !keys) { return keys; }
  const std::int64_t tokens = request.tokens / parallel.micro;
  if (tokens > kLongest) {
    return bad_option("tokens", static_cast<double>(tokens), fmt::format("at most {} in a micro-batch", kLongest));
  }
  if (parallel.sequence_parallel && tokens % (tp * kProductSide) != 0) {
    return bad_option("tokens", static_cast<double>(request.tokens),
                      fmt::format("whole eights for each of --tp {} in each micro-batch, with --sequence-parallel{}", tp,
                                  the_next(next_multiple(request.tokens, parallel.micro * tokens_of_part), kMostTokens)));
  }
  return check_sequence(request, tokens);
}

Status check_pipeline(const TransformerStep& request) {
  const Parallelism& parallel = request.parallel;
  if (parallel.schedule != PipelineSchedule::interleaved) { return {}; }
  if (parallel.pp == 1) {
    return invalid_input("--schedule: interleaved, expected --pp above 1 (one stage has nothing to interleave)");
  }
  if (parallel.chunks < 2 || parallel.chunks > 64) { return bad_option("chunks", parallel.chunks, "2 to 64"); }
  if (parallel.micro % parallel.pp == 0) { return {}; }
  return bad_option("micro", parallel.micro,
                    fmt::format("a multiple of --pp {} (interleaved stages take turns by as many){}", parallel.pp,
                                the_next(next_multiple(parallel.micro, parallel.pp), most_micro(request))));
}

/// Whether micro-batches may advance in pairs.
Status check_two_batch(const TransformerStep& request) {
  const Parallelism& parallel = request.parallel;
  if (!parallel.two_batch) { return {}; }
  if (parallel.pp > 1) { return bad_option("pp", parallel.pp, "1 with --two-batch (it orders the operations of one stage)"); }
  if (parallel.fsdp > 1) { return bad_option("fsdp", parallel.fsdp, "1 with --two-batch (a pair would gather each layer twice)"); }
  if (parallel.tp == 1 && parallel.ep == 1) {
    return invalid_input("--two-batch: given with --tp 1 and --ep 1, expected one above 1 (no layer waits for communication)");
  }
  if (parallel.micro % 2 == 0) { return {}; }
  return bad_option("micro", parallel.micro,
                    fmt::format("a multiple of 2 (--two-batch){}", the_next(parallel.micro + 1, most_micro(request))));
}

Status check_experts(const TransformerStep& request) {
  const Decoder& decoder = request.decoder;
  const Parallelism& parallel = request.parallel;
  if (decoder.experts == 0) {
    if (parallel.ep > 1) { return bad_option("ep", parallel.ep, "1 without --experts"); }
    if (request.capacity != 1) { return bad_option("capacity", request.capacity, "none without --experts"); }
    return request.imbalance != 1 ? Status(bad_option("imbalance", request.imbalance, "none without --experts")) : Status();
  }
  if (decoder.experts_per_token < 1 || decoder.experts_per_token > decoder.experts) {
    return bad_option("experts-per-token", decoder.experts_per_token, fmt::format("1 to {} (--experts)", decoder.experts));
  }
  if (decoder.experts % parallel.ep != 0) {
    return bad_option(
        "experts", decoder.experts,
        fmt::format("a multiple of --ep {}{}", parallel.ep, the_next(next_multiple(decoder.experts, parallel.ep), kMostExperts)));
  }
  if (!(request.capacity >= 1 && request.capacity <= 16)) { return bad_option("capacity", request.capacity, "1 to 16"); }
  if (!(request.imbalance >= 1 && request.imbalance < 2)) { return bad_option("imbalance", request.imbalance, "1 to below 2"); }
  if (request.imbalance > 1 && parallel.ep == 1) {
    return bad_option("imbalance", request.imbalance, "1 without --ep (all experts are here)");
  }
  return {};
}

Status check_sharing(const TransformerStep& request) {
  const Parallelism& parallel = request.parallel;
  if (parallel.sequence_parallel && parallel.tp == 1) {
    return invalid_input("--sequence-parallel: given with --tp 1, expected more (its ranks share the tokens)");
  }
  if (request.decoder.tied && parallel.fsdp > 1) {
    return invalid_input(
        "--fsdp: the head is the embedding, one unit that would stay gathered from the first to the last layer, "
        "expected --untied");
  }
  if (request.decoder.tied && request.compression.kind != GradientCompression::Kind::none && parallel.pp > 1) {
    return invalid_input(
        "--compress: the head is the embedding and lies on two stages, whose copies would drift apart, expected "
        "--untied");
  }
  return {};
}

/// ZeRO's third stage is fsdp.
Status check_zero(const TransformerStep& request) {
  const Parallelism& parallel = request.parallel;
  if (parallel.zero == 0) { return {}; }
  if (parallel.zero < 1 || parallel.zero > 2) { return bad_option("zero", parallel.zero, "1 or 2; --fsdp is stage 3"); }
  if (parallel.dp == 1) { return bad_option("zero", parallel.zero, "--dp above 1 (its ranks part the optimizer)"); }
  if (request.repeats > 1) { return bad_option("repeats", request.repeats, "1 with --zero (a step ends with whole parameters)"); }
  return {};
}

Status check_attention(const TransformerStep& request) {
  if (!(request.attention_rate >= 0.05 && request.attention_rate <= 1)) {
    return bad_option("attention-rate", request.attention_rate, "0.05 to 1");
  }
  if (request.attention_rate < 1 && request.kernels == Kernels::eager) {
    return bad_option("attention-rate", request.attention_rate, "1 with --kernels eager (its attention is products and passes)");
  }
  return {};
}

Status check_kernels(const TransformerStep& request) {
  if (request.recompute == Recompute::selective && request.kernels != Kernels::eager) {
    return invalid_input("--recompute: selective, expected --kernels eager (fused attention repeats its scores anyway)");
  }
  if (request.recompute != Recompute::none && request.decoder.experts > 0) {
    return invalid_input("--recompute: given with --experts, expected none (their exchange would be repeated)");
  }
  if (request.recompute == Recompute::alternate && (request.kernels == Kernels::eager || request.parallel.tp > 1)) {
    return invalid_input("--recompute: alternate, expected --tp 1 and --kernels torch or fused (its attention is kept)");
  }
  for (const auto& [option, given] :
       {std::pair{"norm-in-f32", request.norm_in_f32}, {"fused-loss", request.fused_loss}, {"unpad", request.unpad}}) {
    if (given && request.kernels != Kernels::torch) {
      return invalid_input(fmt::format("--{}: given without --kernels torch, which alone knows it", option));
    }
  }
  if (request.kernels == Kernels::torch && request.decoder.experts > 0) {
    return invalid_input("--kernels: torch with --experts, expected fused or eager");
  }
  for (const auto& [option, time] : {std::pair{"host-launch", request.host_launch}, {"host-send", request.host_send}}) {
    if (!(time.count() >= 0 && time.count() <= 1e6)) { return bad_option(option, time.count(), "0 to 1e6 microseconds"); }
  }
  return {};
}

Status check_shard_copies(const TransformerStep& request) {
  if (request.shard_copies == ShardCopies::none || (request.parallel.fsdp > 1 && request.parallel.pp == 1)) { return {}; }
  return invalid_input("--shard-copies: expected --fsdp above 1 and --pp 1 (nothing is gathered, or once for all micro-batches)");
}

Status check_compression(const TransformerStep& request) {
  using Kind = GradientCompression::Kind;
  const GradientCompression& compression = request.compression;
  const Parallelism& parallel = request.parallel;
  if (compression.kind == Kind::none) { return {}; }
  if (parallel.dp == 1 && parallel.fsdp == 1 && parallel.ep == 1) {
    return invalid_input("--compress: no ranks add gradients, expected --dp, --fsdp or --ep above 1");
  }
  if (compression.kind == Kind::bf16 && request.gradients == DataType::bf16) {
    return invalid_input("--compress: bf16 of gradients that are bf16 already, expected --gradients f32");
  }
  const bool whole = compression.kind == Kind::powersgd || compression.kind == Kind::topk;
  if (whole && (parallel.fsdp > 1 || parallel.zero > 0)) {
    return invalid_input(fmt::format("--compress: {} needs whole gradients on every rank, expected {}",
                                     compression.kind == Kind::topk ? "topk" : "powersgd",
                                     parallel.zero > 0 ? "no --zero" : "--fsdp 1"));
  }
  if (compression.kind == Kind::fp8 && parallel.fsdp > 1 && parallel.dp > 1) {
    return invalid_input("--compress: fp8 with both --dp and --fsdp would quantise twice, expected one of them");
  }
  if (compression.kind == Kind::powersgd &&
      (compression.rank < kProductSide || compression.rank % kProductSide != 0 || compression.rank > 1'024)) {
    return bad_option("compress powersgd", compression.rank, "a multiple of 8 from 8 to 1024");
  }
  if (compression.kind == Kind::topk && !(compression.share > 0 && compression.share <= 0.5)) {
    return bad_option("compress topk", compression.share, "above 0 and at most 0.5 (a position takes twice what a value takes)");
  }
  return {};
}

}  // namespace

Status check_length(std::size_t operations) {
  if (operations <= detail::kMostOperations) { return {}; }
  return invalid_input(fmt::format("--layers, --micro: at least {} operations, expected at most {} (fewer layers or micro-batches)",
                                   operations, detail::kMostOperations));
}

Status check(const TransformerStep& request) {
  if (Status ranges = check_ranges(request); !ranges) { return ranges; }
  if (Status ranks = check_ranks(request.parallel); !ranks) { return ranks; }
  for (Status (*rule)(const TransformerStep&) :
       {check_experts, check_sharing, check_zero, check_attention, check_kernels, check_shard_copies, check_compression,
        check_pipeline, check_two_batch, check_least_length, check_sizes}) {
    if (Status kept = rule(request); !kept) { return kept; }
  }
  return {};
}

}  // namespace elbowroom::steps
