//! Solitude (Lin, Li, Wang 2022): the reports of RR, of which a network learns weights while it trains. One release
//! serves both mechanisms.

use veilgraph_construct::BitsParams;
use veilgraph_privatize::links::rr::{Params, Rr};

use super::{Evidence, Mechanism, bits, fields_of};
use crate::config::ConfigError;
use crate::plan::{Branch, Plan};

pub(super) const MECHANISM: Mechanism =
    Mechanism { name: "solitude", fields: fields_of::<Params>, evidence: Evidence::Bits, graphs, functions: &[] };

fn graphs(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    bits::graphs::<Rr>(plan, data, BitsParams { learned: true, ..bits::DIRECTED })
}
