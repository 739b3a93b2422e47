-- A data file of the second version. A server wrote it: a topic with attributes, a permission, a tag, and subscriptions that were
-- confirmed, pending and deleted; a FIFO topic with two messages, both in a queue; and a frozen clock.
PRAGMA user_version = 2;
PRAGMA application_id = 1397838701;
BEGIN TRANSACTION;
CREATE TABLE deduplication (
    queue INTEGER NOT NULL,
    ends INTEGER NOT NULL,
    mark BLOB NOT NULL, -- hash of the deduplication id
    ticket INTEGER NOT NULL, -- the number of the message in its queue
    PRIMARY KEY (queue, ends, mark)
) STRICT, WITHOUT ROWID;
INSERT INTO "deduplication" VALUES(2,1795464995946,X'07BF880C8E78A3FE32C816F6D56A0A51',0);
INSERT INTO "deduplication" VALUES(2,1795464995946,X'C628AF359299D139C697D374A39237CE',1);
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
INSERT INTO "message" VALUES(2199023255552,0,0,'available',NULL,1795464695946,0,0,1795464695946,X'1CC9ECF332FF467BBFAC25C36721A4F8',1795464695946,1795464695946,'AROAJFWZWTE5KRAMGW5A2:AWS-CLOUDCAST','a','1',NULL,NULL,NULL,X'4109B43353D20279284322E55D470859','job 1');
INSERT INTO "message" VALUES(2199023255553,1,0,'available',NULL,1795464695946,0,0,1795464695946,X'FE78496F6BAD406FA890B62B10380E0A',1795464695946,1795464695946,'AROAJFWZWTE5KRAMGW5A2:AWS-CLOUDCAST','a','2',NULL,NULL,NULL,X'6680FB3D129AE9435EB22341CF044699','job 2');
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
INSERT INTO "queue" VALUES(1,'us-east-1','000000000000','kitchen',0,1795464695946,1795464695946,NULL,NULL,2216877380230592030,'{"DelaySeconds":"0","MaximumMessageSize":"1048576","MessageRetentionPeriod":"345600","ReceiveMessageWaitTimeSeconds":"0","SqsManagedSseEnabled":"true","VisibilityTimeout":"30"}','queue','{}',0);
INSERT INTO "queue" VALUES(2,'us-east-1','000000000000','jobs.fifo',0,1795464695946,1795464695946,NULL,NULL,7154513104288245177,'{"ContentBasedDeduplication":"false","DeduplicationScope":"queue","DelaySeconds":"0","FifoQueue":"true","FifoThroughputLimit":"perQueue","MaximumMessageSize":"1048576","MessageRetentionPeriod":"345600","ReceiveMessageWaitTimeSeconds":"0","SqsManagedSseEnabled":"true","VisibilityTimeout":"30"}','queue','{}',2);
CREATE TABLE setting (
    name TEXT PRIMARY KEY, -- 'clock offset' (ms), 'clock frozen at', 'deletions', 'starts'
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "setting" VALUES('clock frozen at',1795464695946);
INSERT INTO "setting" VALUES('deletions',1);
INSERT INTO "setting" VALUES('starts',2);
CREATE TABLE subscription (
    topic INTEGER NOT NULL,
    id TEXT NOT NULL, -- the last part of the ARN
    protocol TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    owner TEXT NOT NULL, -- account
    state TEXT NOT NULL, -- 'confirmed', 'pending', 'confirmed by token' or 'confirmed by signed request'
    token TEXT, -- what confirms it
    pending_since INTEGER,
    attributes TEXT NOT NULL, -- JSON, as in SetSubscriptionAttributes
    PRIMARY KEY (topic, id)
) STRICT, WITHOUT ROWID;
INSERT INTO "subscription" VALUES(1,'720861e9-8909-48a4-bfe4-d9a245e578b8','email','cook@example.com','000000000000','pending','3a04faaf9bbae8c3bbeae7189d7f519a4c6b2615d6a124ba7fb2c12c9f272a101d27823e19836c395db318a6d36d39787e1d6096a0d8f50a76badc212771f236f20cbb5985cb0cd6bb82acf123803e536d5a8ef667fc27319d018361e3d110f91a9242bdddbe4d64bd0df7857a0ea8b1289d1963394372c0777c0f8d572250a37e89ce29d94dd0aab7e281536d47108d',1795464695946,'{"FilterPolicyScope":"MessageAttributes","RawMessageDelivery":"false"}');
INSERT INTO "subscription" VALUES(1,'92c32759-635e-4f2a-93e1-d525468b2c99','http','http://kitchen.test/','000000000000','confirmed by token','e220f7a23fed47bf6bdf3405fb41cca50bb4374cb4f8f5a1a93f589d5fe80409257178cf9be573f47b552aad437da78e80ce269a682f251c638c755a86f7b08259330c26b84a28d534d0ee14ef106a76c9ffc5d4454bf8c22a7d7b84ea53c859a42914defec79048ad4e559822e347296346b7de0fbe673dfe4397b6ca4cc9d5796fa6682c231bba9e199af7f519c1a8',NULL,'{"FilterPolicyScope":"MessageAttributes","RawMessageDelivery":"false"}');
INSERT INTO "subscription" VALUES(1,'e8b7ac19-08e0-4871-8888-1e17e1e39160','sqs','arn:aws:sqs:us-east-1:000000000000:kitchen','000000000000','confirmed',NULL,NULL,'{"FilterPolicy":"{\"kind\":[\"hot\"]}","FilterPolicyScope":"MessageAttributes","RawMessageDelivery":"true"}');
INSERT INTO "subscription" VALUES(2,'78a79997-06c7-4331-a8a7-0a9f3c4dcd43','sqs','arn:aws:sqs:us-east-1:000000000000:jobs.fifo','000000000000','confirmed',NULL,NULL,'{"FilterPolicyScope":"MessageAttributes","RawMessageDelivery":"true"}');
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
INSERT INTO "topic" VALUES(1,'us-east-1','000000000000','orders','{"DisplayName":"Orders","Policy":"{\"Version\":\"2008-10-17\",\"Id\":\"__default_policy_ID\",\"Statement\":[{\"Sid\":\"__default_statement_ID\",\"Effect\":\"Allow\",\"Principal\":{\"AWS\":\"*\"},\"Action\":[\"SNS:GetTopicAttributes\",\"SNS:SetTopicAttributes\",\"SNS:AddPermission\",\"SNS:RemovePermission\",\"SNS:DeleteTopic\",\"SNS:Subscribe\",\"SNS:ListSubscriptionsByTopic\",\"SNS:Publish\"],\"Resource\":\"arn:aws:sns:us-east-1:000000000000:orders\",\"Condition\":{\"StringEquals\":{\"AWS:SourceOwner\":\"000000000000\"}}},{\"Sid\":\"all\",\"Effect\":\"Allow\",\"Principal\":{\"AWS\":\"arn:aws:iam::111111111111:root\"},\"Action\":\"SNS:Publish\",\"Resource\":\"arn:aws:sns:us-east-1:000000000000:orders\"}]}"}','{"team":"kitchen"}',1,0);
INSERT INTO "topic" VALUES(2,'us-east-1','000000000000','jobs.fifo','{}','{}',0,2);
CREATE TABLE topic_deduplication (
    topic INTEGER NOT NULL,
    number INTEGER NOT NULL, -- of the message, among all messages of the topic
    message_group TEXT NOT NULL, -- '' if ids are known for the whole topic
    deduplication_id TEXT NOT NULL,
    message_id BLOB NOT NULL, -- the 16 bytes of the UUID
    ends INTEGER NOT NULL,
    PRIMARY KEY (topic, number)
) STRICT, WITHOUT ROWID;
INSERT INTO "topic_deduplication" VALUES(2,1,'','1',X'7AD4338BE6424BDE8BE0CAF64576D087',1795464995946);
INSERT INTO "topic_deduplication" VALUES(2,2,'','2',X'77E46BE5988A4395A749F6490B96017C',1795464995946);
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
CREATE INDEX deleted_queue ON queue (deleted) WHERE deleted IS NOT NULL;
COMMIT;
