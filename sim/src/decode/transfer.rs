//! `cp.async` and its bulk and tensor forms, `mbarrier`, `tensormap` (PTX ISA 9.7.9.25, 9.7.13.15, 9.7.9.28).
use super::function::{FunctionDecoder, Operands, Result};
use super::memory::{Named, atomic_type};
use super::modifiers::Modifiers;
use super::types::Ty;
use crate::isa::{Address, AtomicOp, Op, Space, Value};
use crate::ptx::Operand;
use crate::tma::{Field, ReduceOp, StoreMode};
use crate::transfer::{MbarrierOp, Replaced, TensorMode, Transfer};

/// The tensor side of a copy.
struct Tensor {
    map: Address,
    coords: Box<[Value]>,
    replaced: Option<Box<Replaced>>,
}

impl<'m> FunctionDecoder<'_, 'm> {
    fn emit_transfer(&mut self, transfer: Transfer) {
        self.emit(Op::Transfer(Box::new(transfer)));
    }

    fn plain_address(&mut self, operand: &Operand<'m>) -> Result<Address> {
        Ok(self.address(operand)?.0)
    }

    /// `cp`, `mbarrier`, `tensormap`.
    pub(super) fn transfer(&mut self, name: &str, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        match name {
            "mbarrier" => return self.mbarrier(mods, operands),
            "tensormap" => return self.tensor_map(mods, operands),
            _ => {}
        }
        let reduces = mods.take("reduce");
        mods.take("async")
            .then_some(())
            .ok_or("only the asynchronous copies exist")?;
        if mods.take("bulk") {
            if mods.take("commit_group") {
                self.emit_transfer(Transfer::BulkCommit);
                return Ok(());
            }
            if mods.take("wait_group") {
                let sources = mods.take("read");
                operands.count(1, 1)?;
                let n = self.immediate(operands.get(0)?)?;
                self.emit_transfer(Transfer::BulkWait {
                    keep: n.clamp(0, i64::from(u32::MAX)) as u32,
                    sources,
                });
                return Ok(());
            }
            mods.ignore(&["L2::cache_hint"]);
            let prefetch = mods.take("prefetch");
            if mods.take("tensor") {
                return self.tensor_copy(prefetch, reduces, mods, operands);
            }
            return self.bulk_copy(prefetch, reduces, mods, operands);
        }
        if mods.take("commit_group") {
            self.emit_transfer(Transfer::Commit);
            return Ok(());
        }
        if mods.take("wait_all") {
            self.emit_transfer(Transfer::WaitAll);
            return Ok(());
        }
        if mods.take("wait_group") {
            operands.count(1, 1)?;
            let n = self.immediate(operands.get(0)?)?;
            self.emit_transfer(Transfer::Wait(n.clamp(0, i64::from(u32::MAX)) as u32));
            return Ok(());
        }
        if mods.take("mbarrier") {
            mods.take("arrive");
            let increment = !mods.take("noinc");
            let named = self.space(mods);
            mods.take("b64");
            operands.count(1, 1)?;
            let (space, address) = self.addressed(named, operands.get(0)?)?;
            self.emit_transfer(Transfer::ArriveAfterCopies {
                address,
                space,
                increment,
            });
            return Ok(());
        }
        mods.one_of(&["ca", "cg"]).ok_or("`.ca` or `.cg` is missing")?;
        let hint = mods.has("L2::cache_hint");
        mods.ignore_prefix("L2::");
        mods.one_of(&["shared::cta", "shared"])
            .ok_or("the destination must be `.shared`")?;
        mods.take("global")
            .then_some(())
            .ok_or("the source must be `.global`")?;
        operands.count(3, 4 + usize::from(hint))?;
        let dst = self.plain_address(operands.get(0)?)?;
        let src = self.plain_address(operands.get(1)?)?;
        let bytes = self.immediate(operands.get(2)?)?;
        if !matches!(bytes, 4 | 8 | 16) {
            return Err(format!("{bytes} bytes; a copy has 4, 8 or 16"));
        }
        let extra = operands.len() - usize::from(hint) == 4;
        let (mut src_bytes, mut ignore) = (None, None);
        if extra {
            let operand = operands.get(3)?;
            match self.predicate(operand) {
                Ok(p) if !matches!(operand, Operand::Literal(_)) => ignore = Some(p),
                _ => src_bytes = Some(self.source(operand, Ty::U32)?),
            }
        }
        let transfer = Transfer::Copy {
            dst,
            src,
            src_space: Space::Global,
            bytes: bytes as u32,
            src_bytes,
            ignore,
        };
        self.emit_transfer(transfer);
        Ok(())
    }

    fn bulk_copy(
        &mut self,
        prefetch: bool,
        reduces: bool,
        mods: &mut Modifiers<'m>,
        operands: &Operands<'m>,
    ) -> Result<()> {
        if prefetch {
            mods.ignore(&["L2", "global", "L2::evict_last"]);
            return Ok(());
        }
        let to = mods
            .one_of(&["global", "shared::cluster", "shared::cta"])
            .ok_or("the destination space is missing")?;
        let from = mods
            .one_of(&["global", "shared::cta"])
            .ok_or("the source space is missing")?;
        let barrier = mods.take("mbarrier::complete_tx::bytes");
        mods.take("bulk_group");
        let multicast = Self::multicast(mods);
        let masked = mods.take("cp_mask");
        let dst = self.plain_address(operands.get(0)?)?;
        let src = self.plain_address(operands.get(1)?)?;
        let bytes = self.source(operands.get(2)?, Ty::U32)?;
        if reduces {
            let op = match mods.one_of(&["add", "min", "max", "inc", "dec", "and", "or", "xor"]) {
                Some("add") => AtomicOp::Add,
                Some("min") => AtomicOp::Min,
                Some("max") => AtomicOp::Max,
                Some("inc") => AtomicOp::Increment,
                Some("dec") => AtomicOp::Decrement,
                Some("and") => AtomicOp::And,
                Some("or") => AtomicOp::Or,
                Some(_) => AtomicOp::Xor,
                None => return Err("the operation is missing".to_owned()),
            };
            mods.take("noftz");
            let ty = mods.ty().ok_or("the type is missing")?;
            let ty = atomic_type(ty).ok_or_else(|| format!("type .{} is not simulated here", ty.name()))?;
            let barrier = if barrier {
                Some(self.plain_address(operands.get(3)?)?)
            } else {
                None
            };
            self.emit_transfer(Transfer::BulkReduce {
                op,
                ty,
                dst,
                src,
                bytes,
                barrier,
            });
            return Ok(());
        }
        match (to, from, barrier) {
            ("global", "shared::cta", false) => {
                // The last operand is the byte mask, a cache policy may stand before it.
                let byte_mask = if masked {
                    Some(self.source(operands.get(operands.len() - 1)?, Ty::B16)?)
                } else {
                    None
                };
                self.emit_transfer(Transfer::BulkStore {
                    dst,
                    src,
                    bytes,
                    byte_mask,
                });
            }
            ("shared::cluster" | "shared::cta", "global", true) => {
                let barrier = self.plain_address(operands.get(3)?)?;
                let blocks = match multicast {
                    Some(ty) => Some(self.source(operands.get(4)?, ty)?),
                    None => None,
                };
                self.emit_transfer(Transfer::BulkLoad {
                    dst,
                    src,
                    bytes,
                    barrier,
                    blocks,
                });
            }
            ("shared::cluster", "shared::cta", true) => {
                let barrier = self.plain_address(operands.get(3)?)?;
                self.emit_transfer(Transfer::BulkSend {
                    dst,
                    src,
                    bytes,
                    barrier,
                });
            }
            _ => return Err("no such copy exists".to_owned()),
        }
        Ok(())
    }

    /// `[map, {coordinates}]`; with `.override` the address, sizes and strides that replace the map's stand between them.
    fn tensor(&mut self, mods: &mut Modifiers<'m>, operand: &'m Operand<'m>) -> Result<Tensor> {
        let address = mods.take("override::global_address");
        let attribute = mods.one_of(&["override::global_dim", "override::global_dim_stride"]);
        let form = match (address, attribute) {
            (false, None) => "[map, {coordinates}]",
            (true, None) => "[map, address, {coordinates}]",
            (true, Some("override::global_dim")) => "[map, address, {size}, {coordinates}]",
            (true, Some(_)) => "[map, address, {sizes}, {strides}, upper strides, {coordinates}]",
            (false, Some(which)) => return Err(format!("`.{which}` needs `.override::global_address`")),
        };
        let Operand::Address(parts) = operand else {
            return Err(format!("expected `{form}`"));
        };
        let none: &[Operand<'_>] = &[];
        let (map, coords, replaced) = match (address, attribute, parts.as_slice()) {
            (false, None, [map, Operand::Vector(coords)]) => (map, coords, None),
            (true, None, [map, address, Operand::Vector(coords)]) => (map, coords, Some((address, none, none, None))),
            (true, Some("override::global_dim"), [map, address, Operand::Vector(size), Operand::Vector(coords)]) => {
                (map, coords, Some((address, size.as_slice(), none, None)))
            }
            (
                true,
                Some("override::global_dim_stride"),
                [
                    map,
                    address,
                    Operand::Vector(sizes),
                    Operand::Vector(lower),
                    upper,
                    Operand::Vector(coords),
                ],
            ) => (
                map,
                coords,
                Some((address, sizes.as_slice(), lower.as_slice(), Some(upper))),
            ),
            _ => return Err(format!("expected `{form}`")),
        };
        let mut values =
            |list: &'m [Operand<'m>], ty| list.iter().map(|c| self.source(c, ty)).collect::<Result<Box<[_]>>>();
        let coords = values(coords, Ty::S32)?;
        let replaced = match replaced {
            None => None,
            Some((address, dims, lower, upper)) => {
                let (dims, lower) = (values(dims, Ty::B16)?, values(lower, Ty::B32)?);
                if !dims.is_empty() && (dims.len() != coords.len() || lower.len() + 1 != dims.len()) {
                    return Err(format!(
                        "expected {0} sizes and {1} strides for {0} dimensions, found {2} and {3}",
                        coords.len(),
                        coords.len() - 1,
                        dims.len(),
                        lower.len()
                    ));
                }
                Some(Box::new(Replaced {
                    address: self.source(address, Ty::B64)?,
                    dims,
                    lower,
                    upper: upper.map(|u| self.source(u, Ty::B16)).transpose()?,
                }))
            }
        };
        let (map, _) = self.address_parts(map)?;
        Ok(Tensor { map, coords, replaced })
    }

    /// The mask of a multicast: whether there is one, and its type.
    fn multicast(mods: &mut Modifiers<'m>) -> Option<Ty> {
        match mods.one_of(&[
            "multicast::cluster",
            "multicast::cluster::16b",
            "multicast::cluster::32b",
        ])? {
            "multicast::cluster::32b" => Some(Ty::U32),
            _ => Some(Ty::U16),
        }
    }

    fn tensor_copy(
        &mut self,
        prefetch: bool,
        reduces: bool,
        mods: &mut Modifiers<'m>,
        operands: &Operands<'m>,
    ) -> Result<()> {
        let rank = mods
            .one_of(&["1d", "2d", "3d", "4d", "5d"])
            .ok_or("the rank is missing")?;
        let rank = usize::from(rank.as_bytes()[0] - b'0');
        mods.ignore(&["L2::evict_last"]);
        let tile = mods.take("tile");
        let mode = mods.one_of(&[
            "tile::gather4",
            "tile::scatter4",
            "im2col",
            "im2col::w",
            "im2col::w::128",
            "im2col_no_offs",
            "im2col_no_offs::w",
        ]);
        if tile && mode.is_some() {
            return Err("two modes".to_owned());
        }
        if prefetch {
            mods.ignore(&["L2", "global"]);
            self.tensor(mods, operands.get(0)?)?;
            return Ok(());
        }
        let bulk_group = mods.take("bulk_group");
        if bulk_group {
            mods.ignore(&["global", "shared::cta"]);
            let store_mode = match mode {
                None => StoreMode::Tile,
                Some("tile::scatter4") => StoreMode::Scatter4,
                Some("im2col_no_offs") => StoreMode::Im2colNoOffs,
                Some("im2col_no_offs::w") => StoreMode::Im2colNoOffsW,
                Some(other) => return Err(format!("a store has no mode `.{other}`")),
            };
            let Tensor { map, coords, replaced } = self.tensor(mods, operands.get(0)?)?;
            self.check_coords(rank, coords.len(), store_mode == StoreMode::Scatter4)?;
            let src = self.plain_address(operands.get(1)?)?;
            if reduces {
                let op = mods.find(ReduceOp::from_name).ok_or("the operation is missing")?;
                self.emit_transfer(Transfer::TensorReduce {
                    op,
                    mode: store_mode,
                    map,
                    coords,
                    replaced,
                    src,
                });
            } else {
                self.emit_transfer(Transfer::TensorStore {
                    mode: store_mode,
                    map,
                    coords,
                    replaced,
                    src,
                });
            }
            return Ok(());
        }
        mods.one_of(&["shared::cluster", "shared::cta"])
            .ok_or("the destination must be shared memory")?;
        mods.take("global")
            .then_some(())
            .ok_or("the source must be `.global`")?;
        mods.take("mbarrier::complete_tx::bytes")
            .then_some(())
            .ok_or("`.mbarrier::complete_tx::bytes` is missing")?;
        let multicast = Self::multicast(mods);
        let mode = match mode {
            None => TensorMode::Tile,
            Some("tile::gather4") => TensorMode::Gather4,
            Some("im2col") => TensorMode::Im2col,
            Some("im2col::w") => TensorMode::Im2colW,
            Some("im2col::w::128") => TensorMode::Im2colW128,
            Some(other) => return Err(format!("a load has no mode `.{other}`")),
        };
        let dst = self.plain_address(operands.get(0)?)?;
        let Tensor { map, coords, replaced } = self.tensor(mods, operands.get(1)?)?;
        self.check_coords(rank, coords.len(), mode == TensorMode::Gather4)?;
        let barrier = self.plain_address(operands.get(2)?)?;
        let mut next = 3;
        let mut offsets: Box<[Value]> = Box::new([]);
        if matches!(mode, TensorMode::Im2col | TensorMode::Im2colW | TensorMode::Im2colW128) {
            let list = self.elements(operands.get(next)?);
            offsets = list.iter().map(|o| self.source(o, Ty::U16)).collect::<Result<_>>()?;
            let wanted = if mode == TensorMode::Im2col {
                rank.saturating_sub(2)
            } else {
                2
            };
            if offsets.len() != wanted {
                return Err(format!("expected {wanted} offsets, found {}", offsets.len()));
            }
            next += 1;
        }
        let blocks = match multicast {
            Some(ty) => Some(self.source(operands.get(next)?, ty)?),
            None => None,
        };
        self.emit_transfer(Transfer::TensorLoad {
            mode,
            map,
            coords,
            replaced,
            offsets,
            dst,
            barrier,
            blocks,
        });
        Ok(())
    }

    fn check_coords(&self, rank: usize, found: usize, four_rows: bool) -> Result<()> {
        let wanted = if four_rows { 5 } else { rank };
        if found == wanted {
            Ok(())
        } else {
            Err(format!("expected {wanted} coordinates, found {found}"))
        }
    }

    fn mbarrier(&mut self, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        let what = mods
            .one_of(&[
                "init",
                "inval",
                "arrive",
                "arrive_drop",
                "expect_tx",
                "complete_tx",
                "test_wait",
                "try_wait",
                "pending_count",
            ])
            .ok_or("the operation is missing")?;
        let ordered = !mods.take("relaxed");
        mods.ignore(&["acquire", "release", "cta", "cluster"]);
        let announces = matches!(what, "arrive" | "arrive_drop") && mods.take("expect_tx");
        let no_complete = mods.take("noComplete");
        let parity = mods.take("parity");
        let remote = mods.has("shared::cluster");
        let named = self.space(mods);
        mods.take("b64").then_some(()).ok_or("the type must be .b64")?;
        if what == "pending_count" {
            operands.count(2, 2)?;
            let s = self.source(operands.get(1)?, Ty::B64)?;
            let d = self.destination(operands.get(0)?, Ty::B32)?;
            self.emit_transfer(Transfer::PendingCount(d, s));
            return Ok(());
        }
        let at = usize::from(matches!(what, "arrive" | "arrive_drop" | "test_wait" | "try_wait"));
        // Remote arrivals may leave the sink out.
        let at = if at == 1 && matches!(operands.get(0)?, Operand::Address(_)) {
            0
        } else {
            at
        };
        let (space, address) = self.addressed(named, operands.get(at)?)?;
        let op = match what {
            "init" => {
                operands.count(2, 2)?;
                MbarrierOp::Init(self.source(operands.get(1)?, Ty::U32)?)
            }
            "inval" => MbarrierOp::Invalidate,
            "expect_tx" => MbarrierOp::ExpectTx(self.source(operands.get(1)?, Ty::U32)?),
            "complete_tx" => MbarrierOp::CompleteTx(self.source(operands.get(1)?, Ty::U32)?),
            "arrive" | "arrive_drop" => {
                operands.count(at + 1, at + 2)?;
                let amount = if operands.len() == at + 2 {
                    Some(self.source(operands.get(at + 1)?, Ty::U32)?)
                } else {
                    None
                };
                let token = match operands.get(0)? {
                    Operand::Name(..) if remote => {
                        return Err("an arrival at another block gives no state; write `_`".to_owned());
                    }
                    d @ Operand::Name(..) => Some(self.destination(d, Ty::B64)?),
                    _ => None,
                };
                let (count, expect) = if announces { (None, amount) } else { (amount, None) };
                if announces && expect.is_none() {
                    return Err("the number of bytes is missing".to_owned());
                }
                MbarrierOp::Arrive {
                    count,
                    expect,
                    drop: what == "arrive_drop",
                    no_complete,
                    token,
                }
            }
            _ => {
                operands.count(3, 4)?;
                let token = self.source(operands.get(2)?, if parity { Ty::U32 } else { Ty::B64 })?;
                let p = self.destination(operands.get(0)?, Ty::Pred)?;
                MbarrierOp::Wait {
                    p: p.slot,
                    token,
                    parity,
                    suspends: what == "try_wait",
                }
            }
        };
        self.emit_transfer(Transfer::Mbarrier {
            op,
            ordered,
            space,
            address,
        });
        Ok(())
    }

    fn tensor_map(&mut self, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        if mods.take("cp_fenceproxy") {
            mods.ignore(&[
                "global",
                "shared::cta",
                "tensormap::generic",
                "release",
                "cta",
                "cluster",
                "gpu",
                "sys",
                "sync",
                "aligned",
            ]);
            operands.count(3, 3)?;
            let dst = self.plain_address(operands.get(0)?)?;
            let src = self.plain_address(operands.get(1)?)?;
            if self.immediate(operands.get(2)?)? != 128 {
                return Err("the size must be 128".to_owned());
            }
            self.emit_transfer(Transfer::CopyMap { dst, src });
            return Ok(());
        }
        mods.take("replace")
            .then_some(())
            .ok_or("`.replace` or `.cp_fenceproxy` is missing")?;
        mods.take("tile").then_some(()).ok_or("`.tile` is missing")?;
        let field = mods.find(Field::from_name).ok_or("the field is missing")?;
        let named = self.space(mods);
        mods.take("b1024").then_some(()).ok_or("`.b1024` is missing")?;
        let ty = mods
            .ty()
            .filter(|t| matches!(t, Ty::B32 | Ty::B64))
            .ok_or("the type must be .b32 or .b64")?;
        let (space, address) = match self.addressed(named, operands.get(0)?)? {
            found if named != Named::Param => found,
            _ => return Err("a parameter cannot be changed".to_owned()),
        };
        let (ordinal, value) = match field.ordinals() {
            Some(count) => {
                operands.count(3, 3)?;
                let ordinal = self.immediate(operands.get(1)?)?;
                if !(0..count as i64).contains(&ordinal) {
                    return Err(format!("ordinal {ordinal} is not below {count}"));
                }
                (ordinal as u32, operands.get(2)?)
            }
            None => {
                operands.count(2, 2)?;
                (0, operands.get(1)?)
            }
        };
        let value = self.source(value, ty)?;
        self.emit_transfer(Transfer::Replace {
            space,
            address,
            field,
            ordinal,
            value,
        });
        Ok(())
    }
}
