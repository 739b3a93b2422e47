//! Profile files and their errors.

use sqs_client::config::credentials::ProfileCredentials;

use super::rig::*;

const ROLE: &str = "role_arn = arn:aws:iam::1:role/r";

fn provider(world: &World) -> ProfileCredentials {
    ProfileCredentials::new(world.environment())
}

fn keys(key: &str) -> String {
    format!("aws_access_key_id = {key}\naws_secret_access_key = {SECRET}\n")
}

#[tokio::test]
async fn keys_are_read_from_both_files_and_the_credentials_file_wins() {
    let world = World::new().file(".aws/config", &format!("[default]\n{}", keys("AKCONFIG")));
    assert_eq!(given(&provider(&world)).await.access_key_id(), "AKCONFIG");
    world.write(".aws/credentials", &format!("[default]\n{}aws_session_token = T\n", keys("AKCRED")));
    let credentials = given(&provider(&world)).await;
    assert_eq!((credentials.access_key_id(), credentials.session_token()), ("AKCRED", Some("T")));
}

#[tokio::test]
async fn profile_is_selected_by_variable_or_in_code() {
    let world = World::new().with("AWS_PROFILE", "orders").file(
        ".aws/config",
        &format!(
            "[default]\n{}[profile orders]\n{}[profile bills]\n{}",
            keys("AK0"),
            keys("AK1"),
            keys("AK2")
        ),
    );
    assert_eq!(given(&provider(&world)).await.access_key_id(), "AK1");
    let bills = ProfileCredentials::new(world.environment().profile("bills"));
    assert_eq!(given(&bills).await.access_key_id(), "AK2");
}

#[tokio::test]
async fn file_paths_can_be_configured_relative_to_home() {
    let world = World::new().file("here/config", "[default]\nregion = x\n").file("here/keys", "[default]\n");
    world.set("AWS_CONFIG_FILE", "~/here/config");
    world.set("AWS_SHARED_CREDENTIALS_FILE", &world.path("here/keys").display().to_string());
    assert_contains(&skipped(&provider(&world)).await, &["profile \"default\" has no credentials"]);
    world.write("here/keys", &format!("[default]\n{}", keys("AK")));
    assert_eq!(given(&provider(&world)).await.access_key_id(), "AK");
    world.set("AWS_CONFIG_FILE", "/dev/null");
    assert_eq!(given(&provider(&world)).await.access_key_id(), "AK");
}

#[tokio::test]
async fn missing_default_profile_is_skipped_and_missing_named_profile_is_an_error() {
    let world = World::new();
    let text = skipped(&provider(&world)).await;
    assert_contains(&text, &["profile \"default\" is not in", ".aws/config"]);
    world.write(".aws/config", &format!("[profile bills]\n{}[profile stock]\n", keys("AK")));
    world.set("AWS_PROFILE", "orders");
    let text = invalid(&provider(&world)).await;
    assert_contains(&text, &["\"orders\"", ".aws/config or ", ".aws/credentials", "bills, stock"]);
}

#[tokio::test]
async fn error_names_unreadable_file_and_next_call_reads_the_fixed_one() {
    let world = World::new();
    std::fs::create_dir_all(world.path(".aws/config")).expect("made");
    assert_contains(&invalid(&provider(&world)).await, &[".aws/config cannot be read", "not a regular file"]);
    std::fs::remove_dir(world.path(".aws/config")).expect("removed");
    std::fs::write(world.path(".aws/config"), b"[default]\n\xff\xfe\n").expect("written");
    assert_contains(&invalid(&provider(&world)).await, &[".aws/config:2: the line is not UTF-8 text"]);
    world.write(".aws/config", &"#".repeat(1_048_577));
    assert_contains(&invalid(&provider(&world)).await, &["longer than 1048576 bytes"]);
    world.write(".aws/config", &format!("[default]\n{}", keys("AK")));
    assert_eq!(given(&provider(&world)).await.access_key_id(), "AK");
}

#[cfg(unix)]
#[tokio::test]
async fn pipe_instead_of_a_file_is_rejected_without_hanging() {
    let world = World::new();
    let pipe = world.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
    assert!(made.success());
    world.set("AWS_CONFIG_FILE", &pipe.display().to_string());
    assert_contains(&invalid(&provider(&world)).await, &["pipe cannot be read", "not a regular file"]);
}

#[tokio::test]
async fn error_of_malformed_line_has_its_number_and_no_quote() {
    let world =
        World::new().file(".aws/credentials", &format!("[default]\n\naws_secret_access_key {SECRET}\n"));
    let text = invalid(&provider(&world)).await;
    assert_contains(&text, &[".aws/credentials:3: expected a setting: key = value"]);
}

#[tokio::test]
async fn error_of_invalid_profile_setting_names_what_is_allowed() {
    let cases: [(&str, &[&str]); 12] = [
        (
            &format!("{ROLE}\nsource_profile = default2"),
            &["config:3: source_profile", "\"default2\" is not in"],
        ),
        (&format!("{ROLE}\n"), &["config:2: role_arn requires source_profile, credential_source or web"]),
        (
            &format!("{ROLE}\nsource_profile = b\ncredential_source = Environment"),
            &["config:3", "config:4", "cannot be combined"],
        ),
        (&format!("{ROLE}\nsource_profile = b\nmfa_serial = arn"), &["config:4: mfa_serial", "MFA"]),
        (
            &format!("{ROLE}\nsource_profile = b\nduration_seconds = 10"),
            &["config:4: duration_seconds=\"10\"", "900 to 43200"],
        ),
        (
            &format!("{ROLE}\nsource_profile = b\nduration_seconds = soon"),
            &["config:4: duration_seconds=\"soon\"", "900 to 43200"],
        ),
        ("sso_session = corp", &["config:2: sso_session", "SSO", "feature `aws-config`"]),
        ("sso_start_url = https://x\nsso_account_id = 1", &["SSO", "feature `aws-config`"]),
        ("aws_access_key_id = AK", &["config:2: aws_access_key_id", "requires both"]),
        (&format!("aws_secret_access_key = {SECRET}"), &["config:2: aws_secret_access_key", "requires both"]),
        ("web_identity_token_file = /t", &["config:2: web_identity_token_file requires role_arn"]),
        ("credential_source = Moon", &["config:2: credential_source=\"Moon\"", "Environment, EcsContainer"]),
    ];
    for (lines, expected) in cases {
        let world =
            World::new().file(".aws/config", &format!("[default]\n{lines}\n[profile b]\n{}", keys("AK")));
        assert_contains(&invalid(&provider(&world)).await, expected);
    }
}

#[tokio::test]
async fn credential_source_and_mfa_serial_work_without_a_role() {
    let world = World::new().file(".aws/config", "[default]\ncredential_source = Environment\n");
    world.set("AWS_ACCESS_KEY_ID", "AKVAR");
    world.set("AWS_SECRET_ACCESS_KEY", SECRET);
    assert_eq!(given(&provider(&world)).await.access_key_id(), "AKVAR");
    world.write(".aws/config", &format!("[default]\nmfa_serial = arn\n{}", keys("AK")));
    assert_eq!(given(&provider(&world)).await.access_key_id(), "AK");
}

#[tokio::test]
async fn source_profile_loop_is_an_error() {
    let world = World::new().file(
        ".aws/config",
        &format!(
            "[default]\n{ROLE}\nsource_profile = b\n[profile b]\n{ROLE}\nsource_profile = c\n\
             [profile c]\n{ROLE}\nsource_profile = b\n"
        ),
    );
    let text = invalid(&provider(&world)).await;
    assert_contains(&text, &["config:9: source_profile", "default -> b -> c -> b"]);
}

#[tokio::test]
async fn source_profile_without_credentials_is_an_error() {
    let world = World::new()
        .file(".aws/config", &format!("[default]\n{ROLE}\nsource_profile = b\n[profile b]\nregion = x\n"));
    assert_contains(&invalid(&provider(&world)).await, &["profile \"b\" is the source profile of a role"]);
}
