//! Routing and errors of the admin API, over sockets and in process.

use http::{Request, StatusCode};
use serde_json::Value;
use sqs_client::transport::Transport as _;
use sqs_mock_server::MockSqs;

use crate::wire::{Answer, Wire};

impl Answer {
    /// The JSON body of a response with this status.
    pub(crate) fn content(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.header("content-type"), "application/json");
        serde_json::from_slice(&self.body).expect("admin responses are JSON")
    }

    /// The error text of a response with this status.
    pub(crate) fn error(&self, status: u16) -> String {
        self.content(status)["error"].as_str().expect("errors have a text").to_owned()
    }
}

#[tokio::test]
async fn health_and_index_are_the_same_with_and_without_a_socket() {
    let server = MockSqs::builder().seed(7).start().await.unwrap();
    let mut wire = Wire::connect(&server).await;
    for path in ["/health", "/_mock"] {
        let over_socket = wire.get(path).await;
        let request = Request::get(format!("http://mock{path}")).body(bytes::Bytes::new()).unwrap();
        let in_process = server.transport().send(request).await.unwrap();
        assert_eq!(in_process.status(), StatusCode::OK);
        assert_eq!(over_socket.body, in_process.into_body());
    }
    let index = wire.get("/_mock").await.content(200);
    assert_eq!(index["seed"], "0x7");
    assert_eq!((&index["region"], &index["account"]), (&"us-east-1".into(), &"000000000000".into()));
    let routes = index["routes"].as_array().unwrap();
    assert!(routes.iter().any(|route| route["path"] == "/health" && route["method"] == "GET"), "{index}");
}

#[tokio::test]
async fn error_for_unknown_path_method_or_parameter_lists_allowed_values() {
    let (_server, mut wire) = Wire::with_queue().await;
    let answer = wire.get("/_mock/colour").await;
    assert_eq!(answer.error(404), "unknown path /_mock/colour; GET /_mock lists all paths");
    let answer = wire.exchange("POST /health", "", b"").await;
    assert_eq!(answer.error(405), "POST is not allowed here; allowed: GET");
    assert_eq!(answer.header("allow"), "GET");
    let answer = wire.get("/_mock?verbose=1").await;
    assert_eq!(answer.error(400), "unknown parameter \"verbose\"; allowed: none");
}

#[tokio::test]
async fn paths_with_a_similar_prefix_belong_to_sqs() {
    let (_server, mut wire) = Wire::with_queue().await;
    for path in ["/_mocking", "/healthy", "/_", "/_awsome"] {
        assert_eq!(wire.get(path).await.text(), "<UnknownOperationException/>\n", "{path}");
    }
}

#[tokio::test]
async fn health_and_admin_need_no_signature_even_if_sqs_does() {
    let server = MockSqs::builder().require_signatures([("AKID", "secret")]).start().await.unwrap();
    let mut wire = Wire::connect(&server).await;
    assert_eq!(wire.get("/?Action=ListQueues").await.status, 403);
    assert_eq!(wire.get("/health").await.status, 200);
    assert_eq!(wire.get("/_mock").await.status, 200);
}
