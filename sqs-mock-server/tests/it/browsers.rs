//! Requests of web pages. They have the headers that Chromium 142 sends to an address on the loopback
//! interface, and to one that it does not trust.

use sqs_mock_server::faults::Fault;
use sqs_mock_server::{MockSqs, MockSqsBuilder};

use crate::wire::{Answer, FORM, JSON, Wire};

const AGENT: &str = "sec-ch-ua: \"Chromium\";v=\"142\", \"Not_A Brand\";v=\"99\"\r\nsec-ch-ua-mobile: ?0\r\n\
    sec-ch-ua-platform: \"Linux\"\r\nuser-agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) \
    Chrome/142.0.0.0 Safari/537.36\r\naccept-encoding: gzip, deflate, br, zstd\r\naccept-language: en-US,en;q=0.9\r\n";
const PAGE: &str = "http://localhost:3000";
const EVIL: &str = "https://evil.example";

/// The headers of `fetch`: the origin of the page and the mode.
fn fetch(origin: &str, site: &str, mode: &str) -> String {
    format!(
        "{AGENT}accept: */*\r\norigin: {origin}\r\nsec-fetch-site: {site}\r\nsec-fetch-mode: {mode}\r\n\
         sec-fetch-dest: empty\r\nreferer: {origin}/\r\n"
    )
}

/// The headers of a link or a typed address.
fn navigation(site: &str) -> String {
    format!(
        "{AGENT}upgrade-insecure-requests: 1\r\naccept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n\
         sec-fetch-site: {site}\r\nsec-fetch-mode: navigate\r\nsec-fetch-user: ?1\r\nsec-fetch-dest: document\r\n"
    )
}

/// The headers of an image or a script of a page. Chromium omits `Sec-Fetch-*` for addresses that it does not trust.
fn image(is_trusted: bool) -> String {
    let metadata = "sec-fetch-site: cross-site\r\nsec-fetch-mode: no-cors\r\nsec-fetch-dest: image\r\n";
    let metadata = if is_trusted { metadata } else { "" };
    format!("{AGENT}accept: image/avif,image/webp,*/*;q=0.8\r\n{metadata}referer: {EVIL}/\r\n")
}

async fn start(builder: MockSqsBuilder) -> (MockSqs, Wire) {
    let server = builder.start().await.expect("a loopback port");
    let mut wire = Wire::connect(&server).await;
    assert_eq!(wire.json("CreateQueue", r#"{"QueueName":"q"}"#).await.status, 200);
    (server, wire)
}

/// Sends a request with another host than the one that the server listens on.
async fn at(wire: &mut Wire, host: &str, line: &str, headers: &str, body: &str) -> Answer {
    let length = body.len();
    let head = format!("{line} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {length}\r\n{headers}\r\n{body}");
    wire.write(head).await.expect("the server reads");
    wire.answer().await.expect("the server answers")
}

/// Calls an action in AWS JSON with additional headers.
async fn json(wire: &mut Wire, headers: &str, action: &str) -> Answer {
    let headers = format!("{headers}{JSON}x-amz-target: AmazonSQS.{action}\r\n");
    wire.exchange("POST /", &headers, br#"{"QueueName":"made"}"#).await
}

#[tokio::test]
async fn foreign_page_cannot_change_queues_by_form_or_fetch() {
    let (server, mut wire) = start(MockSqs::builder()).await;
    let delete = b"Action=DeleteQueue&QueueUrl=q";
    let text = "content-type: text/plain;charset=UTF-8\r\n";
    for (row, headers) in [
        ("form", format!("{}origin: {EVIL}\r\n{FORM}", navigation("cross-site"))),
        ("form without a referrer", format!("{}origin: null\r\n{FORM}", navigation("cross-site"))),
        ("no-cors fetch", format!("{}{text}", fetch(EVIL, "cross-site", "no-cors"))),
        ("fetch of a form", format!("{}{FORM}", fetch(EVIL, "cross-site", "cors"))),
        ("page of another port", format!("{}{FORM}", fetch(PAGE, "same-site", "no-cors"))),
        ("untrusted address", format!("{AGENT}origin: {EVIL}\r\n{FORM}")),
        ("no origin", format!("{}{FORM}", navigation("cross-site"))),
    ] {
        let answer = wire.exchange("POST /", &headers, delete).await;
        answer.refused_in_xml(403, "AccessDenied");
        assert!(answer.text().contains("--cors-origin"), "{row}: {}", answer.text());
    }
    let refused = json(&mut wire, &fetch(EVIL, "cross-site", "cors"), "CreateQueue").await;
    refused.refused_in_json(403, "AccessDeniedException", "AccessDenied");
    assert!(server.queue("q").exists() && !server.queue("made").exists());
}

#[tokio::test]
async fn foreign_page_cannot_reset_the_server_or_change_its_clock() {
    let (server, mut wire) = start(MockSqs::builder().clock_frozen()).await;
    let before = server.clock().now();
    let text = "content-type: text/plain;charset=UTF-8\r\n";
    let headers = format!("{}{text}", fetch(EVIL, "cross-site", "no-cors"));
    for (path, body) in [("/_mock/reset", ""), ("/_mock/clock", r#"{"advance":90}"#)] {
        let answer = wire.exchange(&format!("POST {path}"), &headers, body.as_bytes()).await;
        let expected = "Pages of https://evil.example cannot use this server; --cors-origin https://evil.example allows them.";
        assert_eq!(answer.error(403), expected);
    }
    assert!(server.queue("q").exists());
    assert_eq!(server.clock().now(), before);
}

#[tokio::test]
async fn page_cannot_change_anything_by_get() {
    let (server, mut wire) = start(MockSqs::builder()).await;
    let (foreign, browser) = ("--cors-origin", "use POST");
    for (row, headers, text) in [
        ("image", image(true), foreign),
        ("image at an untrusted address", image(false), browser),
        ("link", navigation("cross-site"), foreign),
        ("address bar", navigation("none"), browser),
        ("cors fetch", fetch(EVIL, "cross-site", "cors"), foreign),
    ] {
        for target in ["/?Action=DeleteQueue&QueueUrl=q", "/000000000000/q?Action=ReceiveMessage"] {
            let answer = wire.exchange(&format!("GET {target}"), &headers, b"").await;
            answer.refused_in_xml(403, "AccessDenied");
            assert!(answer.text().contains(text), "{row}: {}", answer.text());
        }
    }
    assert!(server.queue("q").exists());
    let look = wire.exchange("GET /?Action=ListQueues", &navigation("none"), b"").await;
    assert_eq!(look.status, 200, "reads are allowed");
}

/// A read changes no queue, but it would be recorded, and use up a fault.
#[tokio::test]
async fn foreign_page_cannot_use_up_a_fault_by_get() {
    let (server, mut wire) = start(MockSqs::builder()).await;
    let fault = server.faults().inject(Fault::throttle().times(1));
    for headers in [image(true), fetch(EVIL, "cross-site", "cors"), navigation("cross-site")] {
        let answer = wire.exchange("GET /?Action=ListQueues", &headers, b"").await;
        answer.refused_in_xml(403, "AccessDenied");
    }
    assert_eq!(fault.hits(), 0);
    let from_address_bar = wire.exchange("GET /?Action=ListQueues", &navigation("none"), b"").await;
    from_address_bar.refused_in_xml(403, "RequestThrottled");
}

#[tokio::test]
async fn page_cannot_create_queues_by_using_them() {
    let (server, mut wire) = start(MockSqs::builder().auto_create()).await;
    for action in ["GetQueueUrl&QueueName=made", "GetQueueAttributes&QueueUrl=made"] {
        let answer = wire.exchange(&format!("GET /?Action={action}"), &image(true), b"").await;
        answer.refused_in_xml(403, "AccessDenied");
    }
    assert!(!server.queue("made").exists());
}

#[tokio::test]
async fn page_after_dns_rebinding_can_neither_read_nor_change_anything() {
    let (server, mut wire) = start(MockSqs::builder()).await;
    // Same origin for the browser, which sends no Sec-Fetch headers to untrusted http addresses.
    let host = "evil.example:9324";
    for path in ["/_mock", "/_mock/messages?queue=q", "/_aws/sqs/messages?QueueUrl=q", "/metrics"] {
        let answer = at(&mut wire, host, &format!("GET {path}"), AGENT, "").await;
        let expected = "The host \"evil.example\" is not allowed here; --allow-host evil.example allows it.";
        assert_eq!(answer.error(403), expected, "{path}");
    }
    // Firefox lets a page of the same origin set the user agent.
    let answer = at(&mut wire, host, "GET /?Action=ListQueues", "user-agent: curl/8.5.0\r\n", "").await;
    answer.refused_in_xml(403, "AccessDenied");
    let origin = format!("{AGENT}origin: http://{host}\r\n");
    let list = format!("{origin}{JSON}x-amz-target: AmazonSQS.ListQueues\r\n");
    at(&mut wire, host, "POST /", &list, "{}").await.refused_in_json(
        403,
        "AccessDeniedException",
        "AccessDenied",
    );
    assert_eq!(at(&mut wire, host, "POST /_mock/reset", &origin, "").await.status, 403);
    assert!(server.queue("q").exists());
}

#[tokio::test]
async fn page_of_the_server_itself_is_allowed_everything() {
    let (server, mut wire) = start(MockSqs::builder()).await;
    let own = server.endpoint_url().to_owned();
    let headers = fetch(&own, "same-origin", "cors");
    assert_eq!(json(&mut wire, &headers, "CreateQueue").await.status, 200);
    let port = own.rsplit(':').next().unwrap();
    let origin = fetch(&format!("http://localhost:{port}"), "same-origin", "cors");
    let answer = at(&mut wire, &format!("localhost:{port}"), "POST /_mock/reset", &origin, "").await;
    answer.content(200);
}

#[tokio::test]
async fn programs_can_use_any_private_name_without_settings() {
    let (_server, mut wire) = start(MockSqs::builder()).await;
    let boto3 = "user-agent: Boto3/1.40.1 md/Botocore#1.40.1 ua/2.1 os/linux lang/python#3.13\r\naccept-encoding: identity\r\n";
    let rust = "user-agent: aws-sdk-rust/1.3.9 os/linux lang/rust/1.95\r\n";
    let node = "user-agent: node\r\naccept-language: *\r\nsec-fetch-mode: cors\r\n";
    let power_shell =
        "user-agent: Mozilla/5.0 (Windows NT 10.0; Microsoft Windows 10.0.26100; en-US) PowerShell/7.5.0\r\n";
    let target = format!("{JSON}x-amz-target: AmazonSQS.ListQueues\r\n");
    for host in
        ["sqs:9324", "sqs.example.com", "sqs.us-east-1.amazonaws.com", "sqs.ns.svc.cluster.local:9324"]
    {
        for agent in [boto3, rust, node, power_shell] {
            let answer = at(&mut wire, host, "POST /", &format!("{agent}{target}"), "{}").await;
            assert_eq!(answer.status, 200, "{host} {agent}");
        }
    }
    let curl = "user-agent: curl/8.5.0\r\naccept: */*\r\n";
    for host in [
        "127.0.0.1:9324",
        "[::1]:9324",
        "192.168.1.7:9324",
        "localhost:9324",
        "LOCALHOST.:9324",
        "sqs.eu-west-1.localhost:9324",
        "sqs:9324",
        "host.docker.internal:9324",
        "sqs.ns.svc.cluster.local",
    ] {
        for agent in [curl, node, power_shell, ""] {
            let answer = at(&mut wire, host, "GET /?Action=CreateQueue&QueueName=made", agent, "").await;
            assert_eq!(answer.status, 200, "{host} {agent}");
            assert_eq!(at(&mut wire, host, "GET /_mock", agent, "").await.status, 200, "{host} {agent}");
        }
    }
    assert_eq!(at(&mut wire, "sqs.example.com", "GET /health", curl, "").await.status, 200);
}

#[tokio::test]
async fn allowed_host_is_accepted_with_its_subdomains() {
    let builder =
        MockSqs::builder().allow_host("Dev.Example.com").public_url("http://public.example.com/sqs");
    let (_server, mut wire) = start(builder).await;
    for (host, status) in [
        ("dev.example.com:9324", 200),
        ("sqs.eu-west-1.dev.example.com", 200),
        ("public.example.com", 200),
        ("example.com", 403),
        ("evildev.example.com", 403),
        ("dev.example.com.evil.example", 403),
    ] {
        assert_eq!(at(&mut wire, host, "GET /_mock", "", "").await.status, status, "{host}");
        assert_eq!(at(&mut wire, host, "GET /?Action=ListQueues", "", "").await.status, status, "{host}");
    }
}

#[tokio::test]
async fn listed_page_gets_the_cors_headers_that_the_sdk_needs() {
    let (_server, mut wire) = start(MockSqs::builder().cors_origin(PAGE)).await;
    let asked = "amz-sdk-invocation-id,amz-sdk-request,authorization,content-type,x-amz-date,x-amz-target,\
        x-amz-user-agent,x-amzn-query-mode";
    let preflight = format!(
        "{AGENT}accept: */*\r\norigin: {PAGE}\r\naccess-control-request-method: POST\r\naccess-control-request-headers: \
         {asked}\r\naccess-control-request-private-network: true\r\nsec-fetch-mode: cors\r\nsec-fetch-site: same-site\r\n"
    );
    let answer = wire.exchange("OPTIONS /", &preflight, b"").await;
    assert_eq!(answer.status, 204);
    for (name, value) in [
        ("access-control-allow-origin", PAGE),
        ("access-control-allow-methods", "GET, HEAD, POST, PUT, DELETE"),
        ("access-control-allow-headers", asked),
        ("access-control-allow-private-network", "true"),
        ("access-control-max-age", "7200"),
    ] {
        assert_eq!(answer.header(name), value, "{name}");
    }
    let headers = fetch(PAGE, "same-site", "cors");
    let done = json(&mut wire, &headers, "CreateQueue").await;
    let refused = json(&mut wire, &headers, "DeleteQueue").await;
    let admin = wire.exchange("GET /_mock/queues", &headers, b"").await;
    for (answer, status) in [(done, 200), (refused, 400), (admin, 200)] {
        assert_eq!(answer.status, status, "{}", answer.text());
        assert_eq!(answer.header("access-control-allow-origin"), PAGE);
        assert_eq!(answer.header("vary"), "origin");
        assert_eq!(answer.header("access-control-expose-headers"), "*");
    }
}

#[tokio::test]
async fn unlisted_page_cannot_read_responses() {
    let (_server, mut wire) = start(MockSqs::builder().cors_origin(PAGE)).await;
    let preflight = format!("{AGENT}origin: {EVIL}\r\naccess-control-request-method: POST\r\n");
    let answer = wire.exchange("OPTIONS /_mock/reset", &preflight, b"").await;
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (403, ""));
    let read = wire.exchange("GET /_mock/queues", &fetch(EVIL, "cross-site", "cors"), b"").await;
    assert_eq!((read.header("access-control-allow-origin"), read.header("vary")), ("", "origin"));
    let refused =
        wire.exchange("POST /_mock/reset", &fetch("http://localhost:30001", "same-site", "cors"), b"").await;
    assert_eq!(refused.status, 403);
}

#[tokio::test]
async fn admin_token_is_required_if_it_is_set() {
    let (server, mut wire) = start(MockSqs::builder().admin_token("hush")).await;
    for headers in
        ["", "authorization: Bearer wrong\r\n", "authorization: Basic hush\r\n", "authorization: hush\r\n"]
    {
        for line in ["GET /_mock", "POST /_mock/reset", "GET /_aws/sqs/messages?QueueUrl=q"] {
            let answer = wire.exchange(line, headers, b"").await;
            assert_eq!(
                answer.error(401),
                "the header `Authorization: Bearer` with the admin token is required"
            );
            assert_eq!(answer.header("www-authenticate"), "Bearer");
        }
    }
    assert!(server.queue("q").exists());
    for line in ["GET /health", "GET /metrics", "GET /?Action=ListQueues"] {
        assert_eq!(wire.exchange(line, "", b"").await.status, 200, "{line}");
    }
    let answer = wire.exchange("POST /_mock/reset", "authorization: bearer hush\r\n", b"").await;
    answer.content(200);
    for headers in
        ["authorization: Bearer hush\r\n", "x-sqs-mock-token: hush\r\nauthorization: AWS4-HMAC-SHA256 x\r\n"]
    {
        assert_eq!(wire.exchange("GET /_mock", headers, b"").await.status, 200, "{headers}");
    }
    assert!(!format!("{:?}", MockSqs::builder().admin_token("hush")).contains("hush"));
}
