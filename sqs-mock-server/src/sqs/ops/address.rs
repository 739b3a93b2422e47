//! Parsing and formatting of queue URLs.

use sqs_client::wire::validate::queue::is_account;

use super::Context;

/// The account and the name in a queue URL. Host and region are ignored: a server accepts any host for all accounts,
/// and the region is that of the caller.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Address<'a> {
    pub(super) account: &'a str,
    pub(super) name: &'a str,
}

impl<'a> Address<'a> {
    /// Parses `<anything>/<account>/<name>`, or a name alone. If the account is missing or invalid, as in
    /// `http://host/queue/<name>`, the account of the caller is used.
    pub(super) fn parse(url: &'a str, own_account: &'a str) -> Self {
        let path = url.split_once("://").map_or(url, |(_, rest)| rest);
        let mut segments = path.trim_end_matches('/').rsplit('/');
        let name = segments.next().unwrap_or_default();
        let account = segments.next().filter(|segment| is_account(segment));
        Self { account: account.unwrap_or(own_account), name }
    }
}

impl Context {
    /// The URL of a queue for this caller.
    pub(super) fn queue_url(&self, account: &str, name: &str) -> String {
        format!("{}/{account}/{name}", self.base_url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_with_any_host_and_prefix_yields_account_and_name() {
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
