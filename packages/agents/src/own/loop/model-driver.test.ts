import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { DriverProvider } from '../../base/driver-provider.ts';
import type { CliProvider, ConversationRewind } from '../../contract/provider.ts';
import { foldTurn } from '../../testing/folding.ts';
import { Watch } from '../../testing/watch.ts';
import type { ModelServer } from './catalog.ts';
import { createModelDrivers, type ModelOptions } from './model-driver.ts';
import { cutOff } from './testing/cut-off.ts';
import { loudEcho } from './testing/echo.ts';
import {
  type Act,
  calls,
  repliesWith,
  ScriptedClient,
  streamsUntilStopped,
} from './testing/scripted-client.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

function serving(
  acts: Act[],
  more: Partial<ModelServer> = {},
): ModelServer & { client: ScriptedClient } {
  return { name: 'here', title: 'Here', model: 'one', ...more, client: new ScriptedClient(acts) };
}

async function open(server: ModelServer, options: Partial<ModelOptions> = {}) {
  const projectDir = await mkdtemp(join(tmpdir(), 'liminal-driver-'));
  ends.push(() => rm(projectDir, { recursive: true }));
  const retries = { attempts: 1, firstMs: 1, maxMs: 1 };
  const all = { servers: [server], tools: [loudEcho], retries, ...options };
  const [driver] = createModelDrivers(all);
  if (driver === undefined) throw new Error('No driver was created.');
  const provider = new DriverProvider(driver);
  ends.push(() => provider.close());
  return { provider, projectDir };
}

async function session(server: ModelServer, options: Partial<ModelOptions> = {}) {
  const { provider, projectDir } = await open(server, options);
  const watch = new Watch(provider, 's');
  await provider.createSession({ sessionId: 's', projectDir });
  return { provider, projectDir, watch };
}

async function runTurn(provider: CliProvider, watch: Watch, message: string) {
  const { turnId } = await provider.sendMessage('s', message);
  await watch.ended(turnId);
  return foldTurn(watch.events, turnId);
}

test('each server is an agent type with its own title, in the order of the configuration', async () => {
  const servers = [serving([]), serving([], { name: 'there', title: 'There' })];
  const drivers = createModelDrivers({ servers, tools: [] });
  expect(drivers.map(({ cliType }) => cliType)).toEqual(['here', 'there']);
  expect(
    (await Promise.all(drivers.map(async (one) => one.describe()))).map(({ name }) => name),
  ).toEqual(['Here', 'There']);
});

test('a server describes its models, and why it cannot be used', async () => {
  const description = async (more: Partial<ModelServer>) =>
    (await open(serving([], more))).provider.describe();
  const mcpTransports = ['stdio', 'http', 'sse'];
  expect(await description({})).toMatchObject({
    cliType: 'here',
    name: 'Here',
    description: 'one and others, with Liminal’s own tools.',
    mcpTransports,
    available: true,
  });
  const bare = await description({ model: undefined, problem: 'Set HERE_KEY.' });
  expect(bare).toMatchObject({
    description: 'Bare models, with Liminal’s own tools.',
    available: false,
    reason: 'Set HERE_KEY.',
  });
});

test('a session of a bare model can be prewarmed, resumed, rewound and forked, and supports permanent permissions and further folders', async () => {
  const { provider } = await open(serving([]));
  expect(provider).toMatchObject({
    prewarms: true,
    resumes: true,
    usesGrants: true,
    takesDirectories: true,
    rewindsConversation: true,
  });
  expect(await provider.introduce?.(1_000)).toMatchObject({ abilities: ['answer as one'] });
  // The conversation is in Liminal’s history, so there is nothing to copy.
  expect(await provider.fork?.('s', '/', 't')).toEqual({ copies: new Map(), left: new Set() });
});

test('the model gets the further folders of a session, even after these folders have changed', async () => {
  const server = serving([repliesWith('Yes.'), repliesWith('Yes.')]);
  const { provider, projectDir } = await open(server);
  const watch = new Watch(provider, 's');
  const [one, two] = [tmpdir(), '/'];
  await provider.createSession({ sessionId: 's', projectDir, additionalDirectories: [one] });
  await runTurn(provider, watch, 'A');
  expect(await provider.setDirectories?.('s', [two])).toBe(true);
  await runTurn(provider, watch, 'B');
  const told = server.client.requests.map(({ instructions }) => instructions);
  expect(told[0]).toContain(`by whole paths: ${one}\n`);
  expect(told[1]).toContain(`by whole paths: ${two}\n`);
});

test('after a rewind, the next message continues the remaining conversation and its cost', async () => {
  const prices = { input: 1_000_000, output: 0 };
  const server = serving([repliesWith('One.'), repliesWith('Two.'), repliesWith('Three.')], {
    prices,
  });
  const { provider, watch } = await session(server);
  const first = await runTurn(provider, watch, 'A');
  const second = await runTurn(provider, watch, 'B');
  expect([first, second].map(({ usage }) => usage?.costUsd)).toEqual([10, 20]);
  expect(first.trigger).toBe('user');
  const rewind: ConversationRewind = {
    turnIds: [second.turnId],
    remaining: { runs: async () => [first] },
  };
  await provider.rewindConversation?.('s', rewind);
  const third = await runTurn(provider, watch, 'C');
  const said = server.client.requests[2]?.conversation.map((item) =>
    item.type === 'message' ? item.content : item.type,
  );
  expect(said).toEqual(['A', 'One.', 'C']);
  expect(third.usage?.costUsd).toBe(20);
});

test('a message during a turn is rejected, and a message for another turn cannot be added', async () => {
  const { provider, watch } = await session(serving([streamsUntilStopped('On')]));
  const { turnId } = await provider.sendMessage('s', 'A');
  await watch.event(turnId, 'item_delta');
  await expect(provider.sendMessage('s', 'B')).rejects.toMatchObject({
    code: 'TURN_IN_PROGRESS',
    message: expect.stringMatching(/^The model is still working/),
  });
  await expect(
    provider.steer?.('s', 'B', { turnId: 'other', messageId: 'm' }),
  ).rejects.toMatchObject({ code: 'NOTHING_TO_STEER' });
  await provider.cancelTurn('s');
  await watch.ended(turnId);
});

test('a session that is ended ends its turn first, with the reason', async () => {
  const { provider, watch } = await session(serving([streamsUntilStopped('On')]));
  const { turnId } = await provider.sendMessage('s', 'A');
  await watch.event(turnId, 'item_delta');
  await provider.killSession('s');
  expect(await watch.event(turnId, 'turn_aborted_by_user')).toMatchObject({
    reason: 'The session was ended.',
  });
  expect(foldTurn(watch.events, turnId).status).toBe('aborted');
  expect(watch.exits).toEqual([{ expected: true }]);
  expect(provider.isAlive('s')).toBe(false);
});

test('if the session has no effort setting, the maker’s default applies', async () => {
  const server = serving([repliesWith('Yes.'), repliesWith('Yes.')]);
  const { provider, watch } = await session(server);
  await runTurn(provider, watch, 'A');
  await provider.setConfigOption?.('s', 'effort', 'low');
  await runTurn(provider, watch, 'B');
  expect(server.client.requests.map(({ effort }) => effort)).toEqual([undefined, 'low']);
  const current = watch.updates
    .findLast(({ configOptions }) => configOptions)
    ?.configOptions?.map(({ id, currentValue }) => `${id} ${currentValue}`);
  expect(current).toEqual(['model here:one', 'mode ask', 'effort low']);
});

test('the mode of a session decides whether people are asked', async () => {
  const server = serving([calls(['echo', { text: 'loud' }]), repliesWith('Yes.')]);
  const { provider, watch } = await session(server);
  await provider.setConfigOption?.('s', 'mode', 'all');
  const { outputItems } = await runTurn(provider, watch, 'A');
  expect(outputItems.map(({ type }) => type)).not.toContain('approval');
  await expect(provider.setConfigOption?.('s', 'pace', 'x')).rejects.toThrow(
    'Unknown setting “pace”. Known: model, mode, effort.',
  );
});

test('scripts can be switched off, and are on by default', async () => {
  for (const [options, names] of [
    [{}, ['echo', 'run_script']],
    [{ runsScripts: false }, ['echo']],
  ] as const) {
    const server = serving([repliesWith('Yes.')]);
    const { provider, watch } = await session(server, options);
    await runTurn(provider, watch, 'A');
    expect(server.client.requests[0]?.tools.map(({ name }) => name)).toEqual(names);
  }
});

test('a session offers /compact', async () => {
  const { watch } = await session(serving([]));
  expect(await watch.until(() => watch.updates.find(({ commands }) => commands)?.commands)).toEqual(
    [
      {
        name: 'compact',
        description: 'Continue from a summary of the conversation',
        hint: 'what matters',
      },
    ],
  );
});

test('if a server lists no models, or its list fails, a message is rejected with an error that says what to do', async () => {
  const silent = serving([], { model: undefined });
  silent.client.models = [];
  const empty = await session(silent);
  await expect(empty.provider.sendMessage('s', 'A')).rejects.toMatchObject({
    code: 'SESSION_CREATE_FAILED',
    message:
      'No model of “Here” is available. Its server lists no models. If you know a model’s id, type it into the choice of models, pass it to liminal run --model, or set "model" in the configuration.',
  });
  const broken = serving([], { model: undefined });
  broken.client.listModels = async () => Promise.reject(new Error('It is down.'));
  const { provider, watch } = await session(broken);
  const text = 'The models of “Here” could not be listed. It is down.';
  await watch.until(() => watch.updates.some(({ notices }) => notices?.[0]?.text === text));
  await expect(provider.sendMessage('s', 'A')).rejects.toThrow(
    `No model of “Here” is available. ${text} If you know`,
  );
});

test('a session that is opened without resuming begins no turn, even if a question was open', async () => {
  const before = await session(serving([calls(['echo', { text: 'loud' }])]));
  const { turnId } = await before.provider.sendMessage('s', 'A');
  await before.watch.until(() =>
    before.watch.of(turnId).some(({ payload }) => 'approvalId' in payload),
  );
  const cut = cutOff(before.watch.of(turnId));
  const { provider, projectDir } = await open(serving([]));
  const watch = new Watch(provider, 's');
  const runs = async () => [cut];
  await provider.loadSession('s', { projectDir, resuming: false, stored: { runs } });
  expect(watch.events).toEqual([]);
});

test('of two messages that are sent at once, one is rejected', async () => {
  const { provider, watch } = await session(serving([repliesWith('Yes.')]));
  const sent = await Promise.allSettled([
    provider.sendMessage('s', 'A'),
    provider.sendMessage('s', 'B'),
  ]);
  expect(sent).toMatchObject([
    { status: 'fulfilled' },
    { status: 'rejected', reason: { code: 'TURN_IN_PROGRESS' } },
  ]);
  const [first] = sent;
  if (first.status === 'fulfilled') await watch.ended(first.value.turnId);
});

test('an answered question is closed with its answer', async () => {
  const { provider, watch } = await session(
    serving([calls(['echo', { text: 'loud' }]), repliesWith('Yes.')]),
  );
  const { turnId } = await provider.sendMessage('s', 'A');
  const approvalId = await watch.until(
    () =>
      watch
        .of(turnId)
        .flatMap(({ payload }) => ('approvalId' in payload ? (payload.approvalId ?? []) : []))[0],
  );
  await provider.answerApproval?.('s', approvalId, { optionId: 'allow' });
  await watch.ended(turnId);
  const asked = foldTurn(watch.events, turnId).outputItems.find(({ type }) => type === 'approval');
  expect(asked).toMatchObject({ outcome: { outcome: 'selected', optionId: 'allow' } });
});

test('each MCP server that does not start is a notice of the session', async () => {
  const missing = (command: string) => ({ type: 'stdio' as const, command, args: [], env: {} });
  const mcpServers = { one: missing('/nowhere/one'), two: missing('/nowhere/two') };
  const { provider, watch } = await session(serving([repliesWith('Yes.')]), { mcpServers });
  await runTurn(provider, watch, 'A');
  const texts = watch.updates.findLast(({ notices }) => notices)?.notices?.map(({ text }) => text);
  expect(texts?.toSorted()).toEqual([
    expect.stringMatching(/^The MCP server “one” did not start\./),
    expect.stringMatching(/^The MCP server “two” did not start\./),
  ]);
});

test('if permissions can be neither read nor added, the session has two notices', async () => {
  const fails = async () => Promise.reject(new Error('The disk is gone.'));
  const { provider, projectDir } = await open(
    serving([calls(['echo', { text: 'loud' }]), repliesWith('Yes.')]),
  );
  const watch = new Watch(provider, 's');
  const grants = { list: fails, add: fails };
  await provider.createSession({ sessionId: 's', projectDir, grants });
  const { turnId } = await provider.sendMessage('s', 'A');
  const approvalId = await watch.until(
    () =>
      watch
        .of(turnId)
        .flatMap(({ payload }) => ('approvalId' in payload ? (payload.approvalId ?? []) : []))[0],
  );
  await provider.answerApproval?.('s', approvalId, { optionId: 'always' });
  await watch.ended(turnId);
  expect(watch.updates.findLast(({ notices }) => notices)?.notices).toHaveLength(2);
});

test('a new session begins with its settings, and rejects a model that cannot be chosen', async () => {
  const { provider, projectDir } = await open(serving([]));
  const watch = new Watch(provider, 's');
  const config = { mode: 'all', effort: 'low', model: 'two' };
  await provider.createSession({ sessionId: 's', projectDir, config });
  const values = await watch.until(() =>
    watch.updates
      .find(({ configOptions }) => configOptions)
      ?.configOptions?.map(({ currentValue }) => currentValue),
  );
  expect(values).toEqual(['here:two', 'all', 'low']);
  const gone = { sessionId: 'other', projectDir, config: { model: 'gone:one' } };
  await expect(provider.createSession(gone)).rejects.toMatchObject({ code: 'INVALID_OPTION' });
});

test('a session that is opened again has its settings, even if its model is gone', async () => {
  const { provider, projectDir } = await open(serving([]));
  const watch = new Watch(provider, 's');
  const config = { mode: 'edits', model: 'gone:one' };
  await provider.loadSession('s', { projectDir, config, resuming: true });
  const values = await watch.until(() =>
    watch.updates
      .find(({ configOptions }) => configOptions)
      ?.configOptions?.map(({ currentValue }) => currentValue),
  );
  expect(values).toEqual(['gone:one', 'edits', 'default']);
  expect(watch.updates.flatMap(({ notices }) => notices ?? [])).toContainEqual({
    level: 'warning',
    text: '“one” of “gone” is not available. The model server “gone” is no longer configured. Or choose another model.',
  });
  await provider.setConfigOption?.('s', 'model', 'here:one');
  expect(watch.updates.findLast(({ notices }) => notices)?.notices).toEqual([]);
  expect(watch.events).toEqual([]);
});

test('a session reports its settings and the files that it accepts before the list of models is known', async () => {
  const server = serving([]);
  server.client.listModels = async () => new Promise(() => {});
  const { watch } = await session(server);
  const first = await watch.until(() => watch.updates.find(({ configOptions }) => configOptions));
  expect(first.configOptions?.[0]).toMatchObject({ currentValue: 'here:one' });
  expect(first.accepts).toMatchObject({ audio: [], resource: ['text/*', 'application/pdf'] });
  expect(first.accepts?.image).toContain('image/png');
});
