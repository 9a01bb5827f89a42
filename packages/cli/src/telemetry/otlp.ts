import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { OpenedProcessor } from './destination.ts';
import { otlpAddress, proxied } from './proxied.ts';

/**
 * Half of the queue size of a batching processor (`OTEL_BSP_MAX_QUEUE_SIZE`): a processor with a full queue drops
 * spans.
 */
export const batchedAtOnce = 1_024;

/**
 * Opens any destination that accepts OTLP over HTTP. The exporter reads its address and options from
 * `OTEL_EXPORTER_OTLP_…` and `OTEL_BSP_…`.
 */
export function openOtlp(protocol: 'http/protobuf' | 'http/json'): OpenedProcessor {
  const Exporter = protocol === 'http/json' ? JsonExporter : ProtobufExporter;
  const exporter = new Exporter(proxied(otlpAddress(process.env)));
  return { processor: new BatchSpanProcessor(exporter), atOnce: batchedAtOnce };
}
