//! How is the noise of one node drawn, exactly?
//!
//! *Invariant:* a draw uses integer arithmetic on random words alone, and needs neither an operating system nor anything
//! else of this workspace.

#![cfg_attr(not(test), no_std)]

extern crate alloc;

pub mod discrete_gaussian;
pub mod discrete_laplace;
pub mod exponential_choice;
pub mod generalized_response;
pub mod one_bit;
pub mod piecewise;
pub mod randomized_response;
pub mod uniform;
