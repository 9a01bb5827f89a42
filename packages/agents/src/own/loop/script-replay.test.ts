/** Scripts that were waiting for a person when their server ended, and that the next server resumes. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OutputItem, Response } from '@liminal/protocol';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { DriverProvider } from '../../base/driver-provider.ts';
import type { CliProvider, ProjectGrants } from '../../contract/provider.ts';
import { foldTurn } from '../../testing/folding.ts';
import { expectWholeTurn, Watch } from '../../testing/watch.ts';
import type { Tool } from '../tools/index.ts';
import { createModelDrivers } from './model-driver.ts';
import { ScriptReplay } from './script-replay.ts';
import { cutOff } from './testing/cut-off.ts';
import { type Act, calls, repliesWith, ScriptedClient } from './testing/scripted-client.ts';
import type { RecordedCall } from './waiting-calls.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/**
 * A tool that records its inputs. For `ask …` it needs a permission; for `hang …` and held inputs, the call does not
 * end.
 */
class Notes {
  readonly ran: string[] = [];
  readonly #held = new Map<string, PromiseWithResolvers<void>>();

  /** Calls with these inputs end only after `release`. */
  hold(...texts: string[]): void {
    for (const text of texts) this.#held.set(text, Promise.withResolvers());
  }

  release(text: string): void {
    this.#held.get(text)?.resolve();
  }

  get tool(): Tool {
    const tool: Tool<{ text: string }> = {
      name: 'note',
      description: 'Notes it.',
      kind: 'other',
      input: z.object({ text: z.string() }),
      describe: async ({ text }) => ({ title: `Note ${text}` }),
      needs: ({ text }) =>
        text.startsWith('ask') ? [{ always: 'notes', rule: 'tool:note' }] : undefined,
      run: async ({ text }, { signal, print }) => {
        this.ran.push(text);
        print('Well: ');
        if (text.startsWith('hang')) await aborted(signal);
        await this.#held.get(text)?.promise;
        return { output: `${text}!`, success: true };
      },
    };
    return tool;
  }
}

const aborted = async (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
  });

interface Server {
  provider: CliProvider;
  client: ScriptedClient;
  watch: Watch;
  notes: Notes;
  /** The turn that the session has begun on its own. */
  readonly turnId: string;
}

async function serve(
  acts: Act[],
  stored: Response[] = [],
  { grants }: { grants?: ProjectGrants } = {},
): Promise<Server> {
  const projectDir = await mkdtemp(join(tmpdir(), 'liminal-replay-'));
  ends.push(() => rm(projectDir, { recursive: true }));
  const client = new ScriptedClient(acts);
  const notes = new Notes();
  const servers = [{ name: 'openai', title: 'OpenAI', client, model: 'one' }];
  const [provider] = createModelDrivers({ servers, tools: [notes.tool] }).map(
    (driver) => new DriverProvider(driver),
  );
  if (provider === undefined) throw new Error('No provider was created.');
  ends.push(() => provider.close());
  const watch = new Watch(provider, 's');
  const runs = async () => stored;
  const known = { resuming: true, stored: { runs }, ...(grants && { grants }) };
  await provider.loadSession('s', { projectDir, config: {}, ...known });
  return { provider, client, watch, notes, turnId: watch.events[0]?.turnId ?? '' };
}

/** A turn with this script, whose server ends as soon as `until` returns true. */
async function cutAt(
  code: string,
  until: (server: Server, turnId: string) => boolean,
  prepare: (notes: Notes) => void = () => {},
): Promise<Response> {
  const server = await serve([calls(['run_script', { code }])]);
  prepare(server.notes);
  const { turnId } = await server.provider.sendMessage('s', 'Run');
  await server.watch.until(() => until(server, turnId));
  return cutOff(server.watch.of(turnId));
}

/** The open questions, by title. */
function questions({ watch }: Pick<Server, 'watch'>, turnId: string): Map<string, string> {
  const asked = watch.of(turnId).flatMap(({ payload }) => {
    if (payload.type !== 'item_start' || payload.itemType !== 'approval') return [];
    return [[payload.title ?? '', payload.approvalId ?? ''] as const];
  });
  return new Map(asked);
}

const openQuestions = (run: Response): Map<string, string> =>
  new Map(
    run.outputItems.flatMap((item) =>
      item.type === 'approval' ? [[item.title, item.approvalId] as const] : [],
    ),
  );

/** Answers all questions with "allow", and waits for the turn's end. */
async function allow(server: Server): Promise<Response> {
  const { provider, watch, turnId } = server;
  for (const approvalId of questions(server, turnId).values()) {
    await provider.answerApproval?.('s', approvalId, { optionId: 'allow' });
  }
  expectWholeTurn(await watch.ended(turnId));
  return foldTurn(watch.events, turnId);
}

/** The script's result that the model was sent. */
const told = ({ client }: Server): string =>
  (client.requests.at(-1)?.conversation ?? []).flatMap((item) =>
    item.type === 'function_call_output' ? item.output : [],
  )[0] ?? '';

const within = (run: Response): OutputItem[] =>
  run.outputItems.filter(
    ({ type, parentCallId }) => parentCallId !== undefined && type !== 'script_execution',
  );

const lost =
  'The server ended while this ran: it may be done, or not, or in part. It was not run again.';

const four = `const said = [await tools.note({ text: 'one' }), await tools.note({ text: 'two' })];
print('so far');
const rest = await Promise.allSettled([tools.note({ text: 'ask' }), tools.note({ text: 'hang' })]);
return [...said, ...rest.map(({ value, reason }) => value ?? reason.message), Math.random() < 2];`;

const fourWait = ({ notes, watch }: Server, turnId: string): boolean =>
  notes.ran.includes('hang') && questions({ watch }, turnId).size === 1;

test('a waiting script is replayed after its server has ended: finished calls get their recorded outputs, open questions keep their ids, and calls that were running do not run again', async () => {
  const cut = await cutAt(four, fourWait);
  const server = await serve([repliesWith('I see.')], [cut]);
  expect(server.notes.ran).toEqual([]);
  expect(questions(server, server.turnId)).toEqual(openQuestions(cut));

  const run = await allow(server);
  expect(run).toMatchObject({ status: 'complete', trigger: 'agent' });
  expect(server.notes.ran).toEqual(['ask']);
  expect(told(server)).toBe(`so far\n${JSON.stringify(['one!', 'two!', 'ask!', lost, true])}`);
  expect(server.client.requests[0]?.conversation.map(({ type }) => type)).toEqual([
    'message',
    'function_call',
    'function_call_output',
  ]);
  // The resumed turn shows the whole script again.
  expect(within(run)).toMatchObject([
    { type: 'function_call', title: 'Note one' },
    { type: 'function_call_output', output: 'one!', success: true },
    { type: 'function_call', title: 'Note two' },
    { type: 'function_call_output', output: 'two!', success: true },
    { type: 'function_call', title: 'Note ask' },
    { type: 'function_call', title: 'Note hang' },
    { type: 'function_call_output', output: lost, success: false },
    { type: 'function_call_output', output: 'ask!', success: true },
  ]);
});

test('replayed calls end in their original order, even if they are made in another order', async () => {
  const code = `const ask = async (text) => {
  await tools.note({ text });
  return tools.note({ text: 'ask ' + text });
};
return Promise.all(['a', 'b', 'c'].map(ask));`;
  const order = ['b', 'c', 'a'];
  const cut = await cutAt(
    code,
    ({ watch, notes }, turnId) => {
      const asked = questions({ watch }, turnId).size;
      const next = order[asked];
      if (notes.ran.length === 3 && next !== undefined) notes.release(next);
      return asked === 3;
    },
    (notes) => notes.hold(...order),
  );
  expect([...openQuestions(cut).keys()]).toEqual(['Note ask b', 'Note ask c', 'Note ask a']);
  const endAt = (msOf: (output: string) => number): Response => {
    const outputItems = cut.outputItems.map((item) =>
      item.type === 'function_call_output'
        ? { ...item, endedAt: new Date(cut.createdAt + msOf(item.output)).toISOString() }
        : item,
    );
    return { ...cut, outputItems };
  };

  const inOrder = endAt((output) => order.indexOf(output[0] ?? ''));
  const server = await serve([repliesWith('I see.')], [inOrder]);
  expect(questions(server, server.turnId)).toEqual(openQuestions(cut));
  await allow(server);
  expect(server.notes.ran).toEqual(['ask b', 'ask c', 'ask a']);
  expect(told(server)).toBe('["ask a!","ask b!","ask c!"]');

  // If calls end in the same millisecond, their order is not recorded.
  const other = await serve([repliesWith('I see.')], [endAt(() => 1)]);
  expect(questions(other, other.turnId)).toEqual(openQuestions(cut));
  await allow(other);
  expect(other.notes.ran.toSorted()).toEqual(['ask a', 'ask b', 'ask c']);
  expect(told(other)).toBe('["ask a!","ask b!","ask c!"]');
});

test('a replayed script gets the same times and random numbers as in its first run', async () => {
  const code = `const at = Date.now();
await tools.note({ text: 'one' });
const text = ['ask', Math.random(), Date.now() - at, new Date()].join(' ');
return (await tools.note({ text })) === text + '!';`;
  const cut = await cutAt(code, ({ watch }, turnId) => questions({ watch }, turnId).size === 1);
  const server = await serve([repliesWith('I see.')], [cut]);
  expect(questions(server, server.turnId)).toEqual(openQuestions(cut));
  await allow(server);
  expect(told(server)).toBe('true');
});

test('if servers end one after another, questions keep their ids and no call runs twice', async () => {
  const cut = await cutAt(four, fourWait);
  const second = await serve([], [cut]);
  const again = second.watch.of(second.turnId);
  expect(again.length).toBeGreaterThan(10);
  const begins = again.findIndex(
    ({ payload }) =>
      payload.type === 'item_start' &&
      payload.arguments?.includes('ask') === true &&
      payload.parentCallId !== undefined,
  );
  const asks = again.findIndex(({ payload }) => 'approvalId' in payload);
  const lengths = again.map((_, index) => index + 1);
  for (const length of lengths.filter((one) => one <= begins || one > asks)) {
    const server = await serve([repliesWith('I see.')], [cut, cutOff(again.slice(0, length))]);
    expect(questions(server, server.turnId)).toEqual(openQuestions(cut));
    const run = await allow(server);
    expect(run.outputItems.filter(({ error }) => error !== undefined)).toEqual([]);
    expect(server.notes.ran).toEqual(['ask']);
    expect(told(server)).toContain(JSON.stringify(['one!', 'two!', 'ask!', lost, true]));
  }
  // In some prefixes the permission was already granted, so the call may run without a question.
  for (const length of lengths.filter((one) => one > begins && one <= asks)) {
    const { watch } = await serve([], [cut, cutOff(again.slice(0, length))]);
    expect(watch.events).toEqual([]);
  }
});

test('the third server also replays the calls that the second server ran after the question was answered', async () => {
  const code = `await tools.note({ text: 'one' });
await tools.note({ text: 'ask' });
return tools.note({ text: 'ask again' });`;
  const cut = await cutAt(code, ({ watch }, turnId) => questions({ watch }, turnId).size === 1);
  const second = await serve([], [cut]);
  const [first = ''] = questions(second, second.turnId).values();
  await second.provider.answerApproval?.('s', first, { optionId: 'allow' });
  await second.watch.until(() => questions(second, second.turnId).size === 2);
  const cutAgain = cutOff(second.watch.of(second.turnId));

  const third = await serve([repliesWith('I see.')], [cut, cutAgain]);
  expect([...questions(third, third.turnId).keys()]).toEqual(['Note ask again']);
  await allow(third);
  expect([second.notes.ran, third.notes.ran]).toEqual([['ask'], ['ask again']]);
  expect(told(third)).toBe('"ask again!"');
});

/** The run with a text replaced, as if the script had random results. */
const changed = (run: Response, from: string, to: string): Response =>
  JSON.parse(JSON.stringify(run).replaceAll(from, to)) as Response;

test.each([
  ['makes another call', 'one\\', 'uno\\', /calls note\(.*one.*\) in place of note\(.*uno/],
  ['does not make a call', ", tools.note({ text: 'hang' })", '', /does not call note\(.*hang/],
  ['ends earlier', 'const said', 'return 1; const said', /ended earlier/],
])('a replayed script that %s is stopped, and no call is run', async (_, from, to, why) => {
  const cut = await cutAt(four, fourWait);
  const server = await serve([repliesWith('I see.')], [changed(cut, from, to)]);
  expectWholeTurn(await server.watch.ended(server.turnId));
  expect(server.notes.ran).toEqual([]);
  expect(questions(server, server.turnId).size).toBe(0);
  const { error } = await server.watch.event(server.turnId, 'script_execution_error');
  expect(error).toMatchObject({ code: 'SCRIPT_DEPARTED', message: expect.stringMatching(why) });
  expect(told(server)).toContain('SCRIPT_DEPARTED: The script was run again');
});

test('a replayed script that waits is ended when its turn ends', async () => {
  const cut = await cutAt(four, fourWait);
  const server = await serve([], [cut]);
  await server.provider.cancelTurn('s');
  expectWholeTurn(await server.watch.ended(server.turnId));
  expect(server.notes.ran).toEqual([]);
  const { error } = await server.watch.event(server.turnId, 'script_execution_error');
  expect(error).toMatchObject({ code: 'SCRIPT_CANCELLED' });
});

test('if the waiting call is now allowed, the script needs no question, and the session opens at once', async () => {
  const cut = await cutAt(four, fourWait);
  const grants = { list: async () => ['tool:note'], add: async () => {} };
  const server = await serve([repliesWith('I see.')], [cut], { grants });
  await server.watch.ended(server.turnId);
  expect(questions(server, server.turnId).size).toBe(0);
  expect(server.notes.ran).toEqual(['ask']);
});

test('a script with an incomplete record, or without an open question, is not replayed', async () => {
  const cut = await cutAt(four, fourWait);
  const full: OutputItem = {
    type: 'message',
    id: `${cut.turnId}:full`,
    content: 'Full.',
    origin: 'system',
  };
  const withFull = { ...cut, outputItems: [...cut.outputItems, full] };
  const code = "await tools.note({ text: 'hang' });";
  const busy = await cutAt(code, ({ notes }) => notes.ran.includes('hang'));
  for (const stored of [withFull, busy]) {
    const { watch } = await serve([], [stored]);
    expect(watch.events).toEqual([]);
  }
});

/** A recorded call. @param endedAt - When the call ended; undefined if it was still running. */
function recorded(name: string, input: string, endedAt?: string): RecordedCall {
  const call = { id: name, callId: name, name, arguments: input, origin: 'agent' } as const;
  const answer = { id: `${name}:o`, callId: name, output: '', success: true } as const;
  const output = { type: 'function_call_output', ...answer, origin: 'tool_harness' } as const;
  return {
    item: { type: 'function_call', ...call },
    ...(endedAt !== undefined && { output: { ...output, endedAt } }),
  };
}

function replaying(...calls: RecordedCall[]) {
  const departures: string[] = [];
  const replay = new ScriptReplay(calls, ({ message }) => void departures.push(message));
  return { replay, departures };
}

test('a script that calls another tool with the same input, or the same tool with another input, is stopped as different from its record', () => {
  for (const made of [
    { name: 'write', arguments: '{}' },
    { name: 'read', arguments: '{"a":1}' },
  ]) {
    const { replay, departures } = replaying(recorded('read', '{}'));
    expect(replay.place(made)).toBe(1);
    const how = `it calls ${made.name}(${made.arguments}) in place of read({})`;
    expect(departures).toEqual([expect.stringContaining(`the same as before: ${how}. It was`)]);
  }
});

test('an error shows the first 200 characters of a long input', () => {
  const [fits, long] = ['x'.repeat(200), 'y'.repeat(201)];
  const { replay, departures } = replaying(recorded('read', fits));
  replay.place({ name: 'read', arguments: long });
  expect(departures[0]).toContain(`in place of read(${fits})`);
  expect(departures[0]).not.toContain(long);
  expect(departures[0]).toContain('yyyyy');
});

test('recorded answers are given one after another, in the order in which their calls ended', async () => {
  const { replay, departures } = replaying(
    recorded('late', '1', '2026-01-01T00:00:03.000Z'),
    recorded('early', '2', '2026-01-01T00:00:01.000Z'),
    recorded('middle', '3', '2026-01-01T00:00:02.000Z'),
    recorded('open', '4'),
  );
  const { signal } = new AbortController();
  const given: string[] = [];
  for (const [name, input] of ['late', 'early', 'middle', 'open'].entries()) {
    const place = replay.place({ name: input, arguments: String(name + 1) });
    void replay.turnOf(place, signal).then((call) => given.push(call?.item.name ?? ''));
  }
  for (const soFar of [1, 2, 3]) {
    replay.waits();
    await expect.poll(() => given.length).toBe(soFar);
  }
  replay.waits();
  await expect.poll(() => given).toEqual(['early', 'middle', 'late', 'open']);
  expect(departures).toEqual([]);
});

test('a call that waits for its turn rejects with the reason for which the script ends, even if the script has already ended', async () => {
  const { replay } = replaying(recorded('read', '{}'));
  const ended = AbortSignal.abort(new Error('It ended.'));
  await expect(
    replay.turnOf(replay.place({ name: 'read', arguments: '{}' }), ended),
  ).rejects.toThrow('It ended.');
});

test('a script that waits without a recorded call, or ends before a recorded call, is stopped as different from its record', () => {
  const waiting = replaying(recorded('read', '{}', '2026-01-01T00:00:01.000Z'));
  waiting.replay.waits();
  waiting.replay.ends();
  expect(waiting.departures).toEqual([expect.stringContaining('it does not call read({})')]);
  const ending = replaying(recorded('read', '{}'));
  ending.replay.ends();
  expect(ending.departures).toEqual([expect.stringContaining('it ended earlier')]);
  const fresh = replaying();
  fresh.replay.waits();
  fresh.replay.ends();
  expect(fresh.departures).toEqual([]);
});
