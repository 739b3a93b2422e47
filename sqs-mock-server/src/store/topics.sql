-- Version 2: topics, and their deliveries that wait for a retry.

CREATE TABLE topic (
    number INTEGER PRIMARY KEY, -- in the order of their creation
    region TEXT NOT NULL,
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    attributes TEXT NOT NULL, -- JSON, as in SetTopicAttributes
    tags TEXT NOT NULL, -- JSON
    subscriptions_deleted INTEGER NOT NULL,
    messages INTEGER NOT NULL, -- that a FIFO topic took so far
    UNIQUE (region, account, name)
) STRICT;

CREATE TABLE subscription (
    topic INTEGER NOT NULL,
    id TEXT NOT NULL, -- the last part of the ARN
    protocol TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    owner TEXT NOT NULL, -- account
    state TEXT NOT NULL, -- 'confirmed', 'pending', or a text of `Confirmation`
    token TEXT, -- what confirms it
    pending_since INTEGER,
    attributes TEXT NOT NULL, -- JSON, as in SetSubscriptionAttributes
    PRIMARY KEY (topic, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE topic_deduplication (
    topic INTEGER NOT NULL,
    number INTEGER NOT NULL, -- of the message, among all messages of the topic
    message_group TEXT NOT NULL, -- '' if ids are known for the whole topic
    deduplication_id TEXT NOT NULL,
    message_id BLOB NOT NULL, -- the 16 bytes of the UUID
    ends INTEGER NOT NULL,
    PRIMARY KEY (topic, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE waiting_delivery (
    number INTEGER PRIMARY KEY, -- in the order of their first attempts
    subscription TEXT, -- id; only on FIFO topics
    message_group TEXT, -- the same
    queue TEXT NOT NULL, -- ARN
    dead_letter_queue TEXT, -- ARN
    service TEXT NOT NULL, -- that delivers, such as 'sns.amazonaws.com'
    source TEXT NOT NULL, -- ARN of the topic
    source_account TEXT NOT NULL,
    sender TEXT NOT NULL,
    queue_group TEXT, -- the group in the queue
    deduplication_id TEXT,
    trace_header TEXT,
    keeps_size_limit INTEGER NOT NULL, -- 1 if the maximum message size of the queue applies
    attributes TEXT, -- JSON, as in SendMessage
    body TEXT NOT NULL
) STRICT;
