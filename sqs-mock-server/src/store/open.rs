//! Opens the file of a store: locks, checks and migrates it.

use std::path::Path;
use std::{fs, io};

use rusqlite::config::DbConfig;
use rusqlite::types::Type;
use rusqlite::{Connection, Error, ErrorCode, OpenFlags, Params, Result, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::control::arn::{QueueArn, outdated};
use crate::control::clock::Timestamp;
use crate::store::{Data, Durability};

/// Marks a file as a store.
const APPLICATION: i32 = 0x5351_536d;

/// The statements that lead from each version of the schema to the next. A new file has version 0.
pub(crate) const MIGRATIONS: &[&str] =
    &[include_str!("schema.sql"), include_str!("topics.sql"), include_str!("hooks.sql")];

/// Opens the store of a directory for this process alone.
pub(crate) fn open(data: &Data) -> io::Result<Connection> {
    let (directory, path) = (&*data.directory, data.file());
    fs::create_dir_all(directory).map_err(|error| {
        let problem = if directory.exists() { "it is not a directory".to_owned() } else { error.to_string() };
        let text = format!("cannot create the data directory {}: {problem}", directory.display());
        io::Error::new(error.kind(), text)
    })?;
    match fs::metadata(&path) {
        Ok(file) if file.len() == 0 => {
            return Err(io::Error::new(io::ErrorKind::InvalidData, damaged(&path.display(), &"it is empty")));
        }
        Ok(_) => {}
        Err(_) => create(&path)?,
    }
    let explained = |error| explain(&path, &error);
    let mut connection = connect(&path).map_err(explained)?;
    check(&path, &connection).map_err(explained)??;
    migrate(&mut connection, MIGRATIONS).map_err(explained)?;
    set_partitions(&mut connection).map_err(explained)?;
    Ok(connection)
}

/// Creates the file under another name, so that a server that is killed meanwhile leaves no empty file. A file that another
/// server creates at the same time is kept: that server may have opened it.
fn create(path: &Path) -> io::Result<()> {
    let new = path.with_extension(format!("db.{}.new", std::process::id()));
    // Of an earlier process with the same id.
    let _ = fs::remove_file(&new);
    let create = || migrate(&mut connect(&new)?, MIGRATIONS);
    create().map_err(|error| explain(path, &error))?;
    let published = match fs::hard_link(&new, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        // Not all file systems have hard links.
        Err(_) => fs::rename(&new, path),
        Ok(()) => Ok(()),
    };
    let _ = fs::remove_file(&new);
    published
        .map_err(|error| io::Error::new(error.kind(), format!("cannot create {}: {error}", path.display())))
}

/// Opens and locks a file. Nothing is changed, so that a file of another program stays as it is.
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    // A second server fails instead of waiting.
    connection.busy_timeout(std::time::Duration::ZERO)?;
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.execute_batch("BEGIN IMMEDIATE; COMMIT")?;
    Ok(connection)
}

/// The error of this file, with what to do.
pub(crate) fn explain(path: &Path, error: &rusqlite::Error) -> io::Error {
    let path = path.display();
    let (kind, text) = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            let text =
                format!("{path} is in use by another server; stop it, or choose another data directory");
            (io::ErrorKind::ResourceBusy, text)
        }
        Some(ErrorCode::NotADatabase) => (
            io::ErrorKind::InvalidData,
            format!("{path} is not a file of sqs-mock-server; move it to another directory"),
        ),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            let text = format!("cannot write {path}: {error}; the directory and its files must be writable");
            (io::ErrorKind::PermissionDenied, text)
        }
        Some(ErrorCode::DiskFull) => (io::ErrorKind::StorageFull, format!("no room for {path}: {error}")),
        Some(other) if other != ErrorCode::DatabaseCorrupt => {
            (io::ErrorKind::Other, format!("cannot open {path}: {error}"))
        }
        _ => match error {
            Error::FromSqlConversionFailure(_, _, value) => {
                (io::ErrorKind::InvalidData, damaged(&path, value))
            }
            _ => (io::ErrorKind::InvalidData, damaged(&path, error)),
        },
    };
    io::Error::new(kind, text)
}

fn damaged(path: &impl std::fmt::Display, reason: &impl std::fmt::Display) -> String {
    format!(
        "{path} is damaged: {reason}; restore it from a backup (and delete {path}-wal), save what is left with \
         `sqlite3 {path} .recover`, or move it to another directory to start without messages"
    )
}

/// Sets up a file that was checked and read.
pub(crate) fn prepare(connection: &Connection, durability: Durability) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    let synchronous = match durability {
        Durability::Process => "NORMAL",
        Durability::Power => "FULL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    // 16 MiB.
    connection.pragma_update(None, "cache_size", -16_384)?;
    connection.set_prepared_statement_cache_capacity(48);
    let count = "INSERT INTO setting VALUES ('starts', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1";
    connection.execute(count, []).map(drop)
}

/// Refuses files of other programs, of later versions, and damaged ones: reads all pages.
fn check(path: &Path, connection: &Connection) -> rusqlite::Result<io::Result<()>> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    let (path, known) = (path.display(), i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX));
    let text = if application != i64::from(APPLICATION) {
        format!("{path} is the database of another program; move it to another directory")
    } else if version > known {
        format!("{path} has version {version}; this server knows versions up to {known}: use a later server")
    } else {
        let finding: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if finding == "ok" {
            return Ok(Ok(()));
        }
        damaged(&path, &finding)
    };
    Ok(Err(io::Error::new(io::ErrorKind::InvalidData, text)))
}

/// Runs the statements of later versions than that of the file, in one transaction.
pub(crate) fn migrate(connection: &mut Connection, migrations: &[&str]) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    for (number, statements) in (1..).zip(migrations).filter(|(number, _)| *number > version) {
        transaction.execute_batch(statements)?;
        transaction.pragma_update(None, "user_version", number)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.commit()
}

/// The columns with ARNs, whole or in JSON.
const WITH_ARNS: [(&str, &str); 10] = [
    ("queue", "attributes"),
    ("message", "source"),
    ("move_task", "source"),
    ("move_task", "destination"),
    ("topic", "attributes"),
    ("subscription", "endpoint"),
    ("subscription", "attributes"),
    ("waiting_delivery", "queue"),
    ("waiting_delivery", "dead_letter_queue"),
    ("waiting_delivery", "source"),
];

/// Corrects the ARNs of earlier versions, which had the partition `aws` in all regions. The schema is the same, so that
/// those versions go on to read files of other regions.
fn set_partitions(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    for (outdated, right) in outdated() {
        let region = outdated.rsplit(':').next();
        let has_queues = "SELECT EXISTS (SELECT 1 FROM queue WHERE instr(region, ?) = 1)";
        let has_queues: bool = transaction.query_row(has_queues, [region], |row| row.get(0))?;
        // Dead letters come from a queue in their region. Without one, the longest table is not read.
        for (table, column) in WITH_ARNS.iter().filter(|(table, _)| has_queues || *table != "message") {
            let update =
                format!("UPDATE {table} SET {column} = replace({column}, ?1, ?2) WHERE instr({column}, ?1)");
            transaction.execute(&update, [&outdated, &right])?;
        }
    }
    transaction.commit()
}

/// Runs a statement. It is parsed once for all transactions.
pub(crate) fn execute(connection: &Connection, statement: &str, parameters: impl Params) -> Result<()> {
    connection.prepare_cached(statement)?.execute(parameters).map(drop)
}

/// SQLite has no unsigned integers.
pub(crate) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn millis(time: Timestamp) -> i64 {
    integer(time.as_millis())
}

/// A value as JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::ToSqlConversionFailure(error.into()))
}

pub(crate) fn arn(row: &Row<'_>, column: usize) -> Result<Option<QueueArn>> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| parse_arn(&text, column)).transpose()
}

pub(crate) fn parse_arn(text: &str, column: usize) -> Result<QueueArn> {
    text.parse().map_err(|_| damaged_column(column, format!("{text:?} is not an ARN")))
}

pub(crate) fn from_json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<Option<T>> {
    let text: Option<String> = row.get(column)?;
    let parse =
        |text: String| serde_json::from_str(&text).map_err(|error| damaged_column(column, error.to_string()));
    text.map(parse).transpose()
}

pub(crate) fn unsigned(row: &Row<'_>, column: usize) -> Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| damaged_column(column, format!("{number} is negative")))
}

pub(crate) fn time(row: &Row<'_>, column: usize) -> Result<Timestamp> {
    timestamp(row.get(column)?, column)
}

pub(crate) fn timestamp(millis: i64, column: usize) -> Result<Timestamp> {
    let millis =
        u64::try_from(millis).map_err(|_| damaged_column(column, format!("{millis} is not a time")))?;
    Ok(Timestamp::from_millis(millis))
}

/// The error for a column with a value that this server did not write.
pub(crate) fn damaged_column(column: usize, text: String) -> Error {
    Error::FromSqlConversionFailure(column, Type::Null, text.into())
}
