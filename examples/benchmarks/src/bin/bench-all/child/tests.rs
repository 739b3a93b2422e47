//! Tests of captured output and of leftover processes.

use super::*;

fn directories() -> Directories<'static> {
    Directories { working: Path::new("/"), temporary: Path::new("/nowhere") }
}

async fn shell(script: &str) -> Output {
    let command_line = ["sh", "-c", script].map(str::to_owned);
    run(&command_line, directories(), &mut StopSignal::new().unwrap()).await.unwrap()
}

#[tokio::test]
async fn output_streams_are_captured_separately() {
    let output = shell("echo table; echo progress >&2; exit 3").await;
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("table\n", "progress\n"));
    assert_eq!(output.status.and_then(|status| status.code()), Some(3));
}

#[tokio::test]
async fn captured_output_is_bounded() {
    let mut captured = Vec::new();
    tee(vec![7; MAX_CAPTURE + 1000].as_slice(), std::io::sink(), &mut captured).await;
    assert_eq!(captured.len(), MAX_CAPTURE);
}

#[tokio::test]
async fn missing_program_is_named_in_the_error() {
    let command_line = ["no-such-program".to_owned()];
    let error = run(&command_line, directories(), &mut StopSignal::new().unwrap()).await.unwrap_err();
    assert!(error.to_string().starts_with("cannot run no-such-program: "), "{error}");
}

#[tokio::test]
async fn stopped_group_ends_with_its_child_processes() {
    let mut command = Command::new("sh");
    command.args(["-c", "sleep 1000 & echo $!; wait"]).process_group(0).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut line = [0; 32];
    assert_ne!(stdout.read(&mut line).await.unwrap(), 0);
    let group = child.id();
    end(&mut child, group).await.unwrap();
    // The grandchild holds the other end of the pipe, which closes when it ends.
    let closed = tokio::time::timeout(GRACE, stdout.read(&mut line)).await;
    assert_eq!(closed.expect("the grandchild still runs").unwrap(), 0);
}

#[tokio::test]
async fn leftover_process_ends_with_its_parent() {
    let output = shell("sleep 1000 & echo table").await;
    assert_eq!(output.stdout, "table\n");
    assert!(output.status.is_some_and(|status| status.success()));
}

#[tokio::test]
async fn child_gets_the_temporary_directory() {
    assert_eq!(shell("echo $TMPDIR").await.stdout, "/nowhere\n");
}
