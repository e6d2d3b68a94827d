//! The pipeline seen from outside: the program, its files and its words.

mod bad_input;
mod commands;
mod datasets;
mod estimators;
mod faults;
mod freshness;
mod mechanisms;
mod oracle;
mod paper;
mod reports;
mod scores;
mod spending;
mod support;
mod tidy;
mod training;
mod trust;
