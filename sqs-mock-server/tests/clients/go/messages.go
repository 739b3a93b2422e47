package main

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

const (
	body  = "{\"order\":\"№ 42 – žluťoučký\",\"n\":1}\r\n\t<end/>"
	trace = "Root=1-5759e988-bd862e3fe1be46a994272793"
)

func everyAttribute(t tour, fifo bool) {
	q := makeQueue(t.sqs, "messages", fifo, nil)
	request := q.message(body)
	request.MessageAttributes = every
	request.MessageSystemAttributes = map[string]types.MessageSystemAttributeValue{
		"AWSTraceHeader": {DataType: aws.String("String"), StringValue: aws.String(trace)},
	}
	sent := q.send(request)
	traced := map[string]types.MessageAttributeValue{"AWSTraceHeader": text("String", trace)}
	equal(checksum(traced), *sent.MD5OfMessageSystemAttributes)
	equal(fifo, sent.SequenceNumber != nil)
	message := only(q.receive(q.everything()))
	equal(body, *message.Body)
	equal(*sent.MessageId, *message.MessageId)
	equal(every, message.MessageAttributes)
	equal(trace, message.Attributes["AWSTraceHeader"])
	equal("1", message.Attributes["ApproximateReceiveCount"])
	equal(aws.ToString(sent.SequenceNumber), message.Attributes["SequenceNumber"])
	equal(aws.ToString(q.group()), message.Attributes["MessageGroupId"])
}

func visibility(t tour, fifo bool) {
	q := makeQueue(t.sqs, "visibility", fifo, nil)
	request := q.message(body)
	request.MessageAttributes = every
	q.send(request)
	first := only(q.receive(q.everything()))
	equal([]string{}, q.bodies())
	equal([2]string{"0", "1"}, q.counts())
	equal(nil, q.release(first.ReceiptHandle))
	some := q.everything()
	some.MessageAttributeNames = []string{"num.*", "image"}
	again := only(q.receive(some))
	equal([]string{"image", "number"}, slices.Sorted(maps.Keys(again.MessageAttributes)))
	equal("2", again.Attributes["ApproximateReceiveCount"])
	equal(nil, q.delete(again.ReceiptHandle))
	equal(nil, q.delete(again.ReceiptHandle))
	equal([2]string{"0", "0"}, q.counts())
	rejected("InvalidParameterValue", 400, q.release(again.ReceiptHandle))
	rejectedAs[*types.ReceiptHandleIsInvalid]("ReceiptHandleIsInvalid", 404, q.delete(aws.String("garbage")))
}

func rejections(t tour, fifo bool) {
	q := makeQueue(t.sqs, "rejections", fifo, map[string]string{"MaximumMessageSize": "4096"})
	with := func(attribute types.MessageAttributeValue) error {
		message := q.message("x")
		message.MessageAttributes = map[string]types.MessageAttributeValue{"a": attribute}
		return q.trySend(message)
	}
	rejectedAs[*types.InvalidMessageContents]("InvalidMessageContents", 400, q.trySend(q.message("\x01")))
	rejected("MissingParameter", 400, q.trySend(q.message("")))
	rejected("InvalidParameterValue", 400, q.trySend(q.message(strings.Repeat("x", 4097))))
	rejected("InvalidParameterValue", 400, with(text("Number", "seven")))
	list := text("String", "x")
	list.StringListValues = []string{"a", "b"}
	rejectedAs[*types.UnsupportedOperation](prefix+"UnsupportedOperation", 400, with(list))
	tooMany := q.everything()
	tooMany.MaxNumberOfMessages = 11
	_, err := t.sqs.ReceiveMessage(background, tooMany)
	rejected("InvalidParameterValue", 400, err)
	alone := q.message("x")
	alone.MessageGroupId, alone.MessageDeduplicationId = nil, aws.String("once")
	code := "InvalidParameterValue"
	if fifo {
		code = "MissingParameter"
	}
	rejected(code, 400, q.trySend(alone))
	equal([2]string{"0", "0"}, q.counts())
}

// longPolls tests that a long poll ends when a message arrives, and returns at once if a message is available.
func longPolls(t tour, fifo bool) {
	q := makeQueue(t.sqs, "polls", fifo, nil)
	poll := q.everything()
	poll.WaitTimeSeconds = 20
	answers := make(chan []types.Message, 1)
	go func() { answers <- q.receive(poll) }()
	select {
	case response := <-answers:
		fail("expected a waiting poll, got %+v", response)
	case <-time.After(50 * time.Millisecond):
	}
	q.send(q.message("wake up"))
	select {
	case response := <-answers:
		equal([]string{"wake up"}, bodiesOf(response))
		equal(nil, q.delete(response[0].ReceiptHandle))
	case <-time.After(5 * time.Second):
		fail("timeout: expected the poll to end")
	}
	q.send(q.message("at once"))
	equal([]string{"at once"}, bodiesOf(q.receive(poll)))
	equal([]string{}, q.bodies())
}
