import { randomUUID } from 'node:crypto';
import { diag, DiagLogLevel, ROOT_CONTEXT } from '@opentelemetry/api';
import { throughProxy } from '@liminal/agents/proxy';
import { thrownMessage } from '@liminal/protocol';
import type { Tracing } from '@liminal/runtime';
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { SamplingDecision, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace-base';
import type { Sampler, TelemetryConfig } from '../config/telemetry.ts';
import { version } from '../version.ts';
import { Destination } from './destination.ts';
import { addressesOf } from './proxied.ts';

type OnTrouble = (what: string) => void;

/**
 * Opens each destination of the configuration. A destination that cannot be opened is reported; all other destinations
 * still work.
 */
export async function openDestinations(
  config: TelemetryConfig,
  role: string,
  report: OnTrouble,
): Promise<{ destinations: Destination[]; samples: Tracing['samples'] }> {
  const onTrouble = withProxies(config, report);
  reportDiagnostics(onTrouble);
  const resource = resourceOf(role);
  const { otlp, langfuse, openllmetry } = config;
  const opening = [
    otlp && import('./otlp.ts').then(({ openOtlp }) => openOtlp(otlp)),
    langfuse && import('./langfuse.ts').then(({ openLangfuse }) => openLangfuse(langfuse)),
    openllmetry &&
      import('./openllmetry.ts').then(({ openOpenLlmetry }) => openOpenLlmetry(openllmetry)),
  ];
  const opened = await Promise.allSettled(opening.map(async (one) => one));
  const destinations = opened.flatMap((one) => {
    if (one.status === 'fulfilled')
      return one.value ? [new Destination(one.value, resource, onTrouble)] : [];
    onTrouble(thrownMessage(one.reason));
    return [];
  });
  return { destinations, samples: samplesBy(config.sampler) };
}

/** Adds the names of the proxies to reported problems, because exporters do not report them. */
function withProxies(config: TelemetryConfig, onTrouble: OnTrouble): OnTrouble {
  const ways = addressesOf(config, process.env).map(([, address]) => throughProxy(address));
  const proxies = [...new Set(ways)].filter((way) => way !== '');
  if (proxies.length === 0) return onTrouble;
  return (what) => onTrouble(`Spans are sent${proxies.join(' or')}: ${what}`);
}

/** Receives the exporters' errors: every version of their libraries uses the same global `diag`. */
function reportDiagnostics(onTrouble: OnTrouble): void {
  // Some exporters begin a message with the name of their own component.
  const onMessage = (text: string, ...more: unknown[]): void =>
    onTrouble(sentenceIn(more.length === 0 ? text : more.map(thrownMessage).join(' ')));
  const ignore = (): void => {};
  const logger = {
    error: onMessage,
    warn: onMessage,
    info: ignore,
    debug: ignore,
    verbose: ignore,
  };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

/** Exporters report an error as JSON that contains the error's stack and perhaps the destination's response. */
function sentenceIn(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === 'string' ? message : text;
  } catch {
    return text;
  }
}

/**
 * Returns the attributes of this program. The variables `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` override
 * Liminal's own.
 */
function resourceOf(role: string): Resource {
  const ours = resourceFromAttributes({
    'service.name': 'liminal',
    'service.version': version,
    'service.instance.id': randomUUID(),
    'liminal.role': role,
  });
  return defaultResource()
    .merge(ours)
    .merge(detectResources({ detectors: [envDetector] }));
}

function samplesBy(sampler: Sampler): Tracing['samples'] {
  if (typeof sampler === 'string') return () => sampler === 'all';
  const ratio = new TraceIdRatioBasedSampler(sampler.share);
  return (traceId) =>
    ratio.shouldSample(ROOT_CONTEXT, traceId).decision === SamplingDecision.RECORD_AND_SAMPLED;
}
