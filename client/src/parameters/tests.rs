use super::*;

fn blink(n_nodes: u32, links: f64, degree: f64) -> Result<PublicParameters, ParameterError> {
    PublicParameters::new("town", Mechanism::Blink, n_nodes, links, degree, 1)
}

#[test]
fn values_that_cannot_be_used_are_refused() {
    assert_eq!(blink(2, 1.0, 0.1), Err(ParameterError::Nodes(2)));
    assert_eq!(blink(MOST_NODES + 1, 1.0, 0.1), Err(ParameterError::Nodes(MOST_NODES + 1)));
    assert_eq!(blink(9, -1.0, 0.1), Err(ParameterError::Budget { name: "epsilon_links", nats: -1.0 }));
    assert!(blink(9, f64::NAN, 0.1).is_err() && blink(9, f64::INFINITY, 0.1).is_err() && blink(9, 20.5, 0.1).is_err());
    assert_eq!(blink(9, 1.0, 21.0), Err(ParameterError::Budget { name: "epsilon_degree", nats: 21.0 }));
    assert_eq!(blink(9, 0.0, -0.0), Err(ParameterError::NothingSent));
    assert_eq!(blink(9, 1.0, 1e-9), Err(ParameterError::SmallDegreeBudget(1e-9)));
    for mechanism in [Mechanism::Rr, Mechanism::SymRr] {
        let refused = PublicParameters::new("town", mechanism, 9, 1.0, 0.5, 1);
        assert_eq!(refused, Err(ParameterError::DegreeUnsent(mechanism)));
    }
    let unnumbered = PublicParameters::new("town", Mechanism::Rr, 9, 1.0, 0.0, 0);
    assert_eq!(unnumbered, Err(ParameterError::Release), "the cost of release n is that of n reports");
    for name in ["", "a\nb", "\u{1b}[2J", &"x".repeat(201)] {
        assert_eq!(PublicParameters::new(name, Mechanism::Rr, 9, 1.0, 0.0, 1), Err(ParameterError::Population));
    }
    assert!(blink(3, 20.0, 20.0).is_ok() && blink(9, 0.0, 1.0).is_ok() && blink(9, 1.0, 0.0).is_ok());
}

/// A link stands in two lists, of which symmetric randomized response reports one.
#[test]
fn a_link_costs_what_the_lists_cost_in_which_it_stands() {
    let parameters = blink(9, 0.75, 0.25).expect("usable");
    assert_eq!((parameters.list_bit_cost(), parameters.edge_cost()), (1.0, 2.0));
    let parameters = PublicParameters::new("town", Mechanism::SymRr, 9, 0.75, 0.0, 1).expect("usable");
    assert_eq!((parameters.list_bit_cost(), parameters.edge_cost()), (0.75, 0.75));
    assert_eq!([0, 5, 8].map(|node| parameters.list_length(node)), [0, 5, 8]);
}

#[test]
fn the_entropy_of_fair_bits_is_their_number() {
    assert_eq!(blink(1000, 0.0, 1.0).expect("usable").list_entropy(3), 0.0);
    assert!((blink(1000, 1e-12, 0.0).expect("usable").list_entropy(3) - 1000.0).abs() < 1e-9);
}

/// The rule that docs/report-format.md states for other programs.
#[test]
fn small_budgets_have_an_exponent() {
    let written = |nats: f64| {
        let text = blink(9, nats, 0.0).expect("usable").to_text();
        text.lines().find_map(|line| Some(line.strip_prefix("epsilon_links = ")?.to_owned()))
    };
    let budgets = [20.0, 1e-4, 9.9e-5, 1e-5, 1.5e-6].map(written);
    assert_eq!(budgets.map(Option::unwrap_or_default), ["20.0", "0.0001", "9.9e-5", "1e-5", "1.5e-6"]);
}

#[test]
fn the_text_is_canonical() {
    let text = "population = \"a \\\"b\\\" \\\\ é\"\nmechanism = \"blink\"\nn_nodes = 10\nepsilon_links = 0.1\n\
                epsilon_degree = 1e-5\nrelease = 4\n";
    let parameters = PublicParameters::new("a \"b\" \\ é", Mechanism::Blink, 10, 0.1, 1e-5, 4).expect("usable");
    assert_eq!(parameters.to_text(), text);
    #[cfg(feature = "std")]
    assert_eq!(PublicParameters::from_text(text), Ok(parameters));
    assert_eq!(blink(9, 1.0, -0.0).expect("usable").digest(), blink(9, 1.0, 0.0).expect("usable").digest());
}

/// Order, comments and the way of writing a number make no other parameters.
#[test]
#[cfg(feature = "std")]
fn equal_files_have_equal_digests() {
    let text = "# As agreed.\nrelease = 1\nn_nodes = 1_000\nepsilon_degree = 0\nepsilon_links = 10e-1\n\
                mechanism = \"rr\"\npopulation = 'town'\n";
    let parameters = PublicParameters::from_text(text).expect("usable");
    let same = PublicParameters::new("town", Mechanism::Rr, 1000, 1.0, 0.0, 1).expect("usable");
    assert_eq!((parameters.digest(), &parameters), (same.digest(), &same));
    let others = [("release = 1", "release = 2"), ("1_000", "1001"), ("10e-1", "2"), ("'town'", "'Town'")];
    for (from, to) in others {
        let other = PublicParameters::from_text(&text.replace(from, to)).expect("usable");
        assert_ne!(other.digest(), same.digest(), "{to}");
    }
}

/// The same number of another node is another report.
#[test]
fn another_numbering_makes_other_parameters() {
    let town = blink(9, 1.0, 0.5).expect("usable");
    let [one, two] = [1, 2].map(|first| town.clone().with_numbering([first; 32]));
    assert!(one.digest() != two.digest() && one.digest() != town.digest());
    assert_eq!(one.to_text(), town.to_text() + "numbering = \"" + &"01".repeat(32) + "\"\n");
    #[cfg(feature = "std")]
    {
        assert_eq!(PublicParameters::from_text(&one.to_text()), Ok(one.clone()));
        let cut = one.to_text().replace("0101\"", "01\"");
        let refused = PublicParameters::from_text(&cut).expect_err("refused").to_string();
        assert!(refused.contains("numbering must be 64 hexadecimal digits"), "{refused}");
    }
}

#[test]
#[cfg(feature = "std")]
fn a_wrong_file_is_refused_with_its_line() {
    let text = blink(9, 1.0, 0.5).expect("usable").to_text();
    let refused = |text: &str| PublicParameters::from_text(text).expect_err("refused").to_string();
    assert!(refused(&text.replace("n_nodes = 9", "n_nodes = x")).starts_with("line 3: "));
    assert!(refused(&(text.clone() + "\nepsilon = 3\n")).starts_with("line 8: unknown field `epsilon`"));
    assert!(refused(&text.replace("release = 1\n", "")).contains("missing field `release`"));
    assert!(refused(&text.replace("blink", "blank")).contains("not \"blank\""));
    assert!(refused(&text.replace("= 9", "= -9")).starts_with("line 3: "));
    assert!(refused(&text.replace("1.0", "nan")).contains("epsilon_links"));
}
