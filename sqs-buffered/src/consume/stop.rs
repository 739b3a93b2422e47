//! The shutdown stage of a receiver, shared by its tasks.

use tokio::sync::watch;

/// The shutdown stage. It never goes back. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Stop(watch::Sender<Stage>);

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Stage {
    Running,
    /// No new receives.
    Finishing,
    /// Running receives are cancelled, too.
    Cut,
}

impl Stop {
    pub(crate) fn new() -> Self {
        Self(watch::channel(Stage::Running).0)
    }

    /// Starts no more receives. Running ones finish.
    pub(crate) fn finish(&self) {
        self.reach(Stage::Finishing);
    }

    /// Cancels running receives, too.
    pub(crate) fn cut(&self) {
        self.reach(Stage::Cut);
    }

    pub(crate) fn is_finishing(&self) -> bool {
        *self.0.borrow() >= Stage::Finishing
    }

    /// Waits for [`finish`](Self::finish).
    pub(crate) async fn finishing(&self) {
        self.reached(Stage::Finishing).await;
    }

    /// Waits for [`cut`](Self::cut).
    pub(crate) async fn is_cut(&self) {
        self.reached(Stage::Cut).await;
    }

    fn reach(&self, stage: Stage) {
        self.0.send_if_modified(|now| std::mem::replace(now, stage.max(*now)) < stage);
    }

    async fn reached(&self, stage: Stage) {
        // This cannot fail, because `self` owns the sender.
        let _ = self.0.subscribe().wait_for(|now| *now >= stage).await;
    }
}
