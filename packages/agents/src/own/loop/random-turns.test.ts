/** After any turns of a session, every maker gets a conversation that its API accepts. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atLength } from '@liminal/testkit/at-length';
import type { EventDraft, Response } from '@liminal/protocol';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DriverProvider } from '../../base/driver-provider.ts';
import { buildRequest } from '../makers/anthropic/request.ts';
import { callIdsOf } from './conversation.ts';
import { CallIds } from '../makers/openai/call-ids.ts';
import { chatRequest } from '../makers/openai/chat/request.ts';
import { requestJson } from '../makers/openai/json.ts';
import { responsesRequest } from '../makers/openai/responses/request.ts';
import type { CliProvider } from '../../contract/provider.ts';
import { foldTurn } from '../../testing/folding.ts';
import { expectWholeTurn, Watch } from '../../testing/watch.ts';
import type { AnswerWriter } from './answer-writer.ts';
import type { ModelAnswer, ModelCall, ModelRequest } from './model-client.ts';
import { ModelError } from './model-error.ts';
import { createModelDrivers } from './model-driver.ts';
import { cutOff } from './testing/cut-off.ts';
import { loudEcho } from './testing/echo.ts';
import { type Act, repliesWith, ScriptedClient } from './testing/scripted-client.ts';

type Part =
  | { say: string }
  | { think: string; isSigned: boolean }
  /** A web search by the maker's server; without a result unless `isEnded`. */
  | { search: string; isEnded: boolean }
  | { call: string; callId: string; input: string };

interface Round {
  parts: Part[];
  /** The id of the answer's items; may be the same as that of an earlier answer. */
  id: string;
  /** Whether a person sends a message during the answer. */
  isSteered: boolean;
  end: 'whole' | 'breaks off' | 'fails' | 'is stopped';
}

interface Turn {
  rounds: Round[];
  /** What people answer to questions. */
  answers: ('allow' | 'refuse' | 'stop')[];
  /** The number of events after which the server is lost; then the session is opened again. */
  cut: number | undefined;
  /** The model of the turn; `plain` has no tools. */
  model: 'one' | 'plain';
  /** Whether the session is opened again after a turn that has ended. */
  isReopened: boolean;
}

const block = (code: string): string => `\`\`\`liminal-script\n${code}\n\`\`\``;
const scripts = [
  block("return tools.echo({ text: 'a' })"),
  block("return tools.echo({ text: 'loud' })"),
  `Now.\n${block("await tools.echo({ text: 'fail' })")}`,
  '```liminal-script\nreturn 1',
];
const short = fc.constantFrom('', ' ', 'a', 'So. ', 'Well\n');
const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ say: short }),
  fc.record({ say: fc.constantFrom(...scripts) }),
  fc.record({ think: short, isSigned: fc.boolean() }),
  fc.record({ search: short, isEnded: fc.boolean() }),
  fc.record({
    call: fc.constantFrom('echo', 'echo', 'nobody', 'no name.'),
    callId: fc.constantFrom('', 'c', 'a:b', 'ü', 'x'.repeat(70)),
    input: fc.constantFrom('{"text":"a"}', '{"text":"loud"}', '{"text":"fail"}', '', '{"te', '[1]'),
  }),
);
const round: fc.Arbitrary<Round> = fc.record({
  parts: fc.array(part, { maxLength: 5 }),
  id: fc.constantFrom('i', 'j'),
  isSteered: fc.boolean(),
  end: fc.constantFrom('whole', 'whole', 'whole', 'breaks off', 'fails', 'is stopped'),
});
const turn: fc.Arbitrary<Turn> = fc.record({
  rounds: fc.array(round, { minLength: 1, maxLength: 4 }),
  answers: fc.array(fc.constantFrom('allow', 'allow', 'refuse', 'stop')),
  cut: fc.option(fc.nat(25), { nil: undefined, freq: 5 }),
  model: fc.constantFrom('one', 'plain'),
  isReopened: fc.boolean(),
});

let projectDir: string;
beforeAll(async () => {
  projectDir = await mkdtemp(join(tmpdir(), 'liminal-random-turns-'));
});
afterAll(() => rm(projectDir, { recursive: true }));

/** A session with a scripted model. */
class Stage {
  readonly client: ScriptedClient;
  readonly #provider: CliProvider;
  readonly #watch: Watch;
  readonly #acts: Act[];
  #answers: Turn['answers'] = [];

  private constructor(acts: Act[]) {
    this.#acts = acts;
    this.client = new ScriptedClient(acts);
    this.client.withoutTools.add('plain');
    const servers = [{ name: 'openai', title: 'OpenAI', client: this.client, model: 'one' }];
    const retries = { attempts: 10, firstMs: 0, maxMs: 1 };
    const options = { servers, tools: [loudEcho], retries };
    const [provider] = createModelDrivers(options).map((driver) => new DriverProvider(driver));
    if (provider === undefined) throw new Error('No provider was created.');
    this.#provider = provider;
    this.#watch = new Watch(provider, 's');
    provider.onEvent('s', (draft) => this.#answer(draft));
  }

  /** Opens the session again; open questions are asked again, and the resumed turn is stored. */
  static async open(stored: Response[]): Promise<Stage> {
    const stage = new Stage(ends());
    const runs = async () => [...stored];
    const known = { resuming: true, stored: { runs } };
    await stage.#provider.loadSession('s', { projectDir, config: {}, ...known });
    const [turnId] = stage.#watch.events.map((event) => event.turnId);
    if (turnId === undefined) return stage;
    expectWholeTurn(await stage.#watch.ended(turnId));
    stored.push(foldTurn(stage.#watch.events, turnId));
    return stage;
  }

  /** Runs a turn and returns its events. */
  async play({ rounds, answers, model }: Turn): Promise<readonly EventDraft[]> {
    await this.#provider.setConfigOption?.('s', 'model', model);
    this.#acts.splice(0, this.#acts.length, ...rounds.map((one) => this.#act(one)), ...ends());
    this.#answers = [...answers];
    const { turnId } = await this.#provider.sendMessage('s', 'Go on');
    expectWholeTurn(await this.#watch.ended(turnId));
    return this.#watch.of(turnId);
  }

  /** The model's next request. */
  async next(model: Turn['model']): Promise<ModelRequest> {
    await this.play({ rounds: [], answers: [], cut: undefined, model, isReopened: false });
    const request = this.client.requests.at(-1);
    if (request === undefined) throw new Error('The model was not asked.');
    return request;
  }

  close(): Promise<void> {
    return this.#provider.close();
  }

  #answer({ payload }: EventDraft): void {
    if (payload.type !== 'item_start' || payload.itemType !== 'approval') return;
    const answer = this.#answers.shift() ?? 'allow';
    const { approvalId = '' } = payload;
    // The answer is sent later, because the session is still writing the question.
    setImmediate(() => {
      if (answer === 'stop') void this.#provider.cancelTurn('s');
      else
        void this.#provider.answerApproval?.('s', approvalId, { optionId: answer }).catch(() => {});
    });
  }

  #act({ parts, id, isSteered, end }: Round): Act {
    return async (writer, signal, request) => {
      const ids = new CallIds(request.callIds ?? callIdsOf(request.conversation));
      const calls = parts.flatMap((one, index) => {
        const isOpen = end !== 'whole' && index === parts.length - 1;
        return said(one, `${id}${index}`, isOpen, ids, writer);
      });
      const { turnId = '' } = this.#watch.events.at(-1) ?? {};
      const messageId = crypto.randomUUID();
      if (isSteered) await this.#provider.steer?.('s', 'And this', { turnId, messageId });
      if (end === 'breaks off') {
        throw new ModelError('CONNECTION_FAILED', 'It broke off.', { isPassing: true });
      }
      if (end === 'fails') throw new ModelError('MODEL_ERROR', 'It failed.');
      if (end === 'is stopped') void this.#provider.cancelTurn('s');
      signal.throwIfAborted();
      return { calls, finishReason: 'stop', usage: undefined } satisfies ModelAnswer;
    };
  }
}

/** Answers that end a turn: a turn needs more than one if messages were sent during the turn. */
const ends = (): Act[] => Array.from({ length: 5 }, () => repliesWith('Done.'));

let searches = 0;

/** Writes a part of an answer; a part that is open is cut off together with the answer. */
function said(
  one: Part,
  id: string,
  isOpen: boolean,
  ids: CallIds,
  writer: AnswerWriter,
): ModelCall[] {
  const end = (itemId: string, raw?: object): void => {
    if (!isOpen) writer.done(itemId, raw && { raw });
  };
  if ('say' in one) {
    const itemId = writer.start({ type: 'message', id, content: '', origin: 'agent' });
    writer.append(itemId, one.say);
    end(itemId);
    return [];
  }
  if ('think' in one) {
    const itemId = writer.start({ type: 'reasoning', id, content: '', origin: 'agent' });
    writer.append(itemId, one.think);
    const native = { type: 'thinking', ...(one.isSigned && { signature: 's' }) };
    end(itemId, { anthropic: native, openai: { id, encrypted_content: 'e' } });
    return [];
  }
  if ('search' in one) {
    // Servers never use the id of a search again.
    const callId = `srvtoolu_${(searches += 1)}`;
    const call = { type: 'function_call', id: callId, callId, name: 'web_search' } as const;
    writer.start({ ...call, arguments: JSON.stringify({ query: one.search }), origin: 'agent' });
    const native = { anthropic: { type: 'server_tool_use' } };
    end(callId, { ...native, openai: { type: 'web_search_call', id: callId, action: {} } });
    if (isOpen || !one.isEnded) return [];
    writer.add({
      type: 'function_call_output',
      id: `${callId}:output`,
      callId,
      output: '',
      success: true,
      origin: 'system',
      raw: { anthropic: { type: 'web_search_tool_result', tool_use_id: callId, content: [] } },
    });
    return [];
  }
  const { call: name, input } = one;
  const face = { name, callId: ids.take(one.callId), arguments: input };
  const itemId = writer.start({ type: 'function_call', id, ...face, origin: 'agent' });
  end(itemId);
  return [{ ...face, itemId }];
}

/**
 * Runs the turns, then sends each model one more request: in the live session, and in a session that was opened again.
 */
async function play(turns: readonly Turn[]) {
  const stored: Response[] = [];
  let stage = await Stage.open(stored);
  for (const one of turns) {
    const events = await stage.play(one);
    const isCut = one.cut !== undefined && one.cut > 0 && one.cut < events.length;
    stored.push(
      isCut ? cutOff(events.slice(0, one.cut)) : foldTurn(events, events[0]?.turnId ?? ''),
    );
    if (!isCut && !one.isReopened) continue;
    await stage.close();
    stage = await Stage.open(stored);
  }
  const again = await Stage.open(stored);
  try {
    const asked = [];
    for (const model of ['one', 'plain'] as const) {
      asked.push({ live: await stage.next(model), rebuilt: await again.next(model) });
    }
    return { asked, requests: stage.client.requests };
  } finally {
    await Promise.all([stage.close(), again.close()]);
  }
}

/** The request bodies for the three APIs. */
const wires = (request: ModelRequest) =>
  structuredClone({
    responses: responsesRequest(request).input as { type?: string; call_id?: string }[],
    chat: chatRequest(request).messages,
    anthropic: buildRequest({ ...request, model: 'claude-opus-5-5' }).messages,
  });

/** The reasons why one of the APIs would reject its request; empty if none would. */
function faultsIn({ responses, chat, anthropic }: ReturnType<typeof wires>): string[] {
  const faults: string[] = [];
  const known = new Set<string | undefined>();
  const open = new Set<string | undefined>();
  for (const { type = 'message', call_id: id } of responses) {
    if (type === 'function_call_output') {
      if (!open.delete(id)) faults.push(`an output without its call: ${id}`);
    } else if (type !== 'function_call') {
      // A web search by the server is part of the answer that has the calls.
      if (open.size > 0 && type !== 'web_search_call') faults.push(`${type} before the outputs`);
    } else {
      if (known.has(id)) faults.push(`two calls ${id}`);
      known.add(id);
      open.add(id);
    }
  }
  if (open.size > 0) faults.push('a call without an output');

  for (const [index, message] of chat.entries()) {
    const calls = (message.role === 'assistant' && message.tool_calls) || [];
    const after = chat.slice(index + 1, index + 1 + calls.length);
    const given = after.map((one) => ('tool_call_id' in one ? one.tool_call_id : one.role));
    if (given.join() !== calls.map(({ id }) => id).join()) faults.push('outputs of other calls');
  }

  for (const [index, message] of anthropic.entries()) {
    if (message.role !== (index % 2 === 0 ? 'user' : 'assistant')) faults.push('the roles');
    const searched = idsIn(message, 'server_tool_use');
    const found = idsIn(message, 'web_search_tool_result');
    if (searched.join() !== found.join()) faults.push('a search without its result');
    const used = idsIn(message, 'tool_use');
    const next = anthropic[index + 1];
    const given = next === undefined ? [] : idsIn(next, 'tool_result');
    if (used.join() !== given.join()) faults.push('results of other calls');
    for (const id of used) {
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(id)) faults.push(`the id ${id}`);
    }
  }
  const all = anthropic.flatMap((message) => idsIn(message, 'tool_use'));
  return new Set(all).size === all.length ? faults : [...faults, 'an id twice'];
}

/** The parts of a request that only a model with tools accepts; empty if there are none. */
function callsIn({ responses, chat, anthropic }: ReturnType<typeof wires>): unknown[] {
  return [
    ...responses.filter(
      ({ type }) => type?.startsWith('function_call') || type === 'web_search_call',
    ),
    ...chat.filter((message) => message.role === 'tool' || 'tool_calls' in message),
    ...anthropic.flatMap((message) => [
      ...idsIn(message, 'tool_use'),
      ...idsIn(message, 'tool_result'),
      ...idsIn(message, 'server_tool_use'),
      ...idsIn(message, 'web_search_tool_result'),
    ]),
  ];
}

type Message = ReturnType<typeof wires>['anthropic'][number];

const idsIn = ({ content }: Message, type: string): string[] =>
  [content].flat().flatMap((block) => {
    if (typeof block === 'string' || block.type !== type) return [];
    if ('tool_use_id' in block) return block.tool_use_id;
    return 'id' in block && typeof block.id === 'string' ? block.id : [];
  });

test(
  'after any turns, each maker gets a conversation that its API accepts, and live sessions and history give the same conversation',
  { timeout: 120_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 4 }), async (turns) => {
        const { asked, requests } = await play(turns);
        for (const { live, rebuilt } of asked) {
          expect(live.instructions).toBe(rebuilt.instructions);
          expect(wires(live)).toEqual(wires(rebuilt));
          expect(faultsIn(wires(live))).toEqual([]);
          expect(live.tools.length === 0 ? callsIn(wires(live)) : []).toEqual([]);
        }
        for (const { made, ...request } of requests) {
          // A cached text from an earlier round equals the text that is computed without a cache.
          const json = JSON.stringify(responsesRequest(request));
          expect(requestJson(responsesRequest({ ...request, ...(made && { made }) }))).toBe(json);
        }
      }),
      { numRuns: atLength ? 400 : 40 },
    );
  },
);
