//! Rows whose width is known to the compiler.

/// Calls with the width as a constant where it is small, so that a row stays in registers; 0 for any width.
macro_rules! for_lanes {
    ($width:expr, $lanes:ident => $call:expr) => {
        for_lanes!(@ $width, $lanes, $call; 1 2 3 4 5 6 7 8 10 12 15 16)
    };
    (@ $width:expr, $lanes:ident, $call:expr; $($width_of:literal)*) => {
        match $width {
            $($width_of => { const $lanes: usize = $width_of; $call })*
            _ => { const $lanes: usize = 0; $call }
        }
    };
}

pub(crate) use for_lanes;
