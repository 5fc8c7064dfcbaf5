// The generic bridge between MLIR and Rust: the hooks that Rust supplies, as C function tables.
//
// Nothing here knows any of girih's dialects. Every table is filled by `ir/src`, where each function catches panics.
// A null function means "the default"; which ones may be null is said beside them.
#ifndef GIRIH_IR_H
#define GIRIH_IR_H

#include "mlir-c/IR.h"
#include "mlir-c/Rewrite.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Rewrite.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Types.h"
#include <map>
#include <memory>
#include <mutex>

extern "C" {
// Opaque sinks that Rust pushes into while a hook runs.
struct GirihFoldResults; // SmallVectorImpl<OpFoldResult>
struct GirihEffects;     // SmallVectorImpl<MemoryEffects::EffectInstance>
struct GirihEmitter;     // function_ref<InFlightDiagnostic()>
struct GirihAttrs;       // SmallVectorImpl<Attribute>
struct GirihSuccessors;  // SmallVectorImpl<RegionSuccessor>
struct GirihNamer;       // OpAsmSetValueNameFn
struct GirihSymbols;     // SymbolTableCollection

// Hooks of one op. `data` is Rust's and lives as long as the op's registration.
struct GirihOpHooks {
  void *data;
  void (*drop)(void *);
  bool (*verifyDeclared)(void *, MlirOperation); // the declaration's own rules
  bool (*verify)(void *, MlirOperation);         // called where those and the traits hold
  bool (*verifyRegions)(void *, MlirOperation);
  bool (*parse)(void *, void *parser, void *state);     // null: generic form only
  void (*print)(void *, MlirOperation, void *printer);  // null: generic form only
  bool (*fold)(void *, MlirOperation, intptr_t, const MlirAttribute *, GirihFoldResults *);
  void (*canonicalizers)(void *, MlirRewritePatternSet, MlirContext);
  void (*defaults)(void *, MlirContext, void *sink, void (*)(void *, MlirStringRef, MlirAttribute));
  // Interfaces; each is attached to the op only where its function is not null.
  void (*effects)(void *, MlirOperation, GirihEffects *);
  int (*speculatability)(void *, MlirOperation);
  void (*resultNames)(void *, MlirOperation, GirihNamer *);
  void (*blockArgumentNames)(void *, MlirOperation, MlirRegion, GirihNamer *);
  // `from`: index of the region that control leaves, or -1 for the op itself.
  void (*successorRegions)(void *, MlirOperation, intptr_t from, GirihSuccessors *);
  // First and number of the operands forwarded to region `to` on entry (-1: to the parent).
  void (*entryOperands)(void *, MlirOperation, intptr_t to, intptr_t *first, intptr_t *count);
  // First and number of a terminator's operands that it forwards to region `to` (-1: to the parent).
  void (*terminatorOperands)(void *, MlirOperation, intptr_t to, intptr_t *first, intptr_t *count);
  // Bit i set: region i is a loop body.
  uint64_t (*loopRegions)(void *, MlirOperation);
  bool (*verifySymbolUses)(void *, MlirOperation, GirihSymbols *);
  // The op has `sym_name` and `sym_visibility` and can be looked up.
  bool isSymbol;
  // The op is a function: `function_type`, `arg_attrs`, `res_attrs`, one body region. Implies isSymbol.
  bool isFunction;
  // The op is a call: `callee`, and its operands from `callOperands` on are the arguments.
  bool isCall;
};

// Hooks of one type or attribute; its parameters are attributes.
struct GirihParamHooks {
  void *data;
  void (*drop)(void *);
  bool (*verify)(void *, GirihEmitter *, MlirContext, intptr_t, const MlirAttribute *);
  bool (*parse)(void *, void *parser, GirihAttrs *);
  void (*print)(void *, void *printer, MlirContext, intptr_t, const MlirAttribute *);
  // Types: may be a memref's element. Size in bits and alignment in bytes come from `layout`.
  bool isMemRefElement;
  void (*layout)(void *, MlirType, uint64_t *bits, uint64_t *align); // null: no data layout
  // Attributes: may be a ranked tensor's encoding.
  bool (*verifyEncoding)(void *, GirihEmitter *, MlirAttribute, intptr_t, const int64_t *, MlirType); // null: not one
};

struct GirihDialectHooks {
  void *data;
  void (*populate)(void *, void *dialect, MlirContext);
  MlirOperation (*materializeConstant)(void *, MlirAttribute, MlirType, MlirLocation); // null: none
  bool (*isLegalToInline)(void *, MlirOperation);                                      // null: never
  bool (*verifyOperationAttribute)(void *, MlirOperation, MlirStringRef, MlirAttribute); // null: everything allowed
};
} // extern "C"

namespace girih {
// A dialect whose ops, types and attributes get TypeIDs at run time.
struct RustDialectBase : mlir::Dialect {
  using Dialect::Dialect;
  mlir::TypeIDAllocator ids;
};
// Hooks of an op that Rust defines.
GirihOpHooks &hooksOf(mlir::OperationName name);
// Empty where the attribute can be the properties of an op that Rust defines, else what is wrong with it.
std::string propertyFault(mlir::OperationName name, mlir::Attribute properties);
// Models for each interface that the hooks serve.
void attachInterfaces(mlir::detail::InterfaceMap &map, const GirihOpHooks &hooks);
inline llvm::StringRef str(MlirStringRef s) { return {s.data, s.length}; }
inline MlirStringRef cstr(llvm::StringRef s) { return {s.data(), s.size()}; }
static_assert(sizeof(mlir::Attribute) == sizeof(MlirAttribute) && sizeof(mlir::Type) == sizeof(MlirType) &&
              sizeof(mlir::Value) == sizeof(MlirValue));
inline llvm::ArrayRef<mlir::Attribute> attrs(intptr_t n, const MlirAttribute *p) {
  return {reinterpret_cast<const mlir::Attribute *>(p), size_t(n)};
}
inline const MlirAttribute *cAttrs(llvm::ArrayRef<mlir::Attribute> a) {
  return reinterpret_cast<const MlirAttribute *>(a.data());
}
inline const MlirValue *cValues(llvm::ArrayRef<mlir::Value> v) { return reinterpret_cast<const MlirValue *>(v.data()); }
} // namespace girih

#endif
