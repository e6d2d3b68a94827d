//! The pipeline seen from outside: the program, its files and its words.

mod audit;
mod bad_input;
mod central;
mod commands;
mod datasets;
mod defects;
mod deployment;
mod estimators;
mod faults;
mod freshness;
mod golden;
mod mechanisms;
mod oracle;
mod own_files;
mod paper;
mod private_attributes;
mod removal;
mod reports;
mod scores;
mod spending;
mod support;
mod sweeps;
mod tidy;
mod training;
mod trust;
mod twins;
