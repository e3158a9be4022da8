#include "step_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/number_of.hpp"
#include "console.hpp"
#include "device_option.hpp"
#include "elbowroom/backend/registry.hpp"
#include "elbowroom/base/gibibytes.hpp"
#include "elbowroom/base/grouped.hpp"
#include "elbowroom/model/size.hpp"
#include "elbowroom/steps/memory.hpp"
#include "elbowroom/steps/totals.hpp"
#include "elbowroom/steps/transformer.hpp"
#include "exit_code.hpp"
#include "model/step_schema.hpp"
#include "output.hpp"

namespace elbowroom {
namespace {

constexpr std::string_view kStep = "elbowroom step transformer";

// So that tokens are counted without overflow.
constexpr std::int64_t kMostSequences = std::int64_t{1} << 24;

struct StepArguments {
  std::optional<std::string> preset;
  std::optional<std::string> name;
  // Of a preset's, what is given counts.
  std::optional<int> layers;
  std::optional<std::int64_t> hidden;
  std::optional<std::int64_t> ffn;
  std::optional<int> heads;
  std::optional<int> kv_heads;
  std::optional<std::int64_t> head_width;
  std::optional<std::int64_t> vocabulary;
  std::optional<std::string> activation;
  std::optional<int> experts;
  std::optional<int> experts_per_token;
  bool untied = false;
  TransformerStep step;
  std::optional<std::int64_t> global_batch;
  std::string schedule = "1f1b";
  std::string recompute = "none";
  std::string kernels = "fused";
  std::string adam = "fused";
  std::string shard_copies = "none";
  double host_launch = 0;
  double host_send = 0;
  std::optional<std::string> compress;
  std::optional<std::string> gradients;
  std::string bucket = "25M";
  bool without_optimizer = false;
  std::optional<std::string> device;
  std::optional<std::string> json_file;
};

Result<GradientCompression> compression_of(const std::string& text) {
  using Kind = GradientCompression::Kind;
  const std::string kind = text.substr(0, text.find('='));
  const std::string value = kind.size() < text.size() ? text.substr(kind.size() + 1) : "";
  const Error bad = invalid_input(
      fmt::format("--compress: '{}', expected bf16, fp8, powersgd=RANK or topk=SHARE as in powersgd=8, topk=0.01", text));
  if (text == "bf16") { return GradientCompression{Kind::bf16, 0, 0}; }
  if (text == "fp8") { return GradientCompression{Kind::fp8, 0, 0}; }
  if (const auto rank = detail::number_of<int>(value); kind == "powersgd" && rank) {
    return GradientCompression{Kind::powersgd, *rank, 0};
  }
  if (const auto share = detail::number_of<double>(value); kind == "topk" && share) {
    return GradientCompression{Kind::topk, 0, *share};
  }
  return bad;
}

Result<Decoder> decoder_of(const StepArguments& arguments) {
  Decoder decoder;
  if (arguments.preset) {
    const Result<Decoder> preset = find_decoder(*arguments.preset);
    if (!preset) { return invalid_input(fmt::format("--preset: {}", preset.error().message)); }
    decoder = *preset;
  } else {
    for (const auto& [option, given] : {std::pair{"layers", arguments.layers.has_value()},
                                        {"hidden", arguments.hidden.has_value()},
                                        {"ffn", arguments.ffn.has_value()}}) {
      if (!given) { return invalid_input(fmt::format("--{}: missing, expected a number or --preset", option)); }
    }
    // Heads of 128, as most models have them.
    decoder.heads = static_cast<int>(std::max<std::int64_t>(1, *arguments.hidden / 128));
  }
  decoder.name = arguments.name.value_or(decoder.name);
  decoder.layers = arguments.layers.value_or(decoder.layers);
  decoder.hidden = arguments.hidden.value_or(decoder.hidden);
  decoder.ffn = arguments.ffn.value_or(decoder.ffn);
  decoder.heads = arguments.heads.value_or(decoder.heads);
  const bool of_preset = arguments.preset && !arguments.heads;
  decoder.kv_heads = arguments.kv_heads.value_or(of_preset ? decoder.kv_heads : decoder.heads);
  if (arguments.head_width) { decoder.head_width = arguments.head_width; }
  decoder.vocabulary = arguments.vocabulary.value_or(decoder.vocabulary);
  decoder.experts = arguments.experts.value_or(decoder.experts);
  decoder.experts_per_token = arguments.experts_per_token.value_or(decoder.experts_per_token);
  if (arguments.untied) { decoder.tied = false; }
  if (arguments.activation) { decoder.activation = *arguments.activation == "swiglu" ? Activation::swiglu : Activation::gelu; }
  return decoder;
}

/// Of one replica: as many sequences of the global batch as each replica has.
Status set_tokens(TransformerStep& request, std::int64_t sequences) {
  const std::optional<std::int64_t> sequence = request.sequence ? request.sequence : request.decoder.sequence;
  if (request.tokens != 0) { return invalid_input("--global-batch: given with --tokens, expected one of them"); }
  if (!sequence) { return invalid_input("--global-batch: given without --sequence, expected one (a preset has its longest)"); }
  const Parallelism& parallel = request.parallel;
  const std::int64_t replicas = std::int64_t{std::max(parallel.dp, 1)} * std::max(parallel.fsdp, 1) * std::max(parallel.ep, 1);
  const std::int64_t parts = replicas * std::max(parallel.micro, 1);
  if (sequences < 1 || sequences > kMostSequences || sequences % parts != 0) {
    return invalid_input(fmt::format("--global-batch: {}, expected a multiple of {} up to {} (replicas times --micro)", sequences,
                                     parts, kMostSequences));
  }
  request.sequence = sequence;
  request.tokens = sequences / replicas * *sequence;
  return {};
}

/// ZeRO's third stage is what --fsdp does.
Status set_zero(Parallelism& parallel) {
  if (parallel.zero != 3) { return {}; }
  if (parallel.fsdp > 1) { return invalid_input("--zero: 3 with --fsdp, expected one of them (both part parameters)"); }
  parallel.zero = 0;
  parallel.fsdp = std::exchange(parallel.dp, 1);
  return {};
}

Result<TransformerStep> request_of(const StepArguments& arguments) {
  TransformerStep request = arguments.step;
  Result<Decoder> decoder = decoder_of(arguments);
  if (!decoder) { return decoder.error(); }
  request.decoder = std::move(*decoder);
  if (Status zero = set_zero(request.parallel); !zero) { return zero.error(); }
  if (arguments.global_batch) {
    if (Status tokens = set_tokens(request, *arguments.global_batch); !tokens) { return tokens.error(); }
  }
  if (arguments.schedule == "interleaved") { request.parallel.schedule = PipelineSchedule::interleaved; }
  if (arguments.compress) {
    const Result<GradientCompression> compression = compression_of(*arguments.compress);
    if (!compression) { return compression.error(); }
    request.compression = *compression;
  }
  // Only gradients that are longer can be made as short.
  const bool cast = request.compression.kind == GradientCompression::Kind::bf16;
  request.gradients = arguments.gradients == "f32" || (!arguments.gradients && cast) ? DataType::f32 : DataType::bf16;
  const Result<Bytes> bucket = parse_size(arguments.bucket);
  if (!bucket) { return invalid_input(fmt::format("--bucket: {}", bucket.error().message)); }
  request.bucket = *bucket;
  request.recompute = arguments.recompute == "full"        ? Recompute::full
                      : arguments.recompute == "selective" ? Recompute::selective
                      : arguments.recompute == "alternate" ? Recompute::alternate
                                                           : Recompute::none;
  request.kernels = arguments.kernels == "eager" ? Kernels::eager : arguments.kernels == "torch" ? Kernels::torch : Kernels::fused;
  request.shard_copies = arguments.shard_copies == "fsdp1"   ? ShardCopies::fsdp1
                         : arguments.shard_copies == "fsdp2" ? ShardCopies::fsdp2
                                                             : ShardCopies::none;
  request.adam = arguments.adam == "foreach" ? Adam::foreach : Adam::fused;
  request.host_launch = Microseconds(arguments.host_launch);
  request.host_send = Microseconds(arguments.host_send);
  request.optimizer = !arguments.without_optimizer;
  return request;
}

std::string summary(const TransformerStep& request, const Step& step) {
  const StepTotals totals = totals_of(step, 0);
  std::string mesh;
  for (const MeshAxis& axis : step.mesh) { mesh += fmt::format(" {}={}", axis.name, axis.size); }
  std::string text = fmt::format("# {}: {} parameters;{}: {} ranks; {} tokens of each replica\n", step.name,
                                 grouped(parameters_of(request.decoder)), mesh, step.ranks, grouped(request.tokens));
  text += fmt::format("# {} operations, {} of them on rank 0: products of {:.3f} TFLOP, other kernels read {:.2f} GiB\n",
                      grouped(static_cast<std::int64_t>(step.operations.size())), grouped(totals.operations),
                      totals.gemm_flop / 1e12, in_gibibytes(totals.elementwise));
  text += fmt::format("# {:<22} {:>10} {:>10}\n", "communication", "operations", "GiB");
  for (const auto& [what, total] : totals.comm) {
    text += fmt::format("  {:<22} {:>10} {:>10.3f}\n", what, total.operations, in_gibibytes(total.bytes));
  }
  return text;
}

/// Fails where training does not fit the memory of the device that is named.
Status check_memory(const TransformerStep& request, const std::optional<std::string>& name) {
  if (!name) { return {}; }
  BackendOptions options;
  options.device = *name;
  Result<std::optional<DeviceLimits>> described = described_device(*name);
  if (!described) { return described.error(); }
  options.described = *std::move(described);
  const Result<std::unique_ptr<Backend>> backend = open_backend("sim", options);
  if (!backend) { return invalid_input(fmt::format("--device: {}", backend.error().message)); }
  const Status fits = check_fits(training_memory(request), (*backend)->devices().front().memory, *name);
  return fits ? Status() : Status(invalid_input(fmt::format("--device: {}", fits.error().message)));
}

int run_step(const StepArguments& arguments) {
  const std::array outputs{OutputFile{NamedFile("--json", arguments.json_file), kStepSchema}};
  if (Status writable = check_outputs(outputs); !writable) { return complain(kStep, writable.error()); }
  const Result<TransformerStep> request = request_of(arguments);
  if (!request) { return complain(kStep, request.error()); }
  Result<Step> step = transformer_step(*request);
  if (!step) { return complain(kStep, step.error()); }
  step->memory = training_memory(*request);
  if (Status fits = check_memory(*request, arguments.device); !fits) { return complain(kStep, fits.error()); }
  const std::string words = summary(*request, *step);
  if (arguments.json_file == "-") {
    print_error(words);
  } else if (Status printed = print_table(words); !printed) {
    return complain(kStep, printed.error());
  }
  if (!arguments.json_file) {
    print_notice(kStep, "nothing was written; --json FILE writes the step");
    return exit_ok;
  }
  const Status written = write_document(*arguments.json_file, kStepSchema, to_json(*step) + "\n");
  return written ? exit_ok : complain(kStep, written.error());
}

void add_decoder_options(CLI::App& command, StepArguments& arguments) {
  std::string presets;
  for (const DecoderPreset& preset : decoder_presets()) {
    presets += fmt::format("{}{}", presets.empty() ? "" : ", ", preset.name);
  }
  command.add_option("--preset", arguments.preset, "A known model: " + presets);
  command.add_option("--name", arguments.name, "Name of the step; the preset's, or transformer");
  command.add_option("--layers", arguments.layers, "Layers");
  command.add_option("--hidden", arguments.hidden, "Width of the model");
  command.add_option("--ffn", arguments.ffn, "Width of the feed-forward network");
  command.add_option("--heads", arguments.heads, "Attention heads; as many as give 128 columns each by default");
  command.add_option("--kv-heads", arguments.kv_heads, "Heads with keys and values of their own; all by default");
  command.add_option("--vocabulary", arguments.vocabulary, "Words; 0 for neither embedding nor head");
  command.add_option("--head-width", arguments.head_width, "Columns of an attention head; the width parted among heads by default");
  command.add_option("--activation,--mlp", arguments.activation, "gelu (two matrices) or swiglu (three)")
      ->check(CLI::IsMember({"gelu", "swiglu"}));
  command.add_option("--experts", arguments.experts, "Feed-forward networks of each layer, of which a token takes some");
  command.add_option("--experts-per-token", arguments.experts_per_token, "Experts that a token takes (2)");
  command.add_flag("--untied", arguments.untied, "The head has a matrix of its own, where the preset's is the embedding");
}

void add_parallel_options(CLI::App& command, StepArguments& arguments) {
  Parallelism& parallel = arguments.step.parallel;
  command.add_option("--dp", parallel.dp, "Replicas that add their gradients")->capture_default_str();
  command.add_option("--fsdp", parallel.fsdp, "Replicas with a share of the parameters each")->capture_default_str();
  command.add_option("--zero", parallel.zero, "Replicas along dp part the optimizer (1), gradients (2), parameters (3: as --fsdp)");
  command.add_option("--tp", parallel.tp, "Ranks that share every matrix")->capture_default_str();
  command.add_flag("--sequence-parallel", parallel.sequence_parallel, "Ranks along tp share tokens where they share no matrix");
  command.add_option("--pp", parallel.pp, "Stages of a pipeline")->capture_default_str();
  command.add_option("--micro", parallel.micro, "Micro-batches")->capture_default_str();
  command.add_flag("--two-batch", parallel.two_batch, "Micro-batches in pairs: one computes while the other communicates");
  command.add_option("--schedule", arguments.schedule, "Of the pipeline: 1f1b or interleaved")
      ->check(CLI::IsMember({"1f1b", "interleaved"}))
      ->capture_default_str();
  command.add_option("--chunks", parallel.chunks, "Chunks of layers on each stage, where interleaved")->capture_default_str();
  command.add_option("--ep", parallel.ep, "Ranks that share the experts")->capture_default_str();
}

void add_kernel_options(CLI::App& command, StepArguments& arguments) {
  command
      .add_option("--kernels", arguments.kernels,
                  "fused, eager (Megatron-LM's, with attention in memory) or torch (PyTorch's modules, attention fused)")
      ->check(CLI::IsMember({"fused", "eager", "torch"}))
      ->capture_default_str();
  command
      .add_option("--recompute", arguments.recompute,
                  "What backward passes compute again: none, selective (attention), alternate (every second product), full")
      ->check(CLI::IsMember({"none", "selective", "alternate", "full"}))
      ->capture_default_str();
  command.add_flag("--norm-in-f32", arguments.step.norm_in_f32, "Of --kernels torch: norms cast to f32, operation by operation");
  command.add_flag("--fused-loss", arguments.step.fused_loss, "Of --kernels torch: one kernel each way, on logits in bf16");
  command.add_flag("--unpad", arguments.step.unpad, "Of --kernels torch: padding is removed around attention");
  command
      .add_option("--shard-copies", arguments.shard_copies, "Of --fsdp: PyTorch's copies around collectives, none, fsdp1 or fsdp2")
      ->check(CLI::IsMember({"none", "fsdp1", "fsdp2"}))
      ->capture_default_str();
  command.add_option("--adam", arguments.adam, "fused, or foreach: operation by operation")
      ->check(CLI::IsMember({"fused", "foreach"}))
      ->capture_default_str();
  command.add_flag("--clip", arguments.step.clip, "Gradients are read for their norm, and scaled");
  command.add_option("--attention-rate", arguments.step.attention_rate, "Of fused attention: share of a product's FLOP per second")
      ->capture_default_str();
  command.add_option("--host-launch", arguments.host_launch, "Microseconds of the host for an operation of a forward pass")
      ->capture_default_str();
  command.add_option("--host-send", arguments.host_send, "Microseconds of the host for what a stage sends to its neighbour")
      ->capture_default_str();
}

}  // namespace

void add_step_command(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* step = app.add_subcommand("step", "Writes a training step, which bench and tune run");
  step->require_subcommand(1);
  CLI::App* command = step->add_subcommand("transformer", "Forward, backward and optimizer of a decoder on many ranks");
  const auto arguments = std::make_shared<StepArguments>();
  add_decoder_options(*command, *arguments);
  command->add_option("--tokens", arguments->step.tokens, "Tokens of each replica in a step; or --global-batch");
  command->add_option("--global-batch", arguments->global_batch, "Sequences of all replicas in a step, in place of --tokens");
  command->add_option("--sequence", arguments->step.sequence, "Tokens that attend to each other; a micro-batch by default");
  add_parallel_options(*command, *arguments);
  add_kernel_options(*command, *arguments);
  command->add_option("--capacity", arguments->step.capacity, "Slots of an expert, of what it gets when all get as much")
      ->capture_default_str();
  command->add_option("--imbalance", arguments->step.imbalance, "Tokens of the rank with the busiest experts, of the mean")
      ->capture_default_str();
  command->add_option("--gradients", arguments->gradients, "bf16 (default) or f32")->check(CLI::IsMember({"bf16", "f32"}));
  command->add_option("--compress", arguments->compress, "Gradients: bf16, fp8, powersgd=RANK or topk=SHARE");
  command->add_option("--bucket", arguments->bucket, "Gradients that replicas add together")->capture_default_str();
  command->add_flag("--without-optimizer", arguments->without_optimizer, "Leave the parameters as they are");
  command->add_option("--repeats", arguments->step.repeats, "Times that a run does the step")->capture_default_str();
  command->add_option("--device", arguments->device,
                      "Refuse what does not fit the memory of this device: a name, or a device file");
  command->add_option("--json", arguments->json_file, "Write elbowroom.step/1 to this file; - for standard output");
  command->callback([=, &chosen] { chosen = [arguments] { return run_step(*arguments); }; });
}

}  // namespace elbowroom
