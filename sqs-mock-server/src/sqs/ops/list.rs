//! Paginated lists: queues, and sources of a dead-letter queue.

use sqs_client::operation::list_dead_letter_source_queues::ListDeadLetterSourceQueues;
use sqs_client::operation::list_queues::ListQueues;
use sqs_client::wire::limits::LIST_RESULTS;
use sqs_client::wire::service_error::ServiceError;
use sqs_client::wire::validate::{Validate, error};

use super::{Context, Serve, Served, Service, built};
use crate::sqs::engine::Page;

impl Serve for ListQueues {
    async fn serve(service: &Service, context: &Context, input: Self::Input) -> Served<Self> {
        input.validate()?;
        let after = input.next_token().map(read_token).transpose()?;
        let prefix = input.queue_name_prefix().unwrap_or_default();
        let page = match service.shared.account(&context.region, &context.account) {
            Some(account) => {
                account.directory.read().list(prefix, after.as_deref(), page_size(input.max_results))
            }
            None => Page::default(),
        };
        let urls = urls(context, &context.account, &page);
        Ok(Self::Output::builder()
            .set_queue_urls(Some(urls).filter(|urls| !urls.is_empty()))
            .set_next_token(next_token(&page, input.max_results))
            .build())
    }
}

impl Serve for ListDeadLetterSourceQueues {
    async fn serve(service: &Service, context: &Context, mut input: Self::Input) -> Served<Self> {
        let queue = service.queue::<Self>(context, &mut input.queue_url)?;
        input.validate()?;
        let after = input.next_token().map(read_token).transpose()?;
        let arn = queue.arn();
        let page = match service.shared.account_of(arn) {
            Some(account) => {
                account.directory.read().sources_of(&arn.name, after.as_deref(), page_size(input.max_results))
            }
            None => Page::default(),
        };
        let output = Self::Output::builder()
            .set_queue_urls(Some(urls(context, &arn.account, &page)))
            .set_next_token(next_token(&page, input.max_results));
        built(output.build())
    }
}

fn page_size(max_results: Option<i32>) -> usize {
    usize::try_from(max_results.unwrap_or(*LIST_RESULTS.end())).unwrap_or(0)
}

fn urls(context: &Context, account: &str, page: &Page) -> Vec<String> {
    page.names.iter().map(|name| context.queue_url(account, name)).collect()
}

/// The last name of the page: queues that are created or deleted meanwhile neither repeat nor hide others. A token is
/// returned only with `MaxResults`.
fn next_token(page: &Page, max_results: Option<i32>) -> Option<String> {
    let last = page.names.last().filter(|_| page.more && max_results.is_some())?;
    Some(base64_simd::STANDARD.encode_to_string(last.as_bytes()))
}

fn read_token(token: &str) -> Result<String, ServiceError> {
    let name = base64_simd::STANDARD.decode_to_vec(token).ok().and_then(|name| String::from_utf8(name).ok());
    name.ok_or_else(|| error::invalid_value("NextToken", token, "It was not returned by this service."))
}
