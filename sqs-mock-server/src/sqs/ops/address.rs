//! Queue URLs, read and written.

use sqs_client::wire::validate::permission::is_account;

use super::Context;

/// The account and the name that a queue URL points at. Host and region do not matter: a server has one
/// door to all its accounts, and the region is that of the caller.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Address<'a> {
    pub(super) account: &'a str,
    pub(super) name: &'a str,
}

impl<'a> Address<'a> {
    /// Reads `<anything>/<account>/<name>`, or a name alone. The account of the caller stands in for one that
    /// is missing or is none, as in `http://host/queue/<name>`.
    pub(super) fn parse(url: &'a str, own_account: &'a str) -> Self {
        let path = url.split_once("://").map_or(url, |(_, rest)| rest);
        let mut segments = path.trim_end_matches('/').rsplit('/');
        let name = segments.next().unwrap_or_default();
        let account = segments.next().filter(|segment| is_account(segment));
        Self { account: account.unwrap_or(own_account), name }
    }
}

impl Context {
    /// The URL under which a queue is given out to this caller.
    pub(super) fn queue_url(&self, account: &str, name: &str) -> String {
        format!("{}/{account}/{name}", self.base_url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_host_and_prefix_lead_to_account_and_name() {
        let table = [
            ("http://localhost:9324/123456789012/orders", "123456789012", "orders"),
            ("https://sqs.eu-west-1.amazonaws.com/123456789012/orders.fifo", "123456789012", "orders.fifo"),
            ("http://localhost:4566/queue/us-east-1/123456789012/orders", "123456789012", "orders"),
            ("http://localhost:9324/queue/orders", "111122223333", "orders"),
            ("/123456789012/orders/", "123456789012", "orders"),
            ("orders", "111122223333", "orders"),
            ("http://orders", "111122223333", "orders"),
            ("", "111122223333", ""),
            ("///", "111122223333", ""),
        ];
        for (url, account, name) in table {
            assert_eq!(Address::parse(url, "111122223333"), Address { account, name }, "{url}");
        }
    }
}
