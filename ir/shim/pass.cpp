// Passes whose bodies live in Rust, with typed options, statistics, analyses and nested pipelines; registration by
// name; and running a textual pipeline on any op.
#include "girih_ir.h"

#include "mlir/CAPI/Registration.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace girih;

extern "C" {
struct GirihPassOption {
  MlirStringRef name, description, defaultValue;
  int kind; // 0 string, 1 bool, 2 i64, 3 list of i64, 4 list of strings
};
struct GirihPassStatistic {
  const char *name, *description; // null-terminated, live for ever
};
struct GirihPassInfo {
  void *data; // lives for ever
  MlirStringRef argument, description, opName; // opName empty: any op
  intptr_t nOptions;
  const GirihPassOption *options;
  intptr_t nStatistics;
  const GirihPassStatistic *statistics;
  bool (*run)(void *, void *pass, MlirOperation);
  bool (*initialize)(void *, MlirContext); // null: nothing to do
  void (*dialects)(void *, MlirDialectRegistry); // inserts the dialects that the pass creates ops of; null: none
};
}

namespace {
// Rust's analyses of one op, by Rust type.
struct RustAnalyses {
  explicit RustAnalyses(Operation *) {}
  std::map<std::pair<uint64_t, uint64_t>, std::shared_ptr<void>> entries;
};

struct RustPass : Pass {
  // Never destroyed: pass infos are as static as the registry.
  static TypeID idFor(StringRef argument) {
    static std::mutex mutex;
    static llvm::StringMap<SelfOwningTypeID *> ids;
    std::lock_guard<std::mutex> lock(mutex);
    SelfOwningTypeID *&id = ids[argument];
    if (!id)
      id = new SelfOwningTypeID;
    return id->getTypeID();
  }
  explicit RustPass(const GirihPassInfo &info)
      : Pass(idFor(str(info.argument)),
             str(info.opName).empty() ? std::nullopt : std::optional<StringRef>(str(info.opName))),
        info(info) {
    for (intptr_t i = 0; i < info.nOptions; ++i) {
      const GirihPassOption &o = info.options[i];
      auto desc = llvm::cl::desc(str(o.description));
      StringRef name = str(o.name), init = str(o.defaultValue);
      switch (o.kind) {
      case 1: bools.push_back({name, std::make_unique<Option<bool>>(*this, name, desc, llvm::cl::init(init == "true"))}); break;
      case 2: {
        int64_t value = 0;
        init.getAsInteger(10, value);
        ints.push_back({name, std::make_unique<Option<int64_t>>(*this, name, desc, llvm::cl::init(value))});
        break;
      }
      case 3: intLists.push_back({name, std::make_unique<ListOption<int64_t>>(*this, name, desc)}); break;
      case 4: stringLists.push_back({name, std::make_unique<ListOption<std::string>>(*this, name, desc)}); break;
      default: strings.push_back({name, std::make_unique<Option<std::string>>(*this, name, desc, llvm::cl::init(init.str()))});
      }
    }
    for (intptr_t i = 0; i < info.nStatistics; ++i)
      counters.push_back(std::make_unique<Statistic>(this, info.statistics[i].name, info.statistics[i].description));
  }
  StringRef getName() const override { return str(info.argument); }
  StringRef getArgument() const override { return str(info.argument); }
  StringRef getDescription() const override { return str(info.description); }
  void getDependentDialects(DialectRegistry &registry) const override;
  bool canScheduleOn(RegisteredOperationName name) const override {
    return !getOpName() || *getOpName() == name.getStringRef();
  }
  std::unique_ptr<Pass> clonePass() const override { return std::make_unique<RustPass>(info); }
  LogicalResult initialize(MLIRContext *context) override {
    return success(!info.initialize || info.initialize(info.data, wrap(context)));
  }
  void runOnOperation() override {
    if (!info.run(info.data, this, wrap(getOperation())))
      signalPassFailure();
  }
  // What the callbacks below need, and Pass keeps protected.
  LogicalResult nested(OpPassManager &pm, Operation *op) { return runPipeline(pm, op); }
  RustAnalyses &analyses() { return getAnalysis<RustAnalyses>(); }
  void preserveAll() { markAllAnalysesPreserved(); }

  GirihPassInfo info;
  template <typename T> using Named = SmallVector<std::pair<StringRef, std::unique_ptr<T>>>;
  Named<Option<bool>> bools;
  Named<Option<int64_t>> ints;
  Named<Option<std::string>> strings;
  Named<ListOption<int64_t>> intLists;
  Named<ListOption<std::string>> stringLists;
  SmallVector<std::unique_ptr<Statistic>> counters;
};

template <typename T> T *find(RustPass::Named<T> &options, MlirStringRef name) {
  for (auto &o : options)
    if (o.first == str(name))
      return o.second.get();
  return nullptr;
}
void RustPass::getDependentDialects(DialectRegistry &registry) const {
  if (info.dialects)
    info.dialects(info.data, wrap(&registry));
}
} // namespace

extern "C" {
// Copies what `info` points to only by reference: all of it lives for ever.
void girih_register_pass(const GirihPassInfo *info) {
  GirihPassInfo copy = *info;
  registerPass([copy] { return std::make_unique<RustPass>(copy); });
}
// The callback turns the options string into a textual pipeline and pushes it; false: it has pushed an error instead.
void girih_register_pipeline(MlirStringRef name, MlirStringRef description, void *data,
                             bool (*expand)(void *, MlirStringRef options, void *sink, void (*push)(void *, MlirStringRef))) {
  registerPassPipeline(
      str(name), str(description),
      [data, expand](OpPassManager &pm, StringRef options,
                     function_ref<LogicalResult(const Twine &)> errorHandler) -> LogicalResult {
        std::string text;
        bool ok = expand(data, cstr(options), &text, [](void *sink, MlirStringRef s) {
          static_cast<std::string *>(sink)->assign(s.data, s.length);
        });
        if (!ok)
          return errorHandler(text);
        std::string errors;
        llvm::raw_string_ostream os(errors);
        if (failed(parsePassPipeline(text, pm, os)))
          return errorHandler(os.str());
        return success();
      },
      [](function_ref<void(const detail::PassOptions &)>) {});
}
bool girih_pass_is_registered(MlirStringRef name) {
  return PassInfo::lookup(str(name)) || PassPipelineInfo::lookup(str(name));
}

// ------------------------------------------------------------------------------------------------ within a run
// Each gives false where the pass has no option of that name and type.
static RustPass *rust(void *pass) { return static_cast<RustPass *>(static_cast<Pass *>(pass)); }
bool girih_pass_option_bool(void *pass, MlirStringRef name, bool *out) {
  auto *o = find<RustPass::Option<bool>>(rust(pass)->bools, name);
  if (o)
    *out = o->getValue();
  return o;
}
bool girih_pass_option_int(void *pass, MlirStringRef name, int64_t *out) {
  auto *o = find<RustPass::Option<int64_t>>(rust(pass)->ints, name);
  if (o)
    *out = o->getValue();
  return o;
}
bool girih_pass_option_string(void *pass, MlirStringRef name, void *sink, void (*push)(void *, MlirStringRef)) {
  auto *o = find<RustPass::Option<std::string>>(rust(pass)->strings, name);
  if (o)
    push(sink, cstr(o->getValue()));
  return o;
}
bool girih_pass_option_strings(void *pass, MlirStringRef name, void *sink, void (*push)(void *, MlirStringRef)) {
  auto *l = find<RustPass::ListOption<std::string>>(rust(pass)->stringLists, name);
  if (l)
    for (const std::string &s : *l)
      push(sink, cstr(s));
  return l;
}
bool girih_pass_option_ints(void *pass, MlirStringRef name, void *sink, void (*push)(void *, int64_t)) {
  auto *l = find<RustPass::ListOption<int64_t>>(rust(pass)->intLists, name);
  if (l)
    for (int64_t v : *l)
      push(sink, v);
  return l;
}
void girih_pass_statistic_add(void *pass, intptr_t index, uint64_t n) { *rust(pass)->counters[index] += n; }
void girih_pass_preserve_all(void *pass) { rust(pass)->preserveAll(); }
// The analysis `key` of the op that the pass runs on, created on first use and dropped when a pass changes the op.
void *girih_pass_analysis(void *pass, uint64_t keyHigh, uint64_t keyLow, void *data, void *(*create)(void *),
                          void (*drop)(void *)) {
  auto &entry = rust(pass)->analyses().entries[{keyHigh, keyLow}];
  if (!entry) {
    void *value = create(data);
    if (!value)
      return nullptr;
    entry = std::shared_ptr<void>(value, drop);
  }
  return entry.get();
}
static bool parseFor(Operation *op, MlirStringRef text, OpPassManager &pm, void *sink,
                     void (*push)(void *, MlirStringRef)) {
  std::string errors;
  llvm::raw_string_ostream os(errors);
  if (succeeded(parsePassPipeline(str(text), pm, os)))
    return true;
  push(sink, cstr(os.str()));
  return false;
}
// Runs a textual pipeline, without the anchor op, on `op`, which must be the pass's op or nested in it.
bool girih_pass_run_pipeline(void *pass, MlirOperation op, MlirStringRef text, void *sink,
                             void (*push)(void *, MlirStringRef)) {
  OpPassManager pm(unwrap(op)->getName());
  return parseFor(unwrap(op), text, pm, sink, push) &&
         succeeded(rust(pass)->nested(pm, unwrap(op)));
}
// Runs a textual pipeline, without the anchor op, on any op. A text that does not parse is pushed as an error.
bool girih_run_pipeline(MlirOperation op, MlirStringRef text, bool verify, bool printAfterAll, bool timing, void *sink,
                        void (*push)(void *, MlirStringRef)) {
  PassManager pm(unwrap(op)->getContext(), unwrap(op)->getName().getStringRef());
  pm.enableVerifier(verify);
  if (printAfterAll)
    pm.enableIRPrinting([](Pass *, Operation *) { return false; }, [](Pass *, Operation *) { return true; });
  if (timing)
    pm.enableTiming();
  return parseFor(unwrap(op), text, pm, sink, push) && succeeded(pm.run(unwrap(op)));
}
} // extern "C"
