// Dialects, types and attributes whose hooks live in Rust. A type or attribute is a definition and an array of
// attribute parameters; unlike MLIR's DynamicType it can carry type and attribute interfaces.
#include "girih_ir.h"

#include "mlir/CAPI/Registration.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace girih;

namespace {
struct RustDialect;

// One type or attribute definition; lives as long as its dialect.
struct Definition {
  std::string name;      // "tensor_map"
  std::string qualified; // "tile.tensor_map"
  RustDialect *dialect;
  GirihParamHooks hooks;
  TypeID id;
  ~Definition() { hooks.drop(hooks.data); }
};

struct TypeStorageImpl : TypeStorage {
  using KeyTy = std::pair<Definition *, ArrayRef<Attribute>>;
  TypeStorageImpl(Definition *def, ArrayRef<Attribute> params) : def(def), params(params) {}
  bool operator==(const KeyTy &key) const { return def == key.first && params == key.second; }
  static llvm::hash_code hashKey(const KeyTy &key) { return llvm::hash_combine(key.first, key.second); }
  static TypeStorageImpl *construct(TypeStorageAllocator &alloc, const KeyTy &key) {
    return new (alloc.allocate<TypeStorageImpl>()) TypeStorageImpl(key.first, alloc.copyInto(key.second));
  }
  Definition *def;
  ArrayRef<Attribute> params;
};
struct AttrStorageImpl : AttributeStorage {
  using KeyTy = std::pair<Definition *, ArrayRef<Attribute>>;
  AttrStorageImpl(Definition *def, ArrayRef<Attribute> params) : def(def), params(params) {}
  bool operator==(const KeyTy &key) const { return def == key.first && params == key.second; }
  static llvm::hash_code hashKey(const KeyTy &key) { return llvm::hash_combine(key.first, key.second); }
  static AttrStorageImpl *construct(AttributeStorageAllocator &alloc, const KeyTy &key) {
    return new (alloc.allocate<AttrStorageImpl>()) AttrStorageImpl(key.first, alloc.copyInto(key.second));
  }
  Definition *def;
  ArrayRef<Attribute> params;
};

template <typename T> struct IsRustDefined {}; // its TypeID marks our types and attributes

struct RustType : Type {
  using ImplType = TypeStorageImpl;
  using Type::Type;
  static bool classof(Type t) { return t.getAbstractType().hasTrait(TypeID::get<IsRustDefined<Type>>()); }
  Definition *def() const { return static_cast<ImplType *>(impl)->def; }
  ArrayRef<Attribute> params() const { return static_cast<ImplType *>(impl)->params; }
  static RustType get(Definition *def, ArrayRef<Attribute> params, MLIRContext *context);
};
struct RustAttr : Attribute {
  using ImplType = AttrStorageImpl;
  using Attribute::Attribute;
  static bool classof(Attribute a) {
    return a.getAbstractAttribute().hasTrait(TypeID::get<IsRustDefined<Attribute>>());
  }
  Definition *def() const { return static_cast<ImplType *>(impl)->def; }
  ArrayRef<Attribute> params() const { return static_cast<ImplType *>(impl)->params; }
  static RustAttr get(Definition *def, ArrayRef<Attribute> params, MLIRContext *context);
};
RustType RustType::get(Definition *def, ArrayRef<Attribute> params, MLIRContext *context) {
  return mlir::detail::TypeUniquer::getWithTypeID<RustType>(context, def->id, def, params);
}
RustAttr RustAttr::get(Definition *def, ArrayRef<Attribute> params, MLIRContext *context) {
  return mlir::detail::AttributeUniquer::getWithTypeID<RustAttr>(context, def->id, def, params);
}

// The abstract type keeps references to these, so they are static objects.
auto walkType = [](Type t, function_ref<void(Attribute)> onAttr, function_ref<void(Type)>) {
  for (Attribute a : cast<RustType>(t).params())
    onAttr(a);
};
auto replaceType = [](Type t, ArrayRef<Attribute> params, ArrayRef<Type>) -> Type {
  return RustType::get(cast<RustType>(t).def(), params, t.getContext());
};
auto walkAttr = [](Attribute a, function_ref<void(Attribute)> onAttr, function_ref<void(Type)>) {
  for (Attribute p : cast<RustAttr>(a).params())
    onAttr(p);
};
auto replaceAttr = [](Attribute a, ArrayRef<Attribute> params, ArrayRef<Type>) -> Attribute {
  return RustAttr::get(cast<RustAttr>(a).def(), params, a.getContext());
};

struct MemRefElementModel : MemRefElementTypeInterface::FallbackModel<MemRefElementModel> {};
struct DataLayoutModel : DataLayoutTypeInterface::FallbackModel<DataLayoutModel> {
  static std::pair<uint64_t, uint64_t> query(Type t) {
    Definition *def = cast<RustType>(t).def();
    uint64_t bits = 0, align = 1;
    def->hooks.layout(def->hooks.data, wrap(t), &bits, &align);
    return {bits, align};
  }
  llvm::TypeSize getTypeSize(Type t, const DataLayout &, DataLayoutEntryListRef) const {
    return llvm::TypeSize::getFixed(llvm::divideCeil(query(t).first, 8));
  }
  llvm::TypeSize getTypeSizeInBits(Type t, const DataLayout &, DataLayoutEntryListRef) const {
    return llvm::TypeSize::getFixed(query(t).first);
  }
  uint64_t getABIAlignment(Type t, const DataLayout &, DataLayoutEntryListRef) const { return query(t).second; }
  uint64_t getPreferredAlignment(Type t, const DataLayout &, DataLayoutEntryListRef) const { return query(t).second; }
  std::optional<uint64_t> getIndexBitwidth(Type, const DataLayout &, DataLayoutEntryListRef) const {
    return std::nullopt;
  }
  bool areCompatible(Type, DataLayoutEntryListRef, DataLayoutEntryListRef, DataLayoutSpecInterface,
                     const DataLayoutIdentifiedEntryMap &) const {
    return true;
  }
  LogicalResult verifyEntries(Type, DataLayoutEntryListRef, Location) const { return success(); }
};
struct EncodingModel : VerifiableTensorEncoding::FallbackModel<EncodingModel> {
  LogicalResult verifyEncoding(Attribute a, ArrayRef<int64_t> shape, Type element,
                               function_ref<InFlightDiagnostic()> emitError) const {
    Definition *def = cast<RustAttr>(a).def();
    return success(def->hooks.verifyEncoding(def->hooks.data, reinterpret_cast<GirihEmitter *>(&emitError), wrap(a),
                                             shape.size(), shape.data(), wrap(element)));
  }
};

struct RustInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *call, Operation *callable, bool) const final;
  bool isLegalToInline(Operation *op, Region *, bool, IRMapping &) const final;
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final;
  // A terminator of an inlined body: its operands are what the call gave.
  void handleTerminator(Operation *op, ValueRange results) const final {
    for (auto [result, value] : llvm::zip(results, op->getOperands()))
      result.replaceAllUsesWith(value);
  }
  void handleTerminator(Operation *op, Block *next) const final {
    OpBuilder builder(op);
    OperationState branch(op->getLoc(), "cf.br");
    branch.addOperands(op->getOperands());
    branch.addSuccessors(next);
    builder.create(branch);
    op->erase();
  }
};

struct RustDialect : RustDialectBase {
  GirihDialectHooks hooks;
  std::map<std::string, std::unique_ptr<Definition>, std::less<>> types, attributes;

  RustDialect(StringRef name, MLIRContext *context, TypeID id, GirihDialectHooks hooks)
      : RustDialectBase(name, context, id), hooks(hooks) {
    addInterfaces<RustInliner>();
    hooks.populate(hooks.data, static_cast<RustDialectBase *>(this), wrap(context));
  }

  Operation *materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) override {
    if (!hooks.materializeConstant)
      return nullptr;
    Operation *op = unwrap(hooks.materializeConstant(hooks.data, wrap(value), wrap(type), wrap(loc)));
    return op ? builder.insert(op) : nullptr;
  }
  LogicalResult verifyOperationAttribute(Operation *op, NamedAttribute attr) override {
    if (!hooks.verifyOperationAttribute)
      return success();
    return success(hooks.verifyOperationAttribute(hooks.data, wrap(op), cstr(attr.getName().getValue()),
                                                  wrap(attr.getValue())));
  }

  void define(std::unique_ptr<Definition> def, AbstractType &&type) {
    addType(def->id, std::move(type));
    mlir::detail::TypeUniquer::registerType<RustType>(getContext(), def->id);
    types[def->name] = std::move(def);
  }
  void define(std::unique_ptr<Definition> def, AbstractAttribute &&attr) {
    addAttribute(def->id, std::move(attr));
    mlir::detail::AttributeUniquer::registerAttribute<RustAttr>(getContext(), def->id);
    attributes[def->name] = std::move(def);
  }

  template <typename Map> Definition *parseName(DialectAsmParser &parser, Map &map, StringRef what) const {
    SMLoc loc = parser.getCurrentLocation();
    StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return nullptr;
    auto it = map.find(keyword);
    if (it != map.end())
      return it->second.get();
    auto diag = parser.emitError(loc) << "unknown " << what << " '" << getNamespace() << "." << keyword << "'; known: ";
    llvm::interleaveComma(map, diag, [&](const auto &entry) { diag << entry.first; });
    return nullptr;
  }
  // Parses and verifies the parameters of one definition.
  static bool parseParams(AsmParser &parser, Definition *def, SmallVectorImpl<Attribute> &params) {
    SMLoc loc = parser.getCurrentLocation();
    if (!def->hooks.parse(def->hooks.data, &parser, reinterpret_cast<GirihAttrs *>(&params)))
      return false;
    return verifyParams([&] { return parser.emitError(loc); }, def, params, parser.getContext());
  }
  static bool verifyParams(function_ref<InFlightDiagnostic()> emitError, Definition *def, ArrayRef<Attribute> params,
                           MLIRContext *context) {
    return def->hooks.verify(def->hooks.data, reinterpret_cast<GirihEmitter *>(&emitError), wrap(context),
                             params.size(), cAttrs(params));
  }
  Type parseType(DialectAsmParser &parser) const override {
    SmallVector<Attribute> params;
    Definition *def = parseName(parser, types, "type");
    return def && parseParams(parser, def, params) ? Type(RustType::get(def, params, getContext())) : Type();
  }
  Attribute parseAttribute(DialectAsmParser &parser, Type) const override {
    SmallVector<Attribute> params;
    Definition *def = parseName(parser, attributes, "attribute");
    return def && parseParams(parser, def, params) ? Attribute(RustAttr::get(def, params, getContext())) : Attribute();
  }
  void printType(Type t, DialectAsmPrinter &printer) const override {
    auto type = cast<RustType>(t);
    Definition *def = type.def();
    printer.getStream() << def->name;
    def->hooks.print(def->hooks.data, static_cast<AsmPrinter *>(&printer), wrap(getContext()), type.params().size(),
                     cAttrs(type.params()));
  }
  void printAttribute(Attribute a, DialectAsmPrinter &printer) const override {
    auto attr = cast<RustAttr>(a);
    Definition *def = attr.def();
    printer.getStream() << def->name;
    def->hooks.print(def->hooks.data, static_cast<AsmPrinter *>(&printer), wrap(getContext()), attr.params().size(),
                     cAttrs(attr.params()));
  }
};

static bool mayInline(Dialect *dialect, Operation *op) {
  auto &hooks = static_cast<RustDialect *>(dialect)->hooks;
  return hooks.isLegalToInline && hooks.isLegalToInline(hooks.data, wrap(op));
}
bool RustInliner::isLegalToInline(Operation *call, Operation *, bool) const { return mayInline(getDialect(), call); }
bool RustInliner::isLegalToInline(Operation *op, Region *, bool, IRMapping &) const {
  if (isa<CallableOpInterface>(op->getParentOp()) && op->hasTrait<OpTrait::IsTerminator>()) {
    // Only what gives all its operands back to the call can end an inlined body, by a branch if that has many blocks.
    bool branches = op->getNumSuccessors() != 0;
    bool needsBranch = !op->getParentRegion()->hasOneBlock();
    if (!branches && (!op->hasTrait<OpTrait::ReturnLike>() ||
                      (needsBranch && !RegisteredOperationName::lookup("cf.br", op->getContext()))))
      return false;
  }
  return mayInline(getDialect(), op);
}
bool RustInliner::isLegalToInline(Region *dest, Region *, bool, IRMapping &) const {
  return mayInline(getDialect(), dest->getParentOp());
}

std::unique_ptr<Definition> define(void *dialect, MlirStringRef name, GirihParamHooks hooks) {
  auto *d = static_cast<RustDialect *>(static_cast<RustDialectBase *>(dialect));
  auto def = std::make_unique<Definition>();
  def->name = str(name).str();
  def->qualified = (d->getNamespace() + "." + def->name).str();
  def->dialect = d;
  def->hooks = hooks;
  def->id = d->ids.allocate();
  return def;
}
// `name` is one that girih_register_dialect registered.
RustDialect *findDialect(MLIRContext *context, StringRef name) {
  return static_cast<RustDialect *>(context->getOrLoadDialect(name));
}
} // namespace

extern "C" {
void girih_register_dialect(MlirDialectRegistry registry, MlirStringRef name, GirihDialectHooks hooks) {
  // One TypeID for each dialect name, shared by all contexts of the process.
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<SelfOwningTypeID>> ids;
  std::lock_guard<std::mutex> lock(mutex);
  auto &id = ids[str(name).str()];
  if (!id)
    id = std::make_unique<SelfOwningTypeID>();
  TypeID typeId = id->getTypeID();
  std::string ns = str(name).str();
  unwrap(registry)->insert(typeId, ns, [ns, typeId, hooks](MLIRContext *context) -> Dialect * {
    return context->getOrLoadDialect(
        ns, typeId, [&] { return std::make_unique<RustDialect>(StringRef(ns), context, typeId, hooks); });
  });
}

void girih_dialect_add_type(void *dialect, MlirStringRef name, GirihParamHooks hooks) {
  auto def = define(dialect, name, hooks);
  RustDialect *d = def->dialect;
  mlir::detail::InterfaceMap map;
  if (hooks.isMemRefElement) map.insertModels<MemRefElementModel>();
  if (hooks.layout) map.insertModels<DataLayoutModel>();
  auto type = AbstractType::get(*d, std::move(map), [](TypeID id) { return id == TypeID::get<IsRustDefined<Type>>(); },
                                walkType, replaceType, def->id, def->qualified);
  d->define(std::move(def), std::move(type));
}
void girih_dialect_add_attribute(void *dialect, MlirStringRef name, GirihParamHooks hooks) {
  auto def = define(dialect, name, hooks);
  RustDialect *d = def->dialect;
  mlir::detail::InterfaceMap map;
  if (hooks.verifyEncoding) map.insertModels<EncodingModel>();
  auto attr = AbstractAttribute::get(*d, std::move(map),
                                     [](TypeID id) { return id == TypeID::get<IsRustDefined<Attribute>>(); }, walkAttr,
                                     replaceAttr, def->id, def->qualified);
  d->define(std::move(def), std::move(attr));
}

// Null, with an error at `loc`, where the parameters do not verify.
MlirType girih_type_get(MlirLocation loc, MlirStringRef dialect, MlirStringRef name, intptr_t n, const MlirAttribute *p) {
  Location l = unwrap(loc);
  auto *d = findDialect(l->getContext(), str(dialect));
  auto it = d ? d->types.find(str(name)) : decltype(d->types.find(str(name)))();
  if (!d || it == d->types.end()) {
    emitError(l) << "no type '" << str(dialect) << "." << str(name) << "' in this context";
    return {nullptr};
  }
  Definition *def = it->second.get();
  if (!RustDialect::verifyParams([&] { return emitError(l); }, def, attrs(n, p), l->getContext()))
    return {nullptr};
  return wrap(Type(RustType::get(def, attrs(n, p), l->getContext())));
}
MlirAttribute girih_attr_get(MlirLocation loc, MlirStringRef dialect, MlirStringRef name, intptr_t n,
                             const MlirAttribute *p) {
  Location l = unwrap(loc);
  auto *d = findDialect(l->getContext(), str(dialect));
  auto it = d ? d->attributes.find(str(name)) : decltype(d->attributes.find(str(name)))();
  if (!d || it == d->attributes.end()) {
    emitError(l) << "no attribute '" << str(dialect) << "." << str(name) << "' in this context";
    return {nullptr};
  }
  Definition *def = it->second.get();
  if (!RustDialect::verifyParams([&] { return emitError(l); }, def, attrs(n, p), l->getContext()))
    return {nullptr};
  return wrap(Attribute(RustAttr::get(def, attrs(n, p), l->getContext())));
}
// The parameters of `t` if it is the type `dialect.name`, else -1.
intptr_t girih_type_params(MlirType t, MlirStringRef dialect, MlirStringRef name, const MlirAttribute **out) {
  auto type = dyn_cast<RustType>(unwrap(t));
  if (!type || type.def()->name != str(name) || type.getDialect().getNamespace() != str(dialect))
    return -1;
  *out = cAttrs(type.params());
  return type.params().size();
}
intptr_t girih_attr_params(MlirAttribute a, MlirStringRef dialect, MlirStringRef name, const MlirAttribute **out) {
  auto attr = dyn_cast<RustAttr>(unwrap(a));
  if (!attr || attr.def()->name != str(name) || attr.getDialect().getNamespace() != str(dialect))
    return -1;
  *out = cAttrs(attr.params());
  return attr.params().size();
}
void girih_attrs_push(GirihAttrs *v, MlirAttribute a) {
  reinterpret_cast<SmallVectorImpl<Attribute> *>(v)->push_back(unwrap(a));
}
} // extern "C"
