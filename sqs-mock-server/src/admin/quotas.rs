//! Throughput quotas over HTTP.
//!
//! ```text
//! POST   /_mock/quotas {"quotas": true}                                  quotas of AWS for all FIFO queues; false for none
//! POST   /_mock/quotas {"quotas": {"calls": 5}, "queue": "jobs.fifo"}    for a queue; with "account" alone for an account
//! GET    /_mock/quotas                                                   all that are set, in the form of the POST
//! DELETE /_mock/quotas?queue=jobs.fifo                                   the queue inherits again; without a query: all
//! ```

use serde::{Deserialize, Serialize};
use sqs_client::wire::validate::queue::is_account;

use super::answer::{Answered, Refusal, json};
use super::ask::Ask;
use crate::service::arn::QueueArn;
use crate::sqs::engine::{QuotaScope, QuotaSetting, QuotaTable, ThroughputQuotas};

/// The quotas of a scope, in requests and responses.
#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    quotas: QuotaSetting,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<String>,
}

/// Limit of quotas that are set over HTTP, so that they cannot fill the memory.
const AT_MOST: usize = 1_000;

/// `GET /_mock/quotas`.
pub(super) fn list(ask: &Ask<'_>) -> Answered {
    let table = ask.sqs().quotas();
    json(&table.iter().map(|(scope, quotas)| show(scope, quotas)).collect::<Vec<_>>())
}

/// `POST /_mock/quotas`.
pub(super) fn set(ask: &Ask<'_>) -> Answered {
    let Entry { quotas: QuotaSetting(quotas), queue, region, account } = ask.content()?;
    let scope = scope(ask, [queue.as_deref(), region.as_deref(), account.as_deref()])?;
    let table = ask.sqs().quotas();
    if table.iter().count() >= AT_MOST && !table.iter().any(|(known, _)| *known == scope) {
        return Err(Refusal::bad(format!("{AT_MOST} quotas are set already; DELETE some first")));
    }
    ask.sqs().change_quotas(|table| table.set(scope, quotas));
    list(ask)
}

/// `DELETE /_mock/quotas`.
pub(super) fn remove(ask: &Ask<'_>) -> Answered {
    match scope(ask, ["queue", "region", "account"].map(|name| ask.parameters.get(name)))? {
        QuotaScope::Server => ask.sqs().change_quotas(|table| *table = QuotaTable::default()),
        scope => ask.sqs().change_quotas(|table| table.remove(&scope)).then_some(()).ok_or_else(|| {
            Refusal::not_found("no quotas are set for this; GET /_mock/quotas lists all quotas")
        })?,
    }
    list(ask)
}

fn scope(ask: &Ask<'_>, place: [Option<&str>; 3]) -> Result<QuotaScope, Refusal> {
    let names = ask.services.sqs.names();
    match place {
        [Some(queue), region, account] => {
            let (region, account) = (region.unwrap_or(&names.region), account.unwrap_or(&names.account));
            let arn = QueueArn::named(queue, region, account);
            if arn.is_fifo() {
                return Ok(QuotaScope::Queue(arn));
            }
            Err(Refusal::bad(format!("queue {queue:?} has no quotas; allowed are names that end in .fifo")))
        }
        [None, Some(_), _] => Err(Refusal::bad("region requires queue")),
        [None, None, Some(account)] if is_account(account) => Ok(QuotaScope::Account(account.to_owned())),
        [None, None, Some(account)] => {
            Err(Refusal::bad(format!("account {account:?} is not allowed; allowed are 12 digits")))
        }
        [None, None, None] => Ok(QuotaScope::Server),
    }
}

fn show(scope: &QuotaScope, quotas: Option<ThroughputQuotas>) -> Entry {
    let quotas = QuotaSetting(quotas);
    match scope {
        QuotaScope::Server => Entry { quotas, ..Entry::default() },
        QuotaScope::Account(account) => Entry { quotas, account: Some(account.clone()), ..Entry::default() },
        QuotaScope::Queue(QueueArn { name, region, account, .. }) => Entry {
            quotas,
            queue: Some(name.to_string()),
            region: Some(region.to_string()),
            account: Some(account.to_string()),
        },
    }
}
