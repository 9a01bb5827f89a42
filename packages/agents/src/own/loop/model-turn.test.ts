import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OutputItem, Response } from '@liminal/protocol';
import { afterEach, expect, test, vi } from 'vitest';
import { DriverProvider } from '../../base/driver-provider.ts';
import { foldTurn } from '../../testing/folding.ts';
import { expectWholeTurn, Watch } from '../../testing/watch.ts';
import type { ModelServer } from './catalog.ts';
import type { ModelRequest } from './model-client.ts';
import { ModelError, type ModelErrorCode } from './model-error.ts';
import { createModelDrivers } from './model-driver.ts';
import { cutOff } from './testing/cut-off.ts';
import { loudEcho } from './testing/echo.ts';
import {
  type Act,
  breaksOff,
  calls,
  repliesWith,
  ScriptedClient,
  streamsUntilStopped,
} from './testing/scripted-client.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const end of ends.splice(0).toReversed()) await end();
});

interface Options {
  stored?: Response[];
  resuming?: boolean;
  server?: Partial<ModelServer>;
  maxRounds?: number;
}

/** A session with a model that gives these answers; a request is sent three times if its failures are temporary. */
async function open(
  acts: Act[],
  { stored = [], resuming = false, server, maxRounds = 9 }: Options = {},
) {
  const projectDir = await mkdtemp(join(tmpdir(), 'liminal-turn-'));
  ends.push(() => rm(projectDir, { recursive: true }));
  const client = new ScriptedClient(acts);
  client.withoutTools.add('plain');
  const servers = [{ name: 'here', title: 'Here', client, model: 'one', ...server }];
  const retries = { attempts: 3, firstMs: 1, maxMs: 1_000_000 };
  const [driver] = createModelDrivers({ servers, tools: [loudEcho], retries, maxRounds });
  if (driver === undefined) throw new Error('No driver was created.');
  const provider = new DriverProvider(driver);
  ends.push(() => provider.close());
  const watch = new Watch(provider, 's');
  await provider.loadSession('s', { projectDir, resuming, stored: { runs: async () => stored } });
  const ended = async (turnId: string): Promise<Response> => {
    expectWholeTurn(await watch.ended(turnId));
    return foldTurn(watch.events, turnId);
  };
  const send = async (message: string) => (await provider.sendMessage('s', message)).turnId;
  const runTurn = async (message: string) => ended(await send(message));
  return { provider, client, watch, ended, send, runTurn };
}

const fails =
  (
    code: ModelErrorCode,
    message = 'No.',
    more: ConstructorParameters<typeof ModelError>[2] = {},
  ): Act =>
  () => {
    throw new ModelError(code, message, more);
  };

const notices = ({ outputItems }: Response): string[] =>
  outputItems.flatMap((item) =>
    item.type === 'message' && item.origin === 'system' ? item.content : [],
  );
const textsOf = ({ conversation }: ModelRequest): string[] =>
  conversation.map((item) => (item.type === 'message' ? item.content : item.type));

const nothing =
  '(Nothing of our conversation is here: the server of the model refuses each part of it.)\n\nSummarize';

test('if the server refuses the whole conversation, the summary is written without the conversation, and a notice reports that', async () => {
  const { runTurn, client } = await open([
    repliesWith('One.'),
    fails('CONTENT_FILTER', 'It was filtered.'),
    repliesWith('I know nothing.'),
    repliesWith('Yes.'),
  ]);
  await runTurn('A');
  const run = await runTurn('/compact');
  expect(run).toMatchObject({ status: 'complete', finishReason: 'stop' });
  const [, first, second] = client.requests.map(textsOf);
  expect(first).toEqual(['A', 'One.', expect.stringMatching(/^Summarize our conversation/)]);
  expect(first?.[2]).not.toContain('The user adds');
  expect(second).toEqual([expect.stringContaining(nothing)]);
  expect(notices(run)).toEqual([
    'The summary contains nothing of the conversation, because the model’s server refuses each part of it. It was filtered.',
    'From here on, the model knows the earlier conversation only from this summary.',
  ]);
  await runTurn('B');
  expect(textsOf(client.requests[3]!)).toEqual([
    'What we have said and done so far, in short:\n\nI know nothing.',
    'B',
  ]);
});

test('a refused conversation is halved at most six times', async () => {
  const outputItems = Array.from({ length: 128 }, (_, at): OutputItem => {
    const id = String(at + 100);
    return { type: 'message', id, origin: 'user', content: id };
  });
  const stored = [
    { id: 'r', turnId: 'r', outputItems, finishReason: 'stop' } as unknown as Response,
  ];
  const refuses = Array.from({ length: 7 }, () => fails('CONTEXT_LENGTH'));
  const { runTurn, client } = await open([...refuses, repliesWith('Short.')], { stored });
  expect(await runTurn('/compact')).toMatchObject({ status: 'complete' });
  const lengths = client.requests.map(({ conversation }) => conversation.length - 1);
  expect(lengths).toEqual([128, 64, 32, 16, 8, 4, 2, 0]);
  const questions = client.requests.map((request) => textsOf(request).at(-1)?.slice(0, 9));
  expect(questions).toEqual([...Array<string>(7).fill('Summarize'), '(Nothing ']);
});

test('if a summary is refused in every form, the turn ends with the first refusal of the whole conversation', async () => {
  const { runTurn, client } = await open([
    repliesWith('One.'),
    fails('MODEL_ERROR', 'First.'),
    fails('MODEL_ERROR', 'Second.'),
  ]);
  await runTurn('A');
  expect(await runTurn('/compact')).toMatchObject({
    status: 'error',
    error: { code: 'MODEL_ERROR', message: 'First.' },
  });
  expect(client.requests).toHaveLength(3);
});

test('a failure that a shorter conversation would not avoid ends the summary at once', async () => {
  const { runTurn, client } = await open([
    repliesWith('One.'),
    fails('AUTHENTICATION'),
    () => {
      throw new Error('A mistake.');
    },
  ]);
  await runTurn('A');
  expect(await runTurn('/compact')).toMatchObject({ error: { code: 'AUTHENTICATION' } });
  expect(await runTurn('/compact')).toMatchObject({
    error: { code: 'INTERNAL', message: 'Liminal failed in this turn. A mistake.' },
  });
  expect(client.requests).toHaveLength(3);
});

test('only the request with the whole conversation is repeated after a temporary failure', async () => {
  const busy = fails('MODEL_UNAVAILABLE', 'Busy.', { isPassing: true });
  const { runTurn, client } = await open([
    repliesWith('One.'),
    repliesWith('Two.'),
    busy,
    busy,
    busy,
    busy,
    repliesWith('Short.'),
  ]);
  await runTurn('A');
  await runTurn('B');
  expect(await runTurn('/compact')).toMatchObject({ status: 'complete' });
  const lengths = client.requests.slice(2).map(({ conversation }) => conversation.length - 1);
  expect(lengths).toEqual([4, 4, 4, 2, 0]);
});

test('an answer of only white space does not count as a summary', async () => {
  const { runTurn, watch } = await open([repliesWith('One.'), repliesWith(' \n')]);
  await runTurn('A');
  const run = await runTurn('/compact');
  expect(run.error).toEqual({
    code: 'MODEL_ERROR',
    message: 'The model gave no summary. The conversation is unchanged.',
  });
  expect(watch.updates.findLast(({ activity }) => activity !== undefined)?.activity).toBe('');
});

test('while a request waits for its repetition, people see why, and can stop the turn', async () => {
  const busy = { isPassing: true, retryAfterMs: 500_001 };
  const { provider, send, ended, watch } = await open([
    breaksOff('So', new ModelError('RATE_LIMIT', 'Busy.', busy)),
  ]);
  const turnId = await send('A');
  await watch.until(() =>
    watch.updates.some(({ activity }) => activity === 'Busy. Retrying in 501 s.'),
  );
  expect(await watch.event(turnId, 'item_cancelled')).toMatchObject({ reason: 'retried' });
  await provider.cancelTurn('s');
  expect(await ended(turnId)).toMatchObject({ status: 'aborted', finishReason: 'cancelled' });
  expect(watch.updates.findLast(({ activity }) => activity !== undefined)?.activity).toBe('');
});

test('data of an answer that belongs to no item is kept with a notice', async () => {
  const { runTurn } = await open([
    (writer) => {
      writer.keep({ odd: 1 });
      throw new ModelError('MODEL_ERROR', 'It broke.');
    },
  ]);
  const { outputItems } = await runTurn('A');
  expect(outputItems.at(-1)).toMatchObject({
    content: 'The model’s server sent something that Liminal cannot show. It is stored.',
    raw: [{ odd: 1 }],
  });
});

test('pages that an answer cites but does not mention in its text are listed after the text', async () => {
  const pages = [
    { title: 'One', url: 'https://one.example/' },
    { title: 'Two', url: 'https://two.example/' },
  ];
  const cites: Act = async (writer, signal, request) => ({
    ...(await repliesWith('See https://one.example/.')(writer, signal, request)),
    citations: pages,
  });
  const namesBoth: Act = async (writer, signal, request) => ({
    ...(await repliesWith('https://one.example/ https://two.example/')(writer, signal, request)),
    citations: pages,
  });
  const thinks: Act = async (writer, signal, request) => {
    writer.add({ type: 'reasoning', id: 'r', content: 'https://two.example/', origin: 'agent' });
    return cites(writer, signal, request);
  };
  const { runTurn } = await open([cites, thinks, namesBoth, repliesWith('Yes.')]);
  const list = 'Sources of the answer:\n\n- [Two](https://two.example/)';
  expect(notices(await runTurn('A'))).toEqual([list]);
  expect(notices(await runTurn('See https://two.example/'))).toEqual([list]);
  expect(notices(await runTurn('C'))).toEqual([]);
  expect(notices(await runTurn('D'))).toEqual([]);
});

test('a model with tools gets the tools, and a model without tools gets the ids of calls that became text', async () => {
  const { runTurn, client, provider } = await open([
    calls(['echo', { text: 'a' }]),
    repliesWith('One.'),
    repliesWith('Two.'),
  ]);
  await runTurn('A');
  await provider.setConfigOption?.('s', 'model', 'plain');
  await runTurn('B');
  const [, second, third] = client.requests;
  expect(second).not.toHaveProperty('callIds');
  expect(second).not.toHaveProperty('isWithoutCalls');
  expect(second?.instructions).not.toContain('undefined');
  expect(third).toMatchObject({ callIds: ['call_0'], tools: [] });
});

test('an answer with a call but without text does not count as empty', async () => {
  const { runTurn } = await open([calls(['echo', { text: 'a' }]), repliesWith(' ')]);
  expect(notices(await runTurn('A'))).toEqual([]);
});

test('a turn that reaches the largest number of requests ends as complete, with a notice', async () => {
  const { runTurn, client } = await open([calls(['echo', { text: 'a' }]), repliesWith('So.')], {
    maxRounds: 1,
  });
  const run = await runTurn('A');
  expect(run).toMatchObject({ status: 'complete', finishReason: 'max_turn_requests' });
  expect(notices(run)).toEqual([
    'The model was asked 1 times in this turn, which is the limit. Send a message to let it continue.',
  ]);
  expect(client.requests).toHaveLength(1);
});

test('after a model has paused, the next request contains the model’s own items', async () => {
  const pauses: Act = async (...given) => ({
    ...(await repliesWith('I search.')(...given)),
    isPaused: true,
  });
  const { runTurn, client } = await open([pauses, repliesWith('Found.')]);
  expect(await runTurn('A')).toMatchObject({ status: 'complete' });
  expect(client.requests.map(textsOf)).toEqual([['A'], ['A', 'I search.']]);
});

test('if an answer has too many calls, only the first 128 calls are run', async () => {
  const wanted = Array.from({ length: 130 }, (): [string, unknown] => ['echo', { text: 'a' }]);
  const { runTurn } = await open([calls(...wanted), repliesWith('So.')]);
  const outputs = (await runTurn('A')).outputItems.flatMap((item) =>
    item.type === 'function_call_output' ? [[item.success, item.output]] : [],
  );
  const refused = [
    false,
    'Not run: one answer may make at most 128 calls. Make this call again with fewer others.',
  ];
  expect(outputs.filter(([success]) => success)).toHaveLength(128);
  expect(outputs.filter(([success]) => !success)).toEqual([refused, refused]);
});

test('token counts are summed over a turn, and reported once a second', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const counted =
    (ms: number, act: Act, more: object): Act =>
    async (...given) => {
      vi.advanceTimersByTime(ms);
      const usage = { inputTokens: 10, outputTokens: 5, ...more };
      return { ...(await act(...given)), usage };
    };
  const call = () => calls(['echo', { text: 'a' }]);
  const { runTurn, watch, client } = await open(
    [
      counted(0, call(), { cacheReadInputTokens: 3 }),
      counted(999, call(), { cacheReadInputTokens: 4, cacheCreationInputTokens: 2 }),
      counted(1, repliesWith('So.'), {}),
      async (...given) => ({ ...(await repliesWith('Yes.')(...given)), usage: undefined }),
    ],
    { server: { model: 'unlisted' } },
  );
  const run = await runTurn('A');
  expect(run.usage).toEqual({
    inputTokens: 30,
    outputTokens: 15,
    cacheReadInputTokens: 7,
    cacheCreationInputTokens: 2,
    contextTokens: 15,
  });
  const reported = watch
    .of(run.turnId)
    .flatMap(({ payload }) => (payload.type === 'usage_update' ? payload.usage.inputTokens : []));
  expect(reported).toEqual([10, 30]);
  expect((await runTurn('B')).usage).toBeUndefined();
  expect(client.requests).toHaveLength(4);
});

test('a resumed call gets new ids, and a stopped turn sends the model no request', async () => {
  const before = await open([calls(['echo', { text: 'loud' }], ['echo', { text: 'loud' }])]);
  const first = await before.send('A');
  const isAsked = ({ watch }: typeof before, turnId: string, count: number) =>
    watch.until(() => {
      const asked = watch
        .of(turnId)
        .filter(({ payload }) => payload.type === 'item_start' && payload.itemType === 'approval');
      return asked.length === count;
    });
  await isAsked(before, first, 2);
  const stored = [cutOff(before.watch.of(first))];

  const again = await open([], { stored, resuming: true });
  const turnId = again.watch.events[0]?.turnId ?? '';
  await isAsked(again, turnId, 2);
  await again.provider.cancelTurn('s');
  const run = await again.ended(turnId);
  expect(run).toMatchObject({ status: 'aborted', trigger: 'agent' });
  const ids = run.outputItems.flatMap((item) => (item.type === 'function_call' ? item.id : []));
  expect(ids).toEqual([`${turnId}:call_0`, `${turnId}:call_1`]);
  expect(again.client.requests).toEqual([]);
});

test('stopping a session without a running turn changes nothing', async () => {
  const { runTurn, provider, watch } = await open([repliesWith('Yes.'), streamsUntilStopped('So')]);
  const { turnId } = await runTurn('A');
  await provider.cancelTurn('s');
  expect(watch.of(turnId).map(({ payload }) => payload.type)).not.toContain('turn_aborted_by_user');
});

test('after a repeated request, people no longer see a reason for waiting', async () => {
  const busy = fails('MODEL_UNAVAILABLE', 'Busy.', { isPassing: true, retryAfterMs: 1 });
  const { runTurn, watch } = await open([busy, repliesWith('Yes.')]);
  expect(await runTurn('A')).toMatchObject({ status: 'complete' });
  const shown = watch.updates.flatMap(({ activity }) => activity ?? []);
  expect([...new Set(shown)]).toEqual(['Busy. Retrying in 1 s.', '']);
});

test('text that may be the start of a tag is kept if the answer breaks off', async () => {
  const { runTurn } = await open([breaksOff('So <thi', new ModelError('MODEL_ERROR', 'No.'))]);
  const { outputItems } = await runTurn('A');
  expect(outputItems.at(-1)).toMatchObject({ content: 'So <thi' });
});

test('a turn that is stopped during a call does not ask the model again', async () => {
  const { provider, send, ended, watch, client } = await open([calls(['echo', { text: 'loud' }])]);
  const turnId = await send('A');
  await watch.until(() => watch.of(turnId).some(({ payload }) => 'approvalId' in payload));
  await provider.cancelTurn('s');
  expect(await ended(turnId)).toMatchObject({ status: 'aborted' });
  expect(client.requests).toHaveLength(1);
});

test('a turn ends at the time of its end', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const late = '2030-01-01T00:00:00.000Z';
  const { runTurn, watch } = await open([
    async (...given) => {
      const answer = await repliesWith('Yes.')(...given);
      vi.setSystemTime(late);
      return answer;
    },
  ]);
  const { turnId } = await runTurn('A');
  expect(watch.of(turnId).at(-1)?.timestamp).toBe(late);
});

test('a turn whose server cannot be used ends with the reason', async () => {
  const before = await open([calls(['echo', { text: 'loud' }])]);
  const first = await before.send('A');
  await before.watch.until(() =>
    before.watch.of(first).some(({ payload }) => 'approvalId' in payload),
  );
  const stored = [cutOff(before.watch.of(first))];
  const server = { problem: 'Set HERE_KEY.' };
  const { watch, provider, ended } = await open([], { stored, resuming: true, server });
  const turnId = watch.events[0]?.turnId ?? '';
  const [approvalId = ''] = watch
    .of(turnId)
    .flatMap(({ payload }) => ('approvalId' in payload ? (payload.approvalId ?? []) : []));
  await provider.answerApproval?.('s', approvalId, { optionId: 'allow' });
  expect((await ended(turnId)).error).toMatchObject({
    code: 'MODEL_UNAVAILABLE',
    message: 'Set HERE_KEY.',
  });
});

test.each(['', ' \n'])('if the answer %j is empty, a notice reports that', async (text) => {
  const { runTurn } = await open([repliesWith(text)], { server: { model: 'unlisted' } });
  const run = await runTurn('A');
  expect(notices(run)).toEqual([
    'The model has ended its turn without an answer. Ask again, or choose another model.',
  ]);
  expect(run.usage).toStrictEqual({ inputTokens: 10, outputTokens: 5, contextTokens: 15 });
});
