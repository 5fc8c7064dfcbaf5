//! Reductions and scans, with their combiners.
use super::{
    super::program::{Combiner, Op},
    Writer, join,
};
use crate::support::mlir;
use girih_core::dtype::DType;

impl Writer<'_> {
    pub(super) fn combine(&mut self, name: &str, op: &Op, axis: usize, combiner: Combiner) {
        let values = |ids: &[usize]| join(ids.iter().map(|id| format!("%v{id}")));
        let types: Vec<DType> = op.operands.iter().map(|id| self.program.tiles[*id].dtype).collect();
        let names = ["l", "r"].map(|side| (0..types.len()).map(move |i| format!("%{side}{i}")).collect::<Vec<_>>());
        let arguments = join(
            names
                .iter()
                .flat_map(|side| side.iter().zip(&types))
                .map(|(n, t)| format!("{n}: {}", mlir(*t))),
        );
        let (operands, results) = (values(&op.operands), values(&op.results));
        self.line(
            &format!("{results} = tile.{name} {operands} axis {axis} ({arguments}) {{"),
            0,
        );
        self.indent += 1;
        let t = mlir(types[0]);
        let yields = match combiner {
            Combiner::One(f) => vec![self.define(&format!("{f} %l0, %r0 : {t}"))],
            Combiner::Two(f, g) => vec![
                self.define(&format!("{f} %l0, %r0 : {t}")),
                self.define(&format!("{g} %l1, %r1 : {}", mlir(types[1]))),
            ],
            Combiner::Largest => {
                let place = mlir(types[1]);
                let [more, same] = match types[0].is_float() {
                    true => ["arith.cmpf ogt", "arith.cmpf oeq"],
                    false => ["arith.cmpi sgt", "arith.cmpi eq"],
                };
                let larger = self.define(&format!("{more}, %l0, %r0 : {t}"));
                let equal = self.define(&format!("{same}, %l0, %r0 : {t}"));
                let before = self.define(&format!("arith.cmpi slt, %l1, %r1 : {place}"));
                let tie = self.define(&format!("arith.andi {equal}, {before} : i1"));
                let left = self.define(&format!("arith.ori {larger}, {tie} : i1"));
                // A choice is a branch in every other program.
                if self.program.seed % 2 == 1 {
                    self.fresh += 1;
                    let both = format!("%b{}", self.fresh);
                    self.line(&format!("{both}:2 = scf.if {left} -> ({t}, {place}) {{"), 0);
                    self.line(&format!("scf.yield %l0, %l1 : {t}, {place}"), 1);
                    self.line("} else {", 0);
                    self.line(&format!("scf.yield %r0, %r1 : {t}, {place}"), 1);
                    self.line("}", 0);
                    return self.end_combiner(op, &types, &[format!("{both}#0"), format!("{both}#1")]);
                }
                vec![
                    self.define(&format!("arith.select {left}, %l0, %r0 : {t}")),
                    self.define(&format!("arith.select {left}, %l1, %r1 : {place}")),
                ]
            }
            Combiner::Compose => {
                let both = self.define(&format!("arith.muli %l0, %r0 : {t}"));
                let scaled = self.define(&format!("arith.muli %r0, %l1 : {t}"));
                vec![both, self.define(&format!("arith.addi {scaled}, %r1 : {t}"))]
            }
            Combiner::First => vec!["%l0".to_owned()],
            Combiner::Last => vec!["%r0".to_owned()],
        };
        self.end_combiner(op, &types, &yields);
    }

    fn end_combiner(&mut self, op: &Op, types: &[DType], yields: &[String]) {
        let listed = join(types.iter().map(|t| mlir(*t).to_owned()));
        self.line(&format!("tile.yield {} : {listed}", yields.join(", ")), 0);
        self.indent -= 1;
        let (from, to) = (self.tiles(&op.operands), self.tiles(&op.results));
        self.line(&format!("}} : {from} -> {to}"), 0);
    }
}
