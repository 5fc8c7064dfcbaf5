//! The grammar of PTX text (PTX ISA chapters 4, 5, 10 and 11) as a parsing expression grammar.
use super::error::PtxError;
use super::*;

/// Braces and brackets may nest this deep; more is refused before parsing, which recurses.
const MAX_NESTING: usize = 200;

/// Parses a whole text.
pub fn parse(text: &str) -> Result<Module<'_>, PtxError> {
    check_nesting(text)?;
    ptx::module(text).map_err(|error| {
        let mut expected: Vec<&str> = error.expected.tokens().filter(|t| !t.starts_with("['")).collect();
        expected.sort_unstable();
        expected.dedup();
        let found: String = text[error.location.offset..]
            .chars()
            .take_while(|c| !c.is_whitespace())
            .take(24)
            .collect();
        let found = if found.is_empty() {
            "the end".to_owned()
        } else {
            format!("`{found}`")
        };
        let expected = if expected.is_empty() {
            "something else".to_owned()
        } else {
            expected.join(", ")
        };
        PtxError::new(
            text,
            error.location.offset,
            format!("expected {expected}, found {found}"),
        )
    })
}

/// Refuses what the recursive parser could exhaust the stack on: brackets, chains of unary operators and of `?:`.
fn check_nesting(text: &str) -> Result<(), PtxError> {
    let (mut depth, mut unary, mut conditions) = (0usize, 0usize, 0usize);
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        if rest.starts_with(b"//") {
            at += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
            continue;
        }
        if rest.starts_with(b"/*") {
            at += rest.windows(2).position(|w| w == b"*/").map_or(rest.len(), |n| n + 2);
            continue;
        }
        match rest[0] {
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => depth = depth.saturating_sub(1),
            b'?' => conditions += 1,
            b';' => conditions = 0,
            _ => {}
        }
        unary = match rest[0] {
            b'-' | b'+' | b'~' | b'!' => unary + 1,
            byte if byte.is_ascii_whitespace() => unary,
            _ => 0,
        };
        if depth > MAX_NESTING || unary > MAX_NESTING || conditions > MAX_NESTING {
            return Err(PtxError::new(
                text,
                at,
                format!("brackets or operators nest deeper than {MAX_NESTING}"),
            ));
        }
        at += 1;
    }
    Ok(())
}

fn int(text: &str, radix: u32) -> Result<i64, &'static str> {
    u64::from_str_radix(text, radix)
        .map(|v| v as i64)
        .map_err(|_| "an integer of at most 64 bits")
}

fn small(text: &str) -> Result<u32, &'static str> {
    text.parse().map_err(|_| "a number below 2^32")
}

fn binary<'a>(op: &str, a: Expr<'a>, b: Expr<'a>) -> Result<Expr<'a>, &'static str> {
    use Expr::*;
    Ok(match (op, a, b) {
        ("+", Symbol(s, o), Int(n)) | ("+", Int(n), Symbol(s, o)) => Symbol(s, o.wrapping_add(n)),
        ("-", Symbol(s, o), Int(n)) => Symbol(s, o.wrapping_sub(n)),
        ("+", Generic(s, o), Int(n)) | ("+", Int(n), Generic(s, o)) => Generic(s, o.wrapping_add(n)),
        ("-", Generic(s, o), Int(n)) => Generic(s, o.wrapping_sub(n)),
        (op, Int(a), Int(b)) => Int(match op {
            "+" => a.wrapping_add(b),
            "-" => a.wrapping_sub(b),
            "*" => a.wrapping_mul(b),
            "/" => a.checked_div(b).ok_or("a divisor other than 0")?,
            "%" => a.checked_rem(b).ok_or("a divisor other than 0")?,
            "<<" => a.checked_shl(b as u32).unwrap_or(0),
            ">>" => a >> (b as u32).min(63),
            "&" => a & b,
            "|" => a | b,
            "^" => a ^ b,
            "<" => i64::from(a < b),
            "<=" => i64::from(a <= b),
            ">" => i64::from(a > b),
            ">=" => i64::from(a >= b),
            "==" => i64::from(a == b),
            "!=" => i64::from(a != b),
            "&&" => i64::from(a != 0 && b != 0),
            _ => i64::from(a != 0 || b != 0),
        }),
        (op, F64(a), F64(b)) => {
            let (a, b) = (f64::from_bits(a), f64::from_bits(b));
            F64(match op {
                "+" => a + b,
                "-" => a - b,
                "*" => a * b,
                "/" => a / b,
                _ => return Err("an integer operand"),
            }
            .to_bits())
        }
        _ => return Err("a constant expression of integers, or a symbol plus an integer"),
    })
}

fn negate(a: Expr<'_>) -> Result<Expr<'_>, &'static str> {
    Ok(match a {
        Expr::Int(v) => Expr::Int(v.wrapping_neg()),
        Expr::F32(v) => Expr::F32(v ^ 1 << 31),
        Expr::F64(v) => Expr::F64(v ^ 1 << 63),
        _ => return Err("a number after `-`"),
    })
}

peg::parser! {
grammar ptx() for str {
    rule _() = quiet!{ ([' ' | '\t' | '\r' | '\n'] / "//" [^ '\n']* / "/*" (!"*/" [_])* "*/" / hash_line())* }
    rule hash_line() = "#" [^ '\n']*
    rule end_of_word() = !['a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '$']
    rule kw(word: &'static str)
        = quiet!{ w:$("." ['a'..='z' | '_' | '0'..='9']+) end_of_word() _ {? if w == word { Ok(()) } else { Err(word) } } }
        / expected!("a directive")
    rule comma() = "," _

    pub rule module() -> Module<'input>
        = _ items:(module_item() ** "") _ {
            let mut module = Module::default();
            for item in items {
                match item {
                    Top::Version(major, minor) => module.version = (major, minor),
                    Top::Target(mut names) => module.targets.append(&mut names),
                    Top::Item(item) => module.items.push(item),
                }
            }
            module
        }

    rule module_item() -> Top<'input>
        = kw(".version") a:number() "." b:number() { Top::Version(a, b) }
        / kw(".target") names:(word() ++ comma()) { Top::Target(names) }
        / kw(".address_size") number() { Top::Item(Item::Ignored) }
        / f:file() { Top::Item(f.map_or(Item::Ignored, Item::File)) }
        / section() { Top::Item(Item::Ignored) }
        / kw(".pragma") (string() ++ comma()) ";" _ { Top::Item(Item::Ignored) }
        / kw(".alias") a:name() comma() b:name() ";" _ { Top::Item(Item::Alias(a, b)) }
        / f:function() { Top::Item(Item::Function(f)) }
        / v:variables() { Top::Item(Item::Variables(v)) }

    // What follows the names is a time and a size, or a checksum.
    rule file() -> Option<File>
        = kw(".file") n:number() a:file_name() b:file_name()? [^ '\n']* _ { Some(File::new(n, a, b)) }
        / kw(".file") [^ '\n']* _ { None }
    rule file_name() -> &'input str
        = quiet!{ "\"" n:$(("\\" [^ '\n'] / [^ '"' | '\\' | '\n'])*) "\"" [' ' | '\t']* { n } }

    rule section() = kw(".section") section_name() _ "{" section_body() "}" _
    rule section_name() = quiet!{ ['a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '.' | '$']+ } / expected!("a section name")
    rule section_body() = ("//" [^ '\n']* / "\"" [^ '"' | '\n']* "\"" / [^ '}' | '"'])*

    rule word() -> &'input str = w:$(quiet!{ ['a'..='z' | 'A'..='Z' | '0'..='9' | '_']+ } / expected!("a word")) _ { w }
    rule number() -> u32 = n:$(quiet!{ ['0'..='9']+ } / expected!("a number")) _ {? small(n) }
    rule string() = quiet!{ "\"" [^ '"' | '\n']* "\"" _ } / expected!("a string")

    rule name() -> &'input str = n:raw_name() _ { n }
    rule raw_name() -> &'input str
        = $(quiet!{ ['a'..='z' | 'A'..='Z'] tail()* / ['_' | '$' | '%'] tail()+ } / expected!("a name"))
    rule tail() = ['a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '$']

    rule linkage() -> bool
        = words:(w:$(".extern" / ".visible" / ".weak" / ".common") end_of_word() _ { w })* {
            words.contains(&".extern")
        }

    // Functions ------------------------------------------------------------------------------------------------------
    rule function() -> Function<'input>
        = at:position!() linkage() attribute()? f:(entry() / func()) {
            let (entry, name, returns, params, directives, body) = f;
            Function { entry, name, returns, params, directives, body, at }
        }
    rule entry() -> FunctionParts<'input>
        = kw(".entry") n:name() p:params()? d:directive()* b:body() { (true, n, Vec::new(), p.unwrap_or_default(), d, b) }
    rule func() -> FunctionParts<'input>
        = kw(".func") attribute()? r:params()? n:name() p:params()? d:directive()* b:body() {
            (false, n, r.unwrap_or_default(), p.unwrap_or_default(), d, b)
        }
    rule body() -> Option<Vec<Statement<'input>>>
        = ";" _ { None }
        / b:block() { Some(b) }
    rule params() -> Vec<Variable<'input>> = "(" _ p:(param() ** comma()) ")" _ { p }
    rule param() -> Variable<'input>
        = at:position!() space:(kw(".param") { Space::Param } / kw(".reg") { Space::Reg }) a:align()? lanes:lanes() ty:ty()
          pointer()? b:align()? name:(name() / "_" _ { "_" }) dims:dims() {
            Variable { space, external: false, align: a.or(b), lanes, ty, name, count: None, dims, init: None, at }
        }
    rule pointer() = kw(".ptr") (".const" end_of_word() _ / ".global" end_of_word() _ / ".local" end_of_word() _ / ".shared" end_of_word() _)? align()?
    rule directive() -> (&'input str, Vec<u32>)
        = name:$(quiet!{ "." ("maxntid" / "reqntid" / "minnctapersm" / "maxnctapersm" / "maxnreg" / "noreturn" / "explicitcluster"
                / "reqnctapercluster" / "maxclusterrank" / "blocksareclusters" / "abi_preserve_control" / "abi_preserve"
                / "minregcount") end_of_word() } / expected!("a directive")) _
          numbers:(number() ** comma()) { (name, numbers) }
        / kw(".pragma") (string() ++ comma()) ";" _ { (".pragma", Vec::new()) }
        / attribute() { (".attribute", Vec::new()) }
    rule attribute() = kw(".attribute") "(" [^ ')']* ")" _

    // Variables ------------------------------------------------------------------------------------------------------
    rule align() -> u32 = kw(".align") n:number() { n }
    rule lanes() -> u32 = ".v" n:['2' | '4' | '8'] end_of_word() _ { n as u32 - '0' as u32 } / { 1 }
    rule ty() -> &'input str
        = "." t:$(quiet!{ ("b128" / ['b' | 's' | 'u' | 'f'] ("8" / "16x2" / "16" / "32" / "64") / "pred" / "bf16x2" / "bf16"
            / "texref" / "samplerref" / "surfref") end_of_word() } / expected!("a type")) _ { t }
    rule space() -> Space
        = kw(".reg") { Space::Reg }
        / kw(".global") { Space::Global }
        / kw(".const") ("[" number() "]" _)? { Space::Const }
        / kw(".shared") { Space::Shared }
        / kw(".local") { Space::Local }
        / kw(".param") { Space::Param }
    rule dims() -> Vec<Option<u64>> = ("[" _ e:expr()? "]" _ {?
            match e {
                None => Ok(None),
                Some(Expr::Int(n)) if n >= 0 => Ok(Some(n as u64)),
                Some(_) => Err("an array size"),
            }
        })*
    rule variables() -> Vec<Variable<'input>>
        = external:linkage() space:space() a:align()? attribute()? b:align()? lanes:lanes() ty:ty() names:(declarator() ++ comma()) ";" _ {
            let align = a.or(b);
            names.into_iter().map(|(name, count, dims, init, at)| {
                Variable { space, external, align, lanes, ty, name, count, dims, init, at }
            }).collect()
        }
    rule declarator() -> Declarator<'input>
        = at:position!() n:name() count:("<" _ c:number() ">" _ { c })? d:dims() i:("=" _ i:init() { i })? { (n, count, d, i, at) }
    rule init() -> Init<'input>
        = "{" _ l:(init() ** comma()) "}" _ { Init::List(l) }
        / e:expr() { Init::Value(e) }

    // Statements -----------------------------------------------------------------------------------------------------
    rule block() -> Vec<Statement<'input>> = "{" _ s:statement()* "}" _ { s }
    rule statement() -> Statement<'input>
        = b:block() { Statement::Block(b) }
        / at:position!() kw(".loc") file:number() line:number() rest:$([^ '\n']*) _ {
            Statement::Location(Location::new(at, file, line, rest))
        }
        / f:file() { f.map_or(Statement::Ignored, Statement::File) }
        / kw(".pragma") (string() ++ comma()) ";" _ { Statement::Ignored }
        / section() { Statement::Ignored }
        / v:variables() { Statement::Variables(v) }
        / label_statement()
        / i:instruction() { Statement::Instruction(i) }
        / ";" _ { Statement::Ignored }
    rule label_statement() -> Statement<'input>
        = at:position!() n:name() ":" !":" _ s:(
              ".branchtargets" end_of_word() _ t:(name() ++ comma()) ";" _ { Some(Statement::Targets(n, t)) }
            / ".calltargets" end_of_word() _ t:(name() ++ comma()) ";" _ { Some(Statement::Targets(n, t)) }
            / ".callprototype" end_of_word() _ returns:params()? "_" _ params:params()? directive()* ";" _ {
                Some(Statement::Prototype(n, Prototype { returns: returns.unwrap_or_default(), params: params.unwrap_or_default() }))
              }
            / { None }
          ) { s.unwrap_or(Statement::Label(n, at)) }

    rule instruction() -> Instruction<'input>
        = guard:guard()? at:position!() opcode:opcode() operands:(operand() ** comma()) ";" _ {
            Instruction { guard, opcode, operands, at }
        }
    rule guard() -> (&'input str, bool) = "@" _ not:"!"? _ n:name() { (n, not.is_some()) }
    rule opcode() -> &'input str
        = o:$(quiet!{ ['a'..='z'] ['a'..='z' | '0'..='9' | '_']* ("." ['a'..='z' | 'A'..='Z' | '0'..='9' | '_']+ ("::" ['a'..='z' | 'A'..='Z' | '0'..='9' | '_']+)*)* }
            / expected!("an instruction")) !":" _ { o }

    rule operand() -> Operand<'input>
        = a:simple() b:("|" _ b:simple() { b })? {
            match b {
                Some(b) => Operand::Pair(Box::new(a), Box::new(b)),
                None => a,
            }
        }
    rule simple() -> Operand<'input>
        = "[" _ l:(operand() ** comma()) "]" (".unified" end_of_word())? _ { Operand::Address(l) }
        / "{" _ l:(operand() ** comma()) "}" _ { Operand::Vector(l) }
        / "(" _ l:(operand() ** comma()) ")" _ !['+' | '-' | '*' | '/' | '<' | '>' | '&' | '^' | '?'] { Operand::List(l) }
        / "!" _ n:operand_name() { Operand::Not(n) }
        / "_" !tail() _ { Operand::Sink }
        / "-" _ n:operand_name() "." p:part() { Operand::Part(n, p, true) }
        / "-" _ n:operand_name() _ { Operand::Part(n, "", true) }
        / n:operand_name() "." p:part() { Operand::Part(n, p, false) }
        / n:operand_name() _ o:offset()? { Operand::Name(n, o.unwrap_or(0)) }
        / e:expr() { Operand::Literal(e) }
    rule operand_name() -> &'input str = !("WARP_SZ" end_of_word()) n:raw_name() { n }
    rule part() -> &'input str = p:$(quiet!{ ['a'..='z'] ['0'..='9']* } / expected!("a component")) end_of_word() _ { p }
    // `[%r+-4]`: an offset below zero also stands after a plus.
    rule offset() -> i64 = "+" _ e:expr() {? as_int(e) }

    // Constant expressions -------------------------------------------------------------------------------------------
    rule expr() -> Expr<'input>
        = c:logic() "?" _ a:expr() ":" _ b:expr() {?
            match c { Expr::Int(c) => Ok(if c != 0 { a } else { b }), _ => Err("an integer condition") }
        }
        / logic()
    rule logic() -> Expr<'input> = expr_or_error()
    rule expr_or_error() -> Expr<'input> = e:operators() {? e }
    rule operators() -> Result<Expr<'input>, &'static str> = precedence!{
        a:(@) "||" _ b:@ { binary("||", a?, b?) }
        --
        a:(@) "&&" _ b:@ { binary("&&", a?, b?) }
        --
        a:(@) "|" !"|" _ b:@ { binary("|", a?, b?) }
        --
        a:(@) "^" _ b:@ { binary("^", a?, b?) }
        --
        a:(@) "&" !"&" _ b:@ { binary("&", a?, b?) }
        --
        a:(@) o:$("==" / "!=") _ b:@ { binary(o, a?, b?) }
        --
        a:(@) o:$("<=" / ">=" / "<" !"<" / ">" !">") _ b:@ { binary(o, a?, b?) }
        --
        a:(@) o:$("<<" / ">>") _ b:@ { binary(o, a?, b?) }
        --
        a:(@) o:$("+" / "-") _ b:@ { binary(o, a?, b?) }
        --
        a:(@) o:$("*" / "/" / "%" !tail()) _ b:@ { binary(o, a?, b?) }
        --
        e:unary() { Ok(e) }
    }
    rule unary() -> Expr<'input>
        = "-" _ e:unary() {? negate(e) }
        / "+" _ e:unary() { e }
        / "~" _ e:unary() {? as_int(e).map(|v| Expr::Int(!v)) }
        / "!" _ e:unary() {? as_int(e).map(|v| Expr::Int(i64::from(v == 0))) }
        / "(" _ (".s64" / ".u64") _ ")" _ e:unary() { e }
        / primary()
    rule primary() -> Expr<'input>
        = "(" _ e:expr() ")" _ { e }
        / "WARP_SZ" end_of_word() _ { Expr::Int(32) }
        / "generic" _ "(" _ n:name() ")" _ { Expr::Generic(n, 0) }
        / n:name() { Expr::Symbol(n, 0) }
        / v:literal() m:("(" _ e:expr() ")" _ { e })? {?
            match (v, m) {
                (v, None) => Ok(v),
                (Expr::Int(mask), Some(e)) => Ok(Expr::Mask(mask as u64, Box::new(e))),
                _ => Err("an integer mask"),
            }
        }
    rule literal() -> Expr<'input>
        = "0" ['f' | 'F'] h:$(['0'..='9' | 'a'..='f' | 'A'..='F']*<8>) end_of_word() _ {? int(h, 16).map(|v| Expr::F32(v as u32)) }
        / "0" ['d' | 'D'] h:$(['0'..='9' | 'a'..='f' | 'A'..='F']*<16>) end_of_word() _ {? int(h, 16).map(|v| Expr::F64(v as u64)) }
        / "0" ['x' | 'X'] h:$(['0'..='9' | 'a'..='f' | 'A'..='F']+) suffix() {? int(h, 16).map(Expr::Int) }
        / "0" ['b' | 'B'] h:$(['0' | '1']+) suffix() {? int(h, 2).map(Expr::Int) }
        / f:$(['0'..='9']+ "." ['0'..='9']* exponent()? / ['0'..='9']+ exponent() / "." ['0'..='9']+ exponent()?) end_of_word() _ {?
            f.parse::<f64>().map(|v| Expr::F64(v.to_bits())).map_err(|_| "a number")
        }
        / "0" h:$(['0'..='7']+) suffix() {? int(h, 8).map(Expr::Int) }
        / d:$(['0'..='9']+) suffix() {? int(d, 10).map(Expr::Int) }
        / expected!("a literal")
    rule exponent() = ['e' | 'E'] ['+' | '-']? ['0'..='9']+
    rule suffix() = ['u' | 'U']? end_of_word() _
}
}

type FunctionParts<'a> = (
    bool,
    &'a str,
    Vec<Variable<'a>>,
    Vec<Variable<'a>>,
    Vec<(&'a str, Vec<u32>)>,
    Option<Vec<Statement<'a>>>,
);
type Declarator<'a> = (&'a str, Option<u32>, Vec<Option<u64>>, Option<Init<'a>>, usize);

/// What the rules of module scope give.
enum Top<'a> {
    Version(u32, u32),
    Target(Vec<&'a str>),
    Item(Item<'a>),
}

fn as_int(e: Expr<'_>) -> Result<i64, &'static str> {
    match e {
        Expr::Int(v) => Ok(v),
        _ => Err("an integer"),
    }
}
