//! Rows whose width is known to the compiler.

/// Evaluates `$call` with `$lanes` as a constant: the width if it is one of these, so that a row stays in registers;
/// else 0, which stands for any width.
#[macro_export]
macro_rules! for_lanes {
    ($width:expr, $lanes:ident => $call:expr) => {
        $crate::for_lanes!(@ $width, $lanes, $call; 1 2 3 4 5 6 7 8 10 12 15 16)
    };
    (@ $width:expr, $lanes:ident, $call:expr; $($width_of:literal)*) => {
        match $width {
            $($width_of => { const $lanes: usize = $width_of; $call })*
            _ => { const $lanes: usize = 0; $call }
        }
    };
}

pub use for_lanes;
