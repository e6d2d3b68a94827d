use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

use super::*;

/// Chi-square against the exact law; false alarm about 1e-6 per rate (Wilson-Hilferty, z = 4.75).
#[test]
fn discrete_laplace_follows_its_law() {
    for epsilon in [0.1, 0.5, 1.0, 4.0] {
        let rate = Rate::at_most(epsilon).expect("representable");
        let decay = (-rate.nats()).exp();
        let (draws, reach) = (400_000, (3.0 / epsilon).ceil() as i64);
        let mut counts = vec![0_u32; 2 * reach as usize + 3];
        let mut rng = ChaCha20Rng::seed_from_u64(11);
        for _ in 0..draws {
            let draw = discrete_laplace(rate, &mut rng).clamp(-reach - 1, reach + 1);
            counts[(draw + reach + 1) as usize] += 1;
        }
        let mass = |x: i64| (1.0 - decay) / (1.0 + decay) * decay.powi(x.unsigned_abs() as i32);
        let tail = decay.powi(reach as i32 + 1) / (1.0 + decay);
        let statistic: f64 = (-reach - 1..=reach + 1)
            .map(|x| {
                let expected = f64::from(draws) * if x.abs() > reach { tail } else { mass(x) };
                (f64::from(counts[(x + reach + 1) as usize]) - expected).powi(2) / expected
            })
            .sum();
        let freedom = (counts.len() - 1) as f64;
        let spread = 2.0 / (9.0 * freedom);
        let score = ((statistic / freedom).cbrt() - (1.0 - spread)) / spread.sqrt();
        assert!(score < 4.75, "ε {epsilon}: χ² {statistic} with {freedom} degrees of freedom");
    }
}

#[test]
fn the_rate_is_rounded_down() {
    for epsilon in [0.1, 0.3, 0.7, 1.0, 2.3] {
        let rate = Rate::at_most(epsilon).expect("representable").nats();
        assert!(rate <= epsilon && epsilon - rate < 1e-6, "{rate} for {epsilon}");
    }
    assert_eq!(Rate::at_most(1e-9), None);
    assert_eq!(Rate::at_most(f64::INFINITY), None);
}

#[test]
fn fine_rates_are_rounded_down_by_next_to_nothing() {
    for epsilon in [1e-9, 3e-7, 1e-5, 0.1, 0.3, 1.0, 2.3, 700.0] {
        let rate = Rate::finely_at_most(epsilon).expect("representable").nats();
        let most = if epsilon < 1e-5 { 2.0_f64.powi(-48) / epsilon } else { 2.0_f64.powi(-31) };
        assert!(rate <= epsilon && 1.0 - rate / epsilon <= most, "{rate} for {epsilon}");
    }
    for epsilon in [0.0, 1e-15, 1e4, f64::INFINITY, f64::NAN] {
        assert_eq!(Rate::finely_at_most(epsilon), None);
    }
}

/// Mean, and mean size, of the finest noise: 4.5 standard deviations, twice per rate. Products that overflowed would
/// show here.
#[test]
fn noise_at_small_fine_rates_has_its_size() {
    for epsilon in [1e-9, 1e-4] {
        let rate = Rate::finely_at_most(epsilon).expect("representable");
        let mut rng = ChaCha20Rng::seed_from_u64(19);
        let draws = 100_000;
        let scaled: Vec<f64> = (0..draws).map(|_| discrete_laplace(rate, &mut rng) as f64 * rate.nats()).collect();
        let root = f64::from(draws).sqrt();
        let mean = scaled.iter().sum::<f64>() / f64::from(draws);
        let size = scaled.iter().map(|x| x.abs()).sum::<f64>() / f64::from(draws);
        assert!(mean.abs() * root < 4.5 * 2.0_f64.sqrt() && (size - 1.0).abs() * root < 4.5, "{mean} {size}");
    }
}

/// The words behind draws at a budget stay what they were, or every seeded release would change.
#[test]
fn draws_at_a_seed_never_change() {
    let rate = Rate::at_most(0.3).expect("representable");
    let mut rng = ChaCha20Rng::seed_from_u64(2026);
    let draws: Vec<i64> = (0..12).map(|_| discrete_laplace(rate, &mut rng)).collect();
    assert_eq!(draws, [1, -1, 2, 1, 1, 0, 1, 1, -5, 0, 0, 2]);
}

/// Follows one path of decisions, each with its probability; the next path differs in the last decision that can.
struct Explorer {
    /// Choice and number of choices.
    path: Vec<(u64, u64)>,
    at: usize,
    mass: f64,
    /// Ends paths that are too unlikely to be followed; what they return is not looked at.
    rng: ChaCha20Rng,
}

/// Paths less likely than this are not followed.
const LEAST_MASS: f64 = 1e-8;

impl Explorer {
    fn choose(&mut self, choices: u64, probability: impl Fn(u64) -> f64) -> u64 {
        if self.mass < LEAST_MASS {
            return Words(&mut self.rng).below(choices);
        }
        if self.at == self.path.len() {
            self.path.push((0, choices));
        }
        let choice = self.path[self.at].0;
        self.at += 1;
        self.mass *= probability(choice);
        choice
    }

    /// Whether there is a further path.
    fn advance(&mut self) -> bool {
        self.path.truncate(self.at);
        while let Some((choice, choices)) = self.path.pop() {
            if choice + 1 < choices {
                self.path.push((choice + 1, choices));
                return true;
            }
        }
        false
    }
}

impl Integers for Explorer {
    fn below(&mut self, bound: u64) -> u64 {
        self.choose(bound, |_| 1.0 / bound as f64)
    }

    fn is_below(&mut self, threshold: u64, bound: u64) -> bool {
        let share = threshold as f64 / bound as f64;
        self.choose(2, |choice| if choice == 1 { share } else { 1.0 - share }) == 1
    }
}

/// The sampler's own decisions, all of them, with their exact probabilities: no sampling, hence no false alarm.
#[test]
fn every_path_of_the_sampler_adds_up_to_the_law() {
    for (numerator, denominator) in [(1, 1), (3, 2), (2, 3)] {
        let rate = Rate { numerator, denominator };
        let rng = ChaCha20Rng::seed_from_u64(0);
        let mut explorer = Explorer { path: Vec::new(), at: 0, mass: 1.0, rng };
        let mut mass = std::collections::BTreeMap::<i64, f64>::new();
        loop {
            (explorer.at, explorer.mass) = (0, 1.0);
            let value = draw(rate, &mut explorer);
            if explorer.mass >= LEAST_MASS {
                *mass.entry(value).or_default() += explorer.mass;
            }
            if !explorer.advance() {
                break;
            }
        }
        let explored: f64 = mass.values().sum();
        assert!(explored > 0.97, "explored {explored}");
        let decay = (-rate.nats()).exp();
        for x in -3..=3_i64 {
            let exact = (1.0 - decay) / (1.0 + decay) * decay.powi(x.unsigned_abs() as i32);
            let gap = exact - mass[&x];
            assert!((-1e-12..=1.0 - explored).contains(&gap), "rate {rate:?}, x {x}: {} of {exact}", mass[&x]);
            assert!((mass[&x] - mass[&-x]).abs() < 1e-12, "both signs alike");
        }
    }
}

/// Mironov (2012) at single precision: noise by inversion from a float has gaps, and they betray the degree.
/// Among all 2^22 outputs of a naive sampler for degree 3, those impossible for degree 4 are counted.
#[test]
fn floating_point_noise_betrays_the_degree_and_integer_noise_does_not() {
    let naive = |degree: f32, word: u32| {
        let uniform = (word as f32 + 0.5) / (1_u32 << 22) as f32 - 0.5;
        degree - 10.0 * uniform.signum() * (-2.0 * uniform.abs()).ln_1p()
    };
    let mut four: Vec<u32> = (0..1 << 22).map(|word| naive(4.0, word).to_bits()).collect();
    four.sort_unstable();
    let impossible = (0..1 << 22).filter(|&word| four.binary_search(&naive(3.0, word).to_bits()).is_err()).count();
    assert!(impossible > 1 << 20, "{impossible} of {} outputs tell the degree for certain", 1 << 22);

    let rate = Rate::at_most(0.1).expect("representable");
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let mut outputs = |degree: i64| -> std::collections::BTreeSet<i64> {
        (0..200_000).map(|_| degree + discrete_laplace(rate, &mut rng)).collect()
    };
    let (three, four) = (outputs(3), outputs(4));
    // Within sixty of either degree every integer is drawn some ten times or more: none tells them apart.
    assert!((-50..57).all(|output| three.contains(&output) && four.contains(&output)));
}

/// A node whose list differs in one bit changes that bit and its degree: ε in all, attained, with the probability at which bits
/// are flipped as executed.
#[test]
fn the_whole_report_costs_epsilon() {
    use crate::randomized_response::threshold;
    use crate::uniform::probability;
    let (links, degree) = (1.2_f64, 0.4_f64);
    let rate = Rate::at_most(degree).expect("representable").nats();
    let flip = probability(threshold(links));
    let likelihood = |bits: u32, list: u32, sent: i64| {
        let of_bits: f64 = (0..3).map(|bit| if (bits ^ list) >> bit & 1 == 1 { flip } else { 1.0 - flip }).product();
        of_bits * (-rate * (sent - i64::from(list.count_ones())).abs() as f64).exp()
    };
    let mut worst = 0.0_f64;
    for list in 0..8 {
        for changed in (0..3).map(|bit| list ^ 1 << bit) {
            for bits in 0..8 {
                for sent in -40..40 {
                    worst = worst.max((likelihood(bits, list, sent) / likelihood(bits, changed, sent)).ln());
                }
            }
        }
    }
    assert!((worst - (links + rate)).abs() < 1e-12, "worst {worst}");
    assert!(worst <= links + degree, "never above the budget");
}
