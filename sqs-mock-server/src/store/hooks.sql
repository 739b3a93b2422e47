-- Requests to web hooks without an answer.
CREATE TABLE hook_request (
    -- Increases with each request of a server.
    number INTEGER PRIMARY KEY,
    -- Such as 'Notification'.
    kind TEXT NOT NULL,
    -- The ARN of the topic, and the id of the subscription.
    topic TEXT NOT NULL,
    subscription TEXT NOT NULL,
    url TEXT NOT NULL,
    message_id TEXT NOT NULL,
    is_raw INTEGER NOT NULL,
    body TEXT NOT NULL,
    -- For the dead-letter queue.
    dead_letter_queue TEXT,
    attributes TEXT,
    queue_group TEXT,
    trace_header TEXT
) STRICT;
