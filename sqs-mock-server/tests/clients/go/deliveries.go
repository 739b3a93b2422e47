package main

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"
)

// deliveries tests that an envelope and a raw message have all that was published.
func deliveries(t tour, fifo bool) {
	made := makeTopic(t.sns, "deliveries", fifo)
	inEnvelope, plain := made.makeTarget(t, "enveloped"), made.makeTarget(t, "raw")
	made.subscribe(inEnvelope.arn(), nil)
	made.subscribe(plain.arn(), raw)
	request := made.message(body)
	request.Subject, request.MessageAttributes = aws.String("tea & more"), forTopic(every)
	published := made.publish(request)

	message := only(inEnvelope.receive(inEnvelope.everything()))
	equal(0, len(message.MessageAttributes))
	opened := open(message)
	equal(
		[6]string{"Notification", *published.MessageId, aws.ToString(published.SequenceNumber), *made.arn, "tea & more", body},
		[6]string{opened.Type, opened.MessageId, opened.SequenceNumber, opened.TopicArn, opened.Subject, opened.Message},
	)
	// FIFO topics do not sign.
	equal(!fifo, opened.SignatureVersion == "1")
	equal(!fifo, opened.Signature != "" && opened.SigningCertURL != "")
	for name, value := range every {
		text := aws.ToString(value.StringValue)
		if value.BinaryValue != nil {
			text = base64.StdEncoding.EncodeToString(value.BinaryValue)
		}
		got := opened.MessageAttributes[name]
		equal([2]string{*value.DataType, text}, [2]string{got.Type, got.Value})
	}
	equal(len(every), len(opened.MessageAttributes))

	message = only(plain.receive(plain.everything()))
	equal(body, *message.Body)
	equal(every, message.MessageAttributes)
	equal(aws.ToString(request.MessageGroupId), message.Attributes["MessageGroupId"])
}

func filterPolicies(t tour, _ bool) {
	made := makeTopic(t.sns, "filters", false)
	all, cheap, tea := made.makeTarget(t, "every"), made.makeTarget(t, "cheap"), made.makeTarget(t, "tea")
	made.subscribe(all.arn(), raw)
	made.subscribe(cheap.arn(), map[string]string{
		"RawMessageDelivery": "true", "FilterPolicy": `{"price":[{"numeric":["<",5]}],"sold":[{"exists":false}]}`,
	})
	made.subscribe(tea.arn(), map[string]string{
		"RawMessageDelivery": "true", "FilterPolicyScope": "MessageBody",
		"FilterPolicy": `{"order":{"kind":[{"prefix":"te"}]}}`,
	})
	var bodies []string
	var entries []types.PublishBatchRequestEntry
	for at, kind := range []string{"tea", "coffee", "water"} {
		bodies = append(bodies, fmt.Sprintf(`{"order":{"kind":%q}}`, kind))
		price := types.MessageAttributeValue{DataType: aws.String("Number"), StringValue: aws.String([]string{"3", "4.50", "9"}[at])}
		entries = append(entries, types.PublishBatchRequestEntry{
			Id: &kind, Message: &bodies[at], MessageAttributes: map[string]types.MessageAttributeValue{"price": price},
		})
	}
	published := must(made.tryBatch(entries))
	equal([2]int{3, 0}, [2]int{len(published.Successful), len(published.Failed)})
	equal([][]string{bodies, bodies[:2], bodies[:1]}, [][]string{all.bodies(), cheap.bodies(), tea.bodies()})
	structured := made.message(`{"default":"{}","sqs":"{\"order\":{\"kind\":\"tee\"}}"}`)
	structured.MessageStructure = aws.String("json")
	made.publish(structured)
	equal([]string{`{"order":{"kind":"tee"}}`}, tea.bodies())
}

func undeliverable(t tour, fifo bool) {
	made := makeTopic(t.sns, "undeliverable", fifo)
	dead := made.makeTarget(t, "undeliverable")
	made.subscribe(strings.Replace(dead.arn(), "go-", "go-nowhere-", 1), map[string]string{
		"RawMessageDelivery": "true", "RedrivePolicy": fmt.Sprintf(`{"deadLetterTargetArn":%q}`, dead.arn()),
	})
	request := made.message("lost")
	request.MessageAttributes = forTopic(every)
	made.publish(request)
	message := only(dead.receive(dead.everything()))
	equal("lost", *message.Body)
	equal(every, message.MessageAttributes)
}

// topicOrder tests the order of groups over a batch, and duplicates.
func topicOrder(t tour, _ bool) {
	made := makeTopic(t.sns, "order", true)
	one, other := made.makeTarget(t, "topic-order-1"), made.makeTarget(t, "topic-order-2")
	made.subscribe(one.arn(), raw)
	made.subscribe(other.arn(), nil)
	var entries []types.PublishBatchRequestEntry
	for _, text := range strings.Fields("a1 a2 b1 a3 b2") {
		entries = append(entries, types.PublishBatchRequestEntry{Id: &text, Message: &text, MessageGroupId: aws.String(text[:1])})
	}
	published := must(made.tryBatch(entries)).Successful
	equal(published, must(made.tryBatch(entries)).Successful)
	named := func(text string) *sns.PublishInput {
		request := made.message(text)
		request.MessageDeduplicationId = aws.String("once")
		return request
	}
	first, again := made.publish(named("g1")), made.publish(named("g2"))
	equal([2]string{*first.MessageId, *first.SequenceNumber}, [2]string{*again.MessageId, *again.SequenceNumber})
	opened := map[string][]string{}
	for _, message := range other.receive(other.everything()) {
		envelope := open(message)
		opened[envelope.Message[:1]] = append(opened[envelope.Message[:1]], envelope.Message)
	}
	received := map[string][]string{}
	for _, text := range one.bodies() {
		received[text[:1]] = append(received[text[:1]], text)
	}
	equal(map[string][]string{"a": {"a1", "a2", "a3"}, "b": {"b1", "b2"}, "g": {"g1"}}, received)
	equal(received, opened)
}
