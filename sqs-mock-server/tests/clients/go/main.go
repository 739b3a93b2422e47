// Tests the server with the AWS SDK for Go: `tour ENDPOINT S3_ENDPOINT`.
package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime/debug"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

// tour has the clients of the steps, and the admin API. Only retrying repeats requests as the SDK does, up to three attempts.
type tour struct {
	sqs, retrying *sqs.Client
	sns           *sns.Client
	sts           *sts.Client
	s3            *s3.Client
	mock          mock
}

var standard, fifo, both = []bool{false}, []bool{true}, []bool{false, true}

var steps = []struct {
	what  string
	types []bool
	run   func(tour, bool)
}{
	{"queues", both, names},
	{"pagination of queues", standard, pages},
	{"attributes of queues", both, attributes},
	{"tags and permissions", both, tags},
	{"purges", both, purges},
	{"messages with every attribute", both, everyAttribute},
	{"visibility and deletes", both, visibility},
	{"rejected messages", both, rejections},
	{"long polls", both, longPolls},
	{"batches", both, entries},
	{"rejected batches", both, batchRejections},
	{"order of groups", fifo, order},
	{"deduplication", fifo, deduplication},
	{"dead letters", both, moveToDeadLetters},
	{"moved messages", both, moves},
	{"cancelled move", both, cancelledMove},
	{"wrong checksums", both, checksums},
	{"throttling and lost responses", both, throttling},
	{"identity of the caller", standard, identity},
	{"topics", both, topicNames},
	{"attributes and tags of topics", both, topicAttributes},
	{"subscriptions", both, subscriptions},
	{"rejected subscriptions", both, subscriptionRejections},
	{"envelopes and raw messages", both, deliveries},
	{"filter policies", standard, filterPolicies},
	{"undeliverable messages", both, undeliverable},
	{"order of groups of a topic", fifo, topicOrder},
	{"rejected publishes", both, publishRejections},
	{"missing topics", both, missingTopics},
	{"provisioned queues", both, provisionQueue},
	{"provisioned queue policies", standard, provisionPolicy},
	{"provisioned topics", both, provisionTopic},
	{"provisioned subscriptions", both, provisionSubscription},
	{"S3 events", standard, events},
}

func main() {
	settings := configuration(os.Args[1], retryClosed)
	t := tour{
		sqs:      sqs.NewFromConfig(settings),
		retrying: sqs.NewFromConfig(configuration(os.Args[1], func() aws.Retryer { return retry.NewStandard() })),
		sns:      sns.NewFromConfig(settings),
		sts:      sts.NewFromConfig(settings),
		s3: s3.NewFromConfig(configuration(os.Args[2], retryClosed), func(options *s3.Options) {
			options.UsePathStyle = true
		}),
		mock: mock{os.Args[1]},
	}
	for _, step := range steps {
		for _, fifo := range step.types {
			step.run(t, fifo)
		}
		fmt.Printf("ok: aws-sdk-go-v2 %s: %s\n", version(), step.what)
	}
}

func configuration(endpoint string, retryer func() aws.Retryer) aws.Config {
	return aws.Config{
		BaseEndpoint: &endpoint,
		Region:       "us-east-1",
		Credentials:  aws.NewCredentialsCache(credentials.NewStaticCredentialsProvider("test", "test", "")),
		Retryer:      retryer,
	}
}

// retryClosed repeats only a request whose connection the client closed itself. On a busy machine it rarely does so while it
// reads a response, with any server: https://github.com/aws/aws-sdk-go-v2/issues/2737.
func retryClosed() aws.Retryer {
	return retry.NewStandard(func(options *retry.StandardOptions) {
		options.Retryables = []retry.IsErrorRetryable{retry.IsErrorRetryableFunc(func(err error) aws.Ternary {
			return aws.BoolTernary(errors.Is(err, net.ErrClosed))
		})}
	})
}

func version() string {
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, module := range build.Deps {
			if module.Path == "github.com/aws/aws-sdk-go-v2" {
				return module.Version
			}
		}
	}
	return "of unknown version"
}
