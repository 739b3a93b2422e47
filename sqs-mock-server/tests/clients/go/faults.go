package main

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// checksums tests that the client verifies checksums of bodies.
func checksums(t tour, fifo bool) {
	q := makeQueue(t.sqs, "checksums", fifo, nil)
	t.mock.next("SendMessage", q, "corrupt")
	mismatch(q.trySend(q.message("x")))
	t.mock.next("SendMessageBatch", q, "corrupt")
	_, err := q.sendBatch(q.named("a", "b"))
	mismatch(err)
	t.mock.next("ReceiveMessage", q, "corrupt")
	_, err = t.sqs.ReceiveMessage(background, q.everything())
	mismatch(err)
}

// throttling tests the retries of the client.
func throttling(t tour, fifo bool) {
	q := makeQueue(t.sqs, "throttled", fifo, nil)
	retrying := q
	retrying.sqs = t.retrying
	t.mock.next("SendMessage", q, "throttle")
	rejectedAs[*types.RequestThrottled]("RequestThrottled", 403, q.trySend(q.message("x")))
	t.mock.next("SendMessage", q, "throttle")
	retrying.send(q.message("again"))
	t.mock.next("SendMessage", q, "reset_after")
	retrying.send(q.message("lost"))
	// The client retries after the lost response. Only a FIFO queue detects the duplicate.
	expected := []string{"again", "lost", "lost"}
	if fifo {
		expected = expected[:2]
	}
	equal(expected, q.bodies())
	equal(5, t.mock.requests("SendMessage", q))
}

func mismatch(err error) {
	if err == nil || !strings.Contains(err.Error(), "expected MD5 checksum") {
		fail("expected a checksum mismatch, got %v", err)
	}
}
