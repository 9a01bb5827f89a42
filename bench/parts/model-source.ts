/**
 * A model server: OpenAI's Responses API on loopback. The program prints the server's port. The prompt selects the
 * answer. `COUNT RATE` gives COUNT text deltas, RATE a second (0: as fast as they are read). `calls COUNT` gives COUNT
 * calls of the tool `read`, one in each answer, and then a word. Each delta's text is the time at which it was written,
 * as in `source.ts`.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';

interface Item {
  type?: string;
  role?: string;
  content?: string | { text?: string }[];
}

const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
const base = { id: 'resp', object: 'response', model: 'bench', output: [] };
let answers = 0;

const server = createServer((request, response) => {
  if (request.method === 'POST') void serve(request, response);
  else response.end(JSON.stringify({ object: 'list', data: [{ id: 'bench', object: 'model' }] }));
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(typeof address === 'object' ? address?.port : address);
});

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { input } = (await json(request)) as { input: Item[] };
  await answer(response, input);
}

async function answer(response: ServerResponse, input: Item[]): Promise<void> {
  const asked = textOf(input.findLast(({ role }) => role === 'user')).split(' ');
  response.setHeader('content-type', 'text/event-stream');
  answers += 1;
  await sendEvent(response, 'response.created', { response: { ...base, status: 'in_progress' } });
  const isCalls = asked[0] === 'calls';
  const done = input.filter(({ type }) => type === 'function_call_output').length;
  if (isCalls && done < Number(asked[1])) await call(response);
  else await streamText(response, isCalls ? [1, 0] : asked.map(Number));
  await sendEvent(response, 'response.completed', {
    response: { ...base, status: 'completed', usage },
  });
  response.end();
}

async function call(response: ServerResponse): Promise<void> {
  const id = `fc_${answers}`;
  const item = {
    type: 'function_call',
    id,
    call_id: `call_${answers}`,
    name: 'read',
    arguments: '',
  };
  const said = JSON.stringify({ path: 'a.txt' });
  const at = { item_id: id, output_index: 0 };
  await sendEvent(response, 'response.output_item.added', { output_index: 0, item });
  await sendEvent(response, 'response.function_call_arguments.delta', { ...at, delta: said });
  await sendEvent(response, 'response.function_call_arguments.done', { ...at, arguments: said });
  const whole = { ...item, arguments: said, status: 'completed' };
  await sendEvent(response, 'response.output_item.done', { output_index: 0, item: whole });
}

async function streamText(
  response: ServerResponse,
  [count = 0, rate = 0]: number[],
): Promise<void> {
  const id = `msg_${answers}`;
  const item = { type: 'message', id, role: 'assistant', status: 'in_progress', content: [] };
  const at = { item_id: id, output_index: 0, content_index: 0 };
  const part = { type: 'output_text', text: '', annotations: [] };
  await sendEvent(response, 'response.output_item.added', { output_index: 0, item });
  await sendEvent(response, 'response.content_part.added', { ...at, part });
  let text = '';
  const delta = (): string => {
    const time = `${String(process.hrtime.bigint() / 1000n).padStart(15, '0')} `;
    text += time;
    return event('response.output_text.delta', { ...at, delta: time });
  };
  await (rate === 0 ? flood(response, count, delta) : pace(response, count, rate, delta));
  const whole = { ...part, text };
  await sendEvent(response, 'response.output_text.done', { ...at, text });
  await sendEvent(response, 'response.content_part.done', { ...at, part: whole });
  const done = { ...item, status: 'completed', content: [whole] };
  await sendEvent(response, 'response.output_item.done', { output_index: 0, item: done });
}

async function flood(response: ServerResponse, count: number, delta: () => string): Promise<void> {
  for (let sent = 0; sent < count; sent += 64) {
    const size = Math.min(64, count - sent);
    await write(response, Array.from({ length: size }, delta).join(''));
  }
}

/** Waits until delta `index` is due, so that the overall rate is right even if a timer is late. */
async function pace(
  response: ServerResponse,
  count: number,
  rate: number,
  delta: () => string,
): Promise<void> {
  const start = performance.now();
  for (let sent = 0; sent < count;) {
    const due = Math.min(count, Math.floor(((performance.now() - start) * rate) / 1000) + 1);
    for (; sent < due; sent += 1) await write(response, delta());
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

function textOf({ content = '' }: Item = {}): string {
  if (typeof content === 'string') return content;
  return content.map(({ text = '' }) => text).join('');
}

function event(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}

async function sendEvent(response: ServerResponse, type: string, data: object): Promise<void> {
  await write(response, event(type, data));
}

async function write(response: ServerResponse, chunk: string): Promise<void> {
  if (!response.write(chunk)) await once(response, 'drain');
}
