//! Opens the file of a store: locks, checks and migrates it.

use std::path::{Path, PathBuf};
use std::{fs, io};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::Durability;

/// The name of the file.
const FILE: &str = "sqs.db";

/// Marks a file as a store.
const APPLICATION: i32 = 0x5351_536d;

/// The statements that lead from each version of the schema to the next. A new file has version 0.
const MIGRATIONS: [&str; 1] = [include_str!("schema.sql")];

/// Opens the store of a directory for this process alone.
pub(super) fn open(directory: &Path, durability: Durability) -> io::Result<Connection> {
    fs::create_dir_all(directory).map_err(|error| {
        let text = format!("cannot create the data directory {}: {error}", directory.display());
        io::Error::new(error.kind(), text)
    })?;
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connect = || -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(path(directory), flags)?;
        prepare(&connection, durability)?;
        Ok(connection)
    };
    let mut connection = connect().map_err(|error| explain(directory, &error))?;
    check_version(directory, &connection)?;
    check_structure(directory, &connection)?;
    migrate(&mut connection).map_err(|error| explain(directory, &error))?;
    Ok(connection)
}

/// The error of the store in this directory, with what to do.
pub(super) fn explain(directory: &Path, error: &rusqlite::Error) -> io::Error {
    let path = path(directory);
    let path = path.display();
    let (kind, text) = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            let text =
                format!("{path} is in use by another server; stop it, or choose another data directory");
            (io::ErrorKind::ResourceBusy, text)
        }
        Some(ErrorCode::NotADatabase) => {
            (io::ErrorKind::InvalidData, format!("{path} is not a file of sqs-mock-server; move it away"))
        }
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            let text = format!("cannot write {path}: {error}; the directory and its files must be writable");
            (io::ErrorKind::PermissionDenied, text)
        }
        Some(ErrorCode::DiskFull) => (io::ErrorKind::StorageFull, format!("no room for {path}: {error}")),
        Some(other) if other != ErrorCode::DatabaseCorrupt => {
            (io::ErrorKind::Other, format!("cannot open {path}: {error}"))
        }
        _ => (io::ErrorKind::InvalidData, damaged(&path, error)),
    };
    io::Error::new(kind, text)
}

fn damaged(path: &impl std::fmt::Display, reason: &impl std::fmt::Display) -> String {
    format!(
        "{path} is damaged: {reason}; restore it from a backup, save what is left with `sqlite3 {path} .recover`, or \
         move it away to start without messages"
    )
}

fn path(directory: &Path) -> PathBuf {
    directory.join(FILE)
}

fn prepare(connection: &Connection, durability: Durability) -> rusqlite::Result<()> {
    // Locks the file, so that a second server fails instead of waiting.
    connection.busy_timeout(std::time::Duration::ZERO)?;
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    let synchronous = match durability {
        Durability::Process => "NORMAL",
        Durability::Power => "FULL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "cache_size", -16_384)?;
    connection.set_prepared_statement_cache_capacity(32);
    // Takes the lock now.
    connection.execute_batch("BEGIN IMMEDIATE; COMMIT")
}

/// Refuses files of other programs and of later versions.
fn check_version(directory: &Path, connection: &Connection) -> io::Result<()> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let explained = |error| explain(directory, &error);
    let application = number("application_id").map_err(explained)?;
    let version = number("user_version").map_err(explained)?;
    let objects: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(explained)?;
    let path = path(directory);
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    let text = if version > known {
        format!(
            "{} has version {version}; this server knows versions up to {known}: use a later server",
            path.display()
        )
    } else if application != i64::from(APPLICATION) && objects > 0 {
        format!("{} is the database of another program; move it away", path.display())
    } else {
        return Ok(());
    };
    Err(io::Error::new(io::ErrorKind::InvalidData, text))
}

/// Refuses a damaged file: reads all pages.
fn check_structure(directory: &Path, connection: &Connection) -> io::Result<()> {
    let checked = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    let finding = checked.map_err(|error| explain(directory, &error))?;
    if finding == "ok" {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::InvalidData, damaged(&path(directory).display(), &finding)))
}

fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    for (number, statements) in (1..).zip(MIGRATIONS).filter(|(number, _)| *number > version) {
        transaction.execute_batch(statements)?;
        transaction.pragma_update(None, "user_version", number)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.commit()
}
