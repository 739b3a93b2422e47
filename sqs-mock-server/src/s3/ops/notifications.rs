//! `PutBucketNotificationConfiguration` and `GetBucketNotificationConfiguration`.

use std::collections::BTreeSet;

use s3s::dto::{
    EventBridgeConfiguration, FilterRule, FilterRuleName, GetBucketNotificationConfigurationInput,
    GetBucketNotificationConfigurationOutput, LambdaFunctionConfiguration, NotificationConfiguration,
    NotificationConfigurationFilter, PutBucketNotificationConfigurationInput,
    PutBucketNotificationConfigurationOutput, QueueConfiguration, S3KeyFilter, TopicConfiguration,
};
use s3s::{S3Error, S3Request, S3Result};

use crate::s3::RequestContext;
use crate::s3::notifications::{
    Configuration, Fault, KeyFilter, RequestedRule, Rule, Target, TargetKind, test_message,
};
use crate::s3::ops::{Operations, refused};

impl Operations {
    pub(crate) fn put_bucket_notification_configuration(
        &self,
        request: S3Request<PutBucketNotificationConfigurationInput>,
    ) -> S3Result<PutBucketNotificationConfigurationOutput> {
        let context = RequestContext::of(&request.extensions);
        let input = request.input;
        let bucket = self.bucket(&input.bucket)?;
        let event_bridge = input.notification_configuration.event_bridge_configuration.is_some();
        let rules = requested(input.notification_configuration);
        let new_id = || self.store.new_id();
        let configuration = Configuration::check(rules, event_bridge, self.region(&bucket), new_id);
        let configuration = configuration.map_err(|fault| refusal(&context, fault))?;
        let targets: BTreeSet<_> = configuration.rules.iter().map(|rule| rule.target.clone()).collect();
        let validates = !input.skip_destination_validation.unwrap_or_default();
        if validates {
            let unusable = |target: &Target| {
                let checked = self.outbox.targets.check(&input.bucket, target);
                checked.map(|note| context.notes.lock().extend(note)).err()
            };
            configuration.check_targets(unusable).map_err(|fault| refusal(&context, fault))?;
        }
        bucket.set_notifications(configuration).map_err(refused)?;
        if validates {
            let test = test_message(self.outbox.clock.now(), &input.bucket, &context.id, &context.host_id());
            for target in &targets {
                self.outbox.targets.deliver(&input.bucket, target, &test, context.trace_header.as_deref());
            }
        }
        Ok(PutBucketNotificationConfigurationOutput::default())
    }

    #[expect(clippy::needless_pass_by_value, reason = "all operations have one signature")]
    pub(crate) fn get_bucket_notification_configuration(
        &self,
        request: S3Request<GetBucketNotificationConfigurationInput>,
    ) -> S3Result<GetBucketNotificationConfigurationOutput> {
        let configuration = self.bucket(&request.input.bucket)?.notifications();
        let mut output = GetBucketNotificationConfigurationOutput {
            event_bridge_configuration: configuration.event_bridge.then(EventBridgeConfiguration::default),
            ..GetBucketNotificationConfigurationOutput::default()
        };
        for rule in &configuration.rules {
            show(rule, &mut output);
        }
        Ok(output)
    }
}

fn refusal(context: &RequestContext, fault: Fault) -> S3Error {
    *context.error_elements.lock() = fault.elements;
    S3Error::with_message(fault.code, fault.message)
}

/// s3s keeps the order of rules with targets of one kind only.
fn requested(configuration: NotificationConfiguration) -> Vec<RequestedRule> {
    // The three kinds of rules have the same fields, except for the ARN.
    macro_rules! rules {
        ($list:expr, $kind:ident, $arn:ident) => {
            $list.into_iter().flatten().map(|rule| RequestedRule {
                id: rule.id,
                kind: TargetKind::$kind,
                arn: rule.$arn,
                events: rule.events.into_iter().map(String::from).collect(),
                filter: filter_rules(rule.filter),
            })
        };
    }
    let queues = rules!(configuration.queue_configurations, Queue, queue_arn);
    let topics = rules!(configuration.topic_configurations, Topic, topic_arn);
    let functions = rules!(configuration.lambda_function_configurations, Function, lambda_function_arn);
    queues.chain(topics).chain(functions).collect()
}

fn filter_rules(filter: Option<NotificationConfigurationFilter>) -> Vec<(Option<String>, Option<String>)> {
    let rules = filter.and_then(|filter| filter.key?.filter_rules).unwrap_or_default();
    let text = |name: FilterRuleName| name.as_str().to_owned();
    rules.into_iter().map(|rule| (rule.name.map(text), rule.value)).collect()
}

/// Adds a rule to the list for its kind of target.
fn show(rule: &Rule, output: &mut GetBucketNotificationConfigurationOutput) {
    macro_rules! push {
        ($list:ident, $rule:ident, $arn:ident) => {
            output.$list.get_or_insert_default().push($rule {
                id: Some(rule.id.clone()),
                events: rule.events.iter().cloned().map(Into::into).collect(),
                filter: shown_filter(&rule.filter),
                $arn: rule.target.arn.clone(),
            })
        };
    }
    match rule.target.kind {
        TargetKind::Queue => push!(queue_configurations, QueueConfiguration, queue_arn),
        TargetKind::Topic => push!(topic_configurations, TopicConfiguration, topic_arn),
        TargetKind::Function => {
            push!(lambda_function_configurations, LambdaFunctionConfiguration, lambda_function_arn);
        }
    }
}

fn shown_filter(filter: &KeyFilter) -> Option<NotificationConfigurationFilter> {
    let rule = |name: &'static str, value: &Option<String>| {
        let value = Some(value.clone()?);
        Some(FilterRule { name: Some(FilterRuleName::from_static(name)), value })
    };
    let rules = [rule("Prefix", &filter.prefix), rule("Suffix", &filter.suffix)];
    let rules: Vec<_> = rules.into_iter().flatten().collect();
    let key = S3KeyFilter { filter_rules: Some(rules) };
    (filter != &KeyFilter::default()).then_some(NotificationConfigurationFilter { key: Some(key) })
}
