// The side of AWS's SDK for JavaScript with OpenTelemetry's instrumentation; `run` beside this file calls it.
//
// `send` and `send-batch` send a message within a span, `receive` receives one. Each prints the trace id and the id of the span
// that sent the message, as the instrumentation has them.
'use strict';

const { trace } = require('@opentelemetry/api');
const { W3CTraceContextPropagator } = require('@opentelemetry/core');
const { registerInstrumentations } = require('@opentelemetry/instrumentation');
const { AwsInstrumentation } = require('@opentelemetry/instrumentation-aws-sdk');
const { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } = require('@opentelemetry/sdk-trace-node');

const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
provider.register({ propagator: new W3CTraceContextPropagator() });
registerInstrumentations({ tracerProvider: provider, instrumentations: [new AwsInstrumentation()] });

// After the instrumentation, which wraps the module.
const {
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SQSClient,
  SendMessageBatchCommand,
  SendMessageCommand,
} = require('@aws-sdk/client-sqs');

const QueueUrl = process.env.QUEUE_URL;
const client = new SQSClient({ endpoint: process.env.AWS_ENDPOINT_URL_SQS });

async function inSpan(act) {
  await trace.getTracer('peer').startActiveSpan('order', async (span) => {
    await act();
    span.end();
  });
}

/** The span that the instrumentation made for a call. */
function spanNamed(end) {
  const span = exporter.getFinishedSpans().find((span) => span.name.endsWith(end));
  if (!span) throw new Error(`the instrumentation made no span "... ${end}"`);
  return span;
}

async function main([action]) {
  let context;
  if (action === 'send') {
    await inSpan(() => client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'one coffee' })));
    context = spanNamed(' send').spanContext();
  } else if (action === 'send-batch') {
    const Entries = [{ Id: '1', MessageBody: 'one coffee' }];
    await inSpan(() => client.send(new SendMessageBatchCommand({ QueueUrl, Entries })));
    context = spanNamed(' send').spanContext();
  } else if (action === 'receive') {
    const { Messages } = await client.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 5 }));
    if (Messages?.length !== 1) throw new Error('not one message');
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: Messages[0].ReceiptHandle }));
    const { links } = spanNamed(' receive');
    if (links.length !== 1) throw new Error(`${links.length} links to senders instead of one`);
    context = links[0].context;
  } else {
    throw new Error('send | send-batch | receive');
  }
  console.log(`${context.traceId} ${context.spanId}`);
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
