import type { LiminalClient } from '@liminal/client';
import {
  escapeHiddenInJson,
  LiminalError,
  type Response,
  runSpans,
  type Span,
  toOtlp,
} from '@liminal/protocol';
import type { Config } from '../config/load.ts';
import { connect } from '../connect.ts';
import { turnsOf } from '../find-turn.ts';
import { sendSpans } from '../send-spans.ts';
import { oneRow } from '../terminal/rows.ts';

export interface TraceFlags {
  json?: boolean;
  send?: boolean;
  captureContent?: boolean;
}

/**
 * Rebuilds the spans of a stored run, or of every run of a session, and prints or sends the spans. `env` has the
 * standard variables of OpenTelemetry. Throws LiminalError for an unknown id, or if the spans cannot be sent.
 */
export async function trace(
  id: string,
  { json, send, captureContent }: TraceFlags,
  config: Config,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const { client, close } = await connect(config);
  try {
    const waterfalls = (await runsOf(client, id)).map((run) => runSpans(run, { captureContent }));
    const spans = waterfalls.flat();
    const request = toOtlp(spans, env['OTEL_SERVICE_NAME'] || 'liminal');
    if (send) await sendSpans(request, env);
    if (json) console.log(escapeHiddenInJson(JSON.stringify(request)));
    else if (send) console.log(`Sent ${spans.length} spans of ${waterfalls.length} runs.`);
    else console.log(waterfalls.map(waterfall).join('\n\n'));
    return 0;
  } finally {
    await close();
  }
}

async function runsOf(client: LiminalClient, id: string): Promise<Response[]> {
  try {
    return [await client.requests.getRun(id)];
  } catch (error) {
    if (!(error instanceof LiminalError) || error.code !== 'RUN_NOT_FOUND') throw error;
  }
  // A turn's first run has the turn's id.
  const turns = await turnsOf(client, id);
  return Promise.all(turns.map(async (turnId) => client.requests.getRun(turnId)));
}

/** Prints one line per span, below the span's parent: the span's start, duration and name. */
function waterfall(spans: readonly Span[]): string {
  const [turn] = spans;
  if (!turn) return '';
  const below = Map.groupBy(spans.slice(1), ({ parentSpanId }) => parentSpanId);
  const lines = (span: Span, depth: number): string[] => {
    const begun = `+${seconds(span.startedAt - turn.startedAt)}`.padStart(11);
    const took = seconds(span.endedAt - span.startedAt).padStart(10);
    const line = `${begun} ${took}  ${'  '.repeat(depth)}${span.name}`;
    const inside = below.get(span.spanId) ?? [];
    const shown = span.hasFailed ? `${line}  (failed)` : line;
    return [oneRow(shown), ...inside.flatMap((one) => lines(one, depth + 1))];
  };
  return [`trace ${turn.traceId}`, ...lines(turn, 0)].join('\n');
}

function seconds(ms: number): string {
  return `${(Math.max(0, ms) / 1_000).toFixed(3)} s`;
}
