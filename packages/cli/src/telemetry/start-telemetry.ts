/**
 * Spans on their way to those who want them. Nothing of this is loaded where nobody does; OpenTelemetry's own exporters
 * batch, compress, try again and read the rest of their variables.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { hideUrlSecrets, type Span } from '@liminal/protocol';
import type { Logger, Tracing } from '@liminal/runtime';
import type { TelemetryConfig } from '../config/telemetry.ts';
import type { Destination } from './destination.ts';

/** How long the end of the program waits for spans to be taken, ms. */
const FLUSH_MS = 3_000;
/** How many different troubles are logged. */
const TROUBLES_MAX = 10;

export interface Telemetry {
  tracing: Tracing;
  /** Sends what is left, for a while. */
  close: () => Promise<void>;
}

/** @param role - Which program it is, for the spans' resource: `server`, `projector`. */
export async function startTelemetry(
  config: TelemetryConfig | undefined,
  logger: Logger,
  role: string,
): Promise<Telemetry | undefined> {
  if (!config) return undefined;
  for (const problem of config.problems) logger.warn({}, problem);
  const { openDestinations } = await import('./open-destinations.ts');
  const onTrouble = tellOnce(logger);
  const { destinations, samples } = await openDestinations(config, role, onTrouble);
  if (destinations.length === 0) return undefined;
  return {
    tracing: tracingTo(destinations, config.captureContent, samples),
    close: async () => {
      const closed = Promise.all(destinations.map(async (destination) => destination.close()));
      await Promise.race([closed, delay(FLUSH_MS, undefined, { ref: false })]);
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

/** Nobody who reads the log needs to know it each time. */
function tellOnce(logger: Logger): (what: string) => void {
  const told = new Set<string>();
  return (what) => {
    if (told.has(what) || told.size >= TROUBLES_MAX) return;
    told.add(what);
    const reason = hideUrlSecrets(what).slice(0, 300);
    logger.warn({ reason }, 'spans could not be sent; this is said once');
  };
}
