/**
 * Plays Claude Code: writes one turn as its stream does, one JSON message a line. `node source.ts COUNT RATE BLOCKS`:
 * COUNT text deltas, RATE a second (0: as fast as they are read), for each of BLOCKS texts. With other arguments,
 * this file runs as the program that the SDK starts, and each message selects the stream that is played. Each delta's
 * text is the time it was written (µs on the machine's monotonic clock, 15 digits) and a space.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';

interface InputMessage {
  type: string;
  uuid?: string;
  request_id?: string;
  message?: { content: string };
}

const session_id = 'c1a0de00-0000-4000-8000-000000000000';
const session = { session_id, parent_tool_use_id: null, uuid: session_id };
const usage = { input_tokens: 1, output_tokens: 1 };

const [count] = process.argv.slice(2).map(Number);
if (count !== undefined && !Number.isNaN(count)) await play(process.argv.slice(2));
else
  for await (const line of createInterface(process.stdin))
    await handleMessage(JSON.parse(line) as InputMessage);

async function handleMessage({ type, uuid, request_id, message }: InputMessage): Promise<void> {
  if (type === 'control_request') {
    const response = { commands: [], models: [], account: {} };
    const success = { subtype: 'success', request_id, response };
    await writeMessage({ type: 'control_response', response: success });
  }
  if (type !== 'user') return;
  await writeMessage({
    type: 'system',
    subtype: 'init',
    model: 'bench',
    ...session,
    user_message_uuid: uuid,
  });
  await play(message?.content.split(' ') ?? []);
  const over = { is_error: false, result: '', total_cost_usd: 0, num_turns: 1, usage };
  await writeMessage({ type: 'result', subtype: 'success', ...session, ...over });
}

async function play(asked: string[]): Promise<void> {
  const [count = 0, rate = 0, blocks = 1] = asked.map(Number);
  const message = { id: 'msg', model: 'bench', role: 'assistant', content: [], usage };
  await writeMessage(event({ type: 'message_start', message }));
  for (let index = 0; index < blocks; index++) {
    await writeMessage(event({ type: 'content_block_start', index, content_block: text('') }));
    await (rate === 0 ? flood(index, count) : pace(index, count, rate));
    await writeMessage(event({ type: 'content_block_stop', index }));
  }
  await writeMessage(event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage }));
  await writeMessage(event({ type: 'message_stop' }));
}

async function flood(index: number, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent += 64) {
    const size = Math.min(64, count - sent);
    await write(Array.from({ length: size }, () => delta(index)).join(''));
  }
}

/** Waits until delta `index` is due, so that the overall rate is right even if a timer is late. */
async function pace(index: number, count: number, rate: number): Promise<void> {
  const start = performance.now();
  for (let sent = 0; sent < count;) {
    const due = Math.min(count, Math.floor(((performance.now() - start) * rate) / 1000) + 1);
    while (sent < due) {
      await write(delta(index));
      sent += 1;
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

function delta(index: number): string {
  const time = `${String(process.hrtime.bigint() / 1000n).padStart(15, '0')} `;
  const said = { type: 'text_delta', text: time };
  return line(event({ type: 'content_block_delta', index, delta: said }));
}

function text(said: string): object {
  return { type: 'text', text: said };
}

function event(said: object): object {
  return { type: 'stream_event', event: said, ...session };
}

function line(message: object): string {
  return `${JSON.stringify(message)}\n`;
}

async function writeMessage(message: object): Promise<void> {
  await write(line(message));
}

async function write(chunk: string): Promise<void> {
  if (!process.stdout.write(chunk)) await once(process.stdout, 'drain');
}
