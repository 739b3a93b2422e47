-- A data file of the first version. A server wrote it: messages that were available, delayed, in flight and dead letters, a
-- deduplicated group, a deleted queue, and a clock that was advanced and frozen.
PRAGMA user_version = 1;
PRAGMA application_id = 1397838701;
BEGIN TRANSACTION;
CREATE TABLE deduplication (
    queue INTEGER NOT NULL,
    ends INTEGER NOT NULL,
    mark BLOB NOT NULL, -- hash of the deduplication id
    ticket INTEGER NOT NULL, -- the number of the message in its queue
    PRIMARY KEY (queue, ends, mark)
) STRICT, WITHOUT ROWID;
INSERT INTO "deduplication" VALUES(3,1795454787829,X'8FF0CA7D98EAD78F440303DF1F13AA58',0);
INSERT INTO "deduplication" VALUES(3,1795454787829,X'A0D7DD055A69035AE62BCCBD0501052F',1);
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
INSERT INTO "message" VALUES(1099511627776,0,0,'available',NULL,1795454487829,1,1,1795454427829,X'E2186177B4694E7DB7A4DF41FC96E494',1795454427829,1795454427829,'000000000000',NULL,NULL,'arn:aws:sqs:us-east-1:000000000000:orders',NULL,NULL,X'D94A5F706288DB05A6F4A5152A0FEC3D','burnt soup');
INSERT INTO "message" VALUES(1099511627777,1,1,'available',NULL,1795454487829,0,0,1795454487829,X'BEBA729E621A4B3288B5454C824081DD',1795454487829,1795454487829,'000000000000',NULL,NULL,NULL,NULL,NULL,X'7CAA701B2BD5A182B80C72B9BDF88E2D','direct');
INSERT INTO "message" VALUES(2199023255553,0,1,'in flight',1795454547829,1795454487829,1,0,1795454487829,X'BE9F6281B2CC450BB1195454A1ECE046',1795454487829,1795454487829,'000000000000',NULL,NULL,NULL,NULL,'{"table":{"StringValue":"7","DataType":"Number"}}',X'98A5F537C46E6A2BCD1066EC72B9A612','soup');
INSERT INTO "message" VALUES(2199023255554,1,0,'delayed',1795455387829,1795454487829,0,0,1795454487829,X'04EB42E9ED2046B0B2C1D639ECFB38AD',1795454487829,1795454487829,'000000000000',NULL,NULL,NULL,NULL,NULL,X'A1B8585122E1AD60623D6A74D3EB3B6A','cake');
INSERT INTO "message" VALUES(2199023255555,2,2,'available',NULL,1795454487829,0,0,1795454487829,X'894EF599D0374F52829DB9462F872397',1795454487829,1795454487829,'000000000000',NULL,NULL,NULL,NULL,NULL,X'DBA7B12A19FE9D49FBB53D65C49BBCE6','bread');
INSERT INTO "message" VALUES(3298534883328,0,0,'available',NULL,1795454487829,0,0,1795454487829,X'BA64E0BBCD414085B7443E24FDFBBA0E',1795454487829,1795454487829,'000000000000','a','1',NULL,NULL,NULL,X'4109B43353D20279284322E55D470859','job 1');
INSERT INTO "message" VALUES(3298534883329,1,0,'available',NULL,1795454487829,0,0,1795454487829,X'1D873CFBEF4144E3977DC4A5AF71E346',1795454487829,1795454487829,'000000000000','a','2',NULL,NULL,NULL,X'6680FB3D129AE9435EB22341CF044699','job 2');
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
INSERT INTO "queue" VALUES(1,'us-east-1','000000000000','burnt',0,1795454427829,1795454427829,NULL,NULL,-6894037227357570721,'{"DelaySeconds":"0","MaximumMessageSize":"1048576","MessageRetentionPeriod":"345600","ReceiveMessageWaitTimeSeconds":"0","SqsManagedSseEnabled":"true","VisibilityTimeout":"30"}','queue','{}',2);
INSERT INTO "queue" VALUES(2,'us-east-1','000000000000','orders',0,1795454427829,1795454427829,NULL,NULL,1946788260508192502,'{"DelaySeconds":"0","MaximumMessageSize":"1048576","MessageRetentionPeriod":"345600","ReceiveMessageWaitTimeSeconds":"0","RedrivePolicy":"{\"deadLetterTargetArn\":\"arn:aws:sqs:us-east-1:000000000000:burnt\",\"maxReceiveCount\":1}","SqsManagedSseEnabled":"true","VisibilityTimeout":"60"}','queue','{"team":"kitchen"}',4);
INSERT INTO "queue" VALUES(3,'us-east-1','000000000000','jobs.fifo',0,1795454427829,1795454427829,NULL,NULL,-506748399345906530,'{"ContentBasedDeduplication":"false","DeduplicationScope":"queue","DelaySeconds":"0","FifoQueue":"true","FifoThroughputLimit":"perQueue","MaximumMessageSize":"1048576","MessageRetentionPeriod":"345600","ReceiveMessageWaitTimeSeconds":"0","SqsManagedSseEnabled":"true","VisibilityTimeout":"30"}','queue','{}',2);
INSERT INTO "queue" VALUES(4,'us-east-1','000000000000','gone',0,1795454487829,1795454487829,NULL,1795454487829,2391063362910189084,'{"DelaySeconds":"0","MaximumMessageSize":"1048576","MessageRetentionPeriod":"345600","ReceiveMessageWaitTimeSeconds":"0","SqsManagedSseEnabled":"true","VisibilityTimeout":"30"}','queue','{}',0);
CREATE TABLE setting (
    name TEXT PRIMARY KEY, -- 'clock offset' (ms), 'clock frozen at', 'deletions', 'starts'
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "setting" VALUES('clock frozen at',1795454487829);
INSERT INTO "setting" VALUES('deletions',1);
INSERT INTO "setting" VALUES('starts',1);
CREATE INDEX deleted_queue ON queue (deleted) WHERE deleted IS NOT NULL;
COMMIT;
