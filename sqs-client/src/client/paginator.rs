//! Paginators of the two list actions.

use aws_smithy_async::future::pagination_stream::{PaginationStream, TryFlatMap, fn_stream::FnStream};

use super::{Call, OperationOf, OutputOf};
use crate::types::FluentBuilder;
use crate::types::queue::{
    ListDeadLetterSourceQueuesInput, ListDeadLetterSourceQueuesOutput, ListQueuesInput, ListQueuesOutput,
};
use crate::wire::model::{Input, InputBuilder};

/// An input of a list action.
pub trait PagedInput: Input {
    /// Sets the token of the page to request.
    fn set_next_token(&mut self, token: Option<String>);
    /// The token of the first page to request; `None` starts at the beginning.
    fn start(&self) -> Option<&str>;
    /// The page size.
    fn page_size(&mut self) -> &mut Option<i32>;
}

/// An output of a list action.
pub trait PagedOutput {
    /// The token of the next page; `None` or empty on the last page.
    fn next_token(&self) -> Option<&str>;
    /// The URLs on the page.
    fn into_urls(self) -> Vec<String>;
}

macro_rules! paged {
    ($input:ty, $output:ty, $urls:expr) => {
        impl PagedInput for $input {
            fn set_next_token(&mut self, token: Option<String>) {
                self.next_token = token;
            }
            fn start(&self) -> Option<&str> {
                self.next_token.as_deref()
            }
            fn page_size(&mut self) -> &mut Option<i32> {
                &mut self.max_results
            }
        }

        impl PagedOutput for $output {
            fn next_token(&self) -> Option<&str> {
                self.next_token.as_deref()
            }
            fn into_urls(self) -> Vec<String> {
                let urls: fn($output) -> Vec<String> = $urls;
                urls(self)
            }
        }
    };
}

paged!(ListQueuesInput, ListQueuesOutput, |page| page.queue_urls.unwrap_or_default());
paged!(ListDeadLetterSourceQueuesInput, ListDeadLetterSourceQueuesOutput, |page| page.queue_urls);

/// The service returns a token only if the request has a page size; this is the largest one.
const DEFAULT_PAGE: i32 = 1_000;

/// Requests all pages of a list, one request per page.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = sqs_mock_server::MockSqs::in_process();
/// # let client = server.client();
/// client.create_queue().queue_name("orders").send().await?;
///
/// let mut urls = client.list_queues().queue_name_prefix("or").into_paginator().items().send();
/// while let Some(url) = urls.next().await {
///     println!("{}", url?);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Paginator<B, H> {
    request: FluentBuilder<B, H>,
    page_size: Option<i32>,
    stop_on_duplicate_token: bool,
}

/// All URLs of a list, from all pages.
#[derive(Clone, Debug)]
pub struct PaginatorItems<B, H>(Paginator<B, H>);

impl<B, H> FluentBuilder<B, H>
where
    B: InputBuilder + 'static,
    B::Input: PagedInput,
{
    /// Requests all pages instead of one.
    pub fn into_paginator(self) -> Paginator<B, H> {
        Paginator { request: self, page_size: None, stop_on_duplicate_token: true }
    }
}

impl<B, H> Paginator<B, H>
where
    B: InputBuilder + 'static,
    B::Input: PagedInput,
    OutputOf<B>: PagedOutput,
    H: Call<OperationOf<B>>,
{
    /// URLs per page, 1 to 1,000; 1,000 by default.
    pub fn page_size(mut self, limit: i32) -> Self {
        self.page_size = Some(limit);
        self
    }

    /// Whether to stop if the service repeats a token, which would loop forever; on by default.
    pub fn stop_on_duplicate_token(mut self, stop: bool) -> Self {
        self.stop_on_duplicate_token = stop;
        self
    }

    /// Yields single URLs instead of pages.
    pub fn items(self) -> PaginatorItems<B, H> {
        PaginatorItems(self)
    }

    /// The stream of pages. Each `next()` sends at most one request. The stream ends after the first error.
    pub fn send(self) -> PaginationStream<Result<OutputOf<B>, H::Error>> {
        let Self { request, page_size, stop_on_duplicate_token } = self;
        PaginationStream::new(FnStream::new(move |pages| {
            Box::pin(async move {
                let (builder, handle) = request.into_parts();
                let mut input = match builder.build().map_err(H::invalid_input) {
                    Ok(input) => input,
                    Err(error) => {
                        let _ = pages.send(Err(error)).await;
                        return;
                    }
                };
                *input.page_size() = page_size.or(*input.page_size()).or(Some(DEFAULT_PAGE));
                let mut token = input.start().map(str::to_owned);
                loop {
                    let page = handle.call(&input).await;
                    let next = page.as_ref().ok().and_then(PagedOutput::next_token).map(str::to_owned);
                    let next = next.filter(|next| !next.is_empty());
                    let repeated = stop_on_duplicate_token && next == token;
                    // Sending fails if the caller has dropped the stream.
                    if pages.send(page).await.is_err() || next.is_none() || repeated {
                        return;
                    }
                    input.set_next_token(next.clone());
                    token = next;
                }
            })
        }))
    }
}

impl<B, H> PaginatorItems<B, H>
where
    B: InputBuilder + 'static,
    B::Input: PagedInput,
    OutputOf<B>: PagedOutput,
    H: Call<OperationOf<B>>,
{
    /// The stream of URLs. It ends after the first error.
    pub fn send(self) -> PaginationStream<Result<String, H::Error>> {
        TryFlatMap::new(self.0.send()).flat_map(PagedOutput::into_urls)
    }
}
