import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { ContentBlock, OutputItem, Response } from '@liminal/protocol';
import { DriverProvider } from '../../base/driver-provider.ts';
import type { CliProvider, ProjectGrants } from '../../contract/provider.ts';
import { foldTurn } from '../../testing/folding.ts';
import { expectWholeTurn, Watch } from '../../testing/watch.ts';
import type { ModelServer } from './catalog.ts';
import { conversationOf, itemsOf } from './conversation.ts';
import type { ListedModel } from './model-client.ts';
import { ModelError, type ModelErrorCode } from './model-error.ts';
import { createModelDrivers } from './model-driver.ts';
import { cutOff } from './testing/cut-off.ts';
import { loudEcho } from './testing/echo.ts';
import {
  type Act,
  breaksOff,
  calls,
  streamsUntilStopped,
  repliesWith,
  ScriptedClient,
} from './testing/scripted-client.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

interface Opened {
  provider: CliProvider;
  client: ScriptedClient;
  watch: Watch;
  runTurn: (message: string) => Promise<Response>;
}

async function open(
  acts: Act[],
  {
    stored = [],
    server = {},
    others = [],
    maxRounds = 20,
    config = {},
    resuming = false,
    grants,
    models,
  }: {
    stored?: Response[];
    server?: Partial<ModelServer>;
    others?: ModelServer[];
    maxRounds?: number;
    config?: Record<string, string>;
    resuming?: boolean;
    grants?: ProjectGrants;
    models?: ListedModel[];
  } = {},
): Promise<Opened & { projectDir: string }> {
  const projectDir = await mkdtemp(join(tmpdir(), 'liminal-models-'));
  ends.push(() => rm(projectDir, { recursive: true }));
  const client = new ScriptedClient(acts);
  client.models = models ?? client.models;
  const servers = [{ name: 'openai', title: 'OpenAI', client, model: 'one', ...server }, ...others];
  const retries = { attempts: 3, firstMs: 1, maxMs: 1_000 };
  const tools = [loudEcho];
  const [provider] = createModelDrivers({ servers, tools, retries, maxRounds }).map(
    (driver) => new DriverProvider(driver),
  );
  if (provider === undefined) throw new Error('No provider was created.');
  ends.push(() => provider.close());
  const watch = new Watch(provider, 's');
  const runs = async () => stored;
  const known = { resuming, stored: { runs }, ...(grants && { grants }) };
  await provider.loadSession('s', { projectDir, config, ...known });
  const say = async (message: string): Promise<Response> => {
    const { turnId } = await provider.sendMessage('s', message);
    expectWholeTurn(await watch.ended(turnId));
    return foldTurn(watch.events, turnId);
  };
  return { provider, client, watch, runTurn: say, projectDir };
}

const texts = (items: readonly OutputItem[]): string[] =>
  items.flatMap((item) => {
    if (item.type === 'message') return `${item.origin}: ${item.content}`;
    if (item.type === 'function_call') return `call: ${item.arguments}`;
    return item.type === 'function_call_output' ? `output: ${item.output}` : [];
  });

test('a model is sent the conversation, and its answer becomes a turn', async () => {
  const { runTurn, client } = await open([repliesWith('Good morning.'), repliesWith('Well.')]);

  const first = await runTurn('Hello');
  expect(first).toMatchObject({
    status: 'complete',
    modelId: 'one',
    providerId: 'openai',
    finishReason: 'stop',
  });
  expect(texts(first.outputItems)).toEqual(['user: Hello', 'agent: Good morning.']);

  await runTurn('How are you?');
  expect(texts(client.requests[1]?.conversation ?? [])).toEqual([
    'user: Hello',
    'agent: Good morning.',
    'user: How are you?',
  ]);
});

test('the conversation of a live session equals the conversation that is made from history', async () => {
  const error = new ModelError('MODEL_ERROR', 'It failed.');
  const { runTurn, client } = await open([
    calls(['echo', { text: 'a' }], ['echo', { text: 'b' }]),
    repliesWith('Done.'),
    breaksOff('So far', error),
    repliesWith('Back.'),
  ]);
  const runs = [await runTurn('One'), await runTurn('Two'), await runTurn('Three')];

  const live = client.requests.at(-1)?.conversation ?? [];
  const rebuilt = conversationOf(itemsOf(runs));
  expect(texts(rebuilt)).toEqual([...texts(live), 'agent: Back.']);
  expect(texts(live)).toContain('agent: So far');
});

test('items of all turns have distinct ids, even if the server repeats ids', async () => {
  const { runTurn } = await open([
    repliesWith('One.'),
    calls(['echo', { text: 'a' }]),
    repliesWith('Two.'),
    calls(['echo', { text: 'b' }]),
    repliesWith('Three.'),
  ]);
  const runs = [await runTurn('1'), await runTurn('2'), await runTurn('3')];
  const ids = itemsOf(runs).map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test('a session that is opened again continues the conversation in history', async () => {
  const before = await open([repliesWith('Good morning.')]);
  const stored = [await before.runTurn('Hello')];
  const { runTurn, client } = await open([repliesWith('Yes.')], { stored });

  await runTurn('Do you remember?');
  expect(texts(client.requests[0]?.conversation ?? [])).toEqual([
    'user: Hello',
    'agent: Good morning.',
    'user: Do you remember?',
  ]);
});

test('the model and its maker can change during a session', async () => {
  const other = new ScriptedClient([repliesWith('I am another.')], 'anthropic');
  const { runTurn, provider, client } = await open([repliesWith('I am one.')], {
    others: [{ name: 'anthropic', title: 'Anthropic', client: other, model: 'two' }],
  });
  await runTurn('Who are you?');
  await provider.setConfigOption?.('s', 'model', 'anthropic:two');
  const second = await runTurn('And now?');

  expect(client.requests).toHaveLength(1);
  expect(second).toMatchObject({ modelId: 'two', providerId: 'anthropic' });
  expect(texts(other.requests[0]?.conversation ?? [])).toHaveLength(3);
  await expect(provider.setConfigOption?.('s', 'model', 'nobody:x')).rejects.toMatchObject({
    code: 'INVALID_OPTION',
  });
});

test('audio is accepted only if the chosen model’s server accepts audio, and is otherwise rejected before it is sent', async () => {
  const other = new ScriptedClient([], 'anthropic');
  const { provider, client, watch } = await open([repliesWith('A bell.')], {
    server: { takesAudio: true },
    others: [{ name: 'anthropic', title: 'Anthropic', client: other, model: 'two' }],
  });
  const sounds = (): string[] | undefined =>
    watch.updates.findLast(({ accepts }) => accepts)?.accepts?.audio;
  const bell: ContentBlock = { type: 'audio', mimeType: 'audio/x-wav', data: 'UklGRg==' };
  const ring = async (): Promise<unknown> =>
    provider.sendMessage('s', 'What is it?', { blocks: [bell] });

  await watch.until(() => sounds()?.includes('audio/mpeg'));
  const { turnId } = (await ring()) as { turnId: string };
  await watch.ended(turnId);
  expect(client.requests[0]?.conversation).toMatchObject([{ blocks: [bell] }]);

  await provider.setConfigOption?.('s', 'model', 'anthropic:two');
  await watch.until(() => sounds()?.length === 0);
  await expect(ring()).rejects.toMatchObject({
    code: 'CONTENT_NOT_SUPPORTED',
    message: expect.stringMatching(
      /does not accept such audio\. Remove audio\/x-wav from the message/,
    ),
  });
  expect(other.requests).toEqual([]);
});

test('a model’s calls run in parallel, and the next request has their outputs', async () => {
  const { runTurn, client } = await open([
    calls(['echo', { text: 'a' }], ['echo', { text: 'b' }]),
    repliesWith('Both.'),
  ]);

  const { outputItems } = await runTurn('Echo twice');
  expect(texts(outputItems)).toEqual([
    'user: Echo twice',
    'call: {"text":"a"}',
    'call: {"text":"b"}',
    'output: a',
    'output: b',
    'agent: Both.',
  ]);
  expect(outputItems.filter(({ type }) => type === 'function_call_output')).toMatchObject([
    { callId: 'call_0', success: true, origin: 'tool_harness' },
    { callId: 'call_1', success: true, origin: 'tool_harness' },
  ]);
  expect(client.requests[0]?.tools[0]).toMatchObject({
    name: 'echo',
    parameters: { type: 'object' },
  });
});

test.each([
  ['a tool that is not there', 'nothing', {}, /There is no tool nothing\. The tools are: echo/],
  ['arguments that are not JSON', 'echo', '{"text": ', /not JSON/],
  ['arguments of another shape', 'echo', { text: 1 }, /input is invalid/],
  ['a call that the tool rejects', 'echo', { text: 'fail' }, /It did not work/],
])('the model is sent the error of %s, and continues', async (_, name, input, said) => {
  const { runTurn } = await open([calls([name, input]), repliesWith('I see.')]);

  const { outputItems, status } = await runTurn('Go');
  expect(status).toBe('complete');
  const output = outputItems.find(({ type }) => type === 'function_call_output');
  expect(output).toMatchObject({ success: false, output: expect.stringMatching(said) });
});

test('people are asked before a call that needs permission, and are not asked again once the call is allowed permanently', async () => {
  const { provider, watch, runTurn } = await open([
    calls(['echo', { text: 'loud' }]),
    repliesWith('One.'),
    calls(['echo', { text: 'loud' }]),
    repliesWith('Two.'),
  ]);
  const { turnId } = await provider.sendMessage('s', 'Be loud');
  const asked = await watch.until(() =>
    watch
      .of(turnId)
      .map(({ payload }) => payload)
      .find((one) => 'approvalId' in one && one.approvalId),
  );
  expect(asked).toMatchObject({ title: 'Echo loud', callId: 'call_0' });
  const approvalId = 'approvalId' in asked ? (asked.approvalId ?? '') : '';
  await provider.answerApproval?.('s', approvalId, { optionId: 'always' });
  await watch.ended(turnId);

  const { outputItems } = await runTurn('Again');
  expect(outputItems.some(({ type }) => type === 'approval')).toBe(false);
  expect(texts(outputItems)).toContain('output: loud');
});

/** A project's store of permanent permissions, and their titles by rule. */
function project(): ProjectGrants & { titles: Map<string, string> } {
  const titles = new Map<string, string>();
  return {
    titles,
    list: async () => [...titles.keys()],
    add: async (rule, title) => void titles.set(rule, title),
  };
}

/** Sends a message that leads to a question, and answers the question. Resolves with the options of the question. */
async function beAsked({ provider, watch }: Opened, optionId: string): Promise<string[]> {
  const { turnId } = await provider.sendMessage('s', 'Be loud');
  const approvalId = await watch.until(() => approvalOf(watch, turnId));
  await provider.answerApproval?.('s', approvalId, { optionId });
  await watch.ended(turnId);
  const { outputItems } = foldTurn(watch.events, turnId);
  return outputItems.flatMap((item) =>
    item.type === 'approval' ? item.options.map(({ name }) => name) : [],
  );
}

const loud = (): Act[] => [calls(['echo', { text: 'loud' }]), repliesWith('So.')];
const wasAsked = ({ outputItems }: Response): boolean =>
  outputItems.some(({ type }) => type === 'approval');

test('a permanent permission is stored for the project, and applies to the project’s other sessions', async () => {
  const grants = project();
  const one = await open([...loud(), ...loud()], { grants });
  const other = await open([...loud(), ...loud()], { grants });

  expect(await beAsked(one, 'allow')).toContain('Always allow loud echoes in this project');
  expect(grants.titles).toEqual(new Map());
  await beAsked(other, 'always');
  expect(grants.titles).toEqual(new Map([['tool:echo', 'loud echoes']]));
  const run = await one.runTurn('Again');
  expect(wasAsked(run)).toBe(false);
  expect(texts(run.outputItems)).toContain('output: loud');
});

test('after people remove a permission from the project, the next call asks again, even in the session in which it was granted', async () => {
  const grants = project();
  const session = await open([...loud(), ...loud(), ...loud()], { grants });
  await beAsked(session, 'always');
  expect(wasAsked(await session.runTurn('Again'))).toBe(false);
  grants.titles.clear();
  await beAsked(session, 'allow');
});

test('without a store, a permanent permission lasts as long as the session', async () => {
  const names = await beAsked(await open(loud()), 'always');
  expect(names).toContain('Always allow loud echoes in this session');
});

test('while a project’s permissions cannot be read, people are asked, and a notice reports the reason', async () => {
  const grants = project();
  await grants.add('tool:echo', 'loud echoes');
  const { list } = grants;
  grants.list = async () => Promise.reject(new Error('The disk is gone.'));
  const session = await open([...loud(), ...loud()], { grants });

  await beAsked(session, 'allow');
  const told = () => session.watch.updates.flatMap(({ notices }) => notices ?? []);
  expect(told().at(-1)?.text).toBe(
    'This project’s permanent permissions could not be read. The disk is gone.',
  );
  grants.list = list;
  expect(wasAsked(await session.runTurn('Again'))).toBe(false);
  expect(session.watch.updates.findLast(({ notices }) => notices)?.notices).toEqual([]);
});

test('a permission that cannot be stored applies only to the session, and a notice reports the error', async () => {
  const grants = project();
  grants.add = async () => Promise.reject(new Error('The disk is full.'));
  const session = await open([...loud(), ...loud()], { grants });

  await beAsked(session, 'always');
  expect(wasAsked(await session.runTurn('Again'))).toBe(false);
  expect(session.watch.updates.findLast(({ notices }) => notices)?.notices).toEqual([
    {
      level: 'warning',
      text: '“loud echoes” is allowed in this session only: it could not be stored. The disk is full.',
    },
  ]);
});

test('a new session has the permanent permissions of its project', async () => {
  const grants = project();
  await grants.add('tool:echo', 'loud echoes');
  const { provider, watch, projectDir } = await open(loud());
  const { sessionId } = await provider.createSession({ projectDir, grants });
  const created = new Watch(provider, sessionId);
  const { turnId } = await provider.sendMessage(sessionId, 'Be loud');
  await created.ended(turnId);
  expect(wasAsked(foldTurn(created.events, turnId))).toBe(false);
  expect(watch.events).toEqual([]);
});

test('the model gets the reason for which a person refused a call', async () => {
  const { provider, watch } = await open([
    calls(['echo', { text: 'loud' }]),
    repliesWith('As you wish.'),
  ]);
  const { turnId } = await provider.sendMessage('s', 'Be loud');
  const approvalId = await watch.until(
    () =>
      watch
        .of(turnId)
        .flatMap(({ payload }) => ('approvalId' in payload ? (payload.approvalId ?? []) : []))[0],
  );
  await provider.answerApproval?.('s', approvalId, { optionId: 'refuse', note: 'the baby sleeps' });
  await watch.ended(turnId);

  const { outputItems } = foldTurn(watch.events, turnId);
  expect(texts(outputItems)).toContain('output: The user refused this, and says: the baby sleeps');
});

test('after a temporary failure the request is repeated, and the text before the failure is shown only once', async () => {
  const overloaded = new ModelError('MODEL_UNAVAILABLE', 'It is overloaded.', { isPassing: true });
  const { runTurn, watch } = await open([breaksOff('Hel', overloaded), repliesWith('Hello.')]);

  const { outputItems, status } = await runTurn('Hi');
  expect(status).toBe('complete');
  expect(texts(outputItems)).toEqual(['user: Hi', 'agent: Hello.']);
  expect(watch.updates.map(({ activity }) => activity)).toContainEqual(
    expect.stringMatching(/overloaded\. Retrying in/),
  );
});

test('a failure that lasts, or that is not temporary, ends the turn with its code and the text so far', async () => {
  const limit = new ModelError('RATE_LIMIT', 'Too many requests.', { isPassing: true });
  const lasting = new ModelError('CONTENT_FILTER', 'It was filtered.');
  const { runTurn, client } = await open([
    breaksOff('1', limit),
    breaksOff('2', limit),
    breaksOff('3', limit),
    breaksOff('4', lasting),
  ]);

  const first = await runTurn('Hi');
  expect(first).toMatchObject({ status: 'error', error: { code: 'RATE_LIMIT' } });
  expect(texts(first.outputItems)).toEqual(['user: Hi', 'agent: 3']);
  expect(client.requests).toHaveLength(3);
  expect(await runTurn('Hi')).toMatchObject({ status: 'error', error: { code: 'CONTENT_FILTER' } });
});

const [compact, larger] = [
  'No. If that happens with each message, send /compact to continue from a summary.',
  'No. Send /compact to continue from a summary, or choose a model with a larger context.',
];

test.each<[code: ModelErrorCode, status: number | undefined, first: string, later: string]>([
  ['CONTENT_FILTER', undefined, 'No.', compact],
  ['MODEL_ERROR', 400, 'No.', compact],
  ['MODEL_ERROR', 404, 'No.', 'No.'],
  ['AUTHENTICATION', 400, 'No.', 'No.'],
  ['CONTEXT_LENGTH', undefined, larger, larger],
])(
  'an error advises /compact if it may be of the conversation: %s, status %s',
  async (...given) => {
    const [code, status, first, later] = given;
    const fails: Act = () => {
      throw new ModelError(code, 'No.', { details: { status } });
    };
    const { runTurn } = await open([fails, repliesWith('Well.'), fails]);
    expect((await runTurn('One')).error).toMatchObject({ code, message: first });
    await runTurn('Two');
    expect((await runTurn('Three')).error).toMatchObject({ code, message: later });
  },
);

test('cancel stops the request, and the text so far is kept', async () => {
  const { provider, watch, runTurn, client } = await open([
    streamsUntilStopped('I go on and'),
    repliesWith('Yes?'),
  ]);
  const { turnId } = await provider.sendMessage('s', 'Go on');
  await watch.event(turnId, 'item_delta');
  await provider.cancelTurn('s');
  expectWholeTurn(await watch.ended(turnId));

  const run = foldTurn(watch.events, turnId);
  expect(run).toMatchObject({ status: 'aborted' });
  expect(texts(run.outputItems)).toContain('agent: I go on and');
  await runTurn('Still there?');
  expect(texts(client.requests[1]?.conversation ?? [])).toContain('agent: I go on and');
});

test('a message that was sent during a turn reaches the model with the model’s next request', async () => {
  const { provider, watch, client } = await open([
    goesOnUntil(() => steered.promise),
    repliesWith('Two then.'),
  ]);
  const steered = Promise.withResolvers<void>();
  const { turnId } = await provider.sendMessage('s', 'One');
  await watch.event(turnId, 'item_delta');
  await provider.steer?.('s', 'No, two', { turnId, messageId: 'm' });
  steered.resolve();
  await watch.ended(turnId);

  expect(texts(client.requests[1]?.conversation ?? [])).toEqual([
    'user: One',
    'agent: So',
    'user: No, two',
  ]);
  const { outputItems } = foldTurn(watch.events, turnId);
  expect(outputItems).toContainEqual(
    expect.objectContaining({ content: 'No, two', delivery: 'taken' }),
  );
});

function goesOnUntil(told: () => Promise<void>): Act {
  return async (writer) => {
    const id = writer.start({ type: 'message', id: 'said', content: '', origin: 'agent' });
    writer.append(id, 'So');
    await told();
    writer.done(id);
    return { calls: [], finishReason: 'stop', usage: undefined };
  };
}

test('/compact continues from a summary of the conversation', async () => {
  const { runTurn, client } = await open([
    repliesWith('Good morning.'),
    repliesWith('We greeted.'),
    repliesWith('Yes.'),
  ]);
  await runTurn('Hello');
  const compacted = await runTurn('/compact the greeting');
  expect(texts(client.requests[1]?.conversation ?? []).at(-1)).toMatch(
    /The user adds: the greeting/,
  );
  expect(compacted.status).toBe('complete');
  expect(compacted.outputItems.at(-1)).toMatchObject({ compaction: 'completed' });
  expect(client.requests[1]).toMatchObject({
    isWithoutCalls: true,
    tools: client.requests[0]?.tools,
  });

  await runTurn('Do you remember?');
  const conversation = texts(client.requests[2]?.conversation ?? []);
  expect(conversation).toEqual([
    'user: What we have said and done so far, in short:\n\nWe greeted.',
    'user: Do you remember?',
  ]);
});

test('if a summary fails, the conversation does not change', async () => {
  const { runTurn, client } = await open([
    repliesWith('Good morning.'),
    repliesWith(''),
    repliesWith('Yes.'),
  ]);
  await runTurn('Hello');
  expect((await runTurn('/compact')).error?.message).toMatch(/The conversation is unchanged/);
  await runTurn('Still there?');
  expect(texts(client.requests[2]?.conversation ?? [])).toEqual([
    'user: Hello',
    'agent: Good morning.',
    'user: Still there?',
  ]);
});

test('if a conversation is too long for a summary, the newer part is summarized', async () => {
  const long = new ModelError('CONTEXT_LENGTH', 'That is too long.');
  const { runTurn, client } = await open([
    repliesWith('One.'),
    repliesWith('Two.'),
    breaksOff('', long),
    breaksOff('', long),
    repliesWith('Short.'),
  ]);
  await runTurn('First');
  await runTurn('Second');
  expect(await runTurn('Third')).toMatchObject({
    error: { code: 'CONTEXT_LENGTH', message: expect.stringMatching(/Send \/compact/) },
  });
  expect((await runTurn('/compact')).status).toBe('complete');
  expect(texts(client.requests.at(-1)?.conversation ?? [])).not.toContain('user: First');
});

test('an empty answer becomes a notice for people, and the model does not get the notice', async () => {
  const { runTurn, client } = await open([repliesWith(''), repliesWith('Yes.')]);
  const { status, outputItems } = await runTurn('Hello');
  expect(status).toBe('complete');
  expect(texts(outputItems).at(-1)).toMatch(
    /^system: The model has ended its turn without an answer/,
  );
  await runTurn('Hello?');
  expect(texts(client.requests[1]?.conversation ?? [])).toEqual(['user: Hello', 'user: Hello?']);
});

test('a turn whose model never stops calling tools ends at the limit of rounds', async () => {
  const { runTurn, client } = await open(
    [calls(['echo', { text: 'a' }]), calls(['echo', { text: 'b' }])],
    { maxRounds: 2 },
  );

  const { finishReason, outputItems } = await runTurn('Go');
  expect(finishReason).toBe('max_turn_requests');
  expect(client.requests).toHaveLength(2);
  expect(texts(outputItems).at(-1)).toMatch(/asked 2 times in this turn/);
});

test('a turn’s token counts are summed, and priced by the configuration', async () => {
  const prices = { input: 1, output: 10 };
  const { runTurn } = await open(
    [calls(['echo', { text: 'a' }]), repliesWith('So.'), repliesWith('Well.')],
    {
      server: { prices, contextWindow: 500 },
    },
  );

  expect((await runTurn('Go')).usage).toMatchObject({
    inputTokens: 20,
    outputTokens: 10,
    costUsd: expect.closeTo(0.000_12, 8),
    contextTokens: 15,
    contextWindow: 500,
  });
  expect((await runTurn('Go')).usage?.costUsd).toBeCloseTo(0.000_18, 8);
});

test('the instructions include the project’s AGENTS.md', async () => {
  const { runTurn, client, projectDir } = await open([repliesWith('Yes.')]);
  await writeFile(join(projectDir, 'AGENTS.md'), 'Use tabs.');
  await runTurn('Hello');
  expect(client.requests[0]?.instructions).toContain('Use tabs.');
});

test('SAFE: an AGENTS.md that is a link to a file outside of the project is not read', async () => {
  const { runTurn, client, projectDir } = await open([repliesWith('Yes.')]);
  const elsewhere = await mkdtemp(join(tmpdir(), 'liminal-elsewhere-'));
  ends.push(() => rm(elsewhere, { recursive: true }));
  await writeFile(join(elsewhere, 'secret'), 'The key is 1234.');
  await symlink(join(elsewhere, 'secret'), join(projectDir, 'AGENTS.md'));
  await writeFile(join(projectDir, 'CLAUDE.md'), 'Use tabs.');
  await runTurn('Hello');
  expect(client.requests[0]?.instructions).toContain('Use tabs.');
  expect(client.requests[0]?.instructions).not.toContain('1234');
});

test('without a configured model, the first listed model is used', async () => {
  const { runTurn, client } = await open([repliesWith('Yes.')], { server: { model: undefined } });
  await runTurn('Hello');
  expect(client.requests[0]?.model).toBe('one');
});

test('a question that was open when the session ended is asked again with the same id, and the turn continues', async () => {
  const before = await open([calls(['echo', { text: 'quiet' }], ['echo', { text: 'loud' }])]);
  const { turnId } = await before.provider.sendMessage('s', 'Be loud');
  const first = await before.watch.until(() => approvalOf(before.watch, turnId));
  await before.watch.until(() =>
    before.watch
      .of(turnId)
      .some(
        ({ payload: one }) =>
          one.type === 'item_done' && one.finalItem.type === 'function_call_output',
      ),
  );
  const stored = [cutOff(before.watch.of(turnId))];

  const { provider, watch, client } = await open([repliesWith('Both.')], {
    stored,
    resuming: true,
  });
  const [again] = watch.events.map((event) => event.turnId);
  const second = await watch.until(() => approvalOf(watch, again ?? ''));
  expect(second).toBe(first);
  await provider.answerApproval?.('s', second, { optionId: 'allow' });
  expectWholeTurn(await watch.ended(again ?? ''));

  expect(texts(client.requests[0]?.conversation ?? [])).toEqual([
    'user: Be loud',
    'call: {"text":"quiet"}',
    'output: quiet',
    'call: {"text":"loud"}',
    'output: loud',
  ]);
  const run = foldTurn(watch.events, again ?? '');
  expect(run).toMatchObject({ status: 'complete', trigger: 'agent' });
  expect(texts(run.outputItems)).toEqual(['call: {"text":"loud"}', 'output: loud', 'agent: Both.']);
});

test.each([
  ['that the project now allows', 'echo', /^output: loud/],
  ['to a tool that is gone', 'gone', /^output: There is no tool gone/],
])(
  'a waiting call %s is resumed without a question, and the session is open at once',
  async (_, name, said) => {
    const before = await open([calls(['echo', { text: 'loud' }])]);
    const { turnId } = await before.provider.sendMessage('s', 'Be loud');
    await before.watch.until(() => approvalOf(before.watch, turnId));
    const cut = cutOff(before.watch.of(turnId));
    const outputItems = cut.outputItems.map((item) =>
      item.type === 'function_call' ? { ...item, name } : item,
    );
    const grants = project();
    await grants.add('tool:echo', 'loud echoes');

    const stored = [{ ...cut, outputItems }];
    const { provider, watch } = await open([streamsUntilStopped('Then')], {
      stored,
      resuming: true,
      grants,
    });
    const [again = ''] = watch.events.map((event) => event.turnId);
    await watch.event(again, 'item_delta');
    await provider.cancelTurn('s');
    await watch.ended(again);
    const run = foldTurn(watch.events, again);
    expect(wasAsked(run)).toBe(false);
    expect(texts(run.outputItems)).toContainEqual(expect.stringMatching(said));
  },
);

test.each([
  ['whose server no longer has a key', 'other:two', 'Set OTHER_KEY.'],
  ['whose server is no longer configured', 'gone:three', 'server “gone” is no longer configured'],
])(
  'a session with a model %s opens, repeats its open question, and continues with another model',
  async (_, model, problem) => {
    const before = await open([calls(['echo', { text: 'loud' }])]);
    const { turnId } = await before.provider.sendMessage('s', 'Be loud');
    await before.watch.until(() => approvalOf(before.watch, turnId));
    const stored = [cutOff(before.watch.of(turnId))];
    const keyless = {
      name: 'other',
      title: 'Other',
      client: new ScriptedClient([]),
      problem: 'Set OTHER_KEY.',
    };

    const others = [keyless];
    const config = { model };
    const { provider, watch, runTurn } = await open([repliesWith('Yes.')], {
      stored,
      resuming: true,
      others,
      config,
    });
    const [again = ''] = watch.events.map((event) => event.turnId);
    const approvalId = await watch.until(() => approvalOf(watch, again));
    await provider.answerApproval?.('s', approvalId, { optionId: 'allow' });
    expectWholeTurn(await watch.ended(again));
    const run = foldTurn(watch.events, again);
    expect(texts(run.outputItems)).toContain('output: loud');
    expect(run.error?.message).toContain(problem);
    await expect(provider.sendMessage('s', 'Still there?')).rejects.toThrow(problem);
    await provider.setConfigOption?.('s', 'model', 'openai:one');
    expect(texts((await runTurn('Still there?')).outputItems)).toContain('agent: Yes.');
  },
);

test('a model chosen without a server’s name is a model of the session’s own server, also after the session is opened again', async () => {
  const { provider, runTurn, client } = await open([repliesWith('Yes.'), repliesWith('Yes.')]);
  await provider.setConfigOption?.('s', 'model', 'two');
  await runTurn('Hello');
  const again = await open([repliesWith('Yes.')], { config: { model: 'two' } });
  await again.runTurn('Hello');
  expect([client, again.client].map(({ requests }) => requests[0]?.model)).toEqual(['two', 'two']);
  await expect(provider.setConfigOption?.('s', 'model', 'qwen3:8b')).rejects.toThrow(
    'as in openai:qwen3:8b, with one of these servers: openai.',
  );
});

test('an open question is asked again even if the server with the list of models is down', async () => {
  const before = await open([calls(['echo', { text: 'loud' }])]);
  const { turnId } = await before.provider.sendMessage('s', 'Be loud');
  await before.watch.until(() => approvalOf(before.watch, turnId));
  const stored = [cutOff(before.watch.of(turnId))];

  const server = { model: undefined };
  const options = { stored, resuming: true, server, models: [] };
  const { provider, watch, client } = await open([repliesWith('Done.')], options);
  const [again = ''] = watch.events.map((event) => event.turnId);
  const approvalId = await watch.until(() => approvalOf(watch, again));
  await provider.answerApproval?.('s', approvalId, { optionId: 'allow' });
  await watch.ended(again);
  expect(client.requests[0]?.model).toBe('one');
});

test('a message to a new session whose server has no key is rejected with an error that says what to do', async () => {
  const server = { model: undefined, problem: 'Set OPENAI_API_KEY.' };
  const { provider } = await open([], { server });
  await expect(provider.sendMessage('s', 'Hello')).rejects.toThrow('Set OPENAI_API_KEY.');
});

test('a session without an open question begins no turn when it is opened again', async () => {
  const before = await open([repliesWith('Good morning.')]);
  const stored = [await before.runTurn('Hello')];
  const { watch, runTurn } = await open([repliesWith('Yes.')], { stored, resuming: true });
  expect(watch.events).toEqual([]);
  expect((await runTurn('Still there?')).status).toBe('complete');
});

function approvalOf(watch: Watch, turnId: string): string | undefined {
  return watch
    .of(turnId)
    .flatMap(({ payload }) => ('approvalId' in payload ? (payload.approvalId ?? []) : []))[0];
}

test('FR-001-22: a call has a title, and its output follows', async () => {
  const { runTurn } = await open([calls(['echo', { text: 'a' }]), repliesWith('So.')]);
  const { outputItems } = await runTurn('Go');
  expect(outputItems[1]).toMatchObject({ name: 'echo', title: 'Echo a', kind: 'other' });
  expect(outputItems[2]).toMatchObject({ callId: 'call_0', output: 'a', success: true });
});

test('FR-001-32: a script emits its start, its calls with their outputs, and its end', async () => {
  const code = `const said = await Promise.all(['a', 'b'].map((text) => tools.echo({ text })));
print('two');
return said.join('+');`;
  const { runTurn, client, watch } = await open([
    calls(['run_script', { code }]),
    repliesWith('So.'),
  ]);
  const { turnId, outputItems } = await runTurn('Run');

  const types = watch.of(turnId).map(({ payload }) => payload.type);
  const [start, done] = ['script_execution_start', 'script_execution_done'].map((type) =>
    types.indexOf(type as never),
  );
  const within = watch
    .of(turnId)
    .slice(start, done)
    .map(({ payload }) => payload);
  expect(within.filter(({ type }) => type === 'item_done')).toHaveLength(4);
  const script = outputItems.find(({ type }) => type === 'script_execution');
  expect(script).toMatchObject({ code, parentCallId: 'call_0' });
  expect(outputItems).toContainEqual(
    expect.objectContaining({
      type: 'script_execution_output',
      scriptId: script?.id,
      result: '"a+b"',
      success: true,
    }),
  );
  expect(outputItems.filter(({ parentCallId }) => parentCallId === script?.id)).toHaveLength(4);
  // The model gets the script's result, but not its calls.
  expect(texts(client.requests[1]?.conversation ?? [])).toEqual([
    'user: Run',
    expect.stringMatching(/^call: /),
    'output: two\n"a+b"',
  ]);
  expect(client.requests[0]?.tools.at(-1)?.description).toMatch(/echo\(input: /);
});

test('FR-001-32: a script that fails emits its error, and its calls need their own permission', async () => {
  const code = "await tools.echo({ text: 'loud' });";
  const { provider, watch } = await open([
    calls(['run_script', { code }]),
    repliesWith('As you wish.'),
  ]);
  const { turnId } = await provider.sendMessage('s', 'Run');
  const approvalId = await watch.until(() => approvalOf(watch, turnId));
  await provider.answerApproval?.('s', approvalId, { optionId: 'refuse' });
  expectWholeTurn(await watch.ended(turnId));

  const failed = await watch.event(turnId, 'script_execution_error');
  expect(failed.error).toMatchObject({
    code: 'SCRIPT_FAILED',
    message: expect.stringMatching(/refused/),
  });
  const { outputItems } = foldTurn(watch.events, turnId);
  expect(texts(outputItems)).toContainEqual(
    expect.stringMatching(/^output: SCRIPT_FAILED: .*refused/),
  );
});

test('stopping a turn stops its running script', async () => {
  const code = "await tools.echo({ text: 'loud' });";
  const { provider, watch } = await open([calls(['run_script', { code }])]);
  const { turnId } = await provider.sendMessage('s', 'Run');
  await watch.until(() => approvalOf(watch, turnId));
  await provider.cancelTurn('s');
  expectWholeTurn(await watch.ended(turnId));
  expect(await watch.event(turnId, 'script_execution_error')).toMatchObject({
    error: { code: 'SCRIPT_CANCELLED' },
  });
});
