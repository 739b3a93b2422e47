// The peer with the AWS SDK for JavaScript and its OpenTelemetry instrumentation. The script `run` starts it.
//
// `send` and `send-batch` send a message within a span, `receive` receives one. Each prints the trace id and the span id of
// the sender according to the instrumentation.
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

// The instrumentation must be registered before this import, because it wraps the module.
const {
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SQSClient,
  SendMessageBatchCommand,
  SendMessageCommand,
} = require('@aws-sdk/client-sqs');

const QueueUrl = process.env.QUEUE_URL;
const client = new SQSClient({ endpoint: process.env.AWS_ENDPOINT_URL_SQS });

async function inSpan(call) {
  await trace.getTracer('peer').startActiveSpan('order', async (span) => {
    await call();
    span.end();
  });
}

/** Returns the span of a call that the instrumentation created. */
function spanNamed(end) {
  const span = exporter.getFinishedSpans().find((span) => span.name.endsWith(end));
  if (!span) throw new Error(`the instrumentation created no span "... ${end}"`);
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
    if (Messages?.length !== 1) throw new Error(`expected 1 message, got ${Messages?.length ?? 0}`);
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: Messages[0].ReceiptHandle }));
    const { links } = spanNamed(' receive');
    if (links.length !== 1) throw new Error(`expected 1 link to a sender, got ${links.length}`);
    context = links[0].context;
  } else {
    throw new Error(`unknown action ${action}; allowed are send, send-batch, receive`);
  }
  console.log(`${context.traceId} ${context.spanId}`);
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
