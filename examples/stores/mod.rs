//! Two stores of idempotency keys: over SQLite, and over any object store with conditional puts, such as S3.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use object_store::{
    Error as StoreError, ObjectStore, ObjectStoreExt as _, PutMode, PutPayload, UpdateVersion,
};
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};
use sqs_buffered::{Attempt, Begin, HandlerError, IdempotencyStore};

/// Keys in a table of SQLite, for the processes of one machine.
#[derive(Clone, Debug)]
pub struct SqliteStore(Arc<Mutex<Connection>>);

const TABLE: &str = "CREATE TABLE IF NOT EXISTS handled
    (key TEXT PRIMARY KEY, attempt TEXT NOT NULL, leased_until INTEGER NOT NULL, is_completed INTEGER NOT NULL DEFAULT 0)";

const BEGIN: &str = "INSERT INTO handled (key, attempt, leased_until) VALUES (?1, ?2, ?3)
    ON CONFLICT (key) DO UPDATE SET attempt = ?2, leased_until = ?3
    WHERE NOT is_completed AND (attempt = ?2 OR leased_until <= ?4)";

impl SqliteStore {
    /// Opens or creates a file.
    ///
    /// # Errors
    /// The file cannot be opened, or is no database.
    pub fn open(path: impl AsRef<Path>) -> rusqlite::Result<Self> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(Duration::from_secs(4))?;
        connection.execute(TABLE, [])?;
        Ok(Self(Arc::new(Mutex::new(connection))))
    }

    /// SQLite blocks, so it runs on a thread for that.
    async fn with<T: Send + 'static>(
        &self,
        run: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, HandlerError> {
        let connection = Arc::clone(&self.0);
        let running = tokio::task::spawn_blocking(move || {
            run(&mut connection.lock().unwrap_or_else(PoisonError::into_inner))
        });
        Ok(running.await??)
    }
}

impl IdempotencyStore for SqliteStore {
    async fn begin(&self, attempt: &Attempt, lease: Duration) -> Result<Begin, HandlerError> {
        let (key, id, now) = (attempt.key().to_owned(), attempt.id().to_owned(), now());
        self.with(move |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let changed = transaction.execute(BEGIN, params![key, id, now + millis(lease), now])?;
            let began = if changed == 1 {
                Begin::Started
            } else {
                let query = "SELECT is_completed, leased_until FROM handled WHERE key = ?";
                transaction.query_row(query, [key], |row| Ok(held(row.get(0)?, row.get(1)?, now)))?
            };
            transaction.commit()?;
            Ok(began)
        })
        .await
    }

    async fn complete(&self, attempt: &Attempt) -> Result<(), HandlerError> {
        let (key, id) = (attempt.key().to_owned(), attempt.id().to_owned());
        let update = "UPDATE handled SET is_completed = 1 WHERE key = ? AND attempt = ?";
        let changed = self.with(move |connection| connection.execute(update, [key, id])).await?;
        if changed == 1 { Ok(()) } else { Err("the key belongs to another attempt".into()) }
    }

    async fn abandon(&self, attempt: &Attempt) -> Result<(), HandlerError> {
        let (key, id) = (attempt.key().to_owned(), attempt.id().to_owned());
        let delete = "DELETE FROM handled WHERE key = ? AND attempt = ? AND NOT is_completed RETURNING key";
        let deleting = move |connection: &mut Connection| {
            connection.query_row(delete, [key, id], |_| Ok(())).optional().map(drop)
        };
        self.with(deleting).await
    }
}

/// Keys as objects of any store whose puts can have conditions, for any number of processes. DynamoDB works in the same way:
/// `Create` is a put with `attribute_not_exists(#key)`, `Update` one with `#version = :version`.
#[derive(Debug)]
pub struct ObjectKeys<T>(pub T);

/// What the object of a key says.
#[derive(serde::Deserialize, serde::Serialize)]
struct Record {
    attempt: String,
    /// In milliseconds since the epoch, by the clock of the process that wrote it.
    leased_until: i64,
    is_completed: bool,
}

impl<T: ObjectStore> ObjectKeys<T> {
    fn path(attempt: &Attempt) -> object_store::path::Path {
        object_store::path::Path::from("handled").join(attempt.key())
    }

    async fn read(&self, attempt: &Attempt) -> Result<Option<(Record, UpdateVersion)>, HandlerError> {
        let found = match self.0.get(&Self::path(attempt)).await {
            Err(StoreError::NotFound { .. }) => return Ok(None),
            found => found?,
        };
        let version = UpdateVersion { e_tag: found.meta.e_tag.clone(), version: found.meta.version.clone() };
        Ok(Some((serde_json::from_slice(&found.bytes().await?)?, version)))
    }

    /// Writes a record unless somebody else was faster. Returns whether it did.
    async fn write(&self, attempt: &Attempt, record: &Record, mode: PutMode) -> Result<bool, HandlerError> {
        let payload = PutPayload::from_bytes(Bytes::from(serde_json::to_vec(record)?));
        match self.0.put_opts(&Self::path(attempt), payload, mode.into()).await {
            Ok(_) => Ok(true),
            Err(StoreError::AlreadyExists { .. } | StoreError::Precondition { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

impl<T: ObjectStore> IdempotencyStore for ObjectKeys<T> {
    async fn begin(&self, attempt: &Attempt, lease: Duration) -> Result<Begin, HandlerError> {
        loop {
            let now = now();
            let mode = match self.read(attempt).await? {
                None => PutMode::Create,
                Some((record, version)) => {
                    let is_own = record.attempt == attempt.id() || record.leased_until <= now;
                    if record.is_completed || !is_own {
                        return Ok(held(record.is_completed, record.leased_until, now));
                    }
                    PutMode::Update(version)
                }
            };
            let leased_until = now + millis(lease);
            let record = Record { attempt: attempt.id().to_owned(), leased_until, is_completed: false };
            if self.write(attempt, &record, mode).await? {
                return Ok(Begin::Started);
            }
        }
    }

    async fn complete(&self, attempt: &Attempt) -> Result<(), HandlerError> {
        match self.read(attempt).await? {
            Some((record, _)) if record.attempt == attempt.id() && record.is_completed => Ok(()),
            Some((record, version)) if record.attempt == attempt.id() => {
                let record = Record { is_completed: true, ..record };
                let is_written = self.write(attempt, &record, PutMode::Update(version)).await?;
                if is_written { Ok(()) } else { Err("another attempt has taken the key over".into()) }
            }
            _ => Err("the key belongs to another attempt".into()),
        }
    }

    /// There are no conditional deletes everywhere: the lease ends now instead.
    async fn abandon(&self, attempt: &Attempt) -> Result<(), HandlerError> {
        if let Some((record, version)) = self.read(attempt).await?
            && record.attempt == attempt.id()
            && !record.is_completed
        {
            let record = Record { leased_until: 0, ..record };
            self.write(attempt, &record, PutMode::Update(version)).await?;
        }
        Ok(())
    }
}

fn held(is_completed: bool, leased_until: i64, now: i64) -> Begin {
    let remaining = Duration::from_millis(leased_until.saturating_sub(now).max(1).unsigned_abs());
    if is_completed { Begin::Completed } else { Begin::InProgress { remaining } }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX / 2)
}

#[expect(clippy::disallowed_methods, reason = "the processes of a store share the system's clock")]
fn now() -> i64 {
    millis(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use sqs_buffered::check_store;

    use super::*;

    #[tokio::test]
    async fn stores_keep_the_contract() {
        check_store(&SqliteStore::open(":memory:").unwrap()).await;
        check_store(&ObjectKeys(object_store::memory::InMemory::new())).await;
    }
}
