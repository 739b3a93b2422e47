//! How far the end of a receiver has come, as all of its tasks see it.

use tokio::sync::watch;

/// How far the end has come. It never goes back. Clones are of the same.
#[derive(Clone, Debug)]
pub(crate) struct Stop(watch::Sender<Stage>);

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Stage {
    Running,
    /// No new receives.
    Finishing,
    /// Nor do those under way go on.
    Cut,
}

impl Stop {
    pub(crate) fn new() -> Self {
        Self(watch::channel(Stage::Running).0)
    }

    /// No new receives. Those under way finish.
    pub(crate) fn finish(&self) {
        self.reach(Stage::Finishing);
    }

    /// No receives at all, also those under way.
    pub(crate) fn cut(&self) {
        self.reach(Stage::Cut);
    }

    pub(crate) fn is_finishing(&self) -> bool {
        *self.0.borrow() >= Stage::Finishing
    }

    /// Waits until there are to be no new receives.
    pub(crate) async fn finishing(&self) {
        self.reached(Stage::Finishing).await;
    }

    /// Waits until there are to be none at all.
    pub(crate) async fn is_cut(&self) {
        self.reached(Stage::Cut).await;
    }

    fn reach(&self, stage: Stage) {
        self.0.send_if_modified(|now| std::mem::replace(now, stage.max(*now)) < stage);
    }

    async fn reached(&self, stage: Stage) {
        // It cannot fail: the sender is here.
        let _ = self.0.subscribe().wait_for(|now| *now >= stage).await;
    }
}
