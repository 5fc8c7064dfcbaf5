//! Parts of tiles: where threads hold of a part what they hold of the whole, a part is a choice of registers.
use super::{Distribution, fits_shape};
use girih_ir::prelude::*;

/// Whether threads hold of a part of a tile what they hold of the whole, for parts that start at multiples of their sizes.
pub fn parts_in_registers(layout: Attribute<'_>, part: &[i64], whole: &[i64]) -> bool {
    if !fits_shape(layout, part) || !fits_shape(layout, whole) {
        return false;
    }
    match (Distribution::new(layout, part), Distribution::new(layout, whole)) {
        (Some(part), Some(whole)) => part.threads == whole.threads,
        _ => false,
    }
}

/// For each register of a part the register of the whole that holds the same element in the same thread. Element `c` of the
/// part is element `starts + steps * c` of the whole. `None` where some thread does not hold it.
pub fn registers_of_part(
    part: &Distribution,
    whole: &Distribution,
    starts: &[i64],
    steps: &[i64],
) -> Option<Vec<usize>> {
    if part.threads.len() != whole.threads.len() {
        return None;
    }
    for (axis, (start, step)) in starts.iter().zip(steps).enumerate() {
        let bits = || part.threads.iter().zip(&whole.threads);
        if !bits().all(|(p, w)| i64::from(p[axis]).checked_mul(*step) == Some(i64::from(w[axis]))) {
            return None;
        }
        // What bits of a thread give is combined by exclusive or: the same as a sum where no bit carries into another.
        let at_multiple = *step == 1 && start % part.shape[axis] == 0;
        let is_shift = *step > 0 && step.unsigned_abs().is_power_of_two();
        let is_of_registers = bits().all(|(p, _)| p[axis] == 0);
        let is_sum = part.is_disjoint(axis) && whole.is_disjoint(axis);
        if !at_multiple && !(is_sum && (is_shift || is_of_registers)) {
            return None;
        }
    }
    let place = |at: &[u32]| -> Option<Vec<u32>> {
        let along = |((c, start), step): ((&u32, &i64), &i64)| {
            u32::try_from(start.checked_add(step.checked_mul(i64::from(*c))?)?).ok()
        };
        at.iter().zip(starts).zip(steps).map(along).collect()
    };
    part.registers
        .iter()
        .map(|at| {
            let place = place(at)?;
            whole.registers.iter().position(|w| *w == place)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use girih_core::layout::Blocked;

    fn distribution(per_thread: u64, lanes: u64, shape: i64) -> Distribution {
        let blocked = Blocked {
            per_thread: vec![1, per_thread],
            lanes: vec![32 / lanes, lanes],
            warps: vec![1, 1],
            order: vec![1, 0],
        };
        let linear = blocked.layout(&[32 / lanes, shape as u64]).expect("legal");
        Distribution::of_linear(&linear, &[(32 / lanes) as i64, shape]).expect("a tile")
    }

    /// The element that a thread holds in a register.
    fn held(d: &Distribution, thread: usize, register: usize) -> Vec<i64> {
        let bits = d.threads.iter().enumerate().filter(|(bit, _)| thread >> bit & 1 == 1);
        let at = bits.fold(d.registers[register].clone(), |at, (_, image)| {
            at.iter().zip(image).map(|(a, i)| a ^ i).collect()
        });
        at.into_iter().map(i64::from).collect()
    }

    #[test]
    fn registers_of_a_part_hold_what_the_part_has() {
        let mut found = 0;
        for (per_thread, lanes, size) in [(8, 1, 8), (4, 1, 4), (2, 8, 16), (2, 4, 8), (1, 8, 8), (1, 1, 16)] {
            let part = distribution(per_thread, lanes, size);
            for (own, shape) in [(8, 32), (16, 16), (4, 64), (2, 64)] {
                let whole = distribution(own, lanes, shape);
                for (start, step) in (-1..shape).flat_map(|s| [(s, 1), (s, 2), (s, 3), (s, -1)]) {
                    let Some(registers) = registers_of_part(&part, &whole, &[0, start], &[1, step]) else {
                        continue;
                    };
                    found += 1;
                    for thread in 0..32 {
                        for (r, of) in registers.iter().enumerate() {
                            let [row, c] = held(&part, thread, r)[..] else {
                                panic!("two axes")
                            };
                            assert_eq!(held(&whole, thread, *of), [row, start + step * c]);
                        }
                    }
                }
            }
        }
        assert!(found > 50, "{found}");
    }
}
