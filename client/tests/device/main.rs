//! The program on a device, seen from outside.

#![cfg(unix)]

mod faults;
mod home;
mod refusals;
mod spending;
