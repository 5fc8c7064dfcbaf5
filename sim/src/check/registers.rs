//! Registers of products in flight.
//!
//! From its issue until a `wgmma.wait_group` that covers it, a product owns its D registers and reads its A registers; and
//! what wrote them before has to be followed by a `wgmma.fence`. Products are over in the order of their issue, so that a
//! number for each is enough. A `mov` from a register to another does not count as an access: to the assembler both are
//! names of one value, and the copy belongs to the product as the original does. A constant may come after the fence: the
//! assembler is free where to put it.
use crate::isa::Slot;

/// What was done to a register last.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    /// The last product that has it; 0 for none.
    serial: u32,
    /// Whether it is one of D there.
    sums: bool,
    /// What must agree for products to share D.
    shape: u32,
    /// Line of the product.
    line: u32,
    /// Number of `wgmma.fence` before the last write by something else, and the line of that write.
    written: Option<(u32, u32)>,
}

/// A register that is touched at the wrong time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// A product at this line has it among D.
    Sums(u32),
    /// A product at this line reads it.
    Factor(u32),
    /// It was written at this line, and no `wgmma.fence` came since.
    Unfenced(u32),
}

/// The registers of a warp.
#[derive(Debug, Default)]
pub struct Registers {
    /// By frame and slot.
    uses: Vec<Vec<Use>>,
    /// Executed `wgmma.fence`.
    fences: u32,
    /// How many of them there were at the last product.
    fences_before: u32,
    /// Issued products.
    issued: u32,
    /// Products up to this one are over.
    over: u32,
    /// Group and number of those that are not.
    flights: Vec<(u64, u32)>,
}

impl Registers {
    fn of(&mut self, frame: u32, slot: Slot) -> &mut Use {
        let (frame, slot) = (frame as usize, slot.word());
        if self.uses.len() <= frame {
            self.uses.resize_with(frame + 1, Vec::new);
        }
        let uses = &mut self.uses[frame];
        if uses.len() <= slot {
            uses.resize(slot + 1, Use::default());
        }
        &mut uses[slot]
    }

    /// A frame that another call has now.
    pub fn forget(&mut self, frame: u32) {
        if let Some(uses) = self.uses.get_mut(frame as usize) {
            uses.clear();
        }
    }

    /// An instruction other than a product touches a register.
    pub fn touch(&mut self, frame: u32, slot: Slot, writes: bool, line: u32) -> Option<Touch> {
        let (over, fences) = (self.over, self.fences);
        let own = self.of(frame, slot);
        let flies = own.serial > over;
        if writes {
            own.written = Some((fences, line));
        }
        match (flies, own.sums) {
            (true, true) => Some(Touch::Sums(own.line)),
            (true, false) if writes => Some(Touch::Factor(own.line)),
            _ => None,
        }
    }

    /// A `mov` between registers.
    pub fn copy(&mut self, frame: u32, to: Slot, from: Slot, line: u32) -> Option<Touch> {
        let over = self.over;
        let source = *self.of(frame, from);
        let target = *self.of(frame, to);
        let flies = |u: &Use| u.serial > over && u.sums;
        *self.of(frame, to) = source;
        if flies(&source) || target.serial <= over {
            return None;
        }
        if target.sums {
            Some(Touch::Sums(target.line))
        } else {
            self.of(frame, to).written = Some((self.fences, line));
            Some(Touch::Factor(target.line))
        }
    }

    /// A constant is moved into a register: any fence since the last product is enough.
    pub fn constant(&mut self, frame: u32, slot: Slot, line: u32) -> Option<Touch> {
        let found = self.touch(frame, slot, true, line);
        let fences = self.fences_before;
        self.of(frame, slot).written = Some((fences, line));
        found
    }

    /// `wgmma.fence`
    pub fn fence(&mut self) {
        self.fences += 1;
    }

    /// A product at a line, in a group, with its D and A registers. What is wrong with one of them, if anything.
    pub fn issue(
        &mut self,
        frame: u32,
        (line, group, shape): (u32, u64, u32),
        sums: impl Iterator<Item = Slot>,
        factors: impl Iterator<Item = Slot>,
    ) -> Option<Touch> {
        self.issued += 1;
        let (serial, over, fences) = (self.issued, self.over, self.fences);
        self.flights.push((group, serial));
        self.fences_before = fences;
        let mut wrong = None;
        for (slot, is_sum) in sums.map(|s| (s, true)).chain(factors.map(|s| (s, false))) {
            let own = self.of(frame, slot);
            let flies = own.serial > over && own.serial < serial;
            let found = match (flies, own.sums, is_sum) {
                (true, true, true) if own.shape == shape => None,
                (true, true, _) => Some(Touch::Sums(own.line)),
                (true, false, true) => Some(Touch::Factor(own.line)),
                _ => own.written.filter(|w| w.0 == fences).map(|w| Touch::Unfenced(w.1)),
            };
            wrong = wrong.or(found);
            *own = Use {
                serial,
                sums: is_sum,
                shape,
                line,
                written: own.written.filter(|_| !is_sum),
            };
        }
        wrong
    }

    /// `wgmma.wait_group`: the products of groups before `end` are over.
    pub fn wait(&mut self, end: u64) {
        let over = self.flights.iter().filter(|f| f.0 < end).map(|f| f.1).max();
        self.over = over.unwrap_or(self.over).max(self.over);
        self.flights.retain(|f| f.0 >= end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issue(registers: &mut Registers, line: u32, group: u64, shape: u32) -> Option<Touch> {
        let sums = (0..4).map(Slot::frame);
        registers.issue(0, (line, group, shape), sums, std::iter::once(Slot::frame(9)))
    }

    #[test]
    fn a_register_is_the_product_s_until_its_group_is_waited_for() {
        let mut registers = Registers::default();
        registers.fence();
        assert_eq!(issue(&mut registers, 5, 0, 64), None);
        assert_eq!(registers.touch(0, Slot::frame(2), false, 6), Some(Touch::Sums(5)));
        assert_eq!(registers.touch(0, Slot::frame(9), false, 6), None);
        assert_eq!(registers.touch(0, Slot::frame(9), true, 6), Some(Touch::Factor(5)));
        registers.wait(0);
        assert_eq!(registers.touch(0, Slot::frame(2), true, 7), Some(Touch::Sums(5)));
        registers.wait(1);
        assert_eq!(registers.touch(0, Slot::frame(2), true, 8), None);
    }

    #[test]
    fn products_of_one_shape_share_their_sums_and_copies_go_along() {
        let mut registers = Registers::default();
        assert_eq!(issue(&mut registers, 5, 0, 64), None);
        assert_eq!(issue(&mut registers, 6, 0, 64), None);
        assert_eq!(registers.copy(0, Slot::frame(20), Slot::frame(1), 7), None);
        assert_eq!(registers.touch(0, Slot::frame(20), false, 8), Some(Touch::Sums(6)));
        assert_eq!(issue(&mut registers, 9, 0, 128), Some(Touch::Sums(6)));
    }

    #[test]
    fn what_was_written_needs_a_fence() {
        let mut registers = Registers::default();
        registers.fence();
        registers.touch(0, Slot::frame(9), true, 3);
        assert_eq!(issue(&mut registers, 5, 0, 64), Some(Touch::Unfenced(3)));
        registers.wait(1);
        registers.touch(0, Slot::frame(0), true, 6);
        registers.fence();
        assert_eq!(issue(&mut registers, 7, 1, 64), None);
        registers.wait(2);
        registers.constant(0, Slot::frame(0), 8);
        assert_eq!(issue(&mut registers, 9, 2, 64), Some(Touch::Unfenced(8)));
        registers.wait(3);
        registers.fence();
        registers.constant(0, Slot::frame(0), 10);
        assert_eq!(issue(&mut registers, 11, 3, 64), None);
    }
}
