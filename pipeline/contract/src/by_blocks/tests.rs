use super::*;
use crate::{ColumnType, Zone, take};

/// Numbers of rows.
#[derive(Clone, Debug, PartialEq)]
struct Rows(Vec<u32>);

impl Artifact for Rows {
    const NAME: &'static str = "rows";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] = &[("row", ColumnType::U32)];

    fn facts(&self) -> Facts {
        Facts::default()
    }
    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        Box::new(self.0.chunks(3).map(|chunk| vec![Column::U32(chunk.to_vec())]))
    }
    fn from_blocks(_: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let mut rows = Vec::new();
        for block in blocks {
            rows.extend(take::<u32>(&mut block.into_iter())?);
        }
        Ok(Self(rows))
    }
}

#[test]
fn rows_are_found_by_their_first_value() {
    let stored = Stored::held(Rows(vec![0, 0, 1, 3, 3, 3, 3, 7, 9]));
    let rows = |range: Range<u32>| -> Vec<u32> {
        let blocks = stored.rows(range).map(|block| take::<u32>(&mut block?.into_iter()));
        blocks.collect::<Result<Vec<_>, _>>().expect("valid").concat()
    };
    assert_eq!(rows(0..10), [0, 0, 1, 3, 3, 3, 3, 7, 9]);
    assert_eq!(rows(1..4), [1, 3, 3, 3, 3]);
    assert_eq!(rows(3..7), [3, 3, 3, 3]);
    assert!(rows(4..7).is_empty() && rows(10..20).is_empty() && rows(3..3).is_empty());
    assert_eq!(stored.load().expect("valid").0.len(), 9);
}

/// Nobody takes the blocks before an error for the whole.
#[test]
fn an_error_among_the_blocks_is_the_result() {
    let blocks =
        || -> Blocks { Box::new([Ok(vec![Column::U32(vec![1])]), Err(Invalid("lost".to_owned()))].into_iter()) };
    let error = Streamed::<Rows>::from_blocks(Facts::default(), blocks).collect().expect_err("an error");
    assert_eq!(error.0, "lost");
    // Whoever asks on after an error gets neither what follows nor another error.
    let lost = |what: &str| Err(Invalid(what.to_owned()));
    let row = |row| Ok(vec![Column::U32(vec![row])]);
    let blocks: Blocks = Box::new([row(1), lost("first"), row(2), lost("second")].into_iter());
    let mut taken = Vec::new();
    let result = until_error(blocks, |blocks| (0..4).for_each(|_| taken.extend(blocks.next())));
    assert_eq!(result.expect_err("an error").0, "first");
    assert_eq!(taken.len(), 1);
    assert!(among_rows(vec![Column::F64(vec![1.0])], &(0..1)).is_err());
}
