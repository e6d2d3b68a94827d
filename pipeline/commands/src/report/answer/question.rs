//! What a page asks.

use crate::protected::Protected;

/// The question, as a heading has it.
pub(super) fn question(protected: Protected) -> &'static str {
    match protected {
        Protected::Links => "what do nats about links buy?",
        Protected::Features => "what do nats about features buy?",
        Protected::Labels => "what do nats about labels buy?",
        Protected::Model => "what does a private model of a curator give?",
    }
}

/// The question for somebody who has never seen the page.
pub(super) fn explanation(protected: Protected) -> &'static str {
    match protected {
        Protected::Links => {
            "Every node hides its list of neighbours in noise, and its budget says how much the noisy list may betray. Is what a \
             network learns from such lists more than what it knows without any?"
        }
        Protected::Features => {
            "Every node hides its features in noise, and its budget says how much they may betray. Is what a network learns \
             from them more than what it knows from public links alone?"
        }
        Protected::Labels => {
            "Every node hides its class in noise, and its budget says how much it may betray. What does a network still learn?"
        }
        Protected::Model => {
            "A curator holds all data and releases a model, whose budget says how much it may betray of one node or one link. \
             Are links worth the noise that they ask for?"
        }
    }
}
