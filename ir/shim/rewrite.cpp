// Dialect conversion: type converters, targets and 1:N conversion patterns whose bodies live in Rust, and upstream's
// structural patterns. Greedy rewriting has a C API already; only what it lacks is here.
#include "girih_ir.h"

#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace girih;

extern "C" {
struct GirihConversionHooks {
  void *data;
  void (*drop)(void *);
  // Operand i of the op is values[sizes[0] + ... + sizes[i - 1] ...] with sizes[i] values.
  bool (*rewrite)(void *, MlirOperation, intptr_t nOperands, const intptr_t *sizes, const MlirValue *values,
                  MlirRewriterBase);
};
}

namespace {
struct RustConversionPattern : ConversionPattern {
  GirihConversionHooks hooks;
  RustConversionPattern(const TypeConverter &tc, StringRef root, unsigned benefit, MLIRContext *c,
                        GirihConversionHooks hooks)
      : ConversionPattern(tc, root, benefit, c), hooks(hooks) {}
  // Matches any op.
  RustConversionPattern(const TypeConverter &tc, unsigned benefit, MLIRContext *c, GirihConversionHooks hooks)
      : ConversionPattern(tc, MatchAnyOpTypeTag(), benefit, c), hooks(hooks) {}
  ~RustConversionPattern() override { hooks.drop(hooks.data); }
  LogicalResult matchAndRewrite(Operation *op, ArrayRef<ValueRange> operands,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<intptr_t> sizes;
    SmallVector<MlirValue> values;
    for (ValueRange range : operands) {
      sizes.push_back(range.size());
      for (Value v : range)
        values.push_back(wrap(v));
    }
    return success(hooks.rewrite(hooks.data, wrap(op), sizes.size(), sizes.data(), values.data(),
                                 wrap(static_cast<RewriterBase *>(&rewriter))));
  }
};
ConversionPatternRewriter &conversion(MlirRewriterBase r) { return *static_cast<ConversionPatternRewriter *>(unwrap(r)); }

// A function whose signature and blocks carry converted types; upstream's pattern leaves all blocks but the first alone.
struct FuncPattern : ConversionPattern {
  FuncPattern(const TypeConverter &tc, MLIRContext *c) : ConversionPattern(tc, "func.func", 1, c) {}
  LogicalResult matchAndRewrite(Operation *op, ArrayRef<ValueRange>, ConversionPatternRewriter &rewriter) const override {
    auto f = cast<FunctionOpInterface>(op);
    auto type = cast<FunctionType>(f.getFunctionType());
    const TypeConverter &tc = *getTypeConverter();
    DictionaryAttr none = rewriter.getDictionaryAttr({});
    TypeConverter::SignatureConversion signature(type.getNumInputs());
    if (failed(tc.convertSignatureArgs(type.getInputs(), signature)))
      return failure();
    // Attributes stay with an argument or result that stays one value.
    SmallVector<DictionaryAttr> argAttrs(signature.getConvertedTypes().size(), none), resultAttrs;
    for (unsigned i = 0; i < type.getNumInputs(); ++i)
      if (auto to = signature.getInputMapping(i); to && to->size == 1)
        if (DictionaryAttr attrs = f.getArgAttrDict(i))
          argAttrs[to->inputNo] = attrs;
    SmallVector<Type> results;
    for (unsigned i = 0; i < type.getNumResults(); ++i) {
      size_t before = results.size();
      if (failed(tc.convertType(type.getResult(i), results)))
        return failure();
      DictionaryAttr attrs = f.getResultAttrDict(i);
      resultAttrs.resize(results.size(), none);
      if (results.size() == before + 1 && attrs)
        resultAttrs[before] = attrs;
    }
    if (!f.getFunctionBody().empty() && failed(rewriter.convertRegionTypes(&f.getFunctionBody(), tc, &signature)))
      return failure();
    auto converted = FunctionType::get(op->getContext(), signature.getConvertedTypes(), results);
    bool hadArgs = f.getAllArgAttrs() != nullptr, hadResults = f.getAllResultAttrs() != nullptr;
    rewriter.modifyOpInPlace(op, [&] {
      f.setType(converted);
      if (hadArgs)
        f.setAllArgAttrs(ArrayRef<DictionaryAttr>(argAttrs));
      if (hadResults)
        f.setAllResultAttrs(ArrayRef<DictionaryAttr>(resultAttrs));
    });
    return success();
  }
};

// A branch whose operands may become any number; upstream's pattern keeps their number.
struct BranchPattern : ConversionPattern {
  BranchPattern(const TypeConverter &tc, MLIRContext *c)
      : ConversionPattern(tc, MatchInterfaceOpTypeTag(), BranchOpInterface::getInterfaceID(), 1, c) {}
  LogicalResult matchAndRewrite(Operation *op, ArrayRef<ValueRange> operands,
                                ConversionPatternRewriter &rewriter) const override {
    OperationState state(op->getLoc(), op->getName());
    for (ValueRange range : operands)
      state.addOperands(range);
    state.addSuccessors(op->getSuccessors());
    NamedAttrList attributes(op->getAttrDictionary());
    // How many values the operands have become that the groups of an attribute count, from operand `at` on.
    auto resize = [&](StringRef name, size_t at) {
      auto sizes = dyn_cast_or_null<DenseI32ArrayAttr>(attributes.get(name));
      if (!sizes)
        return;
      SmallVector<int32_t> now;
      for (int32_t size : sizes.asArrayRef()) {
        int32_t total = 0;
        for (; size > 0 && at < operands.size(); --size)
          total += operands[at++].size();
        now.push_back(total);
      }
      attributes.set(name, DenseI32ArrayAttr::get(op->getContext(), now));
    };
    // cf.switch: its cases' operands come last, and a second attribute says how many each case has.
    if (auto groups = dyn_cast_or_null<DenseI32ArrayAttr>(attributes.get("operandSegmentSizes")))
      if (!groups.empty())
        resize("case_operand_segments", operands.size() - groups.asArrayRef().back());
    resize("operandSegmentSizes", 0);
    state.addAttributes(attributes);
    rewriter.create(state);
    rewriter.eraseOp(op);
    return success();
  }
};

// Rust's closure with its destructor, shared by the copies that std::function makes.
struct Closure {
  void *data;
  std::shared_ptr<void> owner;
  Closure(void *data, void (*drop)(void *)) : data(data), owner(data, drop) {}
};
} // namespace

extern "C" {
TypeConverter *girih_type_converter_create() {
  auto *tc = new TypeConverter;
  tc->addConversion([](Type t) { return t; });
  return tc;
}
void girih_type_converter_destroy(TypeConverter *tc) { delete tc; }
// The callback gives 0: not handled, 1: converted to the types pushed, -1: cannot be converted.
void girih_type_converter_add(TypeConverter *tc, void *data, void (*drop)(void *),
                              int (*convert)(void *, MlirType, void *sink, void (*push)(void *, MlirType))) {
  tc->addConversion([closure = Closure(data, drop), convert](
                        Type t, SmallVectorImpl<Type> &out) -> std::optional<LogicalResult> {
    int r = convert(closure.data, wrap(t), &out, [](void *sink, MlirType u) {
      static_cast<SmallVectorImpl<Type> *>(sink)->push_back(unwrap(u));
    });
    if (r == 0)
      return std::nullopt;
    return success(r > 0);
  });
}
// kind 0: source materialisation (many values to one of the old type); 1: target (many to the new types).
// The callback pushes the results and gives true, or gives false to decline.
void girih_type_converter_add_materialization(
    TypeConverter *tc, int kind, void *data, void (*drop)(void *),
    bool (*build)(void *, void *builder, intptr_t nTypes, const MlirType *, intptr_t nValues, const MlirValue *,
                  MlirLocation, void *sink, void (*push)(void *, MlirValue))) {
  auto call = [closure = Closure(data, drop), build](OpBuilder &b, TypeRange types, ValueRange values, Location loc) {
    SmallVector<MlirType> t;
    SmallVector<MlirValue> v;
    for (Type x : types) t.push_back(wrap(x));
    for (Value x : values) v.push_back(wrap(x));
    SmallVector<Value> out;
    if (!build(closure.data, &b, t.size(), t.data(), v.size(), v.data(), wrap(loc), &out,
               [](void *sink, MlirValue x) { static_cast<SmallVector<Value> *>(sink)->push_back(unwrap(x)); }))
      out.clear();
    return out;
  };
  if (kind == 0)
    tc->addSourceMaterialization([call](OpBuilder &b, Type type, ValueRange values, Location loc) -> Value {
      SmallVector<Value> out = call(b, TypeRange(type), values, loc);
      return out.size() == 1 ? out.front() : Value();
    });
  else
    tc->addTargetMaterialization(
        [call](OpBuilder &b, TypeRange types, ValueRange values, Location loc) -> SmallVector<Value> {
          return call(b, types, values, loc);
        });
}
// False: the type cannot be converted.
bool girih_type_converter_convert(TypeConverter *tc, MlirType t, void *sink, void (*push)(void *, MlirType)) {
  SmallVector<Type> out;
  if (failed(tc->convertType(unwrap(t), out)))
    return false;
  for (Type u : out)
    push(sink, wrap(u));
  return true;
}
bool girih_type_converter_is_legal_type(TypeConverter *tc, MlirType t) { return tc->isLegal(unwrap(t)); }
bool girih_type_converter_is_legal_op(TypeConverter *tc, MlirOperation op) { return tc->isLegal(unwrap(op)); }

ConversionTarget *girih_target_create(MlirContext c) { return new ConversionTarget(*unwrap(c)); }
void girih_target_destroy(ConversionTarget *t) { delete t; }
void girih_target_dialect(ConversionTarget *t, MlirStringRef dialect, bool legal) {
  using Action = ConversionTarget::LegalizationAction;
  t->setDialectAction({str(dialect)}, legal ? Action::Legal : Action::Illegal);
}
void girih_target_op(ConversionTarget *t, MlirContext c, MlirStringRef name, bool legal) {
  OperationName n(str(name), unwrap(c));
  legal ? t->addLegalOp(n) : t->addIllegalOp(n);
}
// The callback gives 0: illegal, 1: legal, -1: no opinion. Empty name: every op without a rule of its own.
void girih_target_dynamic(ConversionTarget *t, MlirContext c, MlirStringRef name, void *data, void (*drop)(void *),
                          int (*legal)(void *, MlirOperation)) {
  auto f = [closure = Closure(data, drop), legal](Operation *op) -> std::optional<bool> {
    int r = legal(closure.data, wrap(op));
    return r < 0 ? std::nullopt : std::optional<bool>(r == 1);
  };
  if (str(name).empty())
    t->markUnknownOpDynamicallyLegal(f);
  else
    t->addDynamicallyLegalOp(OperationName(str(name), unwrap(c)), f);
}
void girih_target_dynamic_dialect(ConversionTarget *t, MlirStringRef dialect, void *data, void (*drop)(void *),
                                  int (*legal)(void *, MlirOperation)) {
  t->addDynamicallyLegalDialect(
      [closure = Closure(data, drop), legal](Operation *op) -> std::optional<bool> {
        int r = legal(closure.data, wrap(op));
        return r < 0 ? std::nullopt : std::optional<bool>(r == 1);
      },
      str(dialect));
}

// Empty root: matches any op.
void girih_patterns_add_conversion(MlirRewritePatternSet set, TypeConverter *tc, MlirStringRef root, unsigned benefit,
                                   GirihConversionHooks hooks) {
  MLIRContext *c = unwrap(set)->getContext();
  if (str(root).empty())
    unwrap(set)->add(
        std::make_unique<RustConversionPattern>(*tc, benefit, c, hooks));
  else
    unwrap(set)->add(std::make_unique<RustConversionPattern>(*tc, str(root), benefit, c, hooks));
}
// Upstream's: scf.for, scf.if, scf.while, scf.yield... carry converted types (1:N too), and are legal once they do.
void girih_patterns_add_scf(MlirRewritePatternSet set, TypeConverter *tc, ConversionTarget *t) {
  scf::populateSCFStructuralTypeConversionsAndLegality(*tc, *unwrap(set), *t);
}
// Upstream's for func.call and func.return, and ours for func.func and branches: they carry converted types.
void girih_patterns_add_func(MlirRewritePatternSet set, TypeConverter *tc, ConversionTarget *t) {
  RewritePatternSet &s = *unwrap(set);
  populateCallOpTypeConversionPattern(s, *tc);
  populateReturnOpTypeConversionPattern(s, *tc);
  s.add<FuncPattern, BranchPattern>(*tc, s.getContext());
  t->addDynamicallyLegalOp<func::FuncOp>(
      [tc](func::FuncOp f) { return tc->isSignatureLegal(f.getFunctionType()) && tc->isLegal(&f.getBody()); });
  t->addDynamicallyLegalOp<func::CallOp, func::ReturnOp>([tc](Operation *op) { return tc->isLegal(op); });
  for (StringRef branch : {"cf.br", "cf.cond_br", "cf.switch"})
    t->addDynamicallyLegalOp(OperationName(branch, s.getContext()), [tc](Operation *op) -> std::optional<bool> {
      return isLegalForBranchOpInterfaceTypeConversionPattern(op, *tc);
    });
}
bool girih_apply_conversion(MlirOperation root, ConversionTarget *t, MlirFrozenRewritePatternSet p, bool full) {
  return succeeded(full ? applyFullConversion(unwrap(root), *t, *unwrap(p))
                        : applyPartialConversion(unwrap(root), *t, *unwrap(p)));
}

// ------------------------------------------------------------------------------------------------ within a pattern
bool girih_conversion_convert_region_types(MlirRewriterBase r, MlirRegion region, TypeConverter *tc) {
  return succeeded(conversion(r).convertRegionTypes(unwrap(region), *tc));
}
void girih_conversion_replace_multiple(MlirRewriterBase r, MlirOperation op, intptr_t n, const intptr_t *sizes,
                                       const MlirValue *values) {
  SmallVector<SmallVector<Value>> replacements(n);
  for (intptr_t i = 0; i < n; ++i)
    for (intptr_t k = 0; k < sizes[i]; ++k)
      replacements[i].push_back(unwrap(*values++));
  SmallVector<ValueRange> ranges(replacements.begin(), replacements.end());
  conversion(r).replaceOpWithMultiple(unwrap(op), ranges);
}
// A new block at the end of `region`; insertion goes on in it.
MlirBlock girih_rewriter_create_block(MlirRewriterBase r, MlirRegion region, intptr_t n, const MlirType *types,
                                      MlirLocation loc) {
  SmallVector<Type> t;
  for (intptr_t i = 0; i < n; ++i)
    t.push_back(unwrap(types[i]));
  SmallVector<Location> locs(n, unwrap(loc));
  return wrap(unwrap(r)->createBlock(unwrap(region), unwrap(region)->end(), t, locs));
}
void girih_rewriter_inline_region(MlirRewriterBase r, MlirRegion from, MlirRegion to) {
  unwrap(r)->inlineRegionBefore(*unwrap(from), *unwrap(to), unwrap(to)->end());
}
// Moves the ops of `from` before `before`, with `from`'s arguments replaced; `from` goes away.
void girih_rewriter_inline_block(MlirRewriterBase r, MlirBlock from, MlirOperation before, intptr_t n,
                                 const MlirValue *values) {
  SmallVector<Value> v;
  for (intptr_t i = 0; i < n; ++i)
    v.push_back(unwrap(values[i]));
  unwrap(r)->inlineBlockBefore(unwrap(from), unwrap(before), v);
}
void girih_notify_match_failure(MlirRewriterBase r, MlirOperation op, MlirStringRef why) {
  (void)unwrap(r)->notifyMatchFailure(unwrap(op), [&](Diagnostic &d) { d << str(why); });
}
// Inserts an op that has no parent at a builder's insertion point (materialisations get a builder, not a rewriter).
MlirOperation girih_builder_insert(void *builder, MlirOperation op) {
  return wrap(static_cast<OpBuilder *>(builder)->insert(unwrap(op)));
}
} // extern "C"
