package main

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// event is the part of an S3 event that the tour checks, and the test message.
type event struct {
	Service, Event, Bucket string
	Records                []struct {
		EventName string
		S3        struct {
			Bucket struct{ Name string }
			Object struct {
				Key, ETag string
				Size      int
			}
		}
	}
}

func events(t tour, _ bool) {
	bucket := aws.String("go-events")
	must(t.s3.CreateBucket(background, &s3.CreateBucketInput{Bucket: bucket}))
	q := makeQueue(t.sqs, "events", false, map[string]string{"Policy": allow})
	rule := types.QueueConfiguration{
		Id: aws.String("tables"), QueueArn: aws.String(q.arn()),
		Events: []types.Event{"s3:ObjectCreated:*", "s3:ObjectRemoved:Delete"},
		Filter: &types.NotificationConfigurationFilter{Key: &types.S3KeyFilter{FilterRules: []types.FilterRule{
			{Name: types.FilterRuleNamePrefix, Value: aws.String("in/")},
			{Name: types.FilterRuleNameSuffix, Value: aws.String(".csv")},
		}}},
	}
	rules := []types.QueueConfiguration{rule}
	put := &s3.PutBucketNotificationConfigurationInput{
		Bucket: bucket, NotificationConfiguration: &types.NotificationConfiguration{QueueConfigurations: rules},
	}
	must(t.s3.PutBucketNotificationConfiguration(background, put))
	get := &s3.GetBucketNotificationConfigurationInput{Bucket: bucket}
	got := only(must(t.s3.GetBucketNotificationConfiguration(background, get)).QueueConfigurations)
	for at, filter := range got.Filter.Key.FilterRules {
		// S3 returns the names with a capital.
		got.Filter.Key.FilterRules[at].Name = types.FilterRuleName(strings.ToLower(string(filter.Name)))
	}
	equal(rule, got)
	tested := next(q)
	equal([3]string{"Amazon S3", "s3:TestEvent", *bucket}, [3]string{tested.Service, tested.Event, tested.Bucket})

	etag := ""
	for _, key := range []string{"in/a.txt", "out/a.csv", "in/ä b+c.csv"} {
		object := &s3.PutObjectInput{Bucket: bucket, Key: &key, Body: strings.NewReader("a,b\n")}
		etag = strings.Trim(*must(t.s3.PutObject(background, object)).ETag, `"`)
	}
	equal([4]any{"ObjectCreated:Put", "in/ä b+c.csv", 4, etag}, changed(q))
	must(t.s3.DeleteObject(background, &s3.DeleteObjectInput{Bucket: bucket, Key: aws.String("in/ä b+c.csv")}))
	equal([4]any{"ObjectRemoved:Delete", "in/ä b+c.csv", 0, ""}, changed(q))
	equal([]string{}, q.bodies())

	rules[0].QueueArn = aws.String(q.arn() + "-nowhere")
	_, err := t.s3.PutBucketNotificationConfiguration(background, put)
	rejected("InvalidArgument", 400, err)
}

// next waits for an event.
func next(q queue) event {
	request := q.everything()
	request.WaitTimeSeconds = 5
	body := *only(q.receive(request)).Body
	var received event
	if err := json.Unmarshal([]byte(body), &received); err != nil {
		fail("expected an event, got %s", body)
	}
	return received
}

// changed waits for an event, and returns its name, and key, size and ETag of the object.
func changed(q queue) [4]any {
	record := only(next(q).Records)
	object := record.S3.Object
	return [4]any{record.EventName, must(url.QueryUnescape(object.Key)), object.Size, object.ETag}
}
