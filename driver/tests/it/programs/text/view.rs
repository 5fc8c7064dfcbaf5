//! What loads and stores go to: arguments and views of them.
use super::{
    super::program::{Argument, Base, Index, Start, View},
    Writer, join, memref,
};
use crate::support::mlir;

/// A view's type before its axes are in another order, and then.
fn view_types(a: &Argument, view: &View) -> [String; 2] {
    let rank = a.shape.len();
    // Of a row-major array, a stride is known where all sizes behind it are.
    let known_stride = |axis: usize| match a.plain {
        true => a.dynamic_sizes[axis + 1..].iter().all(|d| !d),
        false => !a.dynamic_strides[axis],
    };
    let mut offset = Some(0);
    for (axis, start) in view.at.iter().enumerate() {
        offset = match (offset, start) {
            (Some(n), Start::Written(0)) => Some(n),
            (Some(n), Start::Written(at)) if known_stride(axis) => Some(n + at * a.strides[axis]),
            _ => None,
        };
    }
    let offset = match offset {
        Some(0) => String::new(),
        Some(n) => format!(", offset: {n}"),
        None => ", offset: ?".to_owned(),
    };
    let sizes: Vec<String> = view
        .sizes
        .iter()
        .map(|size| match size {
            Base::Constant(n) => n.to_string(),
            Base::Scalar(_) => "?".to_owned(),
        })
        .collect();
    let stride = |axis: usize| match known_stride(axis) {
        true => (a.strides[axis] * view.steps[axis]).to_string(),
        false => "?".to_owned(),
    };
    let strides: Vec<String> = (0..rank).map(stride).collect();
    let of = |order: &[usize]| {
        let sizes: String = order.iter().map(|axis| format!("{}x", sizes[*axis])).collect();
        let strides = join(order.iter().map(|axis| strides[*axis].clone()));
        format!(
            "memref<{sizes}{}, strided<[{strides}]{offset}>, #tile.global>",
            mlir(a.dtype)
        )
    };
    let plain: Vec<usize> = (0..rank).collect();
    [of(&plain), of(&view.order)]
}

impl Writer<'_> {
    /// What an access goes to, and its type: an argument or a view of it.
    pub(super) fn memory(&mut self, argument: usize, view: Option<&View>, at: &[Index]) -> (String, String) {
        let a = &self.program.arguments[argument];
        let Some(view) = view else {
            return (self.place(argument, at), memref(a));
        };
        let [cut, seen] = view_types(a, view);
        let starts: Vec<String> = view.at.iter().map(|start| self.start(start)).collect();
        let sizes: Vec<String> = view
            .sizes
            .iter()
            .map(|size| match size {
                Base::Constant(n) => n.to_string(),
                Base::Scalar(_) => self.base(*size),
            })
            .collect();
        let part = format!("[{}] [{}] {:?}", starts.join(", "), sizes.join(", "), view.steps);
        let mut name = self.define(&format!("memref.subview %A{argument}{part} : {} to {cut}", memref(a)));
        if !view.order.is_sorted() {
            let axes = join((0..view.order.len()).map(|axis| format!("d{axis}")));
            let turned = join(view.order.iter().map(|axis| format!("d{axis}")));
            name = self.define(&format!(
                "memref.transpose {name} ({axes}) -> ({turned}) : {cut} to {seen}"
            ));
        }
        let indices: Vec<_> = at.iter().map(|i| self.index(i)).collect();
        (format!("{name}[{}]", indices.join(", ")), seen)
    }
}
