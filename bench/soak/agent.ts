/**
 * An agent that speaks ACP on stdio until its input ends. The first word of a prompt selects its action: `work` (calls
 * tools, each time with new ids), `run` (uses a terminal), `ask` (requests a permission), `hold` (writes until the turn
 * is stopped). For any other word, the agent answers with text.
 */
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';

type Json = Record<string, unknown>;

interface Message {
  id?: number;
  method?: string;
  params?: { sessionId?: string; prompt?: { text?: string }[] };
  result?: Json;
}

const words = 'The loader reads the file, checks it and says where it is wrong. ';
const chunks = 12;
const calls = 3;

const answers = new Map<number, (result: Json) => void>();
const held = new Map<string, () => void>();
let asked = 0;

const plays: Record<string, (sessionId: string) => Promise<void>> = { work, run, ask, hold };

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line) as Message;
  if (message.method === undefined) answers.get(message.id ?? -1)?.(message.result ?? {});
  else void handleRequest(message);
}

async function handleRequest({ id, method, params: { sessionId = '', prompt } = {} }: Message) {
  if (method === 'session/cancel') held.get(sessionId)?.();
  if (id === undefined) return;
  const result = method === 'session/prompt' ? await turn(sessionId, prompt) : open(method);
  write({ id, result });
}

function open(method = ''): Json {
  const agentCapabilities = { loadSession: true, sessionCapabilities: { close: {} } };
  if (method === 'initialize') return { protocolVersion: 1, agentCapabilities };
  return method === 'session/new' ? { sessionId: randomUUID() } : {};
}

async function turn(sessionId: string, prompt: { text?: string }[] = []): Promise<Json> {
  const [word = ''] = (prompt[0]?.text ?? '').split(' ');
  const content = { type: 'text', text: words };
  update(sessionId, { sessionUpdate: 'agent_thought_chunk', content });
  await plays[word]?.(sessionId);
  for (let chunk = 0; chunk < chunks; chunk += 1) {
    update(sessionId, { sessionUpdate: 'agent_message_chunk', content });
  }
  update(sessionId, { sessionUpdate: 'usage_update', used: 20_000, size: 200_000 });
  return { stopReason: word === 'hold' ? 'cancelled' : 'end_turn' };
}

async function work(sessionId: string): Promise<void> {
  const entries = [{ content: 'Find the loader', priority: 'medium', status: 'in_progress' }];
  update(sessionId, { sessionUpdate: 'plan', entries });
  for (let count = 0; count < calls; count += 1) {
    const toolCallId = begin(sessionId, 'edit');
    const diff = { type: 'diff', path: '/loader.ts', oldText: 'a\n', newText: words };
    const output = { type: 'content', content: { type: 'text', text: words.repeat(5) } };
    const status = count === 0 ? 'failed' : 'completed';
    end(sessionId, toolCallId, { status, content: [output, diff] });
  }
}

async function run(sessionId: string): Promise<void> {
  const args = ['-c', 'echo one; echo two'];
  const { terminalId } = await request('terminal/create', { sessionId, command: 'sh', args });
  const toolCallId = begin(sessionId, 'execute', { content: [{ type: 'terminal', terminalId }] });
  for (const method of ['wait_for_exit', 'output', 'release']) {
    await request(`terminal/${method}`, { sessionId, terminalId });
  }
  end(sessionId, toolCallId, { status: 'completed' });
}

async function ask(sessionId: string): Promise<void> {
  const toolCallId = begin(sessionId, 'execute');
  const options = [
    { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
    { optionId: 'no', name: 'Reject', kind: 'reject_once' },
  ];
  const toolCall = { toolCallId, title: 'Run it' };
  await request('session/request_permission', { sessionId, toolCall, options });
  end(sessionId, toolCallId, { status: 'completed' });
}

async function hold(sessionId: string): Promise<void> {
  begin(sessionId, 'read');
  await new Promise<void>((resolve) => held.set(sessionId, resolve));
  held.delete(sessionId);
}

function begin(sessionId: string, kind: string, more: Json = {}): string {
  const toolCallId = randomUUID();
  const call = { toolCallId, title: `Do ${kind}`, kind, status: 'pending', rawInput: { kind } };
  update(sessionId, { sessionUpdate: 'tool_call', ...call, ...more });
  return toolCallId;
}

function end(sessionId: string, toolCallId: string, news: Json): void {
  update(sessionId, { sessionUpdate: 'tool_call_update', toolCallId, ...news });
}

function request(method: string, params: Json): Promise<Json> {
  asked += 1;
  const id = asked;
  write({ id, method, params });
  return new Promise((resolve) => {
    answers.set(id, (result) => {
      answers.delete(id);
      resolve(result);
    });
  });
}

function update(sessionId: string, body: Json): void {
  write({ method: 'session/update', params: { sessionId, update: body } });
}

function write(message: Json): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}
