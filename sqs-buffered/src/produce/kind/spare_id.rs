//! Deduplication ids that are only for queues that make none of the content.

/// Such an id. Whether it goes along or is left out is open until the first request that may reach the service, and settled
/// from then on: a message that goes once with it and once without has two identities, and may be stored twice.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum SpareId {
    /// It is not settled; the message has none.
    Open(String),
    /// The message has it.
    GoesAlong,
    /// The message has none.
    LeftOut(String),
}

impl SpareId {
    /// Whether it is not settled.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self, Self::Open(_))
    }

    /// Whether it is settled that it does not go along.
    pub(crate) fn is_left_out(&self) -> bool {
        matches!(self, Self::LeftOut(_))
    }

    /// Settles it, unless it is. `of_message` is the id of the message.
    pub(crate) fn settle(&mut self, leave_out: bool, of_message: &mut Option<String>) {
        let Self::Open(id) = self else { return };
        let id = std::mem::take(id);
        *self = if leave_out {
            Self::LeftOut(id)
        } else {
            *of_message = Some(id);
            Self::GoesAlong
        };
    }

    /// Opens it again.
    pub(crate) fn reopen(&mut self, of_message: &mut Option<String>) {
        *self = match std::mem::replace(self, Self::GoesAlong) {
            Self::Open(id) | Self::LeftOut(id) => Self::Open(id),
            Self::GoesAlong => of_message.take().map_or(Self::GoesAlong, Self::Open),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_settled_once_and_never_lost() {
        for leave_out in [true, false] {
            let (mut id, mut of_message) = (SpareId::Open("i".to_owned()), None);
            for _ in 0..3 {
                id.settle(leave_out, &mut of_message);
                id.settle(!leave_out, &mut of_message);
                assert_eq!((id.is_open(), id.is_left_out()), (false, leave_out));
                assert_eq!(of_message.as_deref(), (!leave_out).then_some("i"));
                id.reopen(&mut of_message);
                id.reopen(&mut of_message);
                assert_eq!((&id, &of_message), (&SpareId::Open("i".to_owned()), &None));
            }
        }
    }
}
