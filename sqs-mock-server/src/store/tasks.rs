//! Move tasks in their table.

use std::sync::Arc;

use rusqlite::{Connection, Result, params};

use super::row::{arn, damaged, execute, integer, millis, time, unsigned};
use crate::service::seed::Uuid;
use crate::sqs::engine::{MAX_TASKS_OF_SOURCE, MoveStatus, MoveTask, MoveTaskChange, NewMoveTask};

/// Writes a change.
pub(super) fn apply(connection: &Connection, change: &MoveTaskChange) -> Result<()> {
    match change {
        MoveTaskChange::Updated(task) => update(connection, task),
        MoveTaskChange::Forgotten(source) => {
            execute(connection, "DELETE FROM move_task WHERE source = ?", params![source.to_string()])
        }
    }
}

fn update(connection: &Connection, task: &MoveTask) -> Result<()> {
    let insert = "INSERT INTO move_task (id, source, destination, messages_per_second, to_move, moved, started, \
                  status, failure_reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET \
                  moved = excluded.moved, status = excluded.status, failure_reason = excluded.failure_reason";
    let order = &task.order;
    let reason = match &task.status {
        MoveStatus::Failed(reason) => Some(reason.as_str()),
        _ => None,
    };
    execute(
        connection,
        insert,
        params![
            task.id.bytes(),
            order.source.to_string(),
            order.destination.as_ref().map(ToString::to_string),
            order.rate,
            integer(order.to_move),
            integer(task.moved),
            millis(task.started),
            task.status.as_str(),
            reason,
        ],
    )?;
    // Only a new task exceeds the limit.
    if task.moved > 0 {
        return Ok(());
    }
    let delete = "DELETE FROM move_task WHERE source = ?1 AND number IN \
                  (SELECT number FROM move_task WHERE source = ?1 ORDER BY number DESC LIMIT -1 OFFSET ?2)";
    execute(connection, delete, params![order.source.to_string(), integer(MAX_TASKS_OF_SOURCE as u64)])
}

/// All tasks, in the order of their start.
pub(super) fn read(connection: &Connection) -> Result<Vec<MoveTask>> {
    let mut select = connection.prepare(
        "SELECT id, source, destination, messages_per_second, to_move, moved, started, status, failure_reason \
         FROM move_task ORDER BY number",
    )?;
    let tasks = select.query_map([], |row| {
        let status: String = row.get(7)?;
        let reason: Option<String> = row.get(8)?;
        let unknown = || damaged(7, format!("{status:?} is not the status of a move task"));
        let source = arn(row, 1)?.ok_or_else(|| damaged(1, "a move task has no source".to_owned()))?;
        Ok(MoveTask {
            id: Uuid::from_bytes(row.get(0)?),
            order: NewMoveTask {
                source: Arc::new(source),
                destination: arn(row, 2)?.map(Arc::new),
                rate: row.get(3)?,
                to_move: unsigned(row, 4)?,
            },
            started: time(row, 6)?,
            moved: unsigned(row, 5)?,
            status: MoveStatus::parse(&status, reason.as_deref()).ok_or_else(unknown)?,
        })
    })?;
    tasks.collect()
}
