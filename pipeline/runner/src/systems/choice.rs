//! A field of a table chooses among named ways: how one kind of data is protected, or what is learned.

use toml::Value;

use crate::config::ConfigError;
use crate::nearest::did_you_mean;
use crate::plan::{Branch, Plan};

/// What a field of a table chooses from.
pub(super) struct Choice<T: 'static> {
    /// The table.
    pub table: &'static str,
    /// The field.
    pub field: &'static str,
    /// What is chosen where the table says nothing.
    pub default: &'static str,
    /// All that can be chosen.
    pub known: &'static [T],
    /// The name of one of them.
    pub name: fn(&T) -> &'static str,
}

impl<T> Choice<T> {
    /// Follows every chosen way from `data`. While one is followed, the config of the plan is without the field, so that
    /// the table holds parameters alone.
    ///
    /// # Errors
    /// When a name is unknown, the list of names is empty, or a way has no plan.
    pub(super) fn each(
        &self,
        plan: &mut Plan,
        data: &Branch,
        mut follow: impl FnMut(&mut Plan, &T, Branch) -> Result<Vec<Branch>, ConfigError>,
    ) -> Result<Vec<Branch>, ConfigError> {
        let (table, field) = (self.table, self.field);
        let named = plan.config.values(table, field);
        let is_swept = matches!(plan.config.table(table).get(field), Some(Value::Array(_)));
        if is_swept && named.is_empty() {
            return Err(plan.config.error(&format!("{table}.{field}"), "an empty list sweeps over nothing"));
        }
        plan.read_field(table, field);
        let mut distinct: Vec<Value> = Vec::new();
        for name in if named.is_empty() { vec![Value::from(self.default)] } else { named } {
            if !distinct.contains(&name) {
                distinct.push(name);
            }
        }
        let whole = plan.config.clone();
        let mut followed = Vec::new();
        for name in distinct {
            let known = self.known.iter().find(|way| name.as_str() == Some((self.name)(way)));
            let Some(way) = known else { return Err(self.unknown(plan, &name)) };
            let choice = whole.choice(table, field, name.clone());
            let data = if is_swept { data.with(&[choice]) } else { data.clone() };
            plan.config = whole.without_field(table, field);
            followed.extend(follow(plan, way, data)?);
            plan.config = whole.clone();
        }
        Ok(followed)
    }

    /// A name that there is not.
    fn unknown(&self, plan: &Plan, name: &Value) -> ConfigError {
        let names: Vec<&str> = self.known.iter().map(self.name).collect();
        let text = name.as_str().map_or_else(|| name.to_string(), str::to_owned);
        let hint = did_you_mean(&text, &names);
        let problem = format!("unknown variant `{text}`, expected one of {}{hint}", names.join(", "));
        plan.config.error(&format!("{}.{}", self.table, self.field), &problem)
    }
}
