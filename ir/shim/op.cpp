// Ops whose hooks live in Rust: an `OperationName::Impl` for each, with its traits. interfaces.cpp has the interfaces.
//
// Inherent attributes are MLIR properties: each op stores one DictionaryAttr, so that the generic form, bytecode,
// hashing and equality work without knowing the op.
#include "girih_ir.h"

#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace girih;

namespace {
// The order is that of `Trait` in ir/src/op/def.rs.
enum TraitCode : int {
  IsTerminator, IsolatedFromAbove, SingleBlock, NoTerminator, NoRegionArguments, ConstantLike, Commutative,
  SymbolTableTrait, AffineScope, AutomaticAllocationScope, RecursiveMemoryEffects, RecursivelySpeculatable, ReturnLike,
  SameOperandsAndResultType, SameTypeOperands, SameOperandsAndResultShape, SameOperandsShape,
  SameOperandsElementType, SameOperandsAndResultElementType, AttrSizedOperandSegments, AttrSizedResultSegments,
  Idempotent, Involution, Elementwise, Scalarizable, Vectorizable, Tensorizable, LastTrait
};

struct TraitInfo {
  TypeID id;
  LogicalResult (*verify)(Operation *);
};

LogicalResult verifySingleBlock(Operation *op) {
  for (Region &r : op->getRegions()) {
    if (r.empty())
      continue;
    if (!r.hasOneBlock())
      return op->emitOpError("expects region #") << r.getRegionNumber() << " to have 0 or 1 blocks";
    if (r.front().empty() && !op->hasTrait<OpTrait::NoTerminator>())
      return op->emitOpError("expects a non-empty block in region #") << r.getRegionNumber();
  }
  return success();
}

TraitInfo traitInfo(int code) {
  namespace I = OpTrait::impl;
  switch (code) {
#define PLAIN(CODE, TRAIT) case CODE: return {TypeID::get<OpTrait::TRAIT>(), nullptr};
#define CHECKED(CODE, TRAIT, VERIFY) case CODE: return {TypeID::get<OpTrait::TRAIT>(), VERIFY};
    CHECKED(IsTerminator, IsTerminator, I::verifyIsTerminator)
    PLAIN(IsolatedFromAbove, IsIsolatedFromAbove) // checked with the regions
    CHECKED(SingleBlock, SingleBlock, verifySingleBlock)
    PLAIN(NoTerminator, NoTerminator)
    CHECKED(NoRegionArguments, NoRegionArguments, I::verifyNoRegionArguments)
    PLAIN(ConstantLike, ConstantLike)
    PLAIN(Commutative, IsCommutative)
    PLAIN(SymbolTableTrait, SymbolTable) // checked with the regions
    PLAIN(AffineScope, AffineScope)
    PLAIN(AutomaticAllocationScope, AutomaticAllocationScope)
    PLAIN(RecursiveMemoryEffects, HasRecursiveMemoryEffects)
    PLAIN(RecursivelySpeculatable, RecursivelySpeculatableImplTrait)
    PLAIN(ReturnLike, ReturnLike)
    CHECKED(SameOperandsAndResultType, SameOperandsAndResultType, I::verifySameOperandsAndResultType)
    CHECKED(SameTypeOperands, SameTypeOperands, I::verifySameTypeOperands)
    CHECKED(SameOperandsAndResultShape, SameOperandsAndResultShape, I::verifySameOperandsAndResultShape)
    CHECKED(SameOperandsShape, SameOperandsShape, I::verifySameOperandsShape)
    CHECKED(SameOperandsElementType, SameOperandsElementType, I::verifySameOperandsElementType)
    CHECKED(SameOperandsAndResultElementType, SameOperandsAndResultElementType,
            I::verifySameOperandsAndResultElementType)
    CHECKED(AttrSizedOperandSegments, AttrSizedOperandSegments,
            [](Operation *op) { return OpTrait::impl::verifyOperandSizeAttr(op, "operandSegmentSizes"); })
    CHECKED(AttrSizedResultSegments, AttrSizedResultSegments,
            [](Operation *op) { return OpTrait::impl::verifyResultSizeAttr(op, "resultSegmentSizes"); })
    CHECKED(Idempotent, IsIdempotent, I::verifyIsIdempotent)
    CHECKED(Involution, IsInvolution, I::verifyIsInvolution)
    CHECKED(Elementwise, Elementwise, I::verifyElementwise)
    PLAIN(Scalarizable, Scalarizable)
    PLAIN(Vectorizable, Vectorizable)
    PLAIN(Tensorizable, Tensorizable)
#undef PLAIN
#undef CHECKED
  }
  llvm::report_fatal_error("girih: unknown trait code");
}

LogicalResult verifySymbolOp(Operation *op) {
  if (failed(mlir::detail::verifySymbol(op)))
    return failure();
  auto symbol = cast<SymbolOpInterface>(op);
  if (symbol.isDeclaration() && symbol.isPublic())
    return op->emitOpError("symbol declaration cannot have public visibility");
  if (op->getNumResults() != 0)
    return op->emitOpError("symbols must not have results");
  Operation *parent = op->getParentOp();
  if (parent && parent->isRegistered() && !parent->hasTrait<OpTrait::SymbolTable>())
    return op->emitOpError("symbol's parent must have the SymbolTable trait");
  return success();
}

struct RustOp : OperationName::Impl {
  GirihOpHooks hooks;
  SmallVector<TraitInfo> traits;

  RustOp(StringRef name, Dialect *dialect, TypeID id, mlir::detail::InterfaceMap map, GirihOpHooks hooks,
         ArrayRef<int> codes)
      : Impl(name, dialect, id, std::move(map)), hooks(hooks) {
    for (int code : codes)
      traits.push_back(traitInfo(code));
  }
  ~RustOp() override { hooks.drop(hooks.data); }

  static RustOp &of(OperationName name) {
    return *static_cast<RustOp *>(static_cast<OperationName::Impl *>(name.getAsOpaquePointer()));
  }
  static RustOp &of(Operation *op) { return of(op->getName()); }

  LogicalResult foldHook(Operation *op, ArrayRef<Attribute> operands, SmallVectorImpl<OpFoldResult> &results) final {
    if (hooks.fold(hooks.data, wrap(op), operands.size(), cAttrs(operands),
                   reinterpret_cast<GirihFoldResults *>(&results)))
      return success();
    results.clear();
    if (hasTrait(TypeID::get<OpTrait::IsCommutative>()) &&
        succeeded(OpTrait::impl::foldCommutative(op, operands, results)))
      return success();
    if (hasTrait(TypeID::get<OpTrait::IsIdempotent>()))
      if (OpFoldResult r = OpTrait::impl::foldIdempotent(op)) {
        results.push_back(r);
        return success();
      }
    if (hasTrait(TypeID::get<OpTrait::IsInvolution>()))
      if (OpFoldResult r = OpTrait::impl::foldInvolution(op)) {
        results.push_back(r);
        return success();
      }
    return failure();
  }
  void getCanonicalizationPatterns(RewritePatternSet &set, MLIRContext *context) final {
    hooks.canonicalizers(hooks.data, wrap(&set), wrap(context));
  }
  bool hasTrait(TypeID id) final {
    return llvm::any_of(traits, [&](const TraitInfo &t) { return t.id == id; });
  }
  OperationName::ParseAssemblyFn getParseAssemblyFn() final {
    return [this](OpAsmParser &parser, OperationState &state) -> ParseResult {
      if (!hooks.parse)
        return parser.emitError(parser.getNameLoc()) << "'" << getName().getValue() << "' has no custom assembly form";
      return failure(!hooks.parse(hooks.data, &parser, &state));
    };
  }
  void populateDefaultAttrs(const OperationName &, NamedAttrList &) final {}
  void printAssembly(Operation *op, OpAsmPrinter &printer, StringRef defaultDialect) final {
    if (!hooks.print)
      return printer.printGenericOp(op);
    StringRef name = op->getName().getStringRef();
    if (!defaultDialect.empty() && name.starts_with((defaultDialect + ".").str()) && name.count('.') == 1)
      name = name.drop_front(defaultDialect.size() + 1);
    printer.getStream() << name;
    hooks.print(hooks.data, wrap(op), &printer);
  }
  LogicalResult verifyInvariants(Operation *op) final {
    bool ok = true;
    for (const TraitInfo &t : traits)
      ok &= !t.verify || succeeded(t.verify(op));
    ok &= hooks.verifyDeclared(hooks.data, wrap(op));
    if (!ok)
      return failure(); // what follows may rely on all of this
    if ((hooks.isSymbol || hooks.isFunction) && failed(verifySymbolOp(op)))
      return failure();
    if (hooks.isFunction && failed(function_interface_impl::verifyTrait(cast<FunctionOpInterface>(op))))
      return failure();
    return success(hooks.verify(hooks.data, wrap(op)));
  }
  LogicalResult verifyRegionInvariants(Operation *op) final {
    bool ok = true;
    if (hasTrait(TypeID::get<OpTrait::IsIsolatedFromAbove>()))
      ok &= succeeded(OpTrait::impl::verifyIsIsolatedFromAbove(op));
    if (hasTrait(TypeID::get<OpTrait::SymbolTable>()))
      ok &= succeeded(mlir::detail::verifySymbolTable(op));
    if (hooks.successorRegions)
      ok &= succeeded(mlir::detail::verifyRegionBranchOpInterface(op));
    if (hooks.loopRegions)
      ok &= succeeded(mlir::detail::verifyLoopLikeOpInterface(op));
    return success(ok && hooks.verifyRegions(hooks.data, wrap(op)));
  }

  // Properties: one DictionaryAttr.
  using Storage = DictionaryAttr;
  static Storage &storage(OpaqueProperties p) { return *p.as<Storage *>(); }
  bool isInherent(StringRef name) const {
    return llvm::any_of(getAttributeNames(), [&](StringAttr a) { return a.getValue() == name; });
  }
  std::optional<Attribute> getInherentAttr(Operation *op, StringRef name) final {
    if (!isInherent(name))
      return std::nullopt;
    Storage dict = storage(op->getPropertiesStorage());
    return dict ? dict.get(name) : Attribute();
  }
  void setInherentAttr(Operation *op, StringAttr name, Attribute value) final {
    Storage &dict = storage(op->getPropertiesStorage());
    NamedAttrList list(dict);
    if (value)
      list.set(name, value);
    else
      list.erase(name);
    dict = list.getDictionary(op->getContext());
  }
  void populateInherentAttrs(Operation *op, NamedAttrList &list) final {
    if (OpaqueProperties p = op->getPropertiesStorage())
      if (Storage dict = storage(p))
        list.append(dict.getValue());
  }
  LogicalResult verifyInherentAttrs(OperationName, NamedAttrList &, function_ref<InFlightDiagnostic()>) final {
    return success(); // the op's verifier checks them
  }
  int getOpPropertyByteSize() final { return getAttributeNames().empty() ? 0 : sizeof(Storage); }
  void initProperties(OperationName name, OpaqueProperties to, OpaqueProperties from) final {
    new (to.as<Storage *>()) Storage(from ? storage(from) : Storage());
    if (!from)
      populateDefaultProperties(name, to);
  }
  void deleteProperties(OpaqueProperties) final {}
  void populateDefaultProperties(OperationName, OpaqueProperties p) final {
    if (!hooks.defaults || !p)
      return;
    MLIRContext *context = getName().getContext();
    NamedAttrList list(storage(p));
    hooks.defaults(hooks.data, wrap(context), &list, [](void *sink, MlirStringRef name, MlirAttribute value) {
      auto &list = *static_cast<NamedAttrList *>(sink);
      if (!list.get(str(name)))
        list.set(str(name), unwrap(value));
    });
    storage(p) = list.getDictionary(context);
  }
  // Null where `attr` can be the op's properties, else what is wrong. No attribute means no properties.
  std::string propertyFault(Attribute attr) const {
    auto dict = dyn_cast_or_null<DictionaryAttr>(attr);
    std::string name = getName().str();
    if (attr && !dict)
      return "expected a dictionary of properties for '" + name + "'";
    if (dict && !dict.empty() && getAttributeNames().empty())
      return "'" + name + "' has no properties";
    if (dict)
      for (NamedAttribute entry : dict)
        if (!isInherent(entry.getName()))
          return "'" + name + "' has no property '" + entry.getName().str() + "'";
    return {};
  }
  // `emitError` is null where the caller has checked already.
  LogicalResult setPropertiesFromAttr(OperationName name, OpaqueProperties p, Attribute attr,
                                      function_ref<InFlightDiagnostic()> emitError) final {
    std::string fault = propertyFault(attr);
    if (!fault.empty()) {
      if (emitError)
        emitError() << fault;
      return failure();
    }
    if (!p)
      return success();
    storage(p) = dyn_cast_or_null<DictionaryAttr>(attr);
    populateDefaultProperties(name, p);
    return success();
  }
  Attribute getPropertiesAsAttr(Operation *op) final {
    OpaqueProperties p = op->getPropertiesStorage();
    return p ? Attribute(storage(p)) : Attribute();
  }
  void copyProperties(OpaqueProperties to, OpaqueProperties from) final {
    if (to)
      storage(to) = storage(from);
  }
  bool compareProperties(OpaqueProperties a, OpaqueProperties b) final { return !a || storage(a) == storage(b); }
  llvm::hash_code hashProperties(OpaqueProperties p) final {
    return p ? hash_value(Attribute(storage(p))) : llvm::hash_code(0);
  }
};

} // namespace

GirihOpHooks &girih::hooksOf(OperationName name) { return RustOp::of(name).hooks; }
std::string girih::propertyFault(OperationName name, Attribute properties) {
  return RustOp::of(name).propertyFault(properties);
}

extern "C" {
void girih_dialect_add_op(void *dialect, MlirStringRef name, GirihOpHooks hooks, intptr_t nTraits, const int *traits,
                          intptr_t nAttrs, const MlirStringRef *attrNames) {
  auto *d = static_cast<RustDialectBase *>(dialect);
  TypeID id = d->ids.allocate();
  mlir::detail::InterfaceMap map;
  attachInterfaces(map, hooks);
  SmallVector<StringRef> names;
  for (intptr_t i = 0; i < nAttrs; ++i)
    names.push_back(str(attrNames[i]));
  auto impl = std::make_unique<RustOp>(str(name), d, id, std::move(map), hooks, ArrayRef<int>(traits, nTraits));
  RegisteredOperationName::insert(std::move(impl), names);
}

void girih_fold_push_value(GirihFoldResults *r, MlirValue v) {
  reinterpret_cast<SmallVectorImpl<OpFoldResult> *>(r)->push_back(unwrap(v));
}
void girih_fold_push_attr(GirihFoldResults *r, MlirAttribute a) {
  reinterpret_cast<SmallVectorImpl<OpFoldResult> *>(r)->push_back(unwrap(a));
}
// What any op, upstream or Rust-defined, says of its memory effects.
// The callback gets kind as in girih_effect_push and the value, null where the effect names none. False: unknown effects.
bool girih_op_effects(MlirOperation op, void *data, void (*push)(void *, int kind, MlirValue)) {
  auto effects = getEffectsRecursively(unwrap(op));
  if (!effects)
    return false;
  for (const MemoryEffects::EffectInstance &e : *effects) {
    int kind = isa<MemoryEffects::Read>(e.getEffect()) ? 0 : isa<MemoryEffects::Write>(e.getEffect()) ? 1
             : isa<MemoryEffects::Allocate>(e.getEffect()) ? 2 : 3;
    push(data, kind, wrap(e.getValue()));
  }
  return true;
}
bool girih_op_is_pure(MlirOperation op) { return isPure(unwrap(op)); }
bool girih_op_has_trait(MlirOperation op, int trait) { return unwrap(op)->getName().hasTrait(traitInfo(trait).id); }
} // extern "C"
