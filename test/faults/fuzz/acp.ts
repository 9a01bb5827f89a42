/** Messages of an ACP client that are valid or invalid by the official schema. They are sent over each transport. */
import { setTimeout as delay } from 'node:timers/promises';
import { refusals } from '@liminal/protocol';
import { acpDefinitions, Dialogue } from '@liminal/testkit/acp-schema';
import fc from 'fast-check';
import { expect } from 'vitest';
import { z } from 'zod';
import { fewHarms, type Harm, linesOf } from '../hostile/stream.ts';
import { type AcpLink, openings } from './acp-links.ts';
import { SchemaValues } from './from-schema.ts';
import { known } from './known.ts';
import { agentTypes, type FuzzStage } from './stage.ts';

interface Dialog {
  transport: string;
  agent: string;
  /** Whether the client sends `initialize` first. */
  greets: boolean;
  messages: object[];
  harms: Harm[];
  /** The indexes of the messages after which the client waits for a message from the agent. */
  waits: number[];
  leaves: 'end' | 'reset';
}

const defs = acpDefinitions('unstable');
const values = new SchemaValues({ defs, known });
const paramsOf = (name: string) => values.of(defs[name] ?? {}) as fc.Arbitrary<object>;

/** The definitions of messages, by method and by side. */
const named = Object.entries(defs).flatMap(([name, definition]) => {
  const { 'x-method': method, 'x-side': side } = definition;
  return method === undefined ? [] : [{ name, method, side }];
});
const ofKind = (kind: string, sides: string[]) =>
  named.filter(({ name, side = '' }) => name.endsWith(kind) && sides.includes(side));

/** Methods that the server implements. They are drawn more often. */
const served = ['new', 'load', 'resume', 'list', 'close', 'fork', 'prompt', 'set_config_option'];
const weightOf = (method: string) => (served.some((one) => method === `session/${one}`) ? 6 : 1);

const requests = fc.oneof(
  ...ofKind('Request', ['agent', 'proxy', 'client']).map(({ name, method, side }) => ({
    weight: side === 'agent' ? 2 * weightOf(method) : 1,
    arbitrary: paramsOf(name).map((params) => ({ id: '', method, params })),
  })),
);
const notifications = fc.oneof(
  ...ofKind('Notification', ['agent', 'protocol', 'client']).map(({ name, method }) =>
    paramsOf(name).map((params) => ({ method, params })),
  ),
);
/** Answers to requests. The agent may or may not have sent these requests. */
const answers = fc.oneof(
  ...ofKind('Response', ['client']).map(({ name }) =>
    fc.record({ id: fc.nat({ max: 3 }), result: paramsOf(name) }, { noNullPrototype: true }),
  ),
  fc.record({ id: fc.nat({ max: 3 }), error: paramsOf('Error') }, { noNullPrototype: true }),
);
const messages = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: requests },
      { weight: 2, arbitrary: notifications as fc.Arbitrary<{ id?: unknown }> },
      { weight: 1, arbitrary: answers },
    ),
    { minLength: 1, maxLength: 10 },
  )
  .map((all) =>
    all.map((one, index) => ({
      jsonrpc: '2.0',
      ...one,
      ...(one.id === '' && { id: `asked ${index}` }),
    })),
  );

export const dialogs: fc.Arbitrary<Dialog> = fc.record(
  {
    transport: fc.constantFrom(...Object.keys(openings)),
    agent: fc.constantFrom(...agentTypes),
    greets: fc.oneof({ weight: 9, arbitrary: fc.constant(true) }, fc.constant(false)),
    messages,
    harms: fewHarms,
    waits: fc.array(fc.nat({ max: 9 }), { maxLength: 4 }),
    leaves: fc.constantFrom('end' as const, 'reset' as const),
  },
  { noNullPrototype: true },
);

const greeting = fc.sample(paramsOf('InitializeRequest'), { seed: 1, numRuns: 1 })[0];
/** How long a client waits for any message, in ms. */
const patience = 20_000;

const Asked = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]),
  method: z.string(),
});

const Heard = z.object({
  method: z.string().optional(),
  id: z.unknown().optional(),
  error: z.object({ code: z.number(), data: z.unknown().optional() }).optional(),
});

export async function playDialog(input: Dialog, stage: FuzzStage): Promise<void> {
  const { transport, agent, greets, waits } = input;
  const script = [input.messages];
  const lines = linesOf({ script: 0, length: 100, harms: input.harms }, script);
  const listener = new MessageChecker();
  const open = openings[transport];
  if (open === undefined) throw new Error(`Unknown transport: ${transport}.`);
  const link = await open(stage, agent, (json) => listener.receive(json));
  const say = async (line: string) => {
    const sent = await stage.fill(line, (text) => JSON.stringify(text).slice(1, -1));
    stage.note(`${transport} ${sent}`);
    listener.recordSent(sent);
    await link.sendLine(sent);
  };
  try {
    if (greets) await greet(say, listener);
    for (const [index, line] of lines.entries()) {
      await say(line);
      if (waits.includes(index)) await listener.untilNext(50);
    }
    // Over HTTP, answers about a session wait until a client opens the stream of the session.
    if (greets) await untilAnswered(link, listener, transport !== 'http', say);
  } finally {
    await link.leave(input.leaves);
  }
  listener.expectWell();
}

async function greet(
  say: (line: string) => Promise<void>,
  listener: MessageChecker,
): Promise<void> {
  const params = { ...greeting, protocolVersion: 1 };
  await say(JSON.stringify({ jsonrpc: '2.0', id: 'greeting', method: 'initialize', params }));
  await listener.untilAnswered(['"greeting"']);
}

/**
 * Resolves when each request is answered, or when the server has closed the connection. Prompts are left out, because
 * they may run for ever.
 */
async function untilAnswered(
  link: AcpLink,
  listener: MessageChecker,
  all: boolean,
  say: (line: string) => Promise<void>,
): Promise<void> {
  await say('{"jsonrpc":"2.0","id":"last","method":"session/list","params":{}}');
  const ids = all ? listener.asked : ['"last"'];
  await Promise.race([link.closed, listener.untilAnswered(ids)]);
}

/** Collects the messages of the agent, and the faults in these messages. */
class MessageChecker {
  readonly #dialogue = new Dialogue();
  readonly #problems: string[] = [];
  /**
   * For each request id, as JSON: how often the client sent the id, and how often a request with this id was answered.
   */
  readonly #asked = new Map<string, { times: number; mayHang: boolean }>();
  readonly #answered = new Map<string, number>();
  #changed = Promise.withResolvers<void>();

  recordSent(line: string): void {
    const message = jsonIn(line);
    const asked = Asked.safeParse(message).data;
    if (asked === undefined) return;
    this.#dialogue.problems(message as never, 'here');
    const key = JSON.stringify(asked.id);
    const { times, mayHang } = this.#asked.get(key) ?? { times: 0, mayHang: false };
    const hangs = mayHang || asked.method === 'session/prompt';
    this.#asked.set(key, { times: times + 1, mayHang: hangs });
  }

  /** Returns the requests that must be answered. */
  get asked(): string[] {
    return [...this.#asked].flatMap(([id, { mayHang }]) => (mayHang ? [] : id));
  }

  receive(json: string): void {
    const message = jsonIn(json);
    const heard = Heard.safeParse(message).data;
    if (heard === undefined) return void this.#problems.push(`No JSON-RPC: ${json.slice(0, 500)}`);
    const { method, id, error } = heard;
    const key = JSON.stringify(id);
    if (method === undefined) this.#answered.set(key, (this.#answered.get(key) ?? 0) + 1);
    if (error !== undefined) this.#checkError(error, json);
    // If an id was used twice, an answer with this id could belong to either request.
    if (method !== undefined || this.#asked.get(key)?.times === 1) {
      const problems = this.#dialogue.problems(message as never, 'there');
      this.#problems.push(...problems.map((problem) => `${problem} in ${json.slice(0, 500)}`));
    }
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** Waits for a message, but not longer than the given time in ms. */
  async untilNext(ms: number): Promise<void> {
    await Promise.race([this.#changed.promise, delay(ms)]);
  }

  async untilAnswered(ids: readonly string[]): Promise<void> {
    const end = performance.now() + patience;
    for (;;) {
      const missing = ids.filter((id) => !this.#answered.has(id));
      if (missing.length === 0) return;
      if (performance.now() > end) throw new Error(`No answer to ${missing.join(', ')}.`);
      await this.untilNext(1_000);
    }
  }

  expectWell(): void {
    expect(this.#problems).toEqual([]);
    for (const [id, times] of this.#answered) {
      if (id === 'null') continue;
      expect(times, `answers to ${id}`).toBeLessThanOrEqual(this.#asked.get(id)?.times ?? 0);
    }
  }

  /** Checks an internal error: it must have a code of the refusals table other than INTERNAL. */
  #checkError(error: NonNullable<z.infer<typeof Heard>['error']>, json: string): void {
    const { code, data } = error;
    const ours = z.object({ code: z.string() }).safeParse(data).data?.code;
    const isNamed = ours !== undefined && Object.hasOwn(refusals, ours) && ours !== 'INTERNAL';
    if (code === -32_603 && !isNamed) this.#problems.push(`INTERNAL: ${json.slice(0, 500)}`);
  }
}

function jsonIn(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
