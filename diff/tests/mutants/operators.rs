//! The operators: each makes mutants of the sites that it fits, and says what must be reported of them.
use crate::{
    edit,
    kernel::{Kernel, Lines, Site},
    mutant::{Class, Mutant, at, pairs},
};
use girih_sim::check::Kind;

/// One way to make right kernels wrong.
pub struct Operator {
    pub name: &'static str,
    make: fn(&Kernel, &Site) -> Option<(String, Class)>,
}

const fn operator(name: &'static str, make: fn(&Kernel, &Site) -> Option<(String, Class)>) -> Operator {
    Operator { name, make }
}

/// Every operator, in the order of the table.
pub const OPERATORS: &[Operator] = &[
    operator("drop barrier", drop_barrier),
    operator("barrier too early", barrier_above),
    operator("barrier too late", barrier_below),
    operator("divergent barrier", divergent_barrier),
    operator("drop arrival at barrier", drop_barrier_arrival),
    operator("other barrier", other_barrier),
    operator("more threads than come", more_threads),
    operator("drop proxy fence", drop_proxy_fence),
    operator("proxy fence too early", proxy_fence_above),
    operator("proxy fence too late", proxy_fence_below),
    operator("drop wait for group", drop_group_wait),
    operator("wait for one group less", raise_group_wait),
    operator("drop commit", drop_commit),
    operator("drop wait before exit", drop_drain),
    operator("drop mbarrier wait", drop_mbarrier_wait),
    operator("flip parity", flip_parity),
    operator("drop mbarrier arrival", drop_arrive),
    operator("free slot early", early_arrive),
    operator("expect more bytes", expect_more),
    operator("expect fewer bytes", expect_fewer),
    operator("copy fewer bytes", copy_fewer),
    operator("drop copy", drop_copy),
    operator("one arrival more", count_more),
    operator("one arrival less", count_less),
    operator("drop mbarrier init", drop_init),
    operator("drop barrier after init", drop_start),
    operator("drop memory fence", drop_memory_fence),
    operator("weaken release or acquire", weaken),
    operator("narrow scope", narrow),
    operator("plain access for flag", plain_flag),
    operator("drop barrier before exit", drop_exit),
    operator("add without atomic", not_atomic),
    operator("drop wgmma.fence", drop_wgmma_fence),
    operator("read accumulator in flight", read_accumulator),
    operator("write accumulator in flight", write_accumulator),
    operator("misaligned address", misalign),
    operator("misaligned shared source", misalign_source),
    operator("address out of bounds", out_of_bounds),
    operator("drop bounds check", drop_guard),
    operator("drop store", drop_store),
    operator("descriptor stride", |kernel, site| descriptor(kernel, site, "stride")),
    operator("descriptor swizzle", |kernel, site| descriptor(kernel, site, "swizzle")),
    operator("transposed matrix", transposed),
    operator("other block of the cluster", other_block),
    operator("unaligned coordinate", unaligned_coordinate),
    operator("shifted coordinate", shifted),
];

/// All mutants of a kernel.
pub fn mutants(kernel: &Kernel) -> Vec<Mutant> {
    let mut all = Vec::new();
    for operator in OPERATORS {
        for site in &kernel.sites {
            let excluded = operator.name.replace(' ', "-");
            if site.fact("except").contains(&excluded) {
                continue;
            }
            if let Some((text, class)) = (operator.make)(kernel, site) {
                all.push(Mutant::new(kernel, operator.name, site, text, class));
            }
        }
    }
    // Sites that share a name are told apart by their number.
    for i in 0..all.len() {
        let same = all[..i]
            .iter()
            .filter(|other| other.id.split(" #").next() == Some(&all[i].id))
            .count();
        if same > 0 {
            all[i].id += &format!(" #{}", same + 1);
        }
    }
    all
}

type Made = Option<(String, Class)>;

fn dropped(kernel: &Kernel, site: &Site) -> String {
    kernel.with(&edit::drop(kernel, site))
}

fn is_asynchronous(code: &str) -> bool {
    code.contains("cp.async") || code.contains("wgmma.mma_async")
}

/// What a missing order between threads is. Where one of the accesses is a copy's or a product's, whoever is not ordered with
/// the thread that waits for it has no wait for it either, and which of both is said depends on which access came first.
fn unordered_kinds(kernel: &Kernel, site: &Site) -> &'static [Kind] {
    let orders = kernel.pairs(site, "orders");
    let mut lines = orders.iter().flat_map(|(first, second)| first.union(second));
    match lines.any(|line| is_asynchronous(kernel.line(*line))) {
        true => &[Kind::Race, Kind::MissingWait],
        false => &[Kind::Race],
    }
}

fn unordered(kernel: &Kernel, site: &Site) -> Option<Class> {
    let orders = kernel.pairs(site, "orders");
    (!orders.is_empty()).then(|| pairs(unordered_kinds(kernel, site), orders))
}

fn is_barrier(site: &Site) -> bool {
    let code = &site.code;
    code.starts_with("bar.sync") || code.starts_with("bar.warp") || code.starts_with("barrier.cluster")
}

fn drop_barrier(kernel: &Kernel, site: &Site) -> Made {
    if !is_barrier(site) {
        return None;
    }
    let mut class = unordered(kernel, site)?;
    // Where others only arrive, who does not wait arrives again in the same round, and the rounds no longer fit.
    class.or(&[Kind::Deadlock], kernel.all(site, "waits"));
    Some((dropped(kernel, site), class))
}

/// Moves a site above the access before it, or below the one after it; the class gets the pair that this takes apart.
fn moved(kernel: &Kernel, site: &Site, kinds: &[Kind], up: bool) -> Made {
    let orders = kernel.pairs(site, "orders");
    let candidates = orders.iter().filter_map(|(first, second)| match up {
        true => first.range(..site.line).next_back(),
        false => second.range(site.line + 1..).next(),
    });
    let target = match up {
        true => *candidates.max()?,
        false => *candidates.min()?,
    };
    let text = edit::move_to(kernel, site, target)?;
    let only = Lines::from([target]);
    let broken = orders.into_iter().filter_map(|(first, second)| match up {
        true => first.contains(&target).then(|| (only.clone(), second)),
        false => second.contains(&target).then(|| (first, only.clone())),
    });
    Some((text, pairs(kinds, broken.collect())))
}

fn barrier_above(kernel: &Kernel, site: &Site) -> Made {
    is_barrier(site).then(|| moved(kernel, site, unordered_kinds(kernel, site), true))?
}

fn barrier_below(kernel: &Kernel, site: &Site) -> Made {
    is_barrier(site).then(|| moved(kernel, site, unordered_kinds(kernel, site), false))?
}

fn divergent_barrier(kernel: &Kernel, site: &Site) -> Made {
    let is_named = site.code.starts_with("bar.arrive");
    if !is_barrier(site) && !is_named {
        return None;
    }
    // A cluster's barrier is two instructions.
    let code = site.code.replace("; barrier.", "; @%low barrier.");
    let text = kernel.with(&[(site.line, format!("@%low {code}"))]);
    let own = Lines::from([site.line]);
    Some((text, at(&[Kind::BarrierDivergence, Kind::Deadlock], own)))
}

fn with_own(mut lines: Lines, site: &Site) -> Lines {
    lines.insert(site.line);
    lines
}

fn drop_barrier_arrival(kernel: &Kernel, site: &Site) -> Made {
    let fits = site.code.starts_with("bar.arrive");
    fits.then(|| (dropped(kernel, site), at(&[Kind::Deadlock], kernel.all(site, "waits"))))
}

fn other_barrier(kernel: &Kernel, site: &Site) -> Made {
    let code = site.code.replacen("bar.arrive ", "bar.arrive 1", 1);
    let fits = site.code.starts_with("bar.arrive");
    fits.then(|| {
        (
            kernel.with(&[(site.line, code)]),
            at(&[Kind::Deadlock], kernel.all(site, "waits")),
        )
    })
}

fn more_threads(kernel: &Kernel, site: &Site) -> Made {
    let named = site.code.starts_with("bar.") && site.code.ends_with(", 64;");
    let block = site.code == "bar.sync 0;";
    let code = match (named, block) {
        (true, _) => site.code.replace(", 64;", ", 96;"),
        (_, true) => "bar.sync 0, 1024;".to_owned(),
        _ => return None,
    };
    let lines = with_own(kernel.all(site, "waits"), site);
    let kinds = [Kind::Deadlock, Kind::BarrierObject, Kind::BarrierDivergence];
    Some((kernel.with(&[(site.line, code)]), at(&kinds, lines)))
}

fn is_proxy_fence(site: &Site) -> bool {
    site.code.contains("fence.proxy")
}

fn drop_proxy_fence(kernel: &Kernel, site: &Site) -> Made {
    let orders = kernel.pairs(site, "orders");
    is_proxy_fence(site).then(|| (dropped(kernel, site), pairs(&[Kind::MissingProxyFence], orders)))
}

fn proxy_fence_above(kernel: &Kernel, site: &Site) -> Made {
    is_proxy_fence(site).then(|| moved(kernel, site, &[Kind::MissingProxyFence], true))?
}

fn proxy_fence_below(kernel: &Kernel, site: &Site) -> Made {
    is_proxy_fence(site).then(|| moved(kernel, site, &[Kind::MissingProxyFence], false))?
}

fn not_waited(kernel: &Kernel, site: &Site) -> Class {
    let orders = kernel.pairs(site, "orders");
    let product = orders
        .iter()
        .flat_map(|(first, _)| first)
        .any(|line| kernel.line(*line).contains("wgmma"));
    let kinds: &[Kind] = match product {
        true => &[Kind::MissingWait, Kind::InFlightRegister],
        false => &[Kind::MissingWait],
    };
    pairs(kinds, orders)
}

fn drop_group_wait(kernel: &Kernel, site: &Site) -> Made {
    let fits = site.code.contains("wait_group") && !site.fact("orders").is_empty();
    fits.then(|| (dropped(kernel, site), not_waited(kernel, site)))
}

fn raise_group_wait(kernel: &Kernel, site: &Site) -> Made {
    if !site.code.contains("wait_group") {
        return None;
    }
    let (head, number) = site.code.trim_end_matches(';').rsplit_once(char::is_whitespace)?;
    let number: u32 = number.parse().ok()?;
    let text = kernel.with(&[(site.line, format!("{head} {};", number + 1))]);
    let drained = kernel.all(site, "drains");
    match drained.is_empty() {
        true => Some((text, not_waited(kernel, site))),
        false => Some((text, at(&[Kind::MissingWait], drained))),
    }
}

fn drop_commit(kernel: &Kernel, site: &Site) -> Made {
    let fits = site.code.contains("commit_group");
    fits.then(|| (dropped(kernel, site), not_waited(kernel, site)))
}

fn drop_drain(kernel: &Kernel, site: &Site) -> Made {
    let lines = kernel.all(site, "drains");
    (!lines.is_empty()).then(|| (dropped(kernel, site), at(&[Kind::MissingWait], lines)))
}

fn is_mbarrier_wait(site: &Site) -> bool {
    site.code.contains("mbarrier.try_wait") || site.code.contains("mbarrier.test_wait")
}

fn drop_mbarrier_wait(kernel: &Kernel, site: &Site) -> Made {
    if !is_mbarrier_wait(site) {
        return None;
    }
    Some((dropped(kernel, site), not_held(kernel, site)?))
}

/// What is wrong where a wait for an mbarrier lets everyone through.
fn not_held(kernel: &Kernel, site: &Site) -> Option<Class> {
    let mut class = unordered(kernel, site)?;
    class.or(&[Kind::BarrierObject, Kind::Deadlock], kernel.all(site, "overruns"));
    // Who comes before the first writer reads what nothing wrote.
    if site.fact("overruns").is_empty() {
        let readers = kernel
            .pairs(site, "orders")
            .into_iter()
            .flat_map(|(_, readers)| readers);
        class.or(&[Kind::Uninitialised], readers.collect());
    }
    Some(class)
}

fn flip_parity(kernel: &Kernel, site: &Site) -> Made {
    let text = kernel.with(&[(site.line, edit::flip_parity(&site.code)?)]);
    match site.fact("flip").first()?.as_str() {
        "early" => Some((text, not_held(kernel, site)?)),
        _ => Some((text, at(&[Kind::Deadlock], Lines::from([site.line])))),
    }
}

fn is_arrive(site: &Site) -> bool {
    site.code.contains("mbarrier.arrive")
}

fn stuck(kernel: &Kernel, site: &Site, kinds: &[Kind]) -> Class {
    at(kinds, with_own(kernel.all(site, "waits"), site))
}

fn drop_arrive(kernel: &Kernel, site: &Site) -> Made {
    let kinds: &[Kind] = match site.code.contains("expect_tx") {
        // Bytes come that nobody expects, and the phase never ends.
        true => &[Kind::Deadlock, Kind::TransactionCount],
        false => &[Kind::Deadlock],
    };
    let mut lines = kernel.all(site, "waits");
    lines.extend(
        kernel
            .sites
            .iter()
            .filter(|s| s.code.contains("complete_tx"))
            .map(|s| s.line),
    );
    is_arrive(site).then(|| (dropped(kernel, site), at(kinds, lines)))
}

fn early_arrive(kernel: &Kernel, site: &Site) -> Made {
    let fits = is_arrive(site) && !site.code.contains("expect_tx");
    fits.then(|| moved(kernel, site, &[Kind::Race, Kind::MissingWait], true))?
}

fn expected(kernel: &Kernel, site: &Site, by: i64) -> Option<String> {
    let bytes = site.fact("bytes").first()?;
    let code = edit::replace_operand(&site.code, bytes, &edit::changed(bytes, by))?;
    Some(kernel.with(&[(site.line, edit::before(&code, &edit::change(bytes, by)))]))
}

fn expect_more(kernel: &Kernel, site: &Site) -> Made {
    let text = expected(kernel, site, 16)?;
    Some((text, stuck(kernel, site, &[Kind::Deadlock, Kind::TransactionCount])))
}

fn expect_fewer(kernel: &Kernel, site: &Site) -> Made {
    let text = expected(kernel, site, -16)?;
    let mut lines = with_own(kernel.all(site, "waits"), site);
    lines.extend(
        kernel
            .sites
            .iter()
            .filter(|s| s.code.contains("complete_tx"))
            .map(|s| s.line),
    );
    Some((text, at(&[Kind::TransactionCount, Kind::Deadlock], lines)))
}

fn copy_fewer(kernel: &Kernel, site: &Site) -> Made {
    if !site.code.starts_with("cp.async.bulk.shared") {
        return None;
    }
    let code = edit::replace_operand(&site.code, "%bytes", "%q0")?;
    let text = kernel.with(&[(site.line, edit::before(&code, "sub.u32 %q0, %bytes, 16;"))]);
    Some((text, stuck(kernel, site, &[Kind::Deadlock, Kind::TransactionCount])))
}

fn drop_copy(kernel: &Kernel, site: &Site) -> Made {
    let fits = site.code.contains("complete_tx") && !site.fact("waits").is_empty();
    fits.then(|| {
        (
            dropped(kernel, site),
            stuck(kernel, site, &[Kind::Deadlock, Kind::TransactionCount]),
        )
    })
}

fn counted(kernel: &Kernel, site: &Site, by: i64) -> Option<String> {
    let count = site.fact("count").first()?;
    let changed = edit::changed(count, by);
    let code = edit::replace_operand(&site.code, count, &changed)?;
    Some(kernel.with(&[(site.line, edit::before(&code, &edit::change(count, by)))]))
}

fn count_more(kernel: &Kernel, site: &Site) -> Made {
    let lines = kernel.all(site, "waits");
    Some((counted(kernel, site, 1)?, at(&[Kind::Deadlock], lines)))
}

fn count_less(kernel: &Kernel, site: &Site) -> Made {
    if site.fact("count").first()? == "1" {
        return None;
    }
    let mut class = unordered(kernel, site)?;
    // Or the phases end too often, and no longer fit the rounds of those who wait.
    class.or(&[Kind::Deadlock, Kind::BarrierObject], kernel.all(site, "waits"));
    Some((counted(kernel, site, -1)?, class))
}

fn drop_init(kernel: &Kernel, site: &Site) -> Made {
    let fits = site.code.contains("mbarrier.init");
    fits.then(|| {
        (
            dropped(kernel, site),
            at(&[Kind::BarrierObject], kernel.all(site, "used")),
        )
    })
}

fn drop_start(kernel: &Kernel, site: &Site) -> Made {
    let starts = kernel.pairs(site, "starts");
    let fits = is_barrier(site) && !starts.is_empty();
    fits.then(|| {
        let used = starts.iter().flat_map(|(_, used)| used.clone()).collect();
        (dropped(kernel, site), at(&[Kind::BarrierObject, Kind::Race], used))
    })
}

fn drop_memory_fence(kernel: &Kernel, site: &Site) -> Made {
    let fits = site.code.starts_with("fence.acq_rel");
    fits.then(|| Some((dropped(kernel, site), unordered(kernel, site)?)))?
}

fn weaken(kernel: &Kernel, site: &Site) -> Made {
    let code = match () {
        () if site.code.contains(".release.") => site.code.replacen(".release.", ".relaxed.", 1),
        () if site.code.contains(".acquire.") => site.code.replacen(".acquire.", ".relaxed.", 1),
        () => return None,
    };
    Some((kernel.with(&[(site.line, code)]), unordered(kernel, site)?))
}

fn narrow(kernel: &Kernel, site: &Site) -> Made {
    let fits = site.code.contains(".gpu") && !site.fact("orders").is_empty();
    let code = site.code.replacen(".gpu", ".cta", 1);
    fits.then(|| Some((kernel.with(&[(site.line, code)]), unordered(kernel, site)?)))?
}

fn plain_flag(kernel: &Kernel, site: &Site) -> Made {
    let waits = kernel.all(site, "waits");
    let fits = site.code.contains("st.release.gpu") || site.code.contains("st.relaxed.gpu");
    let code = site.code.replace(".release.gpu", "").replace(".relaxed.gpu", "");
    let own = Lines::from([site.line]);
    fits.then(|| {
        (
            kernel.with(&[(site.line, code)]),
            pairs(&[Kind::Race], vec![(own, waits)]),
        )
    })
}

fn drop_exit(kernel: &Kernel, site: &Site) -> Made {
    let lines = kernel.all(site, "exits");
    (!lines.is_empty()).then(|| (dropped(kernel, site), at(&[Kind::ExitedPeer], lines)))
}

fn not_atomic(kernel: &Kernel, site: &Site) -> Made {
    let [address, value] = site.fact("atomic") else {
        return None;
    };
    let space = if site.code.contains(".shared") {
        "shared"
    } else {
        "global"
    };
    let code = format!("ld.{space}.u32 %q0, [{address}]; add.u32 %q0, %q0, {value}; st.{space}.u32 [{address}], %q0;");
    let own = Lines::from([site.line]);
    Some((kernel.with(&[(site.line, code)]), at(&[Kind::Race], own)))
}

fn drop_wgmma_fence(kernel: &Kernel, site: &Site) -> Made {
    let fits = site.code.starts_with("wgmma.fence");
    let last = site.fact("registers").last()?;
    fits.then(|| {
        let lines = kernel.lines(last);
        (dropped(kernel, site), at(&[Kind::InFlightRegister], lines))
    })
}

fn touched(kernel: &Kernel, site: &Site, what: &str) -> Made {
    let next = kernel.line(site.line + 1).trim();
    let text = kernel.with(&[(site.line + 1, format!("{what} {next}"))]);
    let both = vec![(Lines::from([site.line]), Lines::from([site.line + 1]))];
    Some((text, pairs(&[Kind::InFlightRegister], both)))
}

fn read_accumulator(kernel: &Kernel, site: &Site) -> Made {
    let register = site.fact("touches").first()?;
    touched(kernel, site, &format!("cvt.rzi.s32.f32 %q0, {register};"))
}

fn write_accumulator(kernel: &Kernel, site: &Site) -> Made {
    let register = site.fact("touches").first()?;
    touched(kernel, site, &format!("mov.b32 {register}, 0;"))
}

fn misalign(kernel: &Kernel, site: &Site) -> Made {
    if !site.is("misalign") {
        return None;
    }
    let code = edit::shift_address(&site.code, edit::misalignment(&site.code))?;
    let own = Lines::from([site.line]);
    Some((kernel.with(&[(site.line, code)]), at(&[Kind::Misaligned], own)))
}

fn misalign_source(kernel: &Kernel, site: &Site) -> Made {
    if !site.is("source") {
        return None;
    }
    let (head, address) = site.code.rsplit_once('[')?;
    let code = format!("{head}{}", edit::shift_address(&format!("[{address}"), 64)?);
    let own = Lines::from([site.line]);
    Some((kernel.with(&[(site.line, code)]), at(&[Kind::Misaligned], own)))
}

fn drop_guard(kernel: &Kernel, site: &Site) -> Made {
    let lines = kernel.all(site, "guards");
    (!lines.is_empty()).then(|| (dropped(kernel, site), at(&[Kind::OutOfBounds], lines)))
}

fn out_of_bounds(kernel: &Kernel, site: &Site) -> Made {
    if !site.is("bounds") {
        return None;
    }
    // Past every buffer of these tests and past a block's shared memory.
    let code = edit::shift_address(&site.code, 4 << 20)?;
    let own = Lines::from([site.line]);
    Some((kernel.with(&[(site.line, code)]), at(&[Kind::OutOfBounds], own)))
}

fn drop_store(kernel: &Kernel, site: &Site) -> Made {
    let readers = kernel.all(site, "feeds");
    let fits = !readers.is_empty() && !site.code.contains("complete_tx");
    fits.then(|| (dropped(kernel, site), at(&[Kind::Uninitialised], readers)))
}

fn descriptor(kernel: &Kernel, site: &Site, fact: &str) -> Made {
    let other = site.fact(fact).first()?;
    let (head, _) = site.code.trim_end_matches(';').rsplit_once(char::is_whitespace)?;
    Some((kernel.with(&[(site.line, format!("{head} {other};"))]), Class::Wrong))
}

fn transposed(kernel: &Kernel, site: &Site) -> Made {
    let code = site.code.replace(".x4.shared", ".x4.trans.shared");
    site.is("transposes")
        .then(|| (kernel.with(&[(site.line, code)]), Class::Wrong))
}

fn other_block(kernel: &Kernel, site: &Site) -> Made {
    if !site.is("map") {
        return None;
    }
    let (head, _) = site.code.rsplit_once(", ")?;
    Some((kernel.with(&[(site.line, format!("{head}, 0;"))]), Class::Wrong))
}

/// One element further along rows, which begin at multiples of 16 bytes.
fn unaligned_coordinate(kernel: &Kernel, site: &Site) -> Made {
    if !site.is("coordinate") {
        return None;
    }
    let (head, rest) = site.code.split_once('{')?;
    let (first, rest) = rest.split_once(',')?;
    let code = edit::before(&format!("{head}{{%q0,{rest}"), &format!("add.s32 %q0, {first}, 1;"));
    let own = Lines::from([site.line]);
    let kinds = [Kind::Misaligned, Kind::IllegalInstruction];
    Some((kernel.with(&[(site.line, code)]), at(&kinds, own)))
}

/// One row further down.
fn shifted(kernel: &Kernel, site: &Site) -> Made {
    if !site.is("coordinate") {
        return None;
    }
    let (head, rest) = site.code.split_once('}')?;
    let (head, last) = head.rsplit_once(',')?;
    let code = edit::before(&format!("{head}, %q0}}{rest}"), &format!("add.s32 %q0, {last}, 1;"));
    Some((kernel.with(&[(site.line, code)]), Class::Wrong))
}
