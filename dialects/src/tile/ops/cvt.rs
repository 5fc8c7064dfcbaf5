//! Conversions between formats of floats, with what `arith.truncf` cannot say: saturation, and formats of one width.
use super::super::verify::on_device;
use girih_core::number::Rounding;
use girih_ir::{attr_enum, constraint::ANY, op, op::OpView, prelude::*};

attr_enum! {
    /// How to round what lies between two numbers: PTX's `.rn` and its kin.
    pub enum CvtRounding("a rounding") {
        /// To the nearest number, halfway to the even one.
        Nearest = "rn",
        /// To the nearest number, halfway away from zero.
        NearestAway = "rna",
        /// Towards zero.
        Zero = "rz",
        /// Towards plus infinity.
        Up = "rp",
        /// Towards minus infinity.
        Down = "rm",
    }
}

impl CvtRounding {
    /// The same, where numbers are computed.
    pub fn core(self) -> Rounding {
        match self {
            CvtRounding::Nearest => Rounding::NearestEven,
            CvtRounding::NearestAway => Rounding::NearestAway,
            CvtRounding::Zero => Rounding::Zero,
            CvtRounding::Up => Rounding::Up,
            CvtRounding::Down => Rounding::Down,
        }
    }
}

/// The formats that `tile.cvt` converts between.
const FORMATS: [&str; 10] = [
    "f64", "f32", "tf32", "f16", "bf16", "f8E4M3FN", "f8E5M2", "f6E2M3FN", "f6E3M2FN", "f4E2M1FN",
];

op! {
    /// A float in another format, rounded once: `cvt`. With `satfinite`, infinity and what is too large become the format's
    /// largest number; NaN stays NaN. Floats of 6 and 4 bits have neither, and saturate anyway: NaN becomes their largest
    /// number. Without `satfinite` this is what `arith.truncf` and `arith.extf` do, from any format to any other. A tile is
    /// converted element by element.
    ///
    /// ```mlir
    /// %c = arith.constant 1000.0 : f32
    /// %x = tile.splat %c : f32 -> tensor<64xf32>
    /// %largest = tile.cvt %x rn satfinite : tensor<64xf32> to tensor<64xf8E4M3FN>
    /// %below = tile.cvt %x rm satfinite : tensor<64xf32> to tensor<64xf8E5M2>
    /// %one = tile.cvt %c rz : f32 to bf16
    /// %other = tile.cvt %one rn : bf16 to f16
    /// ```
    pub struct Cvt = "tile.cvt" {
        operands { source: one(ANY) }
        results { result: one(ANY) }
        attributes { rounding: required(CvtRounding), satfinite: unit }
        traits [Elementwise]
        effects pure
        format "$source $rounding (`satfinite` $satfinite^)? attr-dict `:` type($source) `to` type($result)"
        hooks {
            fn verify(self) -> Res {
                let (op, mut errors) = (self.op(), Errors::default());
                errors.merge(on_device(op));
                let (from, to) = (self.source().r#type(), self.result().r#type());
                let element = |t: Type<'c>| t.element_type().unwrap_or(t);
                for t in [from, to] {
                    if t.shape().is_some() && !t.is_ranked_tensor_type() || !FORMATS.contains(&element(t).to_string().as_str()) {
                        errors.op(&op, format!("converts numbers and tiles of {}, found {t}; integers are converted by arith.sitofp, arith.fptosi and their kin", FORMATS.join(", ")));
                    }
                }
                if from.shape() != to.shape() || from.encoding() != to.encoding() {
                    errors.op(&op, format!("makes {to} of {from}; only the element type may differ"));
                }
                if from == to {
                    errors.op(&op, format!("makes {to} of itself; use its operand"));
                }
                errors.result()
            }
        }
    }
}
