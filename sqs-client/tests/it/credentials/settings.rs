//! Profile settings: precedence, and errors of invalid ones.

use sqs_client::config::retry::RetryMode;
use sqs_client::config::{Builder, Config, ConfigError};

use super::rig::*;

fn built(world: &World) -> Result<Config, ConfigError> {
    Builder::from_environment(world.environment()).map(Builder::build)
}

fn region(config: &Config) -> Option<&str> {
    config.region().map(AsRef::as_ref)
}

const PROFILE: &str =
    "[default]\nregion = eu-west-3\nmax_attempts = 7\nretry_mode = adaptive\nsdk_ua_app_id = orders\n";

#[test]
fn profile_settings_apply_and_variables_override_them() {
    let world = World::new().file(".aws/config", PROFILE);
    let config = built(&world).expect("valid");
    let retry = config.retry_config().expect("set");
    assert_eq!((retry.max_attempts(), retry.mode()), (7, RetryMode::Adaptive));
    assert_eq!(region(&config), Some("eu-west-3"));
    assert_eq!(config.app_name().map(AsRef::as_ref), Some("orders"));
    let world = world.with("AWS_DEFAULT_REGION", "eu-west-1").with("AWS_MAX_ATTEMPTS", "2");
    let config = built(&world).expect("valid");
    assert_eq!(region(&config), Some("eu-west-1"));
    assert_eq!(config.retry_config().expect("set").max_attempts(), 2);
}

#[test]
fn more_specific_endpoint_url_overrides_general_one() {
    let world = World::new().file(
        ".aws/config",
        "[default]\nservices = local\nendpoint_url = http://all\n\
         [services local]\nsqs =\n  endpoint_url = http://sqs\ns3 =\n  endpoint_url = http://s3\n",
    );
    let url = |world: &World| built(world).expect("valid").endpoint_url().map(str::to_owned);
    assert_eq!(url(&world).as_deref(), Some("http://sqs"));
    world.set("AWS_ENDPOINT_URL", "http://variable");
    assert_eq!(url(&world).as_deref(), Some("http://variable"));
    world.set("AWS_ENDPOINT_URL_SQS", "http://variable-sqs");
    assert_eq!(url(&world).as_deref(), Some("http://variable-sqs"));
    world.set("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true");
    assert_eq!(url(&world), None);
    let world = World::new().file(".aws/config", "[default]\nendpoint_url = http://all\n");
    assert_eq!(url(&world).as_deref(), Some("http://all"));
    world.write(
        ".aws/config",
        "[default]\nendpoint_url = http://all\nignore_configured_endpoint_urls = true\n",
    );
    assert_eq!(url(&world), None);
}

#[test]
fn error_of_invalid_setting_has_file_line_value_and_what_is_allowed() {
    for (line, allowed) in [
        ("max_attempts = 0", "a whole number from 1"),
        ("retry_mode = wild", "standard or adaptive"),
        ("use_fips_endpoint = yes", "true or false"),
        ("use_dualstack_endpoint = 1", "true or false"),
        ("ignore_configured_endpoint_urls = no", "true or false"),
        ("sdk_ua_app_id = two words", "letters, digits"),
    ] {
        let world = World::new().file(".aws/config", &format!("[default]\n\n{line}\n"));
        let (key, value) = line.split_once(" = ").expect("a setting");
        let error = built(&world).expect_err("invalid");
        let place = format!(".aws/config:3: {key}={value:?}");
        assert_contains(&error.clone().to_string(), &[&place, allowed]);
    }
}

#[test]
fn unknown_profile_and_invalid_file_are_errors_when_building() {
    let world = World::new().with("AWS_PROFILE", "orders");
    assert_contains(&built(&world).expect_err("unknown").to_string(), &["profile \"orders\" is not in"]);
    let world = World::new().file(".aws/config", "region = x\n");
    let text = built(&world).expect_err("malformed").to_string();
    assert_contains(&text, &[".aws/config:1: expected a section"]);
}

#[test]
fn fips_and_dual_stack_settings_of_the_profile_apply() {
    let world = World::new().file(
        ".aws/config",
        "[default]\nregion=us-east-1\nuse_fips_endpoint=true\nuse_dualstack_endpoint=true\n",
    );
    let shown = format!("{:?}", built(&world).expect("valid"));
    assert_contains(&shown, &["use_fips: true", "use_dual_stack: true"]);
}

#[tokio::test]
async fn request_is_signed_for_the_region_of_an_aws_endpoint() {
    use wiremock::matchers::header_regex;
    use wiremock::{Mock, MockServer};

    let server = MockServer::start().await;
    for (url, configured, signed) in [
        ("https://sqs.eu-west-1.amazonaws.com", "", "eu-west-1"),
        ("https://vpce-0a1b.sqs.eu-central-1.vpce.amazonaws.com", "", "eu-central-1"),
        ("https://queue.amazonaws.com", "", "us-east-1"),
        ("https://sqs.eu-west-1.amazonaws.com", "eu-west-2", "eu-west-2"),
        ("http://localhost:9324", "", "us-east-1"),
    ] {
        let scope = header_regex("authorization", &format!("Credential=AK/[0-9]{{8}}/{signed}/sqs/"));
        Mock::given(scope).respond_with(crate::service::accepted()).expect(1).mount(&server).await;
        let world = World::new()
            .with("AWS_ACCESS_KEY_ID", "AK")
            .with("AWS_SECRET_ACCESS_KEY", SECRET)
            .with("AWS_ENDPOINT_URL_SQS", url)
            .with("AWS_REGION", configured);
        let config = Builder::from_environment(world.environment()).expect("valid");
        let client = sqs_client::Client::from_conf(config.transport(Rerouted::to(&server.uri())).build());
        let send = client.send_message().queue_url(crate::service::QUEUE).message_body(crate::service::HELLO);
        send.send().await.expect("accepted");
        server.verify().await;
        server.reset().await;
    }
}

#[tokio::test]
async fn password_of_a_url_is_not_shown() {
    let url = format!("http://user:{SECRET}@localhost:1");
    let world = World::new().with("AWS_ENDPOINT_URL_SQS", &url);
    let refused = Builder::from_environment(world.environment()).expect_err("no passwords in URLs");
    let builder = Builder::default().endpoint_url(url);
    let client = sqs_client::Client::from_conf(builder.clone().build());
    let error = client.list_queues().send().await.expect_err("invalid");
    for shown in [
        format!("{refused} {refused:?}"),
        format!("{error} {error:?}"),
        format!("{builder:?} {client:?} {:?}", client.config()),
    ] {
        assert!(!shown.contains(SECRET) && shown.contains("http://***@localhost:1"), "{shown}");
    }
}

#[test]
fn error_for_an_invalid_endpoint_url_names_its_place() {
    let world = World::new().file(".aws/config", "[default]\nendpoint_url = localhost:9324\n");
    let text = built(&world).expect_err("no scheme").to_string();
    assert_contains(&text, &["/.aws/config:2: endpoint_url", "\"localhost:9324\"", "http://localhost:9324"]);
}

#[test]
fn home_that_cannot_be_entered_has_no_files_but_a_named_file_must_be_readable() {
    let world = World::new().with("HOME", "/dev/null").with("AWS_REGION", "eu-west-1");
    assert_eq!(region(&built(&world).expect("no files")), Some("eu-west-1"));
    for name in ["AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"] {
        world.set(name, "/dev/null/named");
        let text = built(&world).expect_err("not readable").to_string();
        assert_contains(&text, &["/dev/null/named cannot be read"]);
        world.set(name, "");
    }
    let world = World::new();
    std::fs::create_dir_all(world.path(".aws/config")).expect("made");
    assert_contains(&built(&world).expect_err("a folder").to_string(), &["not a regular file"]);
}

#[test]
fn region_of_a_source_profile_is_used_if_the_profile_has_none() {
    let role = "[default]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = a\n";
    for (profiles, expected) in [
        ("[profile a]\nregion = eu-west-3\n", Some("eu-west-3")),
        ("[profile a]\nsource_profile = b\n[profile b]\nregion = eu-west-2\n", Some("eu-west-2")),
        ("[profile a]\nsource_profile = default\n", None),
        ("[profile a]\nsource_profile = a\n", None),
        ("", None),
    ] {
        let world = World::new().file(".aws/config", &format!("{role}{profiles}"));
        assert_eq!(region(&built(&world).expect("valid")), expected, "{profiles}");
        world.set("AWS_DEFAULT_REGION", "eu-west-1");
        assert_eq!(region(&built(&world).expect("valid")), Some("eu-west-1"), "{profiles}");
    }
}
