// Models of the op interfaces. One model serves every op, for it finds the op's hooks through the op's name.
#include "girih_ir.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace girih;

namespace {
struct EffectsModel : MemoryEffectOpInterface::FallbackModel<EffectsModel> {
  void getEffects(Operation *op, SmallVectorImpl<MemoryEffects::EffectInstance> &effects) const {
    GirihOpHooks &h = hooksOf(op->getName());
    h.effects(h.data, wrap(op), reinterpret_cast<GirihEffects *>(&effects));
  }
};

struct SpeculatabilityModel : ConditionallySpeculatable::FallbackModel<SpeculatabilityModel> {
  Speculation::Speculatability getSpeculatability(Operation *op) const {
    GirihOpHooks &h = hooksOf(op->getName());
    return Speculation::Speculatability(h.speculatability(h.data, wrap(op)));
  }
};

struct AsmModel : OpAsmOpInterface::FallbackModel<AsmModel> {
  void getAsmResultNames(Operation *op, OpAsmSetValueNameFn set) const {
    GirihOpHooks &h = hooksOf(op->getName());
    if (h.resultNames)
      h.resultNames(h.data, wrap(op), reinterpret_cast<GirihNamer *>(&set));
  }
  void getAsmBlockArgumentNames(Operation *op, Region &region, OpAsmSetValueNameFn set) const {
    GirihOpHooks &h = hooksOf(op->getName());
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
    std::string fault = propertyFault(state.name, attr);
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
    GirihOpHooks &h = hooksOf(op->getName());
    intptr_t first = 0, count = 0;
    if (h.entryOperands)
      h.entryOperands(h.data, wrap(op), regionIndex(to), &first, &count);
    return op->getOperands().slice(first, count);
  }
  void getEntrySuccessorRegions(Operation *op, ArrayRef<Attribute>, SmallVectorImpl<RegionSuccessor> &out) const {
    getSuccessorRegions(op, RegionBranchPoint::parent(), out);
  }
  void getSuccessorRegions(Operation *op, RegionBranchPoint from, SmallVectorImpl<RegionSuccessor> &out) const {
    GirihOpHooks &h = hooksOf(op->getName());
    intptr_t index = -1;
    if (!from.isParent())
      index = from.getTerminatorPredecessorOrNull()->getParentRegion()->getRegionNumber();
    h.successorRegions(h.data, wrap(op), index, reinterpret_cast<GirihSuccessors *>(&out));
  }
  void getSuccessorRegions_3(Operation *op, Region &from, SmallVectorImpl<RegionSuccessor> &out) const {
    GirihOpHooks &h = hooksOf(op->getName());
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
    GirihOpHooks &h = hooksOf(op->getName());
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
    GirihOpHooks &h = hooksOf(op->getName());
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
    return hooksOf(op->getName()).isFunction && (op->getNumRegions() == 0 || op->getRegion(0).empty());
  }
};

struct SymbolUserModel : SymbolUserOpInterface::FallbackModel<SymbolUserModel> {
  LogicalResult verifySymbolUses(Operation *op, SymbolTableCollection &tables) const {
    GirihOpHooks &h = hooksOf(op->getName());
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

void girih::attachInterfaces(mlir::detail::InterfaceMap &map, const GirihOpHooks &hooks) {
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
}

extern "C" {
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
bool girih_symbol_is_named(MlirOperation symbol, MlirOperation within) {
  SymbolTableCollection tables;
  auto walked = unwrap(within)->walk([&](Operation *op) {
    // The attributes of a symbol table are written in the scope around it.
    Operation *around = op->getParentOp();
    Operation *table = SymbolTable::getNearestSymbolTable(around ? around : op);
    bool named = false;
    AttrTypeWalker walker;
    walker.addWalk([&](SymbolRefAttr ref) {
      SmallVector<Operation *> path;
      if (table && succeeded(tables.lookupSymbolIn(table, ref, path)))
        named |= llvm::is_contained(path, unwrap(symbol));
      // The steps of a path mean nothing by themselves.
      return WalkResult::skip();
    });
    walker.walk<WalkOrder::PreOrder>(op->getAttrDictionary());
    return named ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walked.wasInterrupted();
}
} // extern "C"
