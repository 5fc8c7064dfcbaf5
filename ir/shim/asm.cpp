// Parsing, printing and diagnostics, as C functions over MLIR's OpAsmParser, OpAsmPrinter and InFlightDiagnostic.
#include "girih_ir.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace girih;

namespace {
// 0 absent, 1 parsed, -1 error (reported)
int tri(OptionalParseResult r) { return !r.has_value() ? 0 : succeeded(*r) ? 1 : -1; }
int tri(ParseResult r) { return succeeded(r) ? 1 : -1; }
SMLoc at(const char *p) { return SMLoc::getFromPointer(p); }

enum Token : int { // the order is that of `Token` in ir/src/asm/parser.rs
  Arrow, LBrace, RBrace, Colon, Comma, Equal, Less, Greater, Question, Plus, Slash, Minus, Star, VerticalBar, LParen,
  RParen, LSquare, RSquare, Ellipsis
};
} // namespace

extern "C" {
// ------------------------------------------------------------------------------------------------ diagnostics
// severity: 0 note, 1 warning, 2 error, 3 remark
void *girih_diag_emit(MlirLocation loc, int severity, MlirStringRef message) {
  Location l = unwrap(loc);
  InFlightDiagnostic d = severity == 1 ? emitWarning(l) : severity == 3 ? emitRemark(l) : emitError(l);
  d << str(message);
  return new InFlightDiagnostic(std::move(d));
}
// "'op.name' op <message>", at the op.
void *girih_diag_op(MlirOperation op, int severity, MlirStringRef message) {
  Operation *o = unwrap(op);
  InFlightDiagnostic d = severity == 1 ? o->emitWarning() : severity == 3 ? o->emitRemark() : o->emitOpError();
  d << str(message);
  return new InFlightDiagnostic(std::move(d));
}
void *girih_diag_emitter(GirihEmitter *e, MlirStringRef message) {
  InFlightDiagnostic d = (*reinterpret_cast<function_ref<InFlightDiagnostic()> *>(e))();
  d << str(message);
  return new InFlightDiagnostic(std::move(d));
}
void *girih_diag_parser(void *parser, const char *loc, MlirStringRef message) {
  InFlightDiagnostic d = static_cast<AsmParser *>(parser)->emitError(at(loc));
  d << str(message);
  return new InFlightDiagnostic(std::move(d));
}
void girih_diag_note(void *d, MlirLocation loc, MlirStringRef message) {
  static_cast<InFlightDiagnostic *>(d)->attachNote(unwrap(loc)) << str(message);
}
void girih_diag_report(void *d) {
  static_cast<InFlightDiagnostic *>(d)->report();
  delete static_cast<InFlightDiagnostic *>(d);
}
void girih_diag_abandon(void *d) {
  static_cast<InFlightDiagnostic *>(d)->abandon();
  delete static_cast<InFlightDiagnostic *>(d);
}
void girih_context_print_op_on_diagnostic(MlirContext c, bool on) { unwrap(c)->printOpOnDiagnostic(on); }

// ------------------------------------------------------------------------------------------------ parser
bool girih_parse_token(void *parser, int token, bool optional) {
  auto *p = static_cast<AsmParser *>(parser);
#define CASE(X) case X: return succeeded(optional ? p->parseOptional##X() : p->parse##X());
  switch (Token(token)) {
    CASE(Arrow) CASE(LBrace) CASE(RBrace) CASE(Colon) CASE(Comma) CASE(Equal) CASE(Less) CASE(Greater) CASE(Question)
    CASE(Plus) CASE(Slash) CASE(Minus) CASE(Star) CASE(VerticalBar) CASE(LParen) CASE(RParen) CASE(LSquare)
    CASE(RSquare) CASE(Ellipsis)
  }
#undef CASE
  return false;
}
bool girih_parse_keyword(void *parser, MlirStringRef keyword, bool optional) {
  auto *p = static_cast<AsmParser *>(parser);
  return succeeded(optional ? p->parseOptionalKeyword(str(keyword)) : p->parseKeyword(str(keyword)));
}
int girih_parse_any_keyword(void *parser, bool optional, MlirStringRef *out) {
  auto *p = static_cast<AsmParser *>(parser);
  StringRef keyword;
  bool ok = succeeded(optional ? p->parseOptionalKeyword(&keyword) : p->parseKeyword(&keyword));
  *out = cstr(keyword);
  return ok ? 1 : optional ? 0 : -1;
}
int girih_parse_integer(void *parser, bool optional, int64_t *out) {
  auto *p = static_cast<AsmParser *>(parser);
  return optional ? tri(p->parseOptionalInteger(*out)) : tri(p->parseInteger(*out));
}
bool girih_parse_float(void *parser, double *out) { return succeeded(static_cast<AsmParser *>(parser)->parseFloat(*out)); }
int girih_parse_string(void *parser, bool optional, void *data, void (*push)(void *, MlirStringRef)) {
  auto *p = static_cast<AsmParser *>(parser);
  std::string s;
  bool ok = succeeded(optional ? p->parseOptionalString(&s) : p->parseString(&s));
  if (ok)
    push(data, cstr(s));
  return ok ? 1 : optional ? 0 : -1;
}
int girih_parse_symbol(void *parser, bool optional, MlirAttribute *out) {
  auto *p = static_cast<AsmParser *>(parser);
  StringAttr a;
  bool ok = succeeded(optional ? p->parseOptionalSymbolName(a) : p->parseSymbolName(a));
  *out = wrap(Attribute(a));
  return ok ? 1 : optional ? 0 : -1;
}
bool girih_parse_dims(void *parser, bool allowDynamic, bool trailingX, void *data, void (*push)(void *, int64_t)) {
  SmallVector<int64_t> dims;
  if (failed(static_cast<AsmParser *>(parser)->parseDimensionList(dims, allowDynamic, trailingX)))
    return false;
  for (int64_t d : dims)
    push(data, d);
  return true;
}
int girih_parse_type(void *parser, bool optional, MlirType *out) {
  auto *p = static_cast<AsmParser *>(parser);
  Type t;
  int r = optional ? tri(p->parseOptionalType(t)) : tri(p->parseType(t));
  *out = wrap(t);
  return r;
}
int girih_parse_attribute(void *parser, bool optional, MlirType type, MlirAttribute *out) {
  auto *p = static_cast<AsmParser *>(parser);
  Attribute a;
  int r = optional ? tri(p->parseOptionalAttribute(a, unwrap(type))) : tri(p->parseAttribute(a, unwrap(type)));
  *out = wrap(a);
  return r;
}
// delimiter: AsmParser::Delimiter
bool girih_parse_list(void *parser, int delimiter, void *data, bool (*element)(void *)) {
  return succeeded(static_cast<AsmParser *>(parser)->parseCommaSeparatedList(
      AsmParser::Delimiter(delimiter), [&]() -> ParseResult { return failure(!element(data)); }));
}
const char *girih_parser_loc(void *parser) {
  return static_cast<AsmParser *>(parser)->getCurrentLocation().getPointer();
}
const char *girih_parser_name_loc(void *parser) { return static_cast<AsmParser *>(parser)->getNameLoc().getPointer(); }
MlirLocation girih_parser_encode_loc(void *parser, const char *loc) {
  return wrap(static_cast<AsmParser *>(parser)->getEncodedSourceLoc(at(loc)));
}
MlirContext girih_parser_context(void *parser) { return wrap(static_cast<AsmParser *>(parser)->getContext()); }

struct GirihOperand {
  const char *loc;
  MlirStringRef name;
  unsigned number;
};
struct GirihArgument {
  GirihOperand name;
  MlirType type;
};
static OpAsmParser::UnresolvedOperand toCpp(GirihOperand o) { return {at(o.loc), str(o.name), o.number}; }
static GirihOperand toC(const OpAsmParser::UnresolvedOperand &o) {
  return {o.location.getPointer(), cstr(o.name), o.number};
}
int girih_parse_operand(void *parser, bool optional, GirihOperand *out) {
  auto *p = static_cast<OpAsmParser *>(static_cast<AsmParser *>(parser));
  OpAsmParser::UnresolvedOperand o;
  int r = optional ? tri(p->parseOptionalOperand(o)) : tri(p->parseOperand(o));
  *out = toC(o);
  return r;
}
bool girih_resolve_operand(void *parser, void *state, GirihOperand o, MlirType type) {
  auto *p = static_cast<OpAsmParser *>(static_cast<AsmParser *>(parser));
  return succeeded(p->resolveOperand(toCpp(o), unwrap(type), static_cast<OperationState *>(state)->operands));
}
bool girih_parse_argument(void *parser, bool allowType, GirihArgument *out) {
  auto *p = static_cast<OpAsmParser *>(static_cast<AsmParser *>(parser));
  OpAsmParser::Argument a;
  if (failed(p->parseArgument(a, allowType, /*allowAttrs=*/false)))
    return false;
  *out = {toC(a.ssaName), wrap(a.type)};
  return true;
}
int girih_parse_optional_argument(void *parser, bool allowType, GirihArgument *out) {
  auto *p = static_cast<OpAsmParser *>(static_cast<AsmParser *>(parser));
  OpAsmParser::Argument a;
  int r = tri(p->parseOptionalArgument(a, allowType, /*allowAttrs=*/false));
  *out = {toC(a.ssaName), wrap(a.type)};
  return r;
}
// Adds a region to the op being parsed, with the given entry arguments, and parses its body. Optional: 0 if there is
// no `{`, and no region is added.
int girih_parse_region(void *parser, void *state, bool optional, intptr_t n, const GirihArgument *args) {
  auto *p = static_cast<OpAsmParser *>(static_cast<AsmParser *>(parser));
  SmallVector<OpAsmParser::Argument> arguments(n);
  for (intptr_t i = 0; i < n; ++i) {
    arguments[i].ssaName = toCpp(args[i].name);
    arguments[i].type = unwrap(args[i].type);
  }
  if (!optional)
    return tri(p->parseRegion(*static_cast<OperationState *>(state)->addRegion(), arguments));
  auto region = std::make_unique<Region>();
  int r = tri(p->parseOptionalRegion(*region, arguments));
  if (r == 1)
    static_cast<OperationState *>(state)->addRegion(std::move(region));
  return r;
}
void girih_state_add_region(void *state) { static_cast<OperationState *>(state)->addRegion(); }
int girih_parse_successor(void *parser, void *state, bool optional) {
  auto *p = static_cast<OpAsmParser *>(static_cast<AsmParser *>(parser));
  Block *block = nullptr;
  int r = optional ? tri(p->parseOptionalSuccessor(block)) : tri(p->parseSuccessor(block));
  if (r == 1)
    static_cast<OperationState *>(state)->addSuccessors(block);
  return r;
}
bool girih_parse_attr_dict(void *parser, void *state, bool withKeyword) {
  auto *p = static_cast<OpAsmParser *>(static_cast<AsmParser *>(parser));
  auto &attributes = static_cast<OperationState *>(state)->attributes;
  return succeeded(withKeyword ? p->parseOptionalAttrDictWithKeyword(attributes) : p->parseOptionalAttrDict(attributes));
}
void girih_state_add_type(void *state, MlirType t) { static_cast<OperationState *>(state)->addTypes(unwrap(t)); }
void girih_state_add_attr(void *state, MlirStringRef name, MlirAttribute a) {
  static_cast<OperationState *>(state)->addAttribute(str(name), unwrap(a));
}
MlirAttribute girih_state_attr(void *state, MlirStringRef name) {
  return wrap(static_cast<OperationState *>(state)->attributes.get(str(name)));
}
intptr_t girih_state_operands(void *state, const MlirValue **out) {
  auto &operands = static_cast<OperationState *>(state)->operands;
  *out = cValues(operands);
  return operands.size();
}
// Null past the last region.
MlirRegion girih_state_region(void *state, intptr_t i) {
  auto &regions = static_cast<OperationState *>(state)->regions;
  return wrap(size_t(i) < regions.size() ? regions[i].get() : nullptr);
}
MlirLocation girih_state_loc(void *state) { return wrap(static_cast<OperationState *>(state)->location); }
// Gives region `r` a block that ends with the op `name` where it has none (an implicit terminator).
void girih_region_ensure_terminator(MlirRegion r, MlirStringRef name, MlirLocation loc) {
  Region *region = unwrap(r);
  if (region->empty())
    region->emplaceBlock();
  Block &block = region->back();
  if (!block.empty() && block.back().hasTrait<OpTrait::IsTerminator>())
    return;
  OperationState state(unwrap(loc), str(name));
  block.push_back(Operation::create(state));
}

// ------------------------------------------------------------------------------------------------ printer
void girih_print_str(void *printer, MlirStringRef s) { static_cast<AsmPrinter *>(printer)->getStream() << str(s); }
void girih_print_type(void *printer, MlirType t) { static_cast<AsmPrinter *>(printer)->printType(unwrap(t)); }
void girih_print_attribute(void *printer, MlirAttribute a, bool withType) {
  auto *p = static_cast<AsmPrinter *>(printer);
  withType ? p->printAttribute(unwrap(a)) : p->printAttributeWithoutType(unwrap(a));
}
void girih_print_string(void *printer, MlirStringRef s) { static_cast<AsmPrinter *>(printer)->printString(str(s)); }
void girih_print_symbol(void *printer, MlirStringRef s) { static_cast<AsmPrinter *>(printer)->printSymbolName(str(s)); }
void girih_print_newline(void *printer) { static_cast<AsmPrinter *>(printer)->printNewline(); }
static OpAsmPrinter *op(void *printer) { return static_cast<OpAsmPrinter *>(static_cast<AsmPrinter *>(printer)); }
void girih_print_operand(void *printer, MlirValue v) { op(printer)->printOperand(unwrap(v)); }
void girih_print_argument(void *printer, MlirValue v, bool omitType) {
  op(printer)->printRegionArgument(cast<BlockArgument>(unwrap(v)), {}, omitType);
}
void girih_print_successor(void *printer, MlirBlock b) { op(printer)->printSuccessor(unwrap(b)); }
void girih_print_region(void *printer, MlirRegion r, bool entryArgs, bool terminators) {
  op(printer)->printRegion(*unwrap(r), entryArgs, terminators);
}
// Lets region `r`'s entry arguments print with the names of `names` instead of their own.
void girih_print_shadow_arguments(void *printer, MlirRegion r, intptr_t n, const MlirValue *names) {
  SmallVector<Value> values;
  for (intptr_t i = 0; i < n; ++i)
    values.push_back(unwrap(names[i]));
  op(printer)->shadowRegionArgs(*unwrap(r), values);
}
void girih_print_attr_dict(void *printer, MlirOperation o, bool withKeyword, intptr_t n, const MlirStringRef *elided) {
  SmallVector<StringRef> names;
  for (intptr_t i = 0; i < n; ++i)
    names.push_back(str(elided[i]));
  SmallVector<NamedAttribute> attributes(unwrap(o)->getAttrs());
  withKeyword ? op(printer)->printOptionalAttrDictWithKeyword(attributes, names)
              : op(printer)->printOptionalAttrDict(attributes, names);
}

// ------------------------------------------------------------------------------------------------ whole modules
// Null, with diagnostics, where the source does not parse (or, if asked, verify).
MlirOperation girih_parse_module(MlirContext context, MlirStringRef source, MlirStringRef fileName, bool verify) {
  ParserConfig config(unwrap(context), verify);
  std::string text = str(source).str(); // the lexer reads up to a NUL, which Rust's strings do not have
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, config, str(fileName));
  return wrap(module ? module.release().getOperation() : nullptr);
}

static bool verifyDiscardable(Operation *op) {
  bool ok = true;
  for (NamedAttribute attr : op->getDiscardableAttrs())
    if (Dialect *dialect = attr.getNameDialect())
      ok &= succeeded(dialect->verifyOperationAttribute(op, attr));
  return ok;
}
static void verifyEach(Operation *op, intptr_t &bad) {
  auto info = op->getName().getRegisteredInfo();
  bool attributes = verifyDiscardable(op);
  if ((info && failed(info->verifyInvariants(op))) || !attributes) {
    ++bad; // what is nested in an op that breaks its own rules would report consequences only
    return;
  }
  intptr_t before = bad;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &nested : block)
        verifyEach(&nested, bad);
  if (bad == before && info && failed(info->verifyRegionInvariants(op)))
    ++bad;
}
// What takes more than one op to see: terminators, dominance. One report for each isolated op.
static bool verifyWhole(Operation *root) {
  bool ok = true;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == root || !op->hasTrait<OpTrait::IsIsolatedFromAbove>())
      return WalkResult::advance();
    ok &= verifyWhole(op);
    return WalkResult::skip();
  });
  return ok && succeeded(verify(root));
}
// Like mlir::verify, but goes on after a failure, so that every op that breaks its own rules is reported. Returns the
// number of ops that failed.
intptr_t girih_verify_all(MlirOperation root) {
  intptr_t bad = 0;
  verifyEach(unwrap(root), bad);
  if (bad == 0 && !verifyWhole(unwrap(root)))
    bad = 1;
  return bad;
}
} // extern "C"
