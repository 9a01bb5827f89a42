/** Sends up to hundreds of thousands of message chunks, for measurements and for tests of overload. */
import type { AgentOutput } from './wire.ts';

export interface Flood {
  count: number;
  /** The text that follows the time in each chunk. */
  text?: string;
  /** The number of chunks a second. Without it, the chunks are sent as fast as the client reads. */
  rate?: number;
}

const batch = 64;

/**
 * Sends chunks. Each chunk's text is the time at which it was written (µs on the machine's monotonic clock, 15 digits),
 * a space, and `text`. `flood` waits between batches, so that the agent can read input and the flood can be stopped.
 */
export async function flood(
  voice: AgentOutput,
  sessionId: unknown,
  { count, text = '', rate }: Flood,
  signal: AbortSignal,
): Promise<void> {
  const [head, tail] = around(sessionId, text);
  const chunk = (): string => head + now() + tail;
  await (rate === undefined
    ? pour(voice, count, chunk, signal)
    : pace(voice, count, rate, chunk, signal));
}

const now = (): string => String(process.hrtime.bigint() / 1000n).padStart(15, '0');

/** Returns the parts of a line before and after the time. Joining these parts is faster than serialising each line. */
function around(sessionId: unknown, text: string): [string, string] {
  const mark = '\u0000';
  const update = {
    sessionUpdate: 'agent_message_chunk',
    content: { type: 'text', text: `${mark} ${text}` },
  };
  const line = JSON.stringify({
    jsonrpc: '2.0',
    method: 'session/update',
    params: { sessionId, update },
  });
  const [head = '', tail = ''] = line.split(JSON.stringify(mark).slice(1, -1));
  return [head, `${tail}\n`];
}

async function pour(
  voice: AgentOutput,
  count: number,
  chunk: () => string,
  signal: AbortSignal,
): Promise<void> {
  for (let sent = 0; sent < count && !signal.aborted; sent += batch) {
    const size = Math.min(batch, count - sent);
    await voice.raw(Array.from({ length: size }, chunk).join(''));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Computes from the elapsed time how many chunks are due, so that a late timer does not reduce the rate. */
async function pace(
  voice: AgentOutput,
  count: number,
  rate: number,
  chunk: () => string,
  signal: AbortSignal,
): Promise<void> {
  const start = performance.now();
  for (let sent = 0; sent < count && !signal.aborted;) {
    const due = Math.min(count, Math.floor(((performance.now() - start) * rate) / 1000) + 1);
    while (sent < due) {
      await voice.raw(chunk());
      sent += 1;
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
