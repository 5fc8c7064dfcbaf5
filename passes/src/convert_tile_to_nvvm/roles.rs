//! Roles of warps: a chain of `scf.if` on the warp's number, each with its register budget.
use super::{Matched, lower};
use girih_dialects::{
    nvvm::{Cmp, Emit, V},
    tile::ops::kernel::{EndRole, REGISTER_FILE, WarpSpecialize},
};
use girih_ir::{
    conversion::{Conversion, ConversionRewriter},
    op::OpView,
    prelude::*,
    rewrite::AtEnd,
};

/// Registers of a thread at entry, as ptxas gives them to a block of `threads` with one block a multiprocessor.
fn at_entry(threads: i64) -> i64 {
    (REGISTER_FILE / threads.max(1) / 8 * 8).min(255)
}

/// Lowers the family.
pub fn patterns(c: &mut Conversion<'_>) {
    lower!(c, WarpSpecialize, |op, _, rewriter| lower_roles(op, rewriter));
    lower!(c, EndRole, |op, _, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        e.op("scf.yield", &[], &[], &[]);
        rewriter.erase(op.op());
        Ok(())
    });
}

fn lower_roles<'c>(op: WarpSpecialize<'c, 'c>, rewriter: &ConversionRewriter<'c>) -> Matched {
    let (warps, registers) = (op.warps(), op.registers());
    let roles = op.roles();
    let e = Emit::new(rewriter, op.op().location());
    let warp = e.uniform_warp();
    let thread = e.sreg("tid.x");
    let total: i64 = warps.iter().sum();
    let entry = at_entry(total * 32);
    nest(op, rewriter, e, warp, thread, 0, 0, entry, &registers, &roles)?;
    rewriter.erase(op.op());
    Ok(())
}

/// Emits the roles from `i` on, where `first` is the number of role `i`'s first warp.
#[allow(clippy::too_many_arguments)]
fn nest<'c>(
    op: WarpSpecialize<'c, 'c>,
    rewriter: &ConversionRewriter<'c>,
    e: Emit<'c, '_>,
    warp: V<'c>,
    thread: V<'c>,
    i: usize,
    first: i64,
    entry: i64,
    registers: &[i64],
    roles: &[RegionRef<'c, 'c>],
) -> Matched {
    let next = first + op.warps()[i];
    let last = i + 1 == roles.len();
    let mine = if last {
        None
    } else {
        Some(e.cmp(Cmp::Ult, warp, e.c32(next)))
    };
    let body = |e: Emit<'c, '_>| -> V<'c> {
        if registers[i] != 0 && registers[i] != entry {
            e.set_max_registers(registers[i], registers[i] > entry);
        }
        e.to_index(e.sub(thread, e.c32(first * 32)))
    };
    // The last role needs no question: its warps are those that are left.
    let condition = mine.unwrap_or_else(|| e.constant(1, e.int(1)));
    let (then, otherwise) = (Region::new(), Region::new());
    then.append_block(Block::new(&[]));
    if !last {
        otherwise.append_block(Block::new(&[]));
    }
    let branch = e.op_with_regions("scf.if", &[condition], &[], &[], vec![then, otherwise]);
    let block = branch.region_at(0).entry().expect("just made");
    let end = AtEnd(block);
    let number = body(Emit::new(&end, op.op().location()));
    let source = roles[i].entry().expect("a verified role has one block");
    // The role's ops go to the end of the branch; its terminator becomes the branch's yield.
    let marker = Emit::new(&end, op.op().location()).op("scf.yield", &[], &[], &[]);
    rewriter.inline_block(source, marker, &[number]);
    rewriter.erase(marker);
    if !last {
        let block = branch.region_at(1).entry().expect("just made");
        let end = AtEnd(block);
        let inner = Emit::new(&end, op.op().location());
        nest(op, rewriter, inner, warp, thread, i + 1, next, entry, registers, roles)?;
        let block = branch.region_at(1).entry().expect("just made");
        Emit::new(&AtEnd(block), op.op().location()).op("scf.yield", &[], &[], &[]);
    }
    Ok(())
}
