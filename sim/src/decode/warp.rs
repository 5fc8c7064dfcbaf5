//! Barriers, fences and warp-wide instructions (PTX ISA 9.7.13).
use super::function::{FunctionDecoder, Operands, Result};
use super::modifiers::Modifiers;
use super::types::Ty;
use crate::collective::{Collective, Kind, Redux, Shuffle, Vote};
use crate::isa::{Barrier, BarrierReduction, ClusterStep, Fence, Op, Predicate, Scope, Strength, Value};
use crate::ptx::Operand;

/// `fence` and `membar`, whose mnemonic does not tell them apart here.
fn fence(mods: &mut Modifiers<'_>) -> Fence {
    let proxy = mods.take("proxy");
    let kind = mods.one_of(&["alias", "async", "tensormap", "mbarrier_init"]);
    let between = |mods: &mut Modifiers<'_>, prefix: &str| mods.find(|p| p.starts_with(prefix).then_some(()));
    let asynchronous = between(mods, "async::").is_some() || kind == Some("async");
    let maps = between(mods, "tensormap::").is_some() || kind == Some("tensormap");
    let scope = scope(mods).unwrap_or(Scope::Sys);
    let order = mods.one_of(&["sc", "acq_rel", "acquire", "release"]);
    let global = mods.take("global");
    let shared = mods.take("shared::cta") || mods.take("shared::cluster");
    mods.ignore_prefix("sync_restrict");
    match kind {
        Some("mbarrier_init") => Fence::MbarrierInit,
        _ if maps => Fence::TensorMap(None),
        _ if proxy && asynchronous => Fence::AsyncProxy {
            shared: shared || !global,
            global: global || !shared,
        },
        // `fence.proxy.alias` orders as a fence does, between addresses of one location.
        _ => Fence::Memory(Strength {
            acquires: order != Some("release"),
            releases: order != Some("acquire"),
            scope,
        }),
    }
}

/// The scope of a strong operation.
pub(super) fn scope(mods: &mut Modifiers<'_>) -> Option<Scope> {
    mods.one_of(&["cta", "cluster", "gpu", "gl", "sys"])
        .map(|scope| match scope {
            "cta" => Scope::Cta,
            "cluster" => Scope::Cluster,
            "sys" => Scope::Sys,
            _ => Scope::Gpu,
        })
}

impl<'m> FunctionDecoder<'_, 'm> {
    /// Emits a collective of the lanes that `members` names.
    pub(super) fn collective(&mut self, members: Option<Value>, kind: Kind) {
        self.emit(Op::Collective(Box::new(Collective { members, kind })));
    }

    /// `d` or `d|p`.
    fn pair(&mut self, operand: &Operand<'m>, ty: Ty) -> Result<(Value, Option<Value>)> {
        match operand {
            Operand::Pair(d, p) => Ok((self.destination(d, ty)?, Some(self.destination(p, Ty::Pred)?))),
            d => Ok((self.destination(d, ty)?, None)),
        }
    }

    /// Barriers, fences, shuffles, votes.
    pub(super) fn warp(&mut self, name: &str, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        match name {
            "bar" | "barrier" => self.barrier(name, mods, operands),
            "membar" | "fence" => {
                let mut fence = fence(mods);
                operands.count(0, 2)?;
                if let (Fence::TensorMap(map), true) = (&mut fence, operands.len() > 0) {
                    *map = Some(self.address(operands.get(0)?)?.0);
                }
                self.emit(Op::Fence(fence));
                Ok(())
            }
            "griddepcontrol" => {
                mods.one_of(&["launch_dependents", "wait"])
                    .ok_or("`.launch_dependents` or `.wait` is missing")?;
                Ok(())
            }
            "setmaxnreg" => {
                let way = mods.one_of(&["inc", "dec"]).ok_or("`.inc` or `.dec` is missing")?;
                mods.ignore(&["sync", "aligned", "u32"]);
                operands.count(1, 1)?;
                let n = self.immediate(operands.get(0)?)?;
                if !(24..=256).contains(&n) || n % 8 != 0 {
                    return Err(format!("{n} is no multiple of 8 from 24 to 256"));
                }
                self.collective(
                    None,
                    Kind::Registers {
                        count: n as u32,
                        grows: way == "inc",
                    },
                );
                Ok(())
            }
            "activemask" => {
                mods.take("b32");
                operands.count(1, 1)?;
                let d = self.destination(operands.get(0)?, Ty::B32)?;
                self.emit(Op::ActiveMask(d.slot));
                Ok(())
            }
            "shfl" => {
                mods.take("sync")
                    .then_some(())
                    .ok_or("only the `.sync` form exists on this target")?;
                let mode = match mods.one_of(&["up", "down", "bfly", "idx"]) {
                    Some("up") => Shuffle::Up,
                    Some("down") => Shuffle::Down,
                    Some("bfly") => Shuffle::Butterfly,
                    Some(_) => Shuffle::Index,
                    None => return Err("the mode is missing".to_owned()),
                };
                mods.take("b32").then_some(()).ok_or("the type must be .b32")?;
                operands.count(5, 5)?;
                let a = self.source(operands.get(1)?, Ty::B32)?;
                let b = self.source(operands.get(2)?, Ty::B32)?;
                let c = self.source(operands.get(3)?, Ty::B32)?;
                let members = self.source(operands.get(4)?, Ty::B32)?;
                let (d, p) = self.pair(operands.get(0)?, Ty::B32)?;
                self.collective(
                    Some(members),
                    Kind::Shuffle {
                        mode,
                        d,
                        p: p.map(|p| p.slot),
                        a,
                        b,
                        c,
                    },
                );
                Ok(())
            }
            "vote" => {
                mods.take("sync")
                    .then_some(())
                    .ok_or("only the `.sync` form exists on this target")?;
                let (mode, ty) = match mods.one_of(&["all", "any", "uni", "ballot"]) {
                    Some("all") => (Vote::All, Ty::Pred),
                    Some("any") => (Vote::Any, Ty::Pred),
                    Some("uni") => (Vote::Uniform, Ty::Pred),
                    Some(_) => (Vote::Ballot, Ty::B32),
                    None => return Err("the mode is missing".to_owned()),
                };
                mods.take(ty.name());
                operands.count(3, 3)?;
                let p = self.predicate(operands.get(1)?)?;
                let members = self.source(operands.get(2)?, Ty::B32)?;
                let d = self.destination(operands.get(0)?, ty)?;
                self.collective(Some(members), Kind::Vote { mode, d, p });
                Ok(())
            }
            "match" => {
                let all = mods.one_of(&["any", "all"]).ok_or("`.any` or `.all` is missing")? == "all";
                mods.take("sync").then_some(()).ok_or("`.sync` is missing")?;
                let ty = mods.ty().ok_or("the type is missing")?;
                operands.count(3, 3)?;
                let a = self.source(operands.get(1)?, ty)?;
                let members = self.source(operands.get(2)?, Ty::B32)?;
                let (d, p) = self.pair(operands.get(0)?, Ty::B32)?;
                self.collective(
                    Some(members),
                    Kind::Match {
                        all,
                        d,
                        p: p.map(|p| p.slot),
                        a,
                    },
                );
                Ok(())
            }
            "redux" => {
                mods.take("sync").then_some(()).ok_or("`.sync` is missing")?;
                let op = mods
                    .one_of(&["add", "min", "max", "and", "or", "xor"])
                    .ok_or("the operation is missing")?;
                let ty = mods
                    .ty()
                    .filter(|t| t.bits() == 32 && t.integer())
                    .ok_or("only 32-bit integers are simulated")?;
                operands.count(3, 3)?;
                let op = match (op, ty.signed()) {
                    ("add", _) => Redux::Add,
                    ("min", false) => Redux::MinUnsigned,
                    ("min", true) => Redux::MinSigned,
                    ("max", false) => Redux::MaxUnsigned,
                    ("max", true) => Redux::MaxSigned,
                    ("and", _) => Redux::And,
                    ("or", _) => Redux::Or,
                    _ => Redux::Xor,
                };
                let a = self.source(operands.get(1)?, ty)?;
                let members = self.source(operands.get(2)?, Ty::B32)?;
                let d = self.destination(operands.get(0)?, ty)?;
                self.collective(Some(members), Kind::Redux { op, d, a });
                Ok(())
            }
            _ => {
                mods.take("sync").then_some(()).ok_or("`.sync` is missing")?;
                operands.count(2, 2)?;
                let members = self.source(operands.get(1)?, Ty::B32)?;
                let Operand::Pair(d, p) = operands.get(0)? else {
                    return Err("two destinations `d|p` are expected".to_owned());
                };
                let d = self.destination(d, Ty::B32)?;
                let p = self.destination(p, Ty::Pred)?;
                self.collective(Some(members), Kind::Elect { d, p: p.slot });
                Ok(())
            }
        }
    }

    fn barrier(&mut self, name: &str, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        mods.ignore(&["cta"]);
        let aligned = mods.take("aligned") || name == "bar";
        if mods.take("warp") {
            mods.take("sync").then_some(()).ok_or("`.sync` is missing")?;
            operands.count(1, 1)?;
            let members = self.source(operands.get(0)?, Ty::B32)?;
            self.collective(Some(members), Kind::WarpSync);
            return Ok(());
        }
        if mods.take("cluster") {
            let ordered = !mods.take("relaxed");
            mods.ignore(&["acquire", "release"]);
            operands.count(0, 0)?;
            let step = ClusterStep { ordered, aligned };
            let op = match mods.one_of(&["arrive", "wait"]) {
                Some("arrive") => Op::ClusterArrive(step),
                Some(_) => Op::ClusterWait(step),
                None => return Err("`.arrive` or `.wait` is missing".to_owned()),
            };
            self.emit(op);
            return Ok(());
        }
        let way = mods
            .one_of(&["sync", "arrive", "red"])
            .ok_or_else(|| format!("`{name}` needs .sync, .arrive or .red"))?;
        if way != "red" {
            operands.count(1, 2)?;
            let id = self.source(operands.get(0)?, Ty::U32)?;
            let threads = if operands.len() == 2 {
                Some(self.source(operands.get(1)?, Ty::U32)?)
            } else {
                None
            };
            if way == "arrive" && threads.is_none() {
                return Err("an arrival needs the number of threads".to_owned());
            }
            self.emit(Op::Barrier(Box::new(Barrier {
                id,
                threads,
                waits: way == "sync",
                aligned,
                reduction: None,
            })));
            return Ok(());
        }
        let (reduction, ty) = match mods.one_of(&["popc", "and", "or"]) {
            Some("popc") => (BarrierReduction::Count, Ty::U32),
            Some("and") => (BarrierReduction::And, Ty::Pred),
            Some(_) => (BarrierReduction::Or, Ty::Pred),
            None => return Err("the reduction is missing".to_owned()),
        };
        mods.take(ty.name());
        operands.count(3, 4)?;
        let id = self.source(operands.get(1)?, Ty::U32)?;
        let threads = if operands.len() == 4 {
            Some(self.source(operands.get(2)?, Ty::U32)?)
        } else {
            None
        };
        let p: Predicate = self.predicate(operands.get(operands.len() - 1)?)?;
        let d = self.destination(operands.get(0)?, ty)?;
        self.emit(Op::Barrier(Box::new(Barrier {
            id,
            threads,
            waits: true,
            aligned,
            reduction: Some((reduction, p, d)),
        })));
        Ok(())
    }
}
