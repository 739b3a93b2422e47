use super::*;

#[test]
fn defaults_are_valid() {
    assert!(Config::default().checked().is_ok());
}

#[test]
fn error_names_invalid_setting() {
    let account = Config { account: Some("12".to_owned()), ..Config::default() };
    assert_eq!(
        account.checked().unwrap_err().to_string(),
        "account: \"12\" is not allowed; allowed are 12 digits"
    );
    let region = Config { region: Some("Ireland".to_owned()), ..Config::default() };
    assert!(region.checked().unwrap_err().to_string().contains("Ireland"));
    for url in ["sqs:9324", "/queue", "ftp://sqs", "http://", "http://sqs/?x=1", ""] {
        let config = Config { public_url: Some(url.to_owned()), ..Config::default() };
        assert!(config.checked().is_err(), "{url}");
    }
}

#[test]
fn hosts_and_origins_that_match_nothing_are_rejected() {
    for host in ["", "sqs:9324", "http://sqs", "a b", "*.example.com"] {
        let config = Config { allow_hosts: vec![host.to_owned()], ..Config::default() };
        let text = format!(
            "allow_hosts[0]: {host:?} is not allowed; allowed is a host name or address without a port"
        );
        assert_eq!(config.checked().unwrap_err().to_string(), text);
    }
    for origin in ["*", "null", "localhost:3000", "http://localhost:3000/", "HTTP://LOCALHOST", "http://"] {
        let config = Config { cors_origins: vec![origin.to_owned()], ..Config::default() };
        let text = format!(
            "cors_origins[0]: {origin:?} is not allowed; allowed is an origin such as \"http://localhost:3000\""
        );
        assert_eq!(config.checked().unwrap_err().to_string(), text);
    }
    for token in ["", "a b", "\u{e4}"] {
        let config = Config { admin_token: Some(Secret::from(token)), ..Config::default() };
        let text = "admin_token: allowed is one or more visible ASCII characters";
        assert_eq!(config.checked().unwrap_err().to_string(), text);
    }
}

#[test]
fn limits_of_zero_are_rejected_by_name() {
    let zero = |set: fn(&mut Limits)| {
        let mut config = Config::default();
        set(&mut config.limits);
        config.checked().unwrap_err().to_string()
    };
    let table = [
        (zero(|limits| limits.max_connections = 0), "max_connections", "no client could connect"),
        (zero(|limits| limits.max_queues = 0), "max_queues", "no queue could be created"),
        (zero(|limits| limits.max_memory = 0), "max_memory", "no message could be sent"),
    ];
    for (text, name, why) in table {
        assert_eq!(text, format!("limits.{name}: 0 is not allowed: {why}; allowed is more than 0"));
    }
}

#[test]
fn trailing_slash_of_public_url_is_removed() {
    let config = Config { public_url: Some("https://sqs.test/base/".to_owned()), ..Config::default() };
    assert_eq!(config.checked().unwrap().public_url.as_deref(), Some("https://sqs.test/base"));
}
