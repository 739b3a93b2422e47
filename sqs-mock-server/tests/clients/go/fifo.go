package main

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
)

func order(t tour, _ bool) {
	q := makeQueue(t.sqs, "order", true, nil)
	var numbers []string
	for _, body := range []string{"a1", "a2", "b1", "a3"} {
		message := q.message(body)
		message.MessageGroupId = aws.String(body[:1])
		numbers = append(numbers, *q.send(message).SequenceNumber)
	}
	equal(slices.Sorted(slices.Values(numbers)), numbers)
	one := q.everything()
	one.MaxNumberOfMessages = 1
	first := only(q.receive(one))
	equal([2]string{"a1", numbers[0]}, [2]string{*first.Body, first.Attributes["SequenceNumber"]})
	// The first message locks group a.
	equal([]string{"b1"}, q.bodies())
	equal([]string{}, q.bodies())
	equal(nil, q.release(first.ReceiptHandle))
	equal([]string{"a1", "a2", "a3"}, q.bodies())
}

func deduplication(t tour, _ bool) {
	q := makeQueue(t.sqs, "once", true, nil)
	sent, again := q.send(q.message("same")), q.send(q.message("same"))
	equal([2]string{*sent.MessageId, *sent.SequenceNumber}, [2]string{*again.MessageId, *again.SequenceNumber})
	other := q.message("same")
	other.MessageGroupId = aws.String("other")
	equal(*sent.MessageId, *q.send(other).MessageId)
	named := q.message("same")
	named.MessageDeduplicationId = aws.String("named")
	equal(false, *q.send(named).MessageId == *sent.MessageId)
	attempt := q.everything()
	attempt.ReceiveRequestAttemptId = aws.String("try")
	first, replayed := q.receive(attempt), q.receive(attempt)
	equal(2, len(first))
	equal(2, len(replayed))
	for at, message := range first {
		equal(*message.ReceiptHandle, *replayed[at].ReceiptHandle)
		equal(nil, q.delete(message.ReceiptHandle))
	}
	equal(*sent.MessageId, *q.send(q.message("same")).MessageId)
	equal([2]string{"0", "0"}, q.counts())
}
