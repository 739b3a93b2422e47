//! Calls as the console copies them, written by `copy.test.mjs`. That they compile is the test.
#![allow(clippy::all, clippy::pedantic, dead_code)]

mod sqs {
    use aws_sdk_sqs::{primitives::Blob, types::*};

    async fn call_0(sqs: aws_sdk_sqs::Client) -> Result<(), Box<dyn std::error::Error>> {
sqs.send_message()
    .queue_url("http://127.0.0.1:9324/000000000000/q")
    .message_body("tea \"quoted\" C:\\back\n\té \u{0001}\x08\x0c \"#")
    .delay_seconds(3)
    .message_attributes("kind", MessageAttributeValue::builder().data_type("String").string_value("tea \"quoted\" C:\\back\n\té \u{0001}\x08\x0c \"#").build()?)
    .message_attributes("bytes", MessageAttributeValue::builder().data_type("Binary").binary_value(Blob::new([0u8, 1u8, 2u8, 255u8])).build()?)
    .message_system_attributes("AWSTraceHeader".into(), MessageSystemAttributeValue::builder().data_type("String").string_value("Root=1").build()?)
    .message_group_id("a")
    .message_deduplication_id("b")
    .send()
    .await?;
Ok(())
    }

    async fn call_1(sqs: aws_sdk_sqs::Client) -> Result<(), Box<dyn std::error::Error>> {
sqs.send_message_batch()
    .queue_url("http://127.0.0.1:9324/000000000000/q")
    .entries(SendMessageBatchRequestEntry::builder().id("1").message_body("a\r").message_attributes("kind", MessageAttributeValue::builder().data_type("String").string_value("tea \"quoted\" C:\\back\n\té \u{0001}\x08\x0c \"#").build()?).message_attributes("bytes", MessageAttributeValue::builder().data_type("Binary").binary_value(Blob::new([0u8, 1u8, 2u8, 255u8])).build()?).message_system_attributes("AWSTraceHeader".into(), MessageSystemAttributeValue::builder().data_type("String").string_value("Root=1").build()?).build()?)
    .entries(SendMessageBatchRequestEntry::builder().id("2").message_body("b").build()?)
    .send()
    .await?;
Ok(())
    }

    async fn call_2(sqs: aws_sdk_sqs::Client) -> Result<(), Box<dyn std::error::Error>> {
sqs.delete_message_batch()
    .queue_url("http://127.0.0.1:9324/000000000000/q")
    .entries(DeleteMessageBatchRequestEntry::builder().id("1").receipt_handle("h").build()?)
    .send()
    .await?;
Ok(())
    }

    async fn call_3(sqs: aws_sdk_sqs::Client) -> Result<(), Box<dyn std::error::Error>> {
sqs.change_message_visibility_batch()
    .queue_url("http://127.0.0.1:9324/000000000000/q")
    .entries(ChangeMessageVisibilityBatchRequestEntry::builder().id("1").receipt_handle("h").visibility_timeout(3).build()?)
    .send()
    .await?;
Ok(())
    }

    async fn call_4(sqs: aws_sdk_sqs::Client) -> Result<(), Box<dyn std::error::Error>> {
sqs.receive_message()
    .queue_url("http://127.0.0.1:9324/000000000000/q")
    .message_system_attribute_names("All".into())
    .message_attribute_names("All")
    .wait_time_seconds(1)
    .send()
    .await?;
Ok(())
    }

    async fn call_5(sqs: aws_sdk_sqs::Client) -> Result<(), Box<dyn std::error::Error>> {
sqs.create_queue()
    .queue_name("q.fifo")
    .attributes("FifoQueue".into(), "true")
    .attributes("RedrivePolicy".into(), r#"{"maxReceiveCount":3}"#)
    .send()
    .await?;
Ok(())
    }

    async fn call_6(sqs: aws_sdk_sqs::Client) -> Result<(), Box<dyn std::error::Error>> {
sqs.set_queue_attributes()
    .queue_url("http://127.0.0.1:9324/000000000000/q")
    .attributes("Policy".into(), "")
    .send()
    .await?;
Ok(())
    }

    async fn call_7(sqs: aws_sdk_sqs::Client) -> Result<(), Box<dyn std::error::Error>> {
sqs.get_queue_attributes()
    .queue_url("http://127.0.0.1:9324/000000000000/q")
    .attribute_names("All".into())
    .send()
    .await?;
Ok(())
    }

    async fn call_8(sqs: aws_sdk_sqs::Client) -> Result<(), Box<dyn std::error::Error>> {
sqs.get_queue_url()
    .queue_name("q")
    .queue_owner_aws_account_id("000000000000")
    .send()
    .await?;
Ok(())
    }

    async fn call_9(sqs: aws_sdk_sqs::Client) -> Result<(), Box<dyn std::error::Error>> {
sqs.add_permission()
    .queue_url("http://127.0.0.1:9324/000000000000/q")
    .label("l")
    .aws_account_ids("000000000000")
    .actions("*")
    .send()
    .await?;
Ok(())
    }

    async fn call_10(sqs: aws_sdk_sqs::Client) -> Result<(), Box<dyn std::error::Error>> {
sqs.list_queues()
    .send()
    .await?;
Ok(())
    }

    async fn call_11(sqs: aws_sdk_sqs::Client) -> Result<(), Box<dyn std::error::Error>> {
sqs.tag_queue()
    .queue_url("http://127.0.0.1:9324/000000000000/q")
    .tags("team", "tea")
    .send()
    .await?;
Ok(())
    }

    async fn call_12(sqs: aws_sdk_sqs::Client) -> Result<(), Box<dyn std::error::Error>> {
sqs.untag_queue()
    .queue_url("http://127.0.0.1:9324/000000000000/q")
    .tag_keys("team")
    .send()
    .await?;
Ok(())
    }

    async fn call_13(sqs: aws_sdk_sqs::Client) -> Result<(), Box<dyn std::error::Error>> {
sqs.start_message_move_task()
    .source_arn("arn:aws:sqs:us-east-1:000000000000:q")
    .max_number_of_messages_per_second(3)
    .send()
    .await?;
Ok(())
    }

    async fn call_14(sqs: aws_sdk_sqs::Client) -> Result<(), Box<dyn std::error::Error>> {
sqs.cancel_message_move_task()
    .task_handle("h")
    .send()
    .await?;
Ok(())
    }

    async fn call_15(sqs: aws_sdk_sqs::Client) -> Result<(), Box<dyn std::error::Error>> {
sqs.purge_queue()
    .queue_url("http://127.0.0.1:9324/000000000000/q")
    .send()
    .await?;
Ok(())
    }
}

mod sns {
    use aws_sdk_sns::{primitives::Blob, types::*};

    async fn call_0(sns: aws_sdk_sns::Client) -> Result<(), Box<dyn std::error::Error>> {
sns.create_topic()
    .name("t.fifo")
    .attributes("FifoTopic", "true")
    .tags(Tag::builder().key("team").value("tea").build()?)
    .send()
    .await?;
Ok(())
    }

    async fn call_1(sns: aws_sdk_sns::Client) -> Result<(), Box<dyn std::error::Error>> {
sns.subscribe()
    .topic_arn("arn:aws:sns:us-east-1:000000000000:t")
    .protocol("sqs")
    .endpoint("arn:aws:sqs:us-east-1:000000000000:q")
    .return_subscription_arn(true)
    .attributes("FilterPolicy", r#"{"a":["b"]}"#)
    .send()
    .await?;
Ok(())
    }

    async fn call_2(sns: aws_sdk_sns::Client) -> Result<(), Box<dyn std::error::Error>> {
sns.set_subscription_attributes()
    .subscription_arn("arn:aws:sns:us-east-1:000000000000:t")
    .attribute_name("FilterPolicy")
    .attribute_value("{}")
    .send()
    .await?;
Ok(())
    }

    async fn call_3(sns: aws_sdk_sns::Client) -> Result<(), Box<dyn std::error::Error>> {
sns.publish()
    .topic_arn("arn:aws:sns:us-east-1:000000000000:t")
    .message("tea \"quoted\" C:\\back\n\té \u{0001}\x08\x0c \"#")
    .subject("s")
    .message_structure("json")
    .message_attributes("kind", MessageAttributeValue::builder().data_type("String").string_value("tea \"quoted\" C:\\back\n\té \u{0001}\x08\x0c \"#").build()?)
    .message_attributes("bytes", MessageAttributeValue::builder().data_type("Binary").binary_value(Blob::new([0u8, 1u8, 2u8, 255u8])).build()?)
    .message_group_id("a")
    .message_deduplication_id("b")
    .send()
    .await?;
Ok(())
    }

    async fn call_4(sns: aws_sdk_sns::Client) -> Result<(), Box<dyn std::error::Error>> {
sns.unsubscribe()
    .subscription_arn("arn:aws:sns:us-east-1:000000000000:t")
    .send()
    .await?;
Ok(())
    }
}

mod s3 {
    use aws_sdk_s3::primitives::ByteStream;

    async fn call_0(s3: aws_sdk_s3::Client) -> Result<(), Box<dyn std::error::Error>> {
s3.create_bucket()
    .bucket("b")
    .send()
    .await?;
Ok(())
    }

    async fn call_1(s3: aws_sdk_s3::Client) -> Result<(), Box<dyn std::error::Error>> {
s3.put_object()
    .bucket("b")
    .key("k y")
    .body(ByteStream::from_static("tea \"quoted\" C:\\back\n\té \u{0001}\x08\x0c \"#".as_bytes()))
    .content_type("text/plain")
    .send()
    .await?;
Ok(())
    }

    async fn call_2(s3: aws_sdk_s3::Client) -> Result<(), Box<dyn std::error::Error>> {
s3.delete_object()
    .bucket("b")
    .key("k y")
    .send()
    .await?;
Ok(())
    }
}
