// Ops whose hooks live in Rust: an `OperationName::Impl` for each, its traits, and models of the op interfaces.
//
// Inherent attributes are MLIR properties: each op stores one DictionaryAttr, so that the generic form, bytecode,
// hashing and equality work without knowing the op.
#include "girih_ir.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
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

// ------------------------------------------------------------------------------------------------ interface models
// A model finds its op's hooks through the op's name, so one model serves every op.

struct EffectsModel : MemoryEffectOpInterface::FallbackModel<EffectsModel> {
  void getEffects(Operation *op, SmallVectorImpl<MemoryEffects::EffectInstance> &effects) const {
    GirihOpHooks &h = RustOp::of(op).hooks;
    h.effects(h.data, wrap(op), reinterpret_cast<GirihEffects *>(&effects));
  }
};

struct SpeculatabilityModel : ConditionallySpeculatable::FallbackModel<SpeculatabilityModel> {
  Speculation::Speculatability getSpeculatability(Operation *op) const {
    GirihOpHooks &h = RustOp::of(op).hooks;
    return Speculation::Speculatability(h.speculatability(h.data, wrap(op)));
  }
};

struct AsmModel : OpAsmOpInterface::FallbackModel<AsmModel> {
  void getAsmResultNames(Operation *op, OpAsmSetValueNameFn set) const {
    GirihOpHooks &h = RustOp::of(op).hooks;
    if (h.resultNames)
      h.resultNames(h.data, wrap(op), reinterpret_cast<GirihNamer *>(&set));
  }
  void getAsmBlockArgumentNames(Operation *op, Region &region, OpAsmSetValueNameFn set) const {
    GirihOpHooks &h = RustOp::of(op).hooks;
    if (h.blockArgumentNames)
      h.blockArgumentNames(h.data, wrap(op), wrap(&region), reinterpret_cast<GirihNamer *>(&set));
  }
  void getAsmBlockNames(Operation *, OpAsmSetBlockNameFn) const {}
  static StringRef getDefaultDialect() { return ""; }
};

struct BytecodeModel : BytecodeOpInterface::FallbackModel<BytecodeModel> {
  static LogicalResult readProperties(DialectBytecodeReader &reader, OperationState &state) {
    Attribute attr;
    if (failed(reader.readOptionalAttribute(attr)))
      return failure();
    std::string fault = RustOp::of(state.name).propertyFault(attr);
    if (!fault.empty())
      return reader.emitError(fault);
    state.propertiesAttr = attr;
    return success();
  }
  void writeProperties(Operation *op, DialectBytecodeWriter &writer) const {
    writer.writeOptionalAttribute(op->getPropertiesAsAttribute());
  }
};

intptr_t regionIndex(RegionSuccessor s) {
  Region *r = s.getSuccessor();
  return r ? intptr_t(r->getRegionNumber()) : -1;
}

struct RegionBranchModel : RegionBranchOpInterface::FallbackModel<RegionBranchModel> {
  OperandRange getEntrySuccessorOperands(Operation *op, RegionSuccessor to) const {
    GirihOpHooks &h = RustOp::of(op).hooks;
    intptr_t first = 0, count = 0;
    if (h.entryOperands)
      h.entryOperands(h.data, wrap(op), regionIndex(to), &first, &count);
    return op->getOperands().slice(first, count);
  }
  void getEntrySuccessorRegions(Operation *op, ArrayRef<Attribute>, SmallVectorImpl<RegionSuccessor> &out) const {
    getSuccessorRegions(op, RegionBranchPoint::parent(), out);
  }
  void getSuccessorRegions(Operation *op, RegionBranchPoint from, SmallVectorImpl<RegionSuccessor> &out) const {
    GirihOpHooks &h = RustOp::of(op).hooks;
    intptr_t index = -1;
    if (!from.isParent())
      index = from.getTerminatorPredecessorOrNull()->getParentRegion()->getRegionNumber();
    h.successorRegions(h.data, wrap(op), index, reinterpret_cast<GirihSuccessors *>(&out));
  }
  void getSuccessorRegions_3(Operation *op, Region &from, SmallVectorImpl<RegionSuccessor> &out) const {
    GirihOpHooks &h = RustOp::of(op).hooks;
    h.successorRegions(h.data, wrap(op), from.getRegionNumber(), reinterpret_cast<GirihSuccessors *>(&out));
  }
  void getPredecessors(Operation *op, RegionSuccessor to, SmallVectorImpl<RegionBranchPoint> &out) const {
    auto enters = [&](RegionBranchPoint from) {
      SmallVector<RegionSuccessor> successors;
      getSuccessorRegions(op, from, successors);
      return llvm::any_of(successors, [&](RegionSuccessor s) { return s.getSuccessor() == to.getSuccessor(); });
    };
    if (enters(RegionBranchPoint::parent()))
      out.push_back(RegionBranchPoint::parent());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (!block.empty())
          if (auto terminator = dyn_cast<RegionBranchTerminatorOpInterface>(block.back()))
            if (enters(RegionBranchPoint(terminator)))
              out.push_back(RegionBranchPoint(terminator));
  }
  void getPredecessorValues(Operation *op, RegionSuccessor to, int index, SmallVectorImpl<Value> &out) const {
    SmallVector<RegionBranchPoint> points;
    getPredecessors(op, to, points);
    for (RegionBranchPoint p : points)
      if (p.isParent())
        out.push_back(getEntrySuccessorOperands(op, to)[index]);
      else
        out.push_back(cast<RegionBranchTerminatorOpInterface>(p.getTerminatorPredecessorOrNull())
                          .getSuccessorOperands(to)[index]);
  }
  void getRegionInvocationBounds(Operation *op, ArrayRef<Attribute>, SmallVectorImpl<InvocationBounds> &bounds) const {
    bounds.append(op->getNumRegions(), InvocationBounds::getUnknown());
  }
  bool areTypesCompatible(Operation *, Type a, Type b) const { return a == b; }
};

struct RegionTerminatorModel : RegionBranchTerminatorOpInterface::FallbackModel<RegionTerminatorModel> {
  MutableOperandRange getMutableSuccessorOperands(Operation *op, RegionSuccessor to) const {
    GirihOpHooks &h = RustOp::of(op).hooks;
    intptr_t first = 0, count = op->getNumOperands();
    if (h.terminatorOperands)
      h.terminatorOperands(h.data, wrap(op), regionIndex(to), &first, &count);
    return MutableOperandRange(op, first, count);
  }
  void getSuccessorRegions(Operation *op, ArrayRef<Attribute>, SmallVectorImpl<RegionSuccessor> &out) const {
    if (auto parent = dyn_cast<RegionBranchOpInterface>(op->getParentOp()))
      parent.getSuccessorRegions(RegionBranchPoint(cast<RegionBranchTerminatorOpInterface>(op)), out);
  }
};

struct LoopModel : LoopLikeOpInterface::FallbackModel<LoopModel> {
  bool isDefinedOutsideOfLoop(Operation *op, Value v) const { return !op->isAncestor(v.getParentBlock()->getParentOp()); }
  SmallVector<Region *> getLoopRegions(Operation *op) const {
    GirihOpHooks &h = RustOp::of(op).hooks;
    uint64_t mask = h.loopRegions(h.data, wrap(op));
    SmallVector<Region *> regions;
    for (Region &r : op->getRegions())
      if (r.getRegionNumber() < 64 && (mask >> r.getRegionNumber() & 1))
        regions.push_back(&r);
    return regions;
  }
  void moveOutOfLoop(Operation *loop, Operation *op) const { op->moveBefore(loop); }
  LogicalResult promoteIfSingleIteration(Operation *, RewriterBase &) const { return failure(); }
  std::optional<SmallVector<Value>> getLoopInductionVars(Operation *) const { return std::nullopt; }
  std::optional<SmallVector<OpFoldResult>> getLoopLowerBounds(Operation *) const { return std::nullopt; }
  std::optional<SmallVector<OpFoldResult>> getLoopSteps(Operation *) const { return std::nullopt; }
  std::optional<SmallVector<OpFoldResult>> getLoopUpperBounds(Operation *) const { return std::nullopt; }
  MutableArrayRef<OpOperand> getInitsMutable(Operation *) const { return {}; }
  Block::BlockArgListType getRegionIterArgs(Operation *) const { return {}; }
  std::optional<MutableArrayRef<OpOperand>> getYieldedValuesMutable(Operation *) const { return std::nullopt; }
  std::optional<ResultRange> getLoopResults(Operation *) const { return std::nullopt; }
  FailureOr<LoopLikeOpInterface> replaceWithAdditionalYields(Operation *, RewriterBase &, ValueRange, bool,
                                                             const NewYieldValuesFn &) const {
    return failure();
  }
  std::optional<APInt> getStaticTripCount(Operation *) const { return std::nullopt; }
};

struct SymbolModel : SymbolOpInterface::FallbackModel<SymbolModel> {
  using Visibility = SymbolTable::Visibility;
  StringAttr getNameAttr(Operation *op) const { return op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()); }
  void setName(Operation *op, StringAttr name) const { op->setAttr(SymbolTable::getSymbolAttrName(), name); }
  Visibility getVisibility(Operation *op) const { return SymbolTable::getSymbolVisibility(op); }
  bool isNested(Operation *op) const { return getVisibility(op) == Visibility::Nested; }
  bool isPrivate(Operation *op) const { return getVisibility(op) == Visibility::Private; }
  bool isPublic(Operation *op) const { return getVisibility(op) == Visibility::Public; }
  void setVisibility(Operation *op, Visibility v) const { SymbolTable::setSymbolVisibility(op, v); }
  void setNested(Operation *op) const { setVisibility(op, Visibility::Nested); }
  void setPrivate(Operation *op) const { setVisibility(op, Visibility::Private); }
  void setPublic(Operation *op) const { setVisibility(op, Visibility::Public); }
  std::optional<SymbolTable::UseRange> getSymbolUses(Operation *op, Operation *from) const {
    return SymbolTable::getSymbolUses(op, from);
  }
  bool symbolKnownUseEmpty(Operation *op, Operation *from) const { return SymbolTable::symbolKnownUseEmpty(op, from); }
  LogicalResult replaceAllSymbolUses(Operation *op, StringAttr name, Operation *from) const {
    return SymbolTable::replaceAllSymbolUses(op, name, from);
  }
  bool isOptionalSymbol(Operation *) const { return false; }
  bool canDiscardOnUseEmpty(Operation *op) const { return !isPublic(op); }
  bool isDeclaration(Operation *op) const {
    return RustOp::of(op).hooks.isFunction && (op->getNumRegions() == 0 || op->getRegion(0).empty());
  }
};

struct SymbolUserModel : SymbolUserOpInterface::FallbackModel<SymbolUserModel> {
  LogicalResult verifySymbolUses(Operation *op, SymbolTableCollection &tables) const {
    GirihOpHooks &h = RustOp::of(op).hooks;
    return success(h.verifySymbolUses(h.data, wrap(op), reinterpret_cast<GirihSymbols *>(&tables)));
  }
};

FunctionType functionType(Operation *op) {
  auto attr = op->getAttrOfType<TypeAttr>("function_type");
  return attr ? dyn_cast<FunctionType>(attr.getValue()) : FunctionType();
}
struct CallableModel : CallableOpInterface::FallbackModel<CallableModel> {
  Region *getCallableRegion(Operation *op) const { return op->getRegion(0).empty() ? nullptr : &op->getRegion(0); }
  ArrayRef<Type> getArgumentTypes(Operation *op) const { return functionType(op).getInputs(); }
  ArrayRef<Type> getResultTypes(Operation *op) const { return functionType(op).getResults(); }
};
struct ArgAttrsModel : ArgAndResultAttrsOpInterface::FallbackModel<ArgAttrsModel> {
  ArrayAttr getArgAttrsAttr(Operation *op) const { return op->getAttrOfType<ArrayAttr>("arg_attrs"); }
  ArrayAttr getResAttrsAttr(Operation *op) const { return op->getAttrOfType<ArrayAttr>("res_attrs"); }
  void setArgAttrsAttr(Operation *op, ArrayAttr a) const { op->setAttr("arg_attrs", a); }
  void setResAttrsAttr(Operation *op, ArrayAttr a) const { op->setAttr("res_attrs", a); }
  Attribute removeArgAttrsAttr(Operation *op) const { return op->removeAttr("arg_attrs"); }
  Attribute removeResAttrsAttr(Operation *op) const { return op->removeAttr("res_attrs"); }
};
struct FunctionModel : FunctionOpInterface::FallbackModel<FunctionModel> {
  Type getFunctionType(Operation *op) const { return functionType(op); }
  void setFunctionTypeAttr(Operation *op, TypeAttr type) const { op->setAttr("function_type", type); }
  Type cloneTypeWith(Operation *op, TypeRange inputs, TypeRange results) const {
    return FunctionType::get(op->getContext(), inputs, results);
  }
  LogicalResult verifyBody(Operation *op) const {
    Region &body = op->getRegion(0);
    if (body.empty())
      return success();
    ArrayRef<Type> inputs = functionType(op).getInputs();
    if (body.front().getNumArguments() < inputs.size())
      return op->emitOpError("entry block must have at least ") << inputs.size() << " arguments, as its type says";
    for (auto [i, type] : llvm::enumerate(inputs))
      if (body.front().getArgument(i).getType() != type)
        return op->emitOpError("entry block argument #")
               << i << " has type " << body.front().getArgument(i).getType() << ", but the function type says " << type;
    return success();
  }
  LogicalResult verifyType(Operation *op) const {
    if (functionType(op))
      return success();
    return op->emitOpError("requires 'function_type', a function type");
  }
};
struct CallModel : CallOpInterface::FallbackModel<CallModel> {
  CallInterfaceCallable getCallableForCallee(Operation *op) const {
    return op->getAttrOfType<SymbolRefAttr>("callee");
  }
  void setCalleeFromCallable(Operation *op, CallInterfaceCallable callee) const {
    op->setAttr("callee", cast<SymbolRefAttr>(callee));
  }
  Operation::operand_range getArgOperands(Operation *op) const { return op->getOperands(); }
  MutableOperandRange getArgOperandsMutable(Operation *op) const { return MutableOperandRange(op); }
  Operation *resolveCallableInTable(Operation *op, SymbolTableCollection *tables) const {
    return call_interface_impl::resolveCallable(cast<CallOpInterface>(op), tables);
  }
  Operation *resolveCallable(Operation *op) const {
    return call_interface_impl::resolveCallable(cast<CallOpInterface>(op));
  }
};
} // namespace

extern "C" {
void girih_dialect_add_op(void *dialect, MlirStringRef name, GirihOpHooks hooks, intptr_t nTraits, const int *traits,
                          intptr_t nAttrs, const MlirStringRef *attrNames) {
  auto *d = static_cast<RustDialectBase *>(dialect);
  TypeID id = d->ids.allocate();
  mlir::detail::InterfaceMap map;
  map.insertModels<BytecodeModel>();
  if (hooks.resultNames || hooks.blockArgumentNames) map.insertModels<AsmModel>();
  if (hooks.effects) map.insertModels<EffectsModel>();
  if (hooks.speculatability) map.insertModels<SpeculatabilityModel>();
  if (hooks.successorRegions) map.insertModels<RegionBranchModel>();
  if (hooks.terminatorOperands) map.insertModels<RegionTerminatorModel>();
  if (hooks.loopRegions) map.insertModels<LoopModel>();
  if (hooks.isSymbol || hooks.isFunction) map.insertModels<SymbolModel>();
  if (hooks.verifySymbolUses) map.insertModels<SymbolUserModel>();
  if (hooks.isFunction || hooks.isCall) map.insertModels<ArgAttrsModel>();
  if (hooks.isFunction) {
    map.insertModels<CallableModel>();
    map.insertModels<FunctionModel>();
  }
  if (hooks.isCall) map.insertModels<CallModel>();
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
// kind: 0 read, 1 write, 2 allocate, 3 free. operand or result < 0: none.
void girih_effect_push(GirihEffects *e, MlirOperation op, int kind, intptr_t operand, intptr_t result) {
  auto &effects = *reinterpret_cast<SmallVectorImpl<MemoryEffects::EffectInstance> *>(e);
  MemoryEffects::Effect *effect = nullptr;
  switch (kind) {
  case 0: effect = MemoryEffects::Read::get(); break;
  case 1: effect = MemoryEffects::Write::get(); break;
  case 2: effect = MemoryEffects::Allocate::get(); break;
  default: effect = MemoryEffects::Free::get(); break;
  }
  if (operand >= 0)
    effects.emplace_back(effect, &unwrap(op)->getOpOperand(operand));
  else if (result >= 0)
    effects.emplace_back(effect, unwrap(op)->getOpResult(result));
  else
    effects.emplace_back(effect);
}
void girih_name_value(GirihNamer *namer, MlirValue v, MlirStringRef name) {
  (*reinterpret_cast<OpAsmSetValueNameFn *>(namer))(unwrap(v), str(name));
}
// region < 0: back to the parent, whose results get the values.
void girih_successor_push(GirihSuccessors *s, MlirOperation op, intptr_t region) {
  auto &out = *reinterpret_cast<SmallVectorImpl<RegionSuccessor> *>(s);
  if (region < 0) {
    out.push_back(RegionSuccessor(unwrap(op), unwrap(op)->getResults()));
  } else {
    Region &r = unwrap(op)->getRegion(region);
    out.push_back(RegionSuccessor(&r, r.empty() ? Block::BlockArgListType() : r.getArguments()));
  }
}
MlirOperation girih_symbols_lookup(GirihSymbols *tables, MlirOperation from, MlirAttribute symbol) {
  auto ref = dyn_cast<SymbolRefAttr>(unwrap(symbol));
  if (!ref)
    return {nullptr};
  return wrap(reinterpret_cast<SymbolTableCollection *>(tables)->lookupNearestSymbolFrom(unwrap(from), ref));
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
