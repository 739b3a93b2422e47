//! Precedence of flags, file and defaults.

use clap::FromArgMatches as _;
use sqs_mock_server::s3::S3;
use sqs_mock_server::{Config, Secret};

use super::apply::PORT;
use super::*;

const FILE: &str = "host = 'file'\nport = 1\npublic_url = 'http://file'\naccount = '111111111111'\n\
                    region = 'file-1'\nauth = 'none'\nallow_hosts = ['file']\n\
                    cors_origins = ['http://file']\none_minute_rules = true\nauto_create = true\n\
                    delivery = 'ordered'\nqueue_url_style = 'path'\njournal = 1\nseed = 1\nlog = 'info'\n\
                    log_format = 'text'\nstrict = true\npolicies = 'off'\nthroughput_quotas = true\n[keys]\nFILE = 'file'\n\
                    [limits]\nmax_memory = 1\nmax_queues = 1\nmax_connections = 1";

const FLAGS: [&str; 23] = [
    "--strict=false",
    "--policies=enforce",
    "--throughput-quotas={\"calls\":2}",
    "--allow-host=flag",
    "--cors-origin=http://flag",
    "--auto-create=false",
    "--delivery=aws-like",
    "--queue-url-style=legacy",
    "--journal=2",
    "--host=flag",
    "--port=2",
    "--public-url=http://flag",
    "--account=222222222222",
    "--region=flag-2",
    "--auth=sigv4",
    "--key=FLAG:flag",
    "--one-minute-rules=false",
    "--seed=2",
    "--max-memory=2KiB",
    "--max-queues=2",
    "--max-connections=2",
    "--log=debug",
    "--log-format=json",
];

fn merged(flags: &[&str], file: &str) -> Config {
    let matches = environment::command().get_matches_from([&["sqs-mock-server"], flags].concat());
    let arguments = Arguments::from_arg_matches(&matches).unwrap();
    let mut config = Config::parse(file, "sqs.toml").unwrap();
    arguments.apply(&mut config).unwrap();
    config
}

/// All settings without secrets.
fn shown(file: &Config) -> String {
    format!("{file:?}")
}

#[test]
fn triggers_of_flags_follow_those_of_the_file() {
    let file = "[[triggers]]\nqueue = 'a'\nurl = 'http://localhost:1/a'";
    let flags =
        ["--trigger=b=http://localhost:2/?x=y,c.fifo=http://localhost:3", "--trigger", "d=https://[::1]:4"];
    let url = |queue: &str, url: &str| sqs_mock_server::Trigger::new(queue, url);
    let expected = [
        url("a", "http://localhost:1/a"),
        url("b", "http://localhost:2/?x=y"),
        url("c.fifo", "http://localhost:3"),
        url("d", "https://[::1]:4"),
    ];
    assert_eq!(merged(&flags, file).triggers, expected);
    for malformed in ["orders", "=http://localhost:1", "orders="] {
        let arguments = ["sqs-mock-server", "--trigger", malformed];
        let error = environment::command().try_get_matches_from(arguments).unwrap_err().to_string();
        assert!(
            error.contains("allowed is QUEUE=URL, such as orders=http://localhost:8080/orders"),
            "{error}"
        );
    }
}

#[test]
fn every_flag_overrides_the_file() {
    assert_eq!(shown(&merged(&FLAGS, FILE)), shown(&merged(&FLAGS, "")));
}

#[test]
fn settings_of_the_file_apply_without_flags() {
    let mut expected = Config::parse(FILE, "sqs.toml").unwrap();
    expected.s3 = Some(S3::temporary().on_demand());
    assert_eq!(shown(&merged(&[], FILE)), shown(&expected));
}

#[test]
fn each_flag_overrides_only_its_own_setting() {
    for flag in FLAGS {
        let (alone, none, all) = (merged(&[flag], FILE), merged(&[], FILE), merged(&FLAGS, FILE));
        assert_ne!(shown(&alone), shown(&none), "{flag}");
        assert_ne!(shown(&alone), shown(&all), "{flag}");
    }
}

#[test]
fn port_and_key_have_other_defaults_in_the_binary() {
    let file = merged(&[], "");
    assert_eq!(file.port, Some(PORT));
    assert_eq!(file.keys, [("test".to_owned(), Secret::from("test"))].into());
}

#[test]
fn directory_of_s3_decides_about_its_port_and_bucket() {
    let s3 = |flags: &[&str], file: &str| merged(flags, file).s3.unwrap();
    let on_demand = || S3::temporary().on_demand();
    assert_eq!(s3(&["--s3-bucket=a,b"], ""), on_demand().bucket("a").bucket("b"));
    assert_eq!(s3(&["--s3-port=1"], "[s3]\nbuckets = ['abc']"), on_demand().port(1).bucket("abc"));
    assert_eq!(s3(&["--with-s3=d"], ""), S3::in_dir("d").port(9325));
    assert_eq!(s3(&[], "[s3]\ndirectory = 'd'\nport = 1"), S3::in_dir("d").port(1));
    assert_eq!(s3(&["--data=d"], ""), S3::in_dir("d/s3").on_demand());
    assert_eq!(s3(&["--data=d", "--with-s3=e"], ""), S3::in_dir("e").port(9325));
    assert!(!s3(&["--no-s3"], "").enabled && !s3(&[], "[s3]\nenabled = false").enabled);
    assert!(s3(&["--with-s3=d"], "[s3]\nenabled = false").enabled);
}

#[test]
fn compat_changes_the_default_port() {
    assert_eq!(merged(&["--compat=localstack"], "").port, Some(4566));
    assert_eq!(merged(&[], "compat = 'localstack'").port, Some(4566));
    assert_eq!(merged(&["--compat=localstack"], "port = 1").port, Some(1));
    assert_eq!(merged(&["--compat=localstack", "--port=2"], "port = 1").port, Some(2));
    assert_eq!(merged(&["--compat=localstack"], "").compat, Some(Compat::LocalStack));
}

#[test]
fn admin_token_of_a_flag_overrides_the_file_and_is_hidden() {
    let file = merged(&["--admin-token=flag"], "admin_token = 'file'");
    assert!(!shown(&file).contains("flag"));
    assert_eq!(file.admin_token, Some(Secret::from("flag")));
    assert_eq!(merged(&[], "admin_token = 'file'").admin_token, Some(Secret::from("file")));
}

#[test]
fn one_minute_rules_need_no_value_and_override_the_file() {
    let rules = |flags: &[&str], file| merged(flags, file).one_minute_rules;
    assert_eq!(rules(&["--one-minute-rules"], "one_minute_rules = false"), Some(true));
    assert_eq!(rules(&["--one-minute-rules=false"], "one_minute_rules = true"), Some(false));
    assert_eq!(rules(&["--strict"], "one_minute_rules = false"), Some(false));
    assert_eq!(rules(&[], ""), None);
    assert_eq!([truth("Yes"), truth("0")], [Ok(true), Ok(false)]);
    assert!(truth("maybe").is_err() && truth("").is_err());
}

#[test]
fn faults_of_flags_follow_faults_of_the_file() {
    let one = r#"--fault={"effect":"corrupt"}"#;
    let array = r#"--fault=[{"effect":"truncate"},{"effect":"omit_entries","times":2}]"#;
    let file = merged(&[one, array], "[[faults]]\neffect = 'reset_before'");
    let shown: Vec<_> =
        file.faults.iter().map(|fault| serde_json::to_value(fault).unwrap()["effect"].clone()).collect();
    assert_eq!(shown, ["reset_before", "corrupt", "truncate", "omit_entries"]);
}

#[test]
fn error_in_an_array_of_faults_names_the_position() {
    let text = faults(r#"[{"effect":"truncate"},{"effect":"latency"}]"#).unwrap_err();
    assert_eq!(text, "number 2 of the array: not a fault: missing field `latency_ms`");
    assert!(faults("[7]").unwrap_err().ends_with("it must be a JSON object"));
    assert!(faults("[").is_err() && faults("7").is_err());
}
