package main

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// checksums shows that the client compares those of bodies.
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

// throttling shows what the client repeats.
func throttling(t tour, fifo bool) {
	q := makeQueue(t.sqs, "throttled", fifo, nil)
	patient := q
	patient.sqs = t.patient
	t.mock.next("SendMessage", q, "throttle")
	refusedAs[*types.RequestThrottled]("RequestThrottled", 403, q.trySend(q.message("x")))
	t.mock.next("SendMessage", q, "throttle")
	patient.send(q.message("again"))
	t.mock.next("SendMessage", q, "reset_after")
	patient.send(q.message("lost"))
	// The answer was lost, so that the client sent again: of which only a FIFO queue knows.
	expected := []string{"again", "lost", "lost"}
	if fifo {
		expected = expected[:2]
	}
	equal(expected, q.bodies())
	equal(5, t.mock.requests("SendMessage", q))
}

func mismatch(err error) {
	if err == nil || !strings.Contains(err.Error(), "expected MD5 checksum") {
		fail("expected a checksum that does not match, got %v", err)
	}
}
