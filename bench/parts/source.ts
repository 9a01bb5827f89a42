/**
 * Plays an agent: says one turn as Claude Code's stream does, one JSON message a line.
 * `node source.ts COUNT RATE BLOCKS`: COUNT text deltas, RATE a second (0: as fast as the reader takes them), and that
 * for each of BLOCKS texts.
 * Each delta's text is the time it was written (µs on the machine's monotonic clock, 15 digits) and a space.
 */
import { once } from 'node:events';

const [count = 0, rate = 0, blocks = 1] = process.argv.slice(2).map(Number);
const session = { session_id: 'bench', parent_tool_use_id: null, uuid: 'bench' };

function line(event: unknown): string {
  return `${JSON.stringify({ type: 'stream_event', event, ...session })}\n`;
}

let index = 0;

function delta(): string {
  const text = `${String(process.hrtime.bigint() / 1000n).padStart(15, '0')} `;
  return line({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } });
}

async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}

async function flood(): Promise<void> {
  for (let sent = 0; sent < count; sent += 64) {
    const size = Math.min(64, count - sent);
    await write(Array.from({ length: size }, delta).join(''));
  }
}

/** Keeps the rate over all, however late a timer is. */
async function pace(): Promise<void> {
  const start = performance.now();
  for (let sent = 0; sent < count;) {
    const due = Math.min(count, Math.floor(((performance.now() - start) * rate) / 1000) + 1);
    while (sent < due) {
      await write(delta());
      sent += 1;
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

const message = { id: 'msg', model: 'bench', role: 'assistant', content: [], usage: {} };
await write(line({ type: 'message_start', message }));
for (; index < blocks; index++) {
  await write(
    line({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } }),
  );
  await (rate === 0 ? flood() : pace());
  await write(line({ type: 'content_block_stop', index }));
}
await write(line({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: {} }));
await write(line({ type: 'message_stop' }));
await write(
  `${JSON.stringify({ type: 'result', subtype: 'success', is_error: false, ...session, result: '', total_cost_usd: 0, num_turns: 1, usage: { input_tokens: 1, output_tokens: count } })}\n`,
);
