//! What a process leaves behind, and what it says.

use super::*;

fn places() -> Places<'static> {
    Places { directory: Path::new("/"), temporary: Path::new("/nowhere") }
}

async fn shell(script: &str) -> Ended {
    let words = ["sh", "-c", script].map(str::to_owned);
    run(&words, places(), &mut Stop::new().unwrap()).await.unwrap()
}

#[tokio::test]
async fn output_is_kept_apart_by_stream() {
    let ended = shell("echo table; echo progress >&2; exit 3").await;
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("table\n", "progress\n"));
    assert_eq!(ended.status.and_then(|status| status.code()), Some(3));
}

#[tokio::test]
async fn output_is_kept_up_to_its_bound() {
    let mut kept = Vec::new();
    pass(vec![7; MOST + 1000].as_slice(), std::io::sink(), &mut kept).await;
    assert_eq!(kept.len(), MOST);
}

#[tokio::test]
async fn programs_that_there_are_not_are_named() {
    let words = ["no-such-program".to_owned()];
    let error = run(&words, places(), &mut Stop::new().unwrap()).await.unwrap_err();
    assert!(error.to_string().starts_with("cannot run no-such-program: "), "{error}");
}

#[tokio::test]
async fn a_group_that_is_told_to_end_does_so_with_what_it_has_started() {
    let mut command = Command::new("sh");
    command.args(["-c", "sleep 1000 & echo $!; wait"]).process_group(0).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut line = [0; 32];
    assert_ne!(stdout.read(&mut line).await.unwrap(), 0);
    let group = child.id();
    end(&mut child, group).await.unwrap();
    // The grandchild held the other end of the pipe: it is gone when that is closed.
    let closed = tokio::time::timeout(GRACE, stdout.read(&mut line)).await;
    assert_eq!(closed.expect("what it has started still runs").unwrap(), 0);
}

#[tokio::test]
async fn what_outlives_its_parent_ends_with_it() {
    let ended = shell("sleep 1000 & echo table").await;
    assert_eq!(ended.stdout, "table\n");
    assert!(ended.status.is_some_and(|status| status.success()));
}

#[tokio::test]
async fn temporary_files_have_a_place() {
    assert_eq!(shell("echo $TMPDIR").await.stdout, "/nowhere\n");
}
