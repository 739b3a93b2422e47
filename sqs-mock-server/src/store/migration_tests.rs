//! Tests of the migration from one version of the schema to the next.

use rusqlite::Connection;

use crate::store::open::{MIGRATIONS, migrate};

/// What a later version of the schema could do.
const NEXT: &str = "ALTER TABLE queue ADD COLUMN note TEXT NOT NULL DEFAULT 'none'";

/// A file of the present version with one setting.
fn present() -> Connection {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection, MIGRATIONS).unwrap();
    connection.execute("INSERT INTO setting VALUES ('starts', 7)", []).unwrap();
    connection
}

fn version(connection: &Connection) -> usize {
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    version.try_into().unwrap()
}

fn starts(connection: &Connection) -> i64 {
    connection.query_row("SELECT value FROM setting WHERE name = 'starts'", [], |row| row.get(0)).unwrap()
}

#[test]
fn file_of_an_earlier_version_gets_the_later_statements_only() {
    let mut connection = present();
    let later = [MIGRATIONS, &[NEXT]].concat();
    migrate(&mut connection, &later).unwrap();
    assert_eq!((version(&connection), starts(&connection)), (later.len(), 7));
    connection.prepare("SELECT note FROM queue").unwrap();
    // Another start finds nothing to do.
    migrate(&mut connection, &later).unwrap();
}

#[test]
fn failed_migration_leaves_the_file_as_it_was() {
    let mut connection = present();
    let wrong = [MIGRATIONS, &[NEXT, "UPDATE setting SET value = 8; DROP TABLE missing"]].concat();
    migrate(&mut connection, &wrong).unwrap_err();
    assert_eq!((version(&connection), starts(&connection)), (MIGRATIONS.len(), 7));
    connection.prepare("SELECT note FROM queue").unwrap_err();
}
