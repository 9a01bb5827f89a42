/**
 * Sends spans to the configured destinations. If no destination is configured, this module is not loaded. The module
 * uses OpenTelemetry's own exporters, which batch, compress and retry requests, and which read further variables
 * themselves.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { hideUrlSecrets, type Span } from '@liminal/protocol';
import type { Logger, Tracing } from '@liminal/runtime';
import type { TelemetryConfig } from '../config/telemetry.ts';
import type { Destination } from './destination.ts';

/** How long the program waits at its end until all spans are sent, in ms. */
const flushMs = 3_000;
/** How many different problems are logged. */
const troublesMax = 10;

export interface Telemetry {
  tracing: Tracing;
  /** Sends the remaining spans. Waits no longer than the time limit. */
  close: () => Promise<void>;
}

/** @param role - The kind of program (`server` or `projector`), for the spans' resource. */
export async function startTelemetry(
  config: TelemetryConfig | undefined,
  logger: Logger,
  role: string,
): Promise<Telemetry | undefined> {
  if (!config) return undefined;
  for (const problem of config.problems) logger.warn({}, problem);
  const { openDestinations } = await import('./open-destinations.ts');
  const onTrouble = logOnce(logger);
  const { destinations, samples } = await openDestinations(config, role, onTrouble);
  if (destinations.length === 0) return undefined;
  return {
    tracing: tracingTo(destinations, config.captureContent, samples),
    close: async () => {
      const closed = Promise.all(destinations.map(async (destination) => destination.close()));
      await Promise.race([closed, delay(flushMs, undefined, { ref: false })]);
    },
  };
}

function tracingTo(
  destinations: readonly Destination[],
  captureContent: boolean,
  samples: Tracing['samples'],
): Tracing {
  const add = (spans: readonly Span[]): void => {
    for (const destination of destinations) destination.add(spans);
  };
  return { captureContent, samples, add };
}

/** Logs each different problem only once. */
function logOnce(logger: Logger): (what: string) => void {
  const logged = new Set<string>();
  return (what) => {
    if (logged.has(what) || logged.size >= troublesMax) return;
    logged.add(what);
    const reason = hideUrlSecrets(what).slice(0, 300);
    logger.warn({ reason }, 'spans could not be sent; this problem is logged once');
  };
}
