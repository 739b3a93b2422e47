//! Counters of requests, for Prometheus.

use std::borrow::Cow;
use std::collections::BTreeMap;

use parking_lot::Mutex;

use crate::service::metrics::{Exposition, Kind, UNKNOWN};
use crate::service::operation::ServiceName;

/// The code of a successful request.
pub(super) const OK: &str = "OK";
/// The code of a response that a fault replaces, as if by a proxy.
pub(super) const INJECTED_STATUS: &str = "InjectedStatus";
/// The code of errors beyond [`MAX_SERIES`].
const OTHER: &str = "other";
/// Injected errors can have any code, so their number is bounded.
const MAX_SERIES: usize = 1_000;

/// Service, action and code.
type Series = (&'static str, &'static str, Cow<'static, str>);

/// Counters since the start of the server.
#[derive(Debug, Default)]
pub(super) struct Metrics(Mutex<BTreeMap<Series, u64>>);

impl Metrics {
    /// Counts a request. The action is `None` if the service has no such action.
    pub(super) fn count(&self, service: ServiceName, action: Option<&'static str>, code: Cow<'static, str>) {
        let mut requests = self.0.lock();
        let (service, action) = (service.as_str(), action.unwrap_or(UNKNOWN));
        let mut series = (service, action, code);
        if requests.len() >= MAX_SERIES && !requests.contains_key(&series) {
            series = (service, action, OTHER.into());
        }
        *requests.entry(series).or_default() += 1;
    }

    /// Writes all counters. Requests that never occurred have no sample.
    pub(super) fn write(&self, text: &mut Exposition) {
        let requests = self.0.lock().clone();
        for service in [ServiceName::Sns, ServiceName::Sts] {
            let name = format!("sqs_mock_{}_requests_total", service.as_str());
            let help = format!(
                "Requests to {service} by action and error code; the code of successful requests is OK."
            );
            text.family(&name, Kind::Counter, &help);
            let own = requests.iter().filter(|((of, ..), _)| *of == service.as_str());
            for ((_, action, code), count) in own {
                text.sample(&name, &[("action", action), ("code", code)], count);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_series_is_bounded() {
        let metrics = Metrics::default();
        for number in 0..2 * MAX_SERIES {
            metrics.count(ServiceName::Sns, Some("Publish"), number.to_string().into());
        }
        metrics.count(ServiceName::Sns, Some("Publish"), "0".into());
        let mut text = Exposition::default();
        metrics.write(&mut text);
        let text = text.into_text();
        let publish = |code: &str, count: usize| {
            format!("sqs_mock_sns_requests_total{{action=\"Publish\",code=\"{code}\"}} {count}\n")
        };
        assert!(text.contains(&publish("0", 2)) && text.contains(&publish(OTHER, MAX_SERIES)));
        assert_eq!(text.matches("action=").count(), MAX_SERIES + 1);
    }
}
