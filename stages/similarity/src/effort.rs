//! How long comparisons of nodes take, by counts that are made before.

use veilgraph_contract::Invalid;

/// So many products take a minute on two cores.
pub(crate) const PRODUCTS_OF_A_MINUTE: f64 = 6e10;
/// To look at the sum of a pair is taken to last this part of the time to add a product; it is a guess.
pub(crate) const LOOK: f64 = 0.2;
/// A comparison that takes longer is refused, because other features, or none at all, serve better than a wait of hours.
pub(crate) const MOST_MINUTES: f64 = 160.0;

/// Refuses a comparison of so many nodes that takes longer than `most_minutes` on the threads of this process.
///
/// # Errors
/// Fails where it does.
pub(crate) fn refuse_long(n_nodes: usize, n_products: f64, most_minutes: f64) -> Result<(), Invalid> {
    let minutes = minutes(n_products);
    if minutes <= most_minutes {
        return Ok(());
    }
    Err(Invalid(format!(
        "to compare the features of {n_nodes} nodes takes some {:.1} hours on {} threads ({n_products:.0e} products); give fewer or \
         sparser features, fewer nodes, more cores, or none of what compares nodes (`[estimate] prior = \"beta-model\"`; networks on \
         a graph of similar nodes and class beliefs compare nodes too)",
        minutes / 60.0,
        rayon::current_num_threads()
    )))
}

/// Does as [`refuse_long`], and tells how long the comparison takes where that is minutes.
///
/// # Errors
/// Fails where it takes longer than `most_minutes`.
pub(crate) fn begin(n_nodes: usize, n_products: f64, most_minutes: f64) -> Result<(), Invalid> {
    refuse_long(n_nodes, n_products, most_minutes)?;
    let minutes = minutes(n_products);
    if minutes > 1.0 {
        let threads = rayon::current_num_threads();
        tracing::info!(
            "to compare the features of {n_nodes} nodes takes some {minutes:.0} minutes on {threads} threads"
        );
    }
    Ok(())
}

/// Returns how many minutes so many products take on the threads of this process.
fn minutes(n_products: f64) -> f64 {
    n_products / (PRODUCTS_OF_A_MINUTE / 2.0 * rayon::current_num_threads() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_depends_on_the_number_of_threads() {
        let on = |threads: usize, n_products: f64| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| begin(1_000, n_products, MOST_MINUTES))
        };
        let most = MOST_MINUTES * PRODUCTS_OF_A_MINUTE;
        assert!(on(2, most).is_ok() && on(1, most).is_err() && on(4, 2.0 * most).is_ok());
        let refused = on(2, 1.5 * most).expect_err("long").to_string();
        assert!(refused.contains("1000 nodes takes some 4.0 hours on 2 threads (1e13 products)"), "{refused}");
    }
}
