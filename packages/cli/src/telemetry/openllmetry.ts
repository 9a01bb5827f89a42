import { parseKeyPairsIntoRecord } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { OpenedProcessor } from './destination.ts';
import { openLlmetryAddress, proxied } from './proxied.ts';

/**
 * How many spans are sent at the same time. OpenLLMetry's exporter sends each span in a request of its own, and rejects
 * a span while 30 other requests are running.
 */
const defaultAtOnce = 20;

/**
 * Opens OpenLLMetry's span processor, with the same configuration as its SDK. The SDK's own `initialize` would also
 * instrument every model's library in this process. The library is large, so it is loaded only here.
 */
export async function openOpenLlmetry({ apiKey }: { apiKey: string }): Promise<OpenedProcessor> {
  const { createSpanProcessor, ALL_INSTRUMENTATION_LIBRARIES } =
    await import('@traceloop/node-server-sdk');
  const processor = createSpanProcessor({
    apiKey,
    disableBatch: true,
    ...exporterFor(apiKey),
    allowedInstrumentationLibraries: ALL_INSTRUMENTATION_LIBRARIES,
  });
  return { processor, atOnce: defaultAtOnce };
}

/**
 * Returns an exporter if a proxy is needed. OpenLLMetry's own exporter does not support proxies, so this exporter sends
 * the same data through the proxy.
 */
function exporterFor(apiKey: string): { exporter?: SpanExporter } {
  const url = openLlmetryAddress(process.env);
  const { httpAgentOptions } = proxied(url);
  if (httpAgentOptions === undefined) return {};
  const given = process.env['TRACELOOP_HEADERS'];
  const headers = given ? parseKeyPairsIntoRecord(given) : { Authorization: `Bearer ${apiKey}` };
  return { exporter: new OTLPTraceExporter({ url, headers, httpAgentOptions }) };
}
