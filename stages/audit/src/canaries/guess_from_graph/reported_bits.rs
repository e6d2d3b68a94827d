//! What reported lists say about a pair, read as an attacker does who does not trust that flips are independent.

use veilgraph_attack::Canaries;
use veilgraph_privacy::NoisyLinks;
use veilgraph_privacy::randomized_response::flip_probability;

/// Reported lists, with what is common to all of them.
pub(super) struct ReportedBits<'a> {
    lists: &'a NoisyLinks,
    /// Whether most nodes report a link to a node. If flips are shared, such a bit is flipped in all lists.
    most_report: Vec<bool>,
    /// Log odds of a link for a bit that is like most nodes', and for one that differs.
    odds: [f64; 2],
    /// Whether a link stands in the lists of both ends, or in that of the end with the larger number alone.
    is_in_both: bool,
}

/// So many bits of each kind are taken to follow the law that the reports claim, before any is read.
const BITS_AS_CLAIMED: f64 = 200.0;
/// So many bits of every column are taken to follow that law, before any is read.
const BITS_OF_A_COLUMN: f64 = 20.0;
/// No share is taken to be smaller.
const LEAST: f64 = 1e-9;

impl<'a> ReportedBits<'a> {
    /// Reads the noise off the reports themselves. No coin is read: half of the canaries are links, and nearly no other
    /// pair is. No odds of a bit exceed what it claims to cost.
    pub(super) fn new(lists: &'a NoisyLinks, canaries: &Canaries) -> Self {
        let facts = &lists.facts;
        let n_nodes = lists.n_nodes();
        let is_in_both = facts.epsilon_edge > facts.epsilon || facts.epsilon.is_infinite();
        let claimed = flip_probability(facts.budget.links);
        let mut ones = vec![0_u32; n_nodes];
        for node in 0..n_nodes {
            lists.ones(node).for_each(|one| ones[one as usize] += 1);
        }
        let n_bits_of = |column: usize| if is_in_both { n_nodes - 1 } else { n_nodes - 1 - column } as f64;
        let share = |column: usize| {
            (f64::from(ones[column]) + BITS_OF_A_COLUMN * claimed) / (n_bits_of(column) + BITS_OF_A_COLUMN)
        };
        let most_report: Vec<bool> = (0..n_nodes).map(|column| share(column) > 0.5).collect();
        let mut read = Self { lists, most_report, odds: [0.0; 2], is_in_both };
        // How often a bit differs from most nodes', where there is no link: a mean over all bits.
        let (mut n_bits, mut n_differing) = (BITS_AS_CLAIMED, BITS_AS_CLAIMED * claimed);
        for (column, ones) in ones.iter().enumerate() {
            n_bits += n_bits_of(column);
            let ones = f64::from(*ones);
            n_differing += if read.most_report[column] { n_bits_of(column) - ones } else { ones };
        }
        let of_others = n_differing / n_bits;
        // Canaries are half links and half others.
        let (mut n_bits, mut n_differing) = (BITS_AS_CLAIMED, BITS_AS_CLAIMED * (1.0 - claimed));
        for &(i, j, _) in &canaries.coins {
            for differs in read.bits(i, j) {
                n_bits += 0.5;
                n_differing += f64::from(u8::from(differs)) - 0.5 * of_others;
            }
        }
        let of_links = n_differing / n_bits;
        let (of_others, of_links) = (of_others.clamp(LEAST, 1.0 - LEAST), of_links.clamp(LEAST, 1.0 - LEAST));
        let most = facts.budget.links.min(f64::from(f32::MAX));
        let odds = |link: f64, other: f64| libm::log(link / other).clamp(-most, most);
        read.odds = [odds(1.0 - of_links, 1.0 - of_others), odds(of_links, of_others)];
        read
    }

    /// Log odds of a link.
    pub(super) fn odds(&self, i: u32, j: u32) -> f64 {
        self.bits(i, j).into_iter().map(|differs| self.odds[usize::from(differs)]).sum()
    }

    /// Whether each bit about a pair differs from what most nodes report at its place.
    fn bits(&self, i: u32, j: u32) -> Vec<bool> {
        let differs = |node: u32, other: u32| {
            self.lists.ones(node as usize).any(|one| one == other) != self.most_report[other as usize]
        };
        if self.is_in_both { vec![differs(i, j), differs(j, i)] } else { vec![differs(i.max(j), i.min(j))] }
    }
}
