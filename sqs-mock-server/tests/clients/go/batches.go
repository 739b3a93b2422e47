package main

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func entries(t tour, fifo bool) {
	q := makeQueue(t.sqs, "batches", fifo, nil)
	sent := must(q.sendBatch(append(q.named("0", "1", "2", "3"), q.entry("bad", "\x01"))))
	for at, entry := range sent.Successful {
		equal([2]string{fmt.Sprint(at), checksum(every)}, [2]string{*entry.Id, *entry.MD5OfMessageAttributes})
	}
	equal(4, len(sent.Successful))
	failed(sent.Failed, "InvalidMessageContents")
	messages := q.receive(q.everything())
	equal([]string{"body 0", "body 1", "body 2", "body 3"}, bodiesOf(messages))

	bad, garbage := aws.String("bad"), aws.String("garbage")
	changes := []types.ChangeMessageVisibilityBatchRequestEntry{{Id: bad, ReceiptHandle: garbage, VisibilityTimeout: 9}}
	deletes := []types.DeleteMessageBatchRequestEntry{{Id: bad, ReceiptHandle: garbage}}
	for at, message := range messages {
		equal(every, message.MessageAttributes)
		id := aws.String(fmt.Sprint(at))
		changes = append(changes, types.ChangeMessageVisibilityBatchRequestEntry{
			Id: id, ReceiptHandle: message.ReceiptHandle, VisibilityTimeout: 120,
		})
		deletes = append(deletes, types.DeleteMessageBatchRequestEntry{Id: id, ReceiptHandle: message.ReceiptHandle})
	}
	changed := must(t.sqs.ChangeMessageVisibilityBatch(
		background, &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: q.url, Entries: changes},
	))
	equal(4, len(changed.Successful))
	failed(changed.Failed, "ReceiptHandleIsInvalid")
	deleted := must(t.sqs.DeleteMessageBatch(
		background, &sqs.DeleteMessageBatchInput{QueueUrl: q.url, Entries: deletes},
	))
	equal(4, len(deleted.Successful))
	failed(deleted.Failed, "ReceiptHandleIsInvalid")
	equal([2]string{"0", "0"}, q.counts())
}

// batchRejections sends invalid batches.
func batchRejections(t tour, fifo bool) {
	q := makeQueue(t.sqs, "batch-rejections", fifo, nil)
	err := func(_ *sqs.SendMessageBatchOutput, err error) error { return err }
	half := strings.Repeat("x", 600_000)
	rejectedAs[*types.EmptyBatchRequest](prefix+"EmptyBatchRequest", 400,
		err(q.sendBatch([]types.SendMessageBatchRequestEntry{})))
	rejectedAs[*types.TooManyEntriesInBatchRequest](prefix+"TooManyEntriesInBatchRequest", 400,
		err(q.sendBatch(q.named(strings.Split("abcdefghijk", "")...))))
	rejectedAs[*types.BatchEntryIdsNotDistinct](prefix+"BatchEntryIdsNotDistinct", 400,
		err(q.sendBatch(q.named("a", "a"))))
	rejectedAs[*types.InvalidBatchEntryId](prefix+"InvalidBatchEntryId", 400,
		err(q.sendBatch(q.named("not an id"))))
	rejectedAs[*types.BatchRequestTooLong](prefix+"BatchRequestTooLong", 400,
		err(q.sendBatch([]types.SendMessageBatchRequestEntry{q.entry("a", half), q.entry("b", half)})))
	equal([2]string{"0", "0"}, q.counts())
}

func (q queue) sendBatch(entries []types.SendMessageBatchRequestEntry) (*sqs.SendMessageBatchOutput, error) {
	return q.sqs.SendMessageBatch(background, &sqs.SendMessageBatchInput{QueueUrl: q.url, Entries: entries})
}

func (q queue) named(ids ...string) []types.SendMessageBatchRequestEntry {
	var entries []types.SendMessageBatchRequestEntry
	for _, id := range ids {
		entries = append(entries, q.entry(id, "body "+id))
	}
	return entries
}

func (q queue) entry(id, body string) types.SendMessageBatchRequestEntry {
	return types.SendMessageBatchRequestEntry{
		Id: &id, MessageBody: &body, MessageAttributes: every, MessageGroupId: q.group(),
	}
}

func failed(failures []types.BatchResultErrorEntry, code string) {
	failure := only(failures)
	equal([3]any{"bad", code, true}, [3]any{*failure.Id, *failure.Code, failure.SenderFault})
}
