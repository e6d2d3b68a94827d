//! For each line `rate steps epsilon dp_delta` of the standard input: the noise multiplier that keeps the budget, and the one
//! that Rényi divergences alone ask for.

use std::io::{BufRead, Write, stdin, stdout};

use veilgraph_accountant::{Budget, Composition, Step, least_noise, sampled_gaussians};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for line in stdin().lock().lines() {
        let numbers: Vec<f64> = line?.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        let [rate, steps, epsilon, dp_delta] = numbers[..] else {
            return Err("a line has four numbers: rate steps epsilon dp_delta".into());
        };
        let budget = Budget { epsilon, dp_delta };
        let noise = least_noise(budget, |noise_multiplier| {
            Composition::of(Step::SampledGaussian { rate, noise_multiplier }, steps)
        })?;
        let by_divergences = least_noise(budget, |noise| sampled_gaussians(rate, noise, steps))?;
        writeln!(stdout(), "{noise} {by_divergences}")?;
    }
    Ok(())
}
