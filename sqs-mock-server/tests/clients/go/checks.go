package main

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
)

// fail ends the tour; main says with what.
func fail(format string, arguments ...any) {
	panic(fmt.Sprintf(format, arguments...))
}

func equal(expected, got any) {
	if !reflect.DeepEqual(expected, got) {
		fail("expected %+v, got %+v", expected, got)
	}
}

func only[T any](things []T) T {
	if len(things) != 1 {
		fail("expected one thing, got %+v", things)
	}
	return things[0]
}

// must takes what a call answers that has to work.
func must[T any](answer T, err error) T {
	if err != nil {
		fail("expected an answer, got %v", err)
	}
	return answer
}

// refused asserts an error that has this code in the Query protocol and this status.
func refused(code string, status int, err error) {
	var failure smithy.APIError
	var response *awshttp.ResponseError
	if !errors.As(err, &failure) || !errors.As(err, &response) {
		fail("expected %s, got %v", code, err)
	}
	if failure.ErrorCode() != code || response.HTTPStatusCode() != status || response.ServiceRequestID() == "" {
		fail("expected %s with %d, got %v", code, status, err)
	}
}

// refusedAs asserts an error that is also one of the types of the SDK.
func refusedAs[E error](code string, status int, err error) {
	if !isA[E](err) {
		fail("expected %s as a type, got %v", code, err)
	}
	refused(code, status, err)
}

func isA[E error](err error) bool {
	var typed E
	return errors.As(err, &typed)
}

// eventually looks until it is so: what the server does in the background takes it a moment.
func eventually(what string, look func() bool) {
	for range 500 {
		if look() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	fail("expected that %s, which did not come", what)
}

// checksum is the MD5 of message attributes, which the client does not compare by itself.
func checksum(attributes map[string]types.MessageAttributeValue) string {
	hash := md5.New()
	part := func(bytes []byte) {
		hash.Write(binary.BigEndian.AppendUint32(nil, uint32(len(bytes))))
		hash.Write(bytes)
	}
	names := make([]string, 0, len(attributes))
	for name := range attributes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		value := attributes[name]
		part([]byte(name))
		part([]byte(aws.ToString(value.DataType)))
		if value.BinaryValue != nil {
			hash.Write([]byte{2})
			part(value.BinaryValue)
		} else {
			hash.Write([]byte{1})
			part([]byte(aws.ToString(value.StringValue)))
		}
	}
	return hex.EncodeToString(hash.Sum(nil))
}
