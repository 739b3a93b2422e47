-- Times are milliseconds since the epoch, by the server's clock.

CREATE TABLE setting (
    name TEXT PRIMARY KEY, -- 'clock offset' (ms), 'clock frozen at', 'deletions', 'starts'
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE queue (
    number INTEGER PRIMARY KEY,
    region TEXT NOT NULL,
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    incarnation INTEGER NOT NULL, -- distinguishes queues of the same name
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    purged INTEGER,
    deleted INTEGER, -- the name is blocked for 60 seconds
    seed INTEGER NOT NULL, -- source of message ids and receipt handles
    attributes TEXT NOT NULL, -- JSON, as in SetQueueAttributes
    deduplication_scope TEXT NOT NULL, -- at creation
    tags TEXT NOT NULL, -- JSON
    next_ticket INTEGER NOT NULL, -- the number of the next message
    UNIQUE (region, account, name, incarnation)
) STRICT;

CREATE INDEX deleted_queue ON queue (deleted) WHERE deleted IS NOT NULL;

CREATE TABLE message (
    id INTEGER PRIMARY KEY, -- queue.number * 2^40 + the number of the message in its queue
    slot INTEGER NOT NULL, -- part of receipt handles
    turn INTEGER NOT NULL, -- position among the available messages of a standard queue
    state TEXT NOT NULL, -- 'available', 'delayed' or 'in flight'
    visible_at INTEGER,
    received INTEGER NOT NULL,
    receives INTEGER NOT NULL,
    receives_elsewhere INTEGER NOT NULL, -- of them, in other queues
    first_received INTEGER NOT NULL,
    message_id BLOB NOT NULL, -- the 16 bytes of the UUID
    sent INTEGER NOT NULL,
    retained_since INTEGER NOT NULL,
    sender TEXT NOT NULL,
    message_group TEXT,
    deduplication_id TEXT,
    source TEXT, -- ARN of the queue that a dead letter comes from
    trace_header TEXT,
    attributes TEXT, -- JSON, as in SendMessage
    md5_of_body BLOB NOT NULL,
    body TEXT NOT NULL
) STRICT;

CREATE TABLE deduplication (
    queue INTEGER NOT NULL,
    ends INTEGER NOT NULL,
    mark BLOB NOT NULL, -- hash of the deduplication id
    ticket INTEGER NOT NULL, -- the number of the message in its queue
    PRIMARY KEY (queue, ends, mark)
) STRICT, WITHOUT ROWID;

CREATE TABLE move_task (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- in the order of their start
    id BLOB NOT NULL UNIQUE, -- the 16 bytes of the UUID
    source TEXT NOT NULL,
    destination TEXT,
    messages_per_second INTEGER,
    to_move INTEGER NOT NULL,
    moved INTEGER NOT NULL,
    started INTEGER NOT NULL,
    status TEXT NOT NULL,
    failure_reason TEXT
) STRICT;
