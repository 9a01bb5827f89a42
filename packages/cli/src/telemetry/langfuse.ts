import { LangfuseSpanProcessor } from '@langfuse/otel';
import type { Span } from '@liminal/protocol';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { OpenedProcessor } from './destination.ts';
import { batchedAtOnce } from './otlp.ts';
import { proxied } from './proxied.ts';

interface Access {
  publicKey: string;
  secretKey: string;
  baseUrl: string;
}

export function openLangfuse(access: Access): OpenedProcessor {
  const processor = new LangfuseSpanProcessor({
    ...access,
    // By default Langfuse exports only spans of models, so its waterfall would lack spans.
    shouldExportSpan: () => true,
    // Liminal's spans refer to images but do not contain the images, so no media must be uploaded.
    mediaUploadEnabled: false,
    ...exporterFor(access),
  });
  return { processor, atOnce: batchedAtOnce, extraAttributes: sessionOf };
}

/**
 * Returns an exporter if a proxy is needed. Langfuse's own exporter does not support proxies, so this exporter sends
 * the same data through the proxy.
 */
function exporterFor({ publicKey, secretKey, baseUrl }: Access): { exporter?: SpanExporter } {
  const url = `${baseUrl}/api/public/otel/v1/traces`;
  const { httpAgentOptions } = proxied(url);
  if (httpAgentOptions === undefined) return {};
  const login = Buffer.from(`${publicKey}:${secretKey}`).toString('base64');
  const headers = {
    authorization: `Basic ${login}`,
    'x-langfuse-sdk-name': 'javascript',
    'x-langfuse-public-key': publicKey,
  };
  return { exporter: new OTLPTraceExporter({ url, headers, httpAgentOptions }) };
}

/** Returns the attribute by which Langfuse groups traces. */
function sessionOf({ attributes }: Span): Span['attributes'] {
  const id = attributes['gen_ai.conversation.id'];
  return id === undefined ? {} : { 'session.id': id };
}
