//! Threads by number, roles of warps, barriers among them.
use crate::support::*;
use girih_core::dtype::DType;

/// A kernel of `threads` threads on a matrix of i32 with `threads` columns.
fn kernel(threads: usize, body: &str) -> String {
    let rows = rows_of(DType::I32);
    format!(
        "tile.kernel @k(%C: {rows}) threads({threads}) launch {{
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  tile.grid %c3, %c1, %c1
}} body {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
{}}}
",
        body.replace("ROWS", &rows)
    )
}

fn result(threads: usize, rows: usize, body: &str) -> girih_runtime::array::Array {
    run(
        &kernel(threads, body),
        &[matrix(DType::I32, rows, threads, |_, _| -1.0)],
    )
}

#[test]
fn numbers_of_threads_warps_lanes_and_blocks() {
    // The warp's number is asked for first, last, in a branch that half of the threads take, and in a loop.
    let body = "  %warp = tile.warp_id
  %thread = tile.thread_id
  %lane = tile.lane_id
  %block = tile.block_id x
  %blocks = tile.grid_dim x
  %odd = arith.andi %lane, %c1 : index
  %is_odd = arith.cmpi eq, %odd, %c1 : index
  %w = scf.if %is_odd -> index {
    %inner = tile.warp_id
    scf.yield %inner : index
  } else {
    scf.yield %warp : index
  }
  %sum = scf.for %i = %c0 to %lane step %c1 iter_args(%s = %c0) -> index {
    %again = tile.warp_id
    %next = arith.addi %s, %again : index
    scf.yield %next : index
  }
  %v0 = arith.muli %w, %c32 : index
  %v1 = arith.addi %v0, %lane : index
  %v2 = arith.muli %blocks, %block : index
  %x = arith.index_cast %v1 : index to i32
  %y = arith.index_cast %v2 : index to i32
  %z = arith.index_cast %sum : index to i32
  %row = arith.muli %block, %c3 : index
  %row1 = arith.addi %row, %c1 : index
  %row2 = arith.addi %row, %c2 : index
  memref.store %x, %C[%row, %thread] : ROWS
  memref.store %y, %C[%row1, %thread] : ROWS
  memref.store %z, %C[%row2, %thread] : ROWS
";
    let got = result(160, 9, body);
    assert_elements("numbers", &got, |row, thread| match row % 3 {
        0 => thread as f64,
        1 => 3.0 * (row / 3) as f64,
        _ => (thread / 32 * (thread % 32)) as f64,
    });
}

#[test]
fn one_lane_is_elected_each_time() {
    let body = "  %thread = tile.thread_id
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %times = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %zero) -> i32 {
    %elected = tile.elect
    %t = scf.if %elected -> i32 {
      %u = arith.addi %s, %one : i32
      scf.yield %u : i32
    } else {
      scf.yield %s : i32
    }
    scf.yield %t : i32
  }
  %block = tile.block_id x
  memref.store %times, %C[%block, %thread] : ROWS
";
    let got = result(64, 3, body).to_f64();
    for warp in got.chunks(32) {
        let mut times = warp.to_vec();
        times.sort_by(f64::total_cmp);
        assert_eq!(times.pop(), Some(3.0));
        assert!(times.iter().all(|t| *t == 0.0));
    }
}

/// Roles of these warps and registers; each thread writes its role's number and its own number in the role.
fn roles(roles: &[(usize, usize)]) -> String {
    let mut body = "  %thread = tile.thread_id\n  %block = tile.block_id x\n  tile.warp_specialize\n".to_owned();
    for (i, (warps, registers)) in roles.iter().enumerate() {
        let registers = match registers {
            0 => String::new(),
            r => format!(" registers({r})"),
        };
        body += &format!(
            "  role r{i}(%t) warps({warps}){registers} {{
    %number = arith.constant {i} : i32
    %mine = arith.index_cast %t : index to i32
    %row = arith.muli %block, %c2 : index
    %row1 = arith.addi %row, %c1 : index
    memref.store %number, %C[%row, %thread] : ROWS
    memref.store %mine, %C[%row1, %thread] : ROWS
  }}\n"
        );
    }
    // All meet again.
    body + "  tile.barrier\n"
}

#[test]
fn roles_divide_the_warps() {
    for division in [
        &[(1, 0)][..],
        &[(1, 0), (2, 0)],
        &[(3, 0), (1, 0), (4, 0)],
        &[(4, 40), (4, 232)],
        &[(4, 24), (4, 240), (4, 240)],
        &[(4, 168), (8, 168)],
        &[(4, 56), (4, 96), (4, 104), (4, 256)],
        &[(4, 120), (4, 72)],
        &[(4, 64)],
        &[(4, 24), (16, 112)],
        &[(1, 0), (1, 0), (1, 0), (2, 0)],
    ] {
        let warps: usize = division.iter().map(|(w, _)| w).sum();
        let got = result(warps * 32, 6, &roles(division));
        assert_elements(&format!("{division:?}"), &got, |row, thread| {
            let mut first = 0;
            let role = division.iter().position(|(w, _)| {
                first += w * 32;
                thread < first
            });
            let role = role.expect("a role");
            match row % 2 {
                0 => role as f64,
                _ => (thread + division[role].0 * 32 - first) as f64,
            }
        });
    }
}

#[test]
fn named_barriers_count_their_threads() {
    // Two pairs of warps: the first of each writes shared memory, the second reads it.
    let body = "  %thread = tile.thread_id
  %block = tile.block_id x
  %s = tile.alloc : memref<128xi32, #tile.shared>
  tile.warp_specialize
  role left(%t) warps(2) {
    %low = arith.cmpi ult, %t, %c32 : index
    scf.if %low {
      %v = arith.index_cast %t : index to i32
      memref.store %v, %s[%t] : memref<128xi32, #tile.shared>
    }
    tile.barrier id 1 threads 64
    %r = arith.remui %t, %c32 : index
    %w = memref.load %s[%r] : memref<128xi32, #tile.shared>
    memref.store %w, %C[%block, %thread] : ROWS
  } role right(%t) warps(2) {
    %c64 = arith.constant 64 : index
    %low = arith.cmpi ult, %t, %c32 : index
    scf.if %low {
      %at = arith.addi %t, %c64 : index
      %v = arith.index_cast %at : index to i32
      memref.store %v, %s[%at] : memref<128xi32, #tile.shared>
    }
    tile.barrier id 2 threads 64
    %r = arith.remui %t, %c32 : index
    %at = arith.addi %r, %c64 : index
    %w = memref.load %s[%at] : memref<128xi32, #tile.shared>
    memref.store %w, %C[%block, %thread] : ROWS
  }
";
    let got = result(128, 3, body);
    assert_elements("pairs", &got, |_, thread| (thread % 32 + thread / 64 * 64) as f64);
}

#[test]
fn mbarriers_hand_over_between_roles() {
    // Three rounds of ping-pong through one word; the reader asks with test_wait until the phase is over.
    let body = "  %thread = tile.thread_id
  %block = tile.block_id x
  %word = tile.alloc : memref<1xi32, #tile.shared>
  %bars = tile.alloc : memref<2x!tile.mbarrier, #tile.shared>
  %first = arith.cmpi eq, %thread, %c0 : index
  %false = arith.constant false
  %true = arith.constant true
  scf.if %first {
    %n = arith.constant 32 : i32
    tile.mbarrier.init %bars[%c0], %n : memref<2x!tile.mbarrier, #tile.shared>
    tile.mbarrier.init %bars[%c1], %n : memref<2x!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
  }
  tile.barrier
  tile.warp_specialize
  role writer(%t) warps(1) {
    scf.for %i = %c0 to %c3 step %c1 {
      %odd = arith.andi %i, %c1 : index
      %parity = arith.cmpi eq, %odd, %c0 : index
      tile.mbarrier.wait %bars[%c1], %parity : memref<2x!tile.mbarrier, #tile.shared>
      %is_first = arith.cmpi eq, %t, %c0 : index
      scf.if %is_first {
        %seven = arith.constant 7 : index
        %x = arith.muli %i, %seven : index
        %v = arith.index_cast %x : index to i32
        memref.store %v, %word[%c0] : memref<1xi32, #tile.shared>
      }
      tile.mbarrier.arrive %bars[%c0] : memref<2x!tile.mbarrier, #tile.shared>
    }
    %unused = arith.constant 21 : i32
    memref.store %unused, %C[%block, %thread] : ROWS
  } role reader(%t) warps(1) {
    %zero = arith.constant 0 : i32
    %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %zero) -> i32 {
      %odd = arith.andi %i, %c1 : index
      %parity = arith.cmpi ne, %odd, %c0 : index
      scf.while : () -> () {
        %done = tile.mbarrier.test_wait %bars[%c0], %parity : memref<2x!tile.mbarrier, #tile.shared>
        %again = arith.xori %done, %true : i1
        scf.condition(%again)
      } do {
        scf.yield
      }
      %v = memref.load %word[%c0] : memref<1xi32, #tile.shared>
      tile.mbarrier.arrive %bars[%c1] : memref<2x!tile.mbarrier, #tile.shared>
      %next = arith.addi %s, %v : i32
      scf.yield %next : i32
    }
    memref.store %sum, %C[%block, %thread] : ROWS
  }
  tile.barrier
  scf.if %first {
    tile.mbarrier.inval %bars[%c0] : memref<2x!tile.mbarrier, #tile.shared>
  }
";
    let got = result(64, 3, body);
    assert_elements("0 + 7 + 14", &got, |_, _| 21.0);
}
