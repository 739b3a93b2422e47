package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func moveToDeadLetters(t tour, fifo bool) {
	dead := makeQueue(t.sqs, "dead", fifo, nil)
	source, other := sourceOf(dead, "source-1"), sourceOf(dead, "source-2")
	var urls []string
	request := &sqs.ListDeadLetterSourceQueuesInput{QueueUrl: dead.url, MaxResults: aws.Int32(1)}
	for pages := sqs.NewListDeadLetterSourceQueuesPaginator(t.sqs, request); pages.HasMorePages(); {
		urls = append(urls, only(must(pages.NextPage(background)).QueueUrls))
	}
	equal([]string{*source.url, *other.url}, slices.Sorted(slices.Values(urls)))
	sent := source.send(source.message("poison"))
	equal([]string{"poison"}, source.bodies())
	equal([]string{}, source.bodies())
	deadLetter := only(dead.receive(dead.everything()))
	equal(*sent.MessageId, *deadLetter.MessageId)
	equal("2", deadLetter.Attributes["ApproximateReceiveCount"])
	equal(source.arn(), deadLetter.Attributes["DeadLetterQueueSourceArn"])
	_, err := tryMake(t.sqs, "invalid-target", fifo, redrive(dead.arn()+"-nowhere"))
	rejected("InvalidParameterValue", 400, err)
}

func moves(t tour, fifo bool) {
	dead := makeQueue(t.sqs, "moved", fifo, nil)
	source := sourceOf(dead, "moved-source")
	source.send(source.message("1"))
	source.send(source.message("2"))
	eventually("both messages are dead letters", func() bool { return len(source.bodies()) == 0 && dead.counts()[0] == "2" })
	start := func(arn string) error {
		_, err := t.sqs.StartMessageMoveTask(background, &sqs.StartMessageMoveTaskInput{SourceArn: &arn})
		return err
	}
	equal(nil, start(dead.arn()))
	eventually("the task ends", func() bool { return *task(dead).Status == "COMPLETED" })
	ended := task(dead)
	equal([2]any{int64(2), dead.arn()}, [2]any{ended.ApproximateNumberOfMessagesMoved, *ended.SourceArn})
	equal([2]string{"0", "0"}, dead.counts())
	kept := source.everything()
	kept.VisibilityTimeout = 30
	equal([]string{"1", "2"}, bodiesOf(source.receive(kept)))

	rejectedAs[*types.ResourceNotFoundException]("ResourceNotFoundException", 404, start(dead.arn()+"-nowhere"))
	rejected("InvalidParameterValue", 400, start(source.arn()))
	_, err := t.sqs.CancelMessageMoveTask(background, &sqs.CancelMessageMoveTaskInput{TaskHandle: aws.String("garbage")})
	rejected("InvalidParameterValue", 400, err)
}

// cancelledMove runs a task with a custom destination and one message per second, and cancels it.
func cancelledMove(t tour, fifo bool) {
	dead := makeQueue(t.sqs, "slow", fifo, nil)
	sourceOf(dead, "slow-source")
	arn, destination := dead.arn(), makeQueue(t.sqs, "slow-destination", fifo, nil).arn()
	for _, body := range strings.Split("12345", "") {
		dead.send(dead.message(body))
	}
	request := &sqs.StartMessageMoveTaskInput{
		SourceArn: &arn, DestinationArn: &destination, MaxNumberOfMessagesPerSecond: aws.Int32(1),
	}
	started := must(t.sqs.StartMessageMoveTask(background, request))
	running := task(dead)
	equal(
		[5]any{"RUNNING", *started.TaskHandle, destination, int32(1), int64(5)},
		[5]any{*running.Status, *running.TaskHandle, *running.DestinationArn,
			*running.MaxNumberOfMessagesPerSecond, *running.ApproximateNumberOfMessagesToMove},
	)
	_, err := t.sqs.StartMessageMoveTask(background, request)
	rejected("InvalidParameterValue", 400, err)
	cancelled := must(t.sqs.CancelMessageMoveTask(
		background, &sqs.CancelMessageMoveTaskInput{TaskHandle: started.TaskHandle},
	))
	equal(true, cancelled.ApproximateNumberOfMessagesMoved < 5)
	eventually("the task is cancelled", func() bool { return *task(dead).Status == "CANCELLED" })
	equal(false, dead.counts()[0] == "0")
}

func redrive(arn string) map[string]string {
	policy := fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":1}`, arn)
	return map[string]string{"RedrivePolicy": policy, "VisibilityTimeout": "0"}
}

func sourceOf(dead queue, name string) queue {
	return makeQueue(dead.sqs, name, dead.fifo, redrive(dead.arn()))
}

func task(dead queue) types.ListMessageMoveTasksResultEntry {
	request := &sqs.ListMessageMoveTasksInput{SourceArn: aws.String(dead.arn())}
	return only(must(dead.sqs.ListMessageMoveTasks(background, request)).Results)
}
