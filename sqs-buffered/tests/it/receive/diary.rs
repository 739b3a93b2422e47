//! A log of handlers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use sqs_client::types::MessageSystemAttributeName;

/// The starts and ends of handlers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Diary(Arc<Mutex<Pages>>);

#[derive(Debug, Default)]
struct Pages {
    /// In order of time.
    starts: Vec<Start>,
    running: BTreeMap<String, u32>,
    /// The ids of messages whose handlers ran at the same time.
    overlapping: BTreeSet<String>,
    most_running: usize,
}

/// Notes the start of a handler.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    group: String,
    pub(crate) body: String,
    /// Whether this start ended with success.
    pub(crate) is_acked: bool,
}

/// Notes the end of a handler when it is dropped, however the handler ends.
pub(crate) struct Page {
    diary: Diary,
    id: String,
    start: usize,
}

impl Page {
    pub(crate) fn acked(&self) {
        self.diary.0.lock().unwrap().starts[self.start].is_acked = true;
    }
}

impl Diary {
    pub(crate) fn start(&self, message: &sqs_client::types::Message) -> Page {
        let id = message.message_id().unwrap_or_default().to_owned();
        let group = message.attributes().and_then(|all| all.get(&MessageSystemAttributeName::MessageGroupId));
        let mut pages = self.0.lock().unwrap();
        let (group, body) =
            (group.cloned().unwrap_or_default(), message.body().unwrap_or_default().to_owned());
        pages.starts.push(Start { group, body, is_acked: false });
        let count = pages.running.entry(id.clone()).or_default();
        *count += 1;
        if *count > 1 {
            pages.overlapping.insert(id.clone());
        }
        let running: u32 = pages.running.values().sum();
        pages.most_running = pages.most_running.max(running as usize);
        Page { diary: self.clone(), id, start: pages.starts.len() - 1 }
    }

    pub(crate) fn bodies(&self) -> Vec<String> {
        self.0.lock().unwrap().starts.iter().map(|start| start.body.clone()).collect()
    }

    pub(crate) fn of_group(&self, group: &str) -> Vec<String> {
        self.starts_of(group).into_iter().map(|start| start.body).collect()
    }

    pub(crate) fn starts_of(&self, group: &str) -> Vec<Start> {
        let pages = self.0.lock().unwrap();
        pages.starts.iter().filter(|start| start.group == group).cloned().collect()
    }

    pub(crate) fn overlapping(&self) -> BTreeSet<String> {
        self.0.lock().unwrap().overlapping.clone()
    }

    pub(crate) fn most_running(&self) -> usize {
        self.0.lock().unwrap().most_running
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        if let Some(count) = self.diary.0.lock().unwrap().running.get_mut(&self.id) {
            *count -= 1;
        }
    }
}
