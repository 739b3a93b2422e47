//! The tasks of a receiver, and the channel of its messages.

use std::sync::Arc;
use std::task::{Context, Poll};

use sqs_client::client::Execute;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::delivery::Delivery;
use super::error::ReceiveError;
use super::pause::PollPace;
use super::poll::Terms;
use super::pump::{Pump, give_back};
use super::settings::Settings;
use super::visibility::visibility_seconds;
use crate::consume::credit::SharedCredits;
use crate::consume::lease::renew_leases;
use crate::consume::lease::{Leases, Schedule};
use crate::consume::observe::{Observer, ReceiveStats};
use crate::consume::source::Source;
use crate::consume::stop::Stop;

/// The tasks of a receiver, and the channel of its messages. When it is dropped, receiving stops. The tasks end when
/// messages of running receives have arrived and were given back.
#[derive(Debug)]
pub(crate) struct Intake<H: Execute> {
    pub(crate) source: Source<H>,
    pub(crate) observer: Arc<Observer>,
    credits: Arc<SharedCredits>,
    messages: mpsc::UnboundedReceiver<Vec<Delivery>>,
    stop: Stop,
    pump: Option<JoinHandle<Result<(), ReceiveError>>>,
    leases: Option<JoinHandle<()>>,
    /// The result of the task that receives.
    result: Result<(), ReceiveError>,
    /// The result of the task that renews leases.
    kept: Result<(), ReceiveError>,
}

impl<H: Execute> Intake<H> {
    /// Starts receiving; `None` if `stop` comes first.
    pub(crate) async fn start(
        source: Source<H>,
        settings: &Settings,
        credits: Arc<SharedCredits>,
        observer: Arc<Observer>,
        stop: Stop,
    ) -> Result<Option<Self>, ReceiveError> {
        if Handle::try_current().is_err() {
            return Err(ReceiveError::no_runtime());
        }
        let asked = visibility_seconds(&source, settings, &observer, &stop).await?;
        let Some(visibility_seconds) = asked else { return Ok(None) };
        let schedule = Schedule::new(visibility_seconds, settings.max_lease);
        let leases = Arc::new(Leases::new(schedule, Arc::clone(&observer)));
        let (out, messages) = mpsc::unbounded_channel();
        let pump = Pump {
            source: source.clone(),
            terms: Terms {
                visibility_seconds,
                wait: settings.wait_time,
                attempt_timeout: settings.attempt_timeout,
            },
            leases: Arc::clone(&leases),
            credits: Arc::clone(&credits),
            observer: Arc::clone(&observer),
            stop: stop.clone(),
            is_proven: Arc::default(),
            pace: PollPace::default(),
            back_off: settings.back_off,
            out,
        };
        let leases = Some(tokio::spawn(renew_leases(leases, source.clone(), stop.clone())));
        let pump = Some(tokio::spawn(pump.run()));
        Ok(Some(Self {
            source,
            observer,
            credits,
            messages,
            stop,
            pump,
            leases,
            result: Ok(()),
            kept: Ok(()),
        }))
    }

    /// The messages of the next receive that returns any; `None` after the last one.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub(crate) async fn next(&mut self) -> Option<Vec<Delivery>> {
        self.messages.recv().await
    }

    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Vec<Delivery>>> {
        self.messages.poll_recv(cx)
    }

    /// Starts no more receives. Running ones finish, and their messages still arrive.
    pub(crate) fn stop(&self) {
        self.stop.finish();
    }

    /// Cancels running receives.
    pub(crate) fn abandon_receives(&self) {
        self.stop.cut();
    }

    /// Waits until receiving has ended. An error if it ended by itself.
    ///
    /// # Cancel safety
    /// You can drop the future and call it again.
    pub(crate) async fn pumped(&mut self) -> Result<(), ReceiveError> {
        if let Some(pump) = &mut self.pump {
            let ended = pump.await;
            self.pump = None;
            self.result = ended.unwrap_or_else(|error| Err(ReceiveError::broken("receiving", &error)));
        }
        self.result.clone()
    }

    /// Waits until receiving has ended and every message is settled. An error if either task ended by itself.
    pub(crate) async fn finish(&mut self) -> Result<(), ReceiveError> {
        // Messages that arrived are still given back, whatever the result.
        let pumped = self.pumped().await;
        if let Some(leases) = &mut self.leases {
            let ended = leases.await;
            self.leases = None;
            self.kept = ended.map_err(|error| ReceiveError::broken("the keeping of leases", &error));
        }
        pumped.and_then(|()| self.kept.clone())
    }

    /// The error if receiving has already ended by itself.
    pub(crate) fn result(&self) -> Result<(), ReceiveError> {
        self.result.clone()
    }

    pub(crate) fn stats(&self) -> ReceiveStats {
        self.observer.tally.snapshot(self.credits.levels())
    }
}

impl<H: Execute> Drop for Intake<H> {
    fn drop(&mut self) {
        self.stop();
        self.messages.close();
        let mut unwanted = Vec::new();
        while let Ok(batch) = self.messages.try_recv() {
            unwanted.extend(batch);
        }
        give_back(unwanted);
    }
}
