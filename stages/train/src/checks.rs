//! Checks that classification and link prediction share.

use veilgraph_nn::Setting;

/// Refuses a least number of steps that would change nothing.
///
/// # Errors
/// Names both fields and the remedy.
pub(crate) fn check_patience(patience: Option<usize>, min_epochs: usize) -> Result<(), String> {
    if min_epochs == 0 || patience.is_some() {
        return Ok(());
    }
    Err("min_epochs delays the stop after patience, and without patience nothing stops early; give patience, or remove \
         min_epochs"
        .into())
}

/// Whether the hyperparameters of one model make sense.
///
/// # Errors
/// Names the field, its value and its range.
pub(crate) fn check_setting(setting: Setting) -> Result<(), String> {
    let Setting { learning_rate, weight_decay, dropout, .. } = setting;
    if !(learning_rate > 0.0 && learning_rate.is_finite()) {
        return Err(format!("learning_rate must be positive, not {learning_rate}"));
    }
    if !(weight_decay >= 0.0 && weight_decay.is_finite()) {
        return Err(format!("weight_decay must be at least 0, not {weight_decay}"));
    }
    if !(0.0..1.0).contains(&dropout) {
        return Err(format!("dropout must lie in [0, 1), not {dropout}"));
    }
    Ok(())
}
