//! Histograms of OpenDP's samplers as CSV: mechanism, parameter, value, count.

use std::collections::BTreeMap;

use dashu::rational::RBig;
use opendp::traits::samplers::{sample_bernoulli_rational, sample_discrete_laplace};

const DRAWS: usize = 1_000_000;

fn main() {
    println!("mechanism,parameter,value,count");
    for (name, scale) in [("0.5", RBig::from(2)), ("1", RBig::from(1)), ("0.1", RBig::from(10))] {
        let mut counts: BTreeMap<i64, u64> = BTreeMap::new();
        for _ in 0..DRAWS {
            let draw = sample_discrete_laplace(scale.clone()).expect("a draw");
            *counts.entry(i64::try_from(draw).expect("small")).or_default() += 1;
        }
        counts.iter().for_each(|(value, count)| println!("discrete_laplace,{name},{value},{count}"));
    }
    // Flip probability 1/4: epsilon = ln 3.
    let flips = (0..DRAWS)
        .filter(|_| sample_bernoulli_rational(RBig::from_parts(1.into(), 4_u8.into())).expect("a bit"))
        .count();
    println!("bernoulli,0.25,0,{}", DRAWS - flips);
    println!("bernoulli,0.25,1,{flips}");
}
