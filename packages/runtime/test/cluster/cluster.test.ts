import { randomUUID } from 'node:crypto';
import { uptime } from 'node:os';
import type { StoredTurn } from '@liminal/agents';
import { encodeCursor, type EventPayload, type UpsertObject } from '@liminal/protocol';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Messenger } from '../../src/cluster/messenger.ts';
import { expectFourAtATime } from '../four-readers.ts';
import { Reader } from '../reader.ts';
import { clusterLeaseMs, longLease, startServers, type Server } from './servers.ts';

async function newSession({ runtime }: Server, projectDir: string): Promise<string> {
  const { sessionId } = await runtime.createSession({ cliType: 'scripted', projectDir });
  return sessionId;
}

test('INV-7: a session created on one server gets a message on a second and has a reader on a third', async () => {
  const servers = await startServers();
  const [a, b, c] = [
    await servers.start(longLease),
    await servers.start(longLease),
    await servers.start(longLease),
  ];
  const sessionId = await newSession(a, servers.projectDir);
  const reader = new Reader(c.runtime, sessionId, { deltas: true });
  await reader.untilType('session:info');

  const { turnId, queued } = await b.runtime.send(sessionId, 'Hello');
  a.agent.text(sessionId, 'a', 'One ', 'two');
  a.agent.finish(sessionId);
  await reader.until(({ items }) => items.get('a')?.status === 'complete');

  expect(queued).toBe(false);
  expect(a.agent.received).toEqual(['Hello']);
  expect(reader.items.get('a')).toMatchObject({ content: 'One two', status: 'complete', turnId });
  for (const { runtime } of [a, b, c]) {
    const { entries } = await runtime.history(sessionId);
    expect(entries.map((entry) => 'content' in entry && entry.content)).toEqual([
      'Hello',
      'One two',
    ]);
    expect(await runtime.getRun(turnId)).toMatchObject({ status: 'complete' });
  }
});

test('steering and reordering the queue work once, through any server', async () => {
  const servers = await startServers();
  const [a, b] = [await servers.start(longLease), await servers.start(longLease)];
  const sessionId = await newSession(a, servers.projectDir);
  const reader = await new Reader(b.runtime, sessionId).untilType('session:info');
  const { turnId } = await b.runtime.send(sessionId, 'Go.');
  const queued: string[] = [];
  for (const message of ['one', 'two', 'three']) {
    queued.push((await b.runtime.send(sessionId, message)).turnId);
  }
  const messageId = randomUUID();

  const steer = async ({ runtime }: Server) => runtime.steer(sessionId, 'A word.', messageId);
  expect(await Promise.all([steer(b), steer(a)])).toEqual([{ turnId }, { turnId }]);
  await b.runtime.moveQueued(sessionId, queued[2]!, queued[0]);
  const sent = await b.runtime.sendQueuedNow(sessionId, queued[1]!);

  expect(sent).toEqual({ turnId, steered: true });
  expect(a.agent.steered).toEqual(['A word.', 'two']);
  const messages = (info = reader.ofType('session:info').at(-1)?.info) =>
    info?.queue.map(({ message }) => message).join();
  await reader.until(() => messages() === 'three,one');
  const words = () => [...reader.items.values()].filter((one) => 'delivery' in one);
  await reader.until(() => words().length === 2);
  expect(words()).toMatchObject([
    { turnId, content: 'A word.' },
    { turnId, content: 'two' },
  ]);
});

test('SAFE: a message that is edited through another server is a command only if its sender requests a command', async () => {
  const servers = await startServers();
  const [a, b] = [await servers.start(longLease), await servers.start(longLease)];
  const sessionId = await newSession(a, servers.projectDir);
  await b.runtime.send(sessionId, 'Go.');
  const [first, second] = [
    await b.runtime.send(sessionId, 'one'),
    await b.runtime.send(sessionId, 'two'),
  ];
  await b.runtime.editQueued(sessionId, first.turnId, '!ls', { runCommand: true });
  await b.runtime.editQueued(sessionId, second.turnId, '!rm -rf .');
  for (const count of [2, 3]) {
    a.agent.finish(sessionId);
    await expect.poll(() => a.agent.received.length).toBe(count);
  }
  expect(a.agent.received).toEqual(['Go.', '!ls', ' !rm -rf .']);
});

test('a stop on any server pauses the queue on all servers, also after the owner’s death, until one of them resumes it', async () => {
  const servers = await startServers();
  const [a, b] = [await servers.start(), await servers.start()];
  const sessionId = await newSession(a, servers.projectDir);
  const reader = await new Reader(b.runtime, sessionId).untilType('session:info');
  await b.runtime.send(sessionId, 'Go.');
  await b.runtime.send(sessionId, 'One.');
  await b.runtime.steer(sessionId, 'A word.');
  const shown = (info = reader.ofType('session:info').at(-1)?.info) => [
    info?.session.queuePaused,
    info?.queue.map(({ message }) => message).join(' '),
  ];

  await Promise.all([a.runtime.cancel(sessionId), b.runtime.cancel(sessionId)]);
  await reader.until(() => shown().join() === 'true,A word. One.');
  a.kill();
  // The session has no owner.
  await expect.poll(async () => b.runtime.cancel(sessionId)).toBeUndefined();
  expect((await b.runtime.info(sessionId)).session.queuePaused).toBe(true);
  expect(b.agent.received).toEqual([]);

  await b.runtime.resumeQueue(sessionId);
  await expect.poll(() => b.agent.received).toEqual(['A word.']);
  const { session, queue } = await b.runtime.info(sessionId);
  expect([session.queuePaused, queue.at(-1)?.message]).toEqual([undefined, 'One.']);
  expect([...a.agent.received, ...a.agent.steered]).toEqual(['Go.', 'A word.']);
});

test('MCP servers added on any server reach the owner, whose agent gets them at its next start', async () => {
  const servers = await startServers();
  const [a, b] = [await servers.start(), await servers.start()];
  const sessionId = await newSession(a, servers.projectDir);
  const mcpServers = { files: { type: 'stdio' as const, command: 'files', args: [], env: {} } };
  await b.runtime.loadSession(sessionId, { mcpServers });
  const reader = new Reader(b.runtime, sessionId);
  const notices = (info = reader.ofType('session:info').at(-1)?.info) => info?.notices ?? [];
  await reader.until(() => notices().some(({ text }) => text.includes('“files”')));

  a.agent.end(sessionId);
  await b.runtime.send(sessionId, 'Hello');
  expect(a.agent.mcpServers.at(-1)).toEqual(mcpServers);
});

test('a notification on any server ends the turn on its owner, also by the agent’s own ids', async () => {
  const servers = await startServers();
  const [a, b] = [await servers.start(longLease), await servers.start(longLease)];
  const sessionId = await newSession(a, servers.projectDir);
  a.agent.update(sessionId, { agentSessionId: 'thread' });
  const { turnId } = await b.runtime.send(sessionId, 'Hello');
  a.agent.agentTurn = () => 'native';
  expect(await b.runtime.notify('thread', { agentTurnId: 'native' })).toEqual({ turnId });
  expect(await b.runtime.getRun(turnId)).toMatchObject({ finishReason: 'notified' });
});

test('a permission is asked once, and any server passes the answer with its note', async () => {
  const servers = await startServers();
  const [a, b] = [await servers.start(), await servers.start()];
  const sessionId = await newSession(a, servers.projectDir);
  const reader = new Reader(b.runtime, sessionId);
  await b.runtime.send(sessionId, 'May I?');
  a.agent.ask(sessionId, 'ask-1');
  await reader.until(({ items }) => items.has('ask-1'));
  await reader.until((r) => r.ofType('session:info').at(-1)?.info.session.state === 'waiting');

  const answer = { optionId: 'reject', note: 'Not on a Friday.' };
  await b.runtime.answerApproval(sessionId, 'ask-1', answer);
  await expect(b.runtime.answerApproval(sessionId, 'ask-1', answer)).rejects.toMatchObject({
    code: 'APPROVAL_ALREADY_ANSWERED',
  });
  expect(a.agent.answers).toEqual([answer]);
  await reader.until((r) => r.items.get('ask-1')?.status === 'complete');
  expect(reader.items.get('ask-1')).toMatchObject({ outcome: answer });
});

test('a server that was cut off does not answer its agent’s permission request once another server may own the session', async () => {
  const servers = await startServers();
  const [a, b] = [await servers.start(), await servers.start()];
  const sessionId = await newSession(a, servers.projectDir);
  const reader = new Reader(b.runtime, sessionId);
  const { turnId } = await a.runtime.send(sessionId, 'May I?');
  a.agent.ask(sessionId, 'ask-1');
  await reader.until(({ items }) => items.has('ask-1'));

  const reconnect = a.isolate();
  await reader.until(({ items }) => items.get('ask-1')?.status === 'complete');
  const answer = { optionId: 'allow' };
  await expect(a.runtime.answerApproval(sessionId, 'ask-1', answer)).rejects.toThrow(
    'The leases cannot be reached.',
  );
  reconnect();
  await expect(a.runtime.answerApproval(sessionId, 'ask-1', answer)).rejects.toMatchObject({
    code: 'APPROVAL_ALREADY_ANSWERED',
  });
  expect(a.agent.answers).toEqual([]);
  expect(await b.runtime.getRun(turnId)).toMatchObject({ error: { code: 'OWNER_LOST' } });
});

test('a late command changes nothing if another server has run it since', async () => {
  const servers = await startServers();
  const a = await servers.start();
  const sessionId = await newSession(a, servers.projectDir);
  const holders = async () => servers.leases.holders([`session:${sessionId}`]);
  const owner = (await holders()).get(`session:${sessionId}`)?.holder ?? '';
  await a.runtime.kill(sessionId);
  await expect.poll(async () => (await holders()).size).toBe(0);

  const old = { inboxes: servers.inboxes, instanceId: 'suspended', onTrouble: () => {} };
  const messenger = new Messenger({ ...old, answer: async () => undefined });
  await messenger.open();
  onTestFinished(() => messenger.close());
  const request = { command: 'rename', sessionId, args: ['An old title'] };
  const { signal } = new AbortController();
  await expect(messenger.request(owner, request, signal)).rejects.toMatchObject({
    code: 'NOT_OWNER',
  });
  expect((await a.runtime.info(sessionId)).session.title).not.toBe('An old title');
});

test('a session is forked by its owner, and the fork continues on any server', async () => {
  const servers = await startServers();
  const [a, b, c] = [await servers.start(), await servers.start(), await servers.start()];
  const sessionId = await newSession(a, servers.projectDir);
  const reader = await new Reader(b.runtime, sessionId).untilType('session:info');
  const listed = new Set<string>();
  c.runtime.subscribeToSessionList(({ sessions }) => {
    for (const one of sessions) listed.add(one.sessionId);
  });
  const { turnId } = await b.runtime.send(sessionId, 'Hello');
  a.agent.finish(sessionId);
  await reader.untilTurn('turn_complete');

  const fork = await b.runtime.fork(sessionId, { turnId });

  expect([a.agent.forks, b.agent.forks]).toEqual([[turnId], []]);
  for (const { runtime } of [a, b, c]) {
    const { entries } = await runtime.history(fork.sessionId);
    expect(entries).toMatchObject([{ content: 'Hello' }]);
    const { session } = await runtime.info(fork.sessionId);
    expect(session.forkedFrom).toMatchObject({ sessionId, turnId });
  }
  await expect.poll(() => listed.has(fork.sessionId)).toBe(true);
  await c.runtime.send(fork.sessionId, 'And on.');
  expect([a, b, c].flatMap(({ agent }) => agent.received)).toEqual(['Hello', 'And on.']);
});

test('an agent’s activity and notices are shown on every server', async () => {
  const servers = await startServers();
  const [a, b] = [await servers.start(), await servers.start()];
  const sessionId = await newSession(a, servers.projectDir);
  const reader = new Reader(b.runtime, sessionId);
  await b.runtime.send(sessionId, 'Hello');
  const notices = [{ level: 'warning', text: 'One server failed.' } as const];
  a.agent.update(sessionId, { notices, activity: 'Trying again in 5 s.' });
  await reader.until((r) => r.ofType('session:info').at(-1)?.info.activity !== undefined);
  a.agent.finish(sessionId);
  await reader.until((r) => r.ofType('session:info').at(-1)?.info.activity === undefined);
  expect((await b.runtime.info(sessionId)).notices).toEqual(notices);
});

test('INV-7: a turn that its owner could not post to the other servers is posted as soon as possible', async () => {
  const servers = await startServers();
  const [a, b] = [await servers.start(), await servers.start()];
  const sessionId = await newSession(a, servers.projectDir);
  const reader = await new Reader(b.runtime, sessionId).untilType('session:info');
  const mend = a.cutBoard();
  const { turnId } = await a.runtime.send(sessionId, 'Hello');
  a.agent.text(sessionId, 'a', 'Shall I?');
  // The turn’s beginning, its first items, and items gathered after them.
  const before = a.postings;
  await expect.poll(() => a.postings - before).toBeGreaterThan(2);
  // The error is logged once.
  expect(a.warnings.filter((warning) => warning.includes('The board is away.'))).toHaveLength(1);
  expect([...reader.items.values()]).toEqual([]);
  mend();
  await reader.until(({ items }) => items.has('a'));
  expect(reader.items.get('a')).toMatchObject({ turnId });
});

test('INV-7: a server that cannot read the postings that it missed retries until it can', async () => {
  const servers = await startServers();
  const [a, b] = [await servers.start(), await servers.start()];
  const sessionId = await newSession(a, servers.projectDir);
  const reader = await new Reader(b.runtime, sessionId).untilType('session:info');
  const hearAgain = b.missPostings();
  await a.runtime.send(sessionId, 'Hello');
  a.agent.text(sessionId, 'a', 'Shall I?');
  // All these changes were posted while the server missed postings.
  await expect.poll(async () => (await b.runtime.info(sessionId)).queue).toEqual([]);
  const mend = b.cutBoard();
  hearAgain();
  await expect.poll(() => b.warnings.join()).toContain('The board is away.');
  mend();
  await reader.until(({ items }) => items.has('a'));
});

test('a list of sessions shows missed changes as soon as the server can read them', async () => {
  const servers = await startServers();
  const [a, b] = [await servers.start(), await servers.start()];
  const sessionId = await newSession(a, servers.projectDir);
  const listed = new Map<string, string>();
  b.runtime.subscribeToSessionList(({ sessions }) => {
    for (const { sessionId, title } of sessions) listed.set(sessionId, title);
  });
  await a.runtime.rename(sessionId, 'Before');
  await expect.poll(() => listed.get(sessionId)).toBe('Before');
  const hearAgain = b.missPostings();
  await a.runtime.rename(sessionId, 'After');
  await expect.poll(async () => (await b.runtime.info(sessionId)).session.title).toBe('After');
  const mend = b.cutBoard();
  hearAgain();
  await expect.poll(() => b.warnings.join()).toContain('The board is away.');
  mend();
  await expect.poll(() => listed.get(sessionId)).toBe('After');
});

/** An agent's stored turn with one answer. */
function stored(turnId: string, content: string): StoredTurn {
  const at = (payload: EventPayload) => ({
    turnId,
    timestamp: '2026-01-01T00:00:00.000Z',
    payload,
  });
  const item = { id: `${turnId}-a`, type: 'message', origin: 'agent', content } as const;
  return {
    turnId,
    events: [
      at({ type: 'response_start', modelId: 'm', providerId: 'scripted', trigger: 'user' }),
      at({ type: 'item_start', itemId: item.id, itemType: 'message', origin: 'agent' }),
      at({ type: 'item_done', itemId: item.id, finalItem: item }),
      at({ type: 'response_done', status: 'completed', finishReason: 'end_turn' }),
    ],
  };
}

test('INV-7: a turn made outside is imported once, by the session’s owner, and shown on every server', async () => {
  const servers = await startServers();
  const [a, b] = [await servers.start(), await servers.start()];
  const sessionId = await newSession(a, servers.projectDir);
  const reader = new Reader(b.runtime, sessionId);
  await reader.untilType('session:info');
  await b.runtime.send(sessionId, 'Hello');
  a.agent.text(sessionId, 'a', 'Here.');
  a.agent.finish(sessionId);
  await reader.untilTurn('turn_complete');
  await reader.until((r) => r.ofType('session:info').at(-1)?.info.session.state === 'idle');

  a.agent.mark = 'first';
  a.agent.storedTurns = [stored('outside', 'There.')];
  await Promise.all([b.runtime.loadSession(sessionId), b.runtime.loadSession(sessionId)]);
  await reader.until(({ items }) => items.has('outside-a'));
  const said = ['Hello', 'Here.', 'There.'];
  const contents = (items: Iterable<UpsertObject>) =>
    [...items].map((item) => 'content' in item && item.content);
  expect(contents(reader.items.values())).toEqual(said);
  for (const { runtime } of [a, b]) {
    expect(contents((await runtime.history(sessionId)).entries)).toEqual(said);
  }
  expect(b.agent.alive.size).toBe(0);
});

test('INV-2: the end of a lost turn is posted, even if the board was unreachable when the turn was ended', async () => {
  const servers = await startServers();
  const [a, b] = [await servers.start(), await servers.start()];
  const sessionId = await newSession(a, servers.projectDir);
  const { turnId } = await a.runtime.send(sessionId, 'Hello');
  const posted = async () => JSON.parse((await servers.posted(sessionId)) ?? '{}') as object;
  await expect.poll(posted).toMatchObject({ runId: turnId });
  a.kill();
  const mend = b.cutBoard();
  const isOver = async () => (await servers.store.getResponse(turnId))?.status;
  await expect.poll(isOver).toBe('error');
  await expect.poll(() => b.warnings.join()).toContain('The board is away.');
  expect(await posted()).toMatchObject({ runId: turnId });
  mend();
  await expect.poll(posted).not.toHaveProperty('runId');
});

test('background tasks are shown and stopped on every server, and the next owner reports their end', async () => {
  const servers = await startServers();
  const [a, b] = [await servers.start(), await servers.start()];
  const sessionId = await newSession(a, servers.projectDir);
  const reader = await new Reader(b.runtime, sessionId).untilType('session:info');
  const startedAt = '2026-01-01T00:00:00.000Z';
  const task = { taskId: 'a', title: 'npm run dev', kind: 'command', startedAt } as const;
  a.agent.update(sessionId, { tasks: [task] });
  await reader.until((r) => r.ofType('session:info').at(-1)?.info.tasks?.length === 1);
  await b.runtime.stopTask(sessionId, 'a');
  expect(a.agent.stopped).toEqual(['a']);

  a.kill();
  await b.runtime.send(sessionId, 'Is it up?');
  const notice = 'and with it its background tasks: npm run dev.';
  const isTold = ({ items }: Reader) =>
    [...items.values()].some((item) => 'content' in item && item.content.includes(notice));
  await reader.until(isTold);
});

test('every server lists every session in its current state', async () => {
  const servers = await startServers();
  const [a, b] = [await servers.start(), await servers.start()];
  const states: string[] = [];
  const stop = b.runtime.subscribeToSessionList(({ sessions }) => {
    states.push(...sessions.map(({ state }) => state));
  });
  const sessionId = await newSession(a, servers.projectDir);
  await a.runtime.send(sessionId, 'Hello');
  await expect.poll(() => states.at(-1)).toBe('running');
  const [project] = await b.runtime.listProjects();
  expect(project?.sessions).toMatchObject([{ sessionId, state: 'running', isAlive: true }]);
  expect(await b.runtime.status(sessionId)).toMatchObject({ state: 'running', isAlive: true });
  a.agent.finish(sessionId);
  await expect.poll(() => states.at(-1)).toBe('idle');
  stop();
});

test('INV-2, FR-001-20: the turn of a dead server ends as lost for readers on other servers, and the readers continue', async () => {
  const servers = await startServers();
  const [a, b, c] = [await servers.start(), await servers.start(), await servers.start()];
  const sessionId = await newSession(a, servers.projectDir);
  const reader = new Reader(c.runtime, sessionId, { deltas: true });
  const { turnId } = await a.runtime.send(sessionId, 'Hello');
  a.agent.text(sessionId, 'a', 'I was about to');
  await reader.until(({ items }) => items.has('a'));

  a.kill();
  await reader.untilTurn('turn_error');
  expect(reader.items.get('a')).toMatchObject({ content: 'I was about to', status: 'error' });
  expect(await c.runtime.getRun(turnId)).toMatchObject({ error: { code: 'OWNER_LOST' } });
  await expect.poll(async () => (await b.runtime.status(sessionId)).state).toBe('failed');

  const again = await b.runtime.send(sessionId, 'Go on');
  expect(again.queued).toBe(false);
  expect(b.agent.loads).toEqual([sessionId]);
  b.agent.finish(sessionId);
  await reader.untilTurn('turn_complete');
  expect(b.agent.received).toEqual(['Go on']);
});

test('history has a dead server’s turn before the next turn begins, so that they stay in order', async () => {
  const servers = await startServers();
  const [a, b] = [
    await servers.start({ projects: false }),
    await servers.start({ projects: false }),
  ];
  const sessionId = await newSession(a, servers.projectDir);
  const lost = await a.runtime.send(sessionId, 'Hello');
  await expect.poll(async () => (await b.runtime.getRun(lost.turnId)).status).toBe('in_progress');
  a.kill();
  await b.runtime.send(sessionId, 'Go on');
  expect(await servers.store.getResponse(lost.turnId)).toMatchObject({
    status: 'error',
    error: { code: 'OWNER_LOST' },
  });
});

test('a message that the owner never confirmed is sent once, by the next owner', async () => {
  const servers = await startServers();
  const [a, b] = [await servers.start(), await servers.start()];
  const sessionId = await newSession(a, servers.projectDir);
  a.agent.hold = new Promise(() => {});
  const sending = b.runtime.send(sessionId, 'Hello');
  await expect.poll(async () => (await b.runtime.info(sessionId)).queue).toHaveLength(1);
  a.kill();

  const { turnId } = await sending;
  await expect.poll(() => b.agent.received).toHaveLength(1);
  expect([a.agent.received, b.agent.received]).toEqual([[], ['Hello']]);
  b.agent.finish(sessionId);
  await expect.poll(async () => (await b.runtime.getRun(turnId)).status).toBe('complete');
  await expect.poll(async () => (await b.runtime.info(sessionId)).queue).toEqual([]);
});

test('if the log never got a message, the next owner sends it to the agent again', async () => {
  const servers = await startServers();
  const [a, b] = [await servers.start({ projects: false }), await servers.start()];
  const sessionId = await newSession(a, servers.projectDir);
  a.cutLog();
  const { turnId } = await a.runtime.send(sessionId, 'Hello');
  expect(a.agent.received).toEqual(['Hello']);
  await a.runtime.rename(sessionId, 'Whatever is stored after it');
  a.kill();

  await b.runtime.send(sessionId, 'And then');
  await expect.poll(() => b.agent.received).toEqual(['Hello']);
  b.agent.finish(sessionId);
  await expect.poll(() => b.agent.received).toEqual(['Hello', 'And then']);
  expect(await b.runtime.getRun(turnId)).toMatchObject({ outputItems: [{ content: 'Hello' }] });
});

test('a message that an agent gets while its server stops is sent again by the next owner', async () => {
  const servers = await startServers();
  const [a, b] = [await servers.start({ projects: false }), await servers.start()];
  const sessionId = await newSession(a, servers.projectDir);
  const held = Promise.withResolvers<void>();
  a.agent.hold = held.promise;
  const sending = a.runtime.send(sessionId, 'Hello');
  await expect.poll(async () => (await b.runtime.info(sessionId)).queue).toHaveLength(1);
  await a.runtime.close();
  held.resolve();
  const { turnId } = await sending;

  await b.runtime.send(sessionId, 'And then');
  await expect.poll(() => b.agent.received).toEqual(['Hello']);
  b.agent.finish(sessionId);
  await expect.poll(() => b.agent.received).toEqual(['Hello', 'And then']);
  expect(await b.runtime.getRun(turnId)).toMatchObject({ outputItems: [{ content: 'Hello' }] });
});

test('an orderly shutdown hands the sessions over at once', async () => {
  const servers = await startServers();
  const [a, b] = [
    await servers.start({ leaseMs: 60_000 }),
    await servers.start({ leaseMs: 60_000 }),
  ];
  const sessionId = await newSession(a, servers.projectDir);
  const reader = new Reader(b.runtime, sessionId);
  await reader.untilType('session:info');
  const idle = await newSession(a, servers.projectDir);
  const { turnId } = await a.runtime.send(sessionId, 'Hello');
  await reader.untilTurn('turn_started');

  const hurry = new AbortController();
  const finished = a.runtime.finish(hurry.signal);
  await b.runtime.send(idle, 'Take this over');
  await expect(b.runtime.send(sessionId, 'Too late')).rejects.toMatchObject({
    code: 'SHUTTING_DOWN',
  });
  hurry.abort();
  await finished;
  await a.runtime.close();
  await reader.untilTurn('turn_error');
  expect(await b.runtime.getRun(turnId)).toMatchObject({ error: { code: 'SERVER_ENDED' } });
  await b.runtime.send(sessionId, 'And now?');
  expect(b.agent.received).toEqual(['Take this over', 'And now?']);
});

test('a former owner that comes back too late changes nothing', async () => {
  const servers = await startServers();
  const [a, b] = [await servers.start(), await servers.start()];
  const sessionId = await newSession(a, servers.projectDir);
  const reader = new Reader(b.runtime, sessionId, { deltas: true });
  const { turnId } = await a.runtime.send(sessionId, 'Hello');
  a.agent.text(sessionId, 'a', 'One');
  await reader.until(({ items }) => items.has('a'));
  const rejoin = a.isolate();
  await reader.untilTurn('turn_error');
  a.agent.emit(sessionId, { type: 'item_delta', itemId: 'a', deltaContent: ' more' });
  rejoin();
  await expect.poll(() => a.agent.alive.has(sessionId)).toBe(false);
  expect(await b.runtime.getRun(turnId)).toMatchObject({
    status: 'error',
    error: { code: 'OWNER_LOST' },
    outputItems: [{}, { content: 'One' }],
  });
});

test('SAFE: a server that follows a session loads four subscribers at a time, and skips subscribers that have left', async () => {
  const servers = await startServers();
  const [a, b] = [await servers.start(), await servers.start()];
  const sessionId = await newSession(a, servers.projectDir);
  const { turnId } = await a.runtime.send(sessionId, 'Hello');
  a.agent.finish(sessionId);
  const kept = await new Reader(b.runtime, sessionId).untilType('session:history');
  await expect.poll(async () => (await b.runtime.getRun(turnId)).status).toBe('complete');
  await expectFourAtATime({ runtime: b.runtime, store: servers.store, sessionId });
  kept.close();
});

test('SAFE: a subscriber that waits for events seen on another server does not delay others, and is not loaded once it has left', async () => {
  const servers = await startServers();
  const [a, b] = [await servers.start(), await servers.start()];
  const sessionId = await newSession(a, servers.projectDir);
  const { turnId } = await a.runtime.send(sessionId, 'Hello');
  const kept = new Reader(b.runtime, sessionId);
  await kept.until(({ items }) => items.size > 0);
  const { readItems } = servers.store;
  let reads = 0;
  servers.store.readItems = async (...asked) => {
    reads += 1;
    return readItems.apply(servers.store, asked);
  };
  const cursor = encodeCursor({ runId: turnId, seq: 1_000 });
  const ahead = Array.from({ length: 6 }, () => new Reader(b.runtime, sessionId, { cursor }));
  const other = await new Reader(b.runtime, sessionId).untilType('session:history');
  expect(ahead.flatMap(({ messages }) => messages)).toEqual([]);
  const before = reads;
  for (const reader of [...ahead, other]) reader.close();

  a.agent.finish(sessionId);
  await kept.untilTurn('turn_complete');
  await new Reader(b.runtime, sessionId).untilType('session:history');
  expect(reads).toBe(before + 1);
});

test('INV-8: a server that cannot renew its leases keeps its agent until another server has taken the session', async () => {
  const servers = await startServers();
  const [a, b] = [await servers.start(), await servers.start()];
  const sessionId = await newSession(a, servers.projectDir);
  const { turnId } = await a.runtime.send(sessionId, 'Hello');
  const startedAt = '2026-01-01T00:00:00.000Z';
  const task = { taskId: 'a', title: 'npm run dev', kind: 'command', startedAt } as const;
  a.agent.update(sessionId, { tasks: [task] });
  a.agent.finish(sessionId);
  await expect.poll(async () => (await b.runtime.getRun(turnId)).status).toBe('complete');
  expect(a.agentsEndAt).toBeGreaterThan(0);
  const reconnect = a.isolate();
  // Wait for several lifetimes of a lease, in which no other server takes the session, as if Redis were down for all.
  await expect.poll(() => a.renewals, { timeout: 60_000 }).toBeGreaterThan(20);
  expect(a.agent.alive.has(sessionId)).toBe(true);
  const last = a.agentsEndAt ?? 0;
  await expect.poll(() => a.agentsEndAt).toBeGreaterThan(last);

  await b.runtime.send(sessionId, 'Go on');
  await expect.poll(() => a.agent.alive.has(sessionId)).toBe(false);
  await expect.poll(() => a.agentsEndAt).toBe(undefined);
  reconnect();
  expect(b.agent.received).toEqual(['Go on']);
});

test('INV-8: a server that reaches neither Redis nor the database has its agents ended before another server can take the session', async () => {
  const servers = await startServers();
  const [a, b] = [
    await servers.start({ projects: false }),
    await servers.start({ projects: false }),
  ];
  const sessionId = await newSession(a, servers.projectDir);
  await a.runtime.send(sessionId, 'Hello');
  const reconnect = a.isolate({ records: true });
  const ownerless = async () => (await servers.leases.holders([`session:${sessionId}`])).size === 0;
  await expect.poll(ownerless).toBe(true);
  expect(a.agentsEndAt).toBeLessThan(uptime() * 1000);

  reconnect();
  await expect.poll(() => a.agentsEndAt).toBeGreaterThan(uptime() * 1000);
  expect(b.agentsEndAt).toBe(undefined);
});

test('INV-1: a former owner that comes back late cannot begin a run, and cannot end a run of the next owner', async () => {
  const servers = await startServers();
  const [a, b] = [await servers.start({ projects: false }), await servers.start()];
  const sessionId = await newSession(a, servers.projectDir);
  const mendLog = a.cutLog();
  const { turnId } = await a.runtime.send(sessionId, 'Hello');
  const rejoin = a.isolate({ records: true });
  // No server owns the session now.
  await expect.poll(async () => (await b.runtime.status(sessionId)).isAlive).toBe(false);
  const held = Promise.withResolvers<void>();
  b.agent.hold = held.promise;
  await b.runtime.send(sessionId, 'And then');
  // The message is on its way to the next owner's agent, and its run has not begun.
  const [first] = (await b.runtime.info(sessionId)).queue;
  expect(first).toMatchObject({ turnId, state: 'sending' });
  mendLog();
  // Long enough for the log to be tried again.
  const { renewals } = a;
  await expect.poll(() => a.renewals, { timeout: 60_000 }).toBeGreaterThan(renewals + 12);
  rejoin();
  await expect.poll(() => a.agent.alive.has(sessionId)).toBe(false);

  held.resolve();
  await expect.poll(() => b.agent.received).toEqual(['Hello']);
  b.agent.text(sessionId, 'a', 'Once');
  b.agent.finish(sessionId);
  await expect.poll(async () => (await b.runtime.getRun(turnId)).status).toBe('complete');
  expect(await b.runtime.getRun(turnId)).toMatchObject({
    outputItems: [{ content: 'Hello' }, { content: 'Once' }],
  });
});

test('INV-1: a former owner that is still writing a fork does not change the same fork made by the next owner', async () => {
  const servers = await startServers();
  const [a, b] = [await servers.start(), await servers.start()];
  const sessionId = await newSession(a, servers.projectDir);
  const reader = await new Reader(b.runtime, sessionId).untilType('session:info');
  await a.runtime.send(sessionId, 'Hello');
  a.agent.finish(sessionId);
  await reader.untilTurn('turn_complete');
  const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  a.agent.fork = async () => {
    begun.resolve();
    await held.promise;
    return a.agent.forked;
  };
  const forkId = randomUUID();
  const late = a.runtime.fork(sessionId, { sessionId: forkId });
  await begun.promise;
  const rejoin = a.isolate();
  await b.runtime.fork(sessionId, { sessionId: forkId });
  rejoin();
  held.resolve();

  expect(await late).toMatchObject({ sessionId: forkId });
  const { entries } = await b.runtime.history(forkId);
  expect(entries).toMatchObject([{ content: 'Hello' }]);
  expect(b.agent.forks).toHaveLength(1);
});

test('a message waits until the server that must begin its run has read the message', async () => {
  const servers = await startServers();
  const [a, b] = [await servers.start(), await servers.start()];
  const sessionId = await newSession(a, servers.projectDir);
  const mendLog = a.cutLog();
  const { turnId } = await a.runtime.send(sessionId, 'Hello');
  const rejoin = a.isolate();
  await expect.poll(async () => (await b.runtime.status(sessionId)).isAlive).toBe(false);
  const lease = await servers.leases.acquire(`session:${sessionId}`, 'another', 60_000);
  mendLog();
  rejoin();
  await expect.poll(() => a.agent.alive.has(sessionId)).toBe(false);
  await expect.poll(() => a.warnings.join()).toContain('must not begin run');

  expect((await servers.store.getSession(sessionId))?.queue).toMatchObject([{ turnId }]);
  await servers.leases.release(lease!);
  await b.runtime.send(sessionId, 'And then');
  await expect.poll(() => b.agent.received).toEqual(['Hello']);
});

test.each([
  ['is queued', true],
  ['is sent', false],
])(
  'INV-1: a message that %s as its server loses the session is sent by the next owner',
  async (_, isQueued) => {
    const servers = await startServers();
    const a = await servers.start();
    const sessionId = await newSession(a, servers.projectDir);
    await a.runtime.send(sessionId, 'Hello');
    const status = async () => (await a.runtime.status(sessionId)).state;
    if (!isQueued) a.agent.finish(sessionId);
    await expect.poll(status).toBe(isQueued ? 'running' : 'idle');
    const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { saveSession } = servers.store;
    vi.spyOn(servers.store, 'saveSession').mockImplementation(async (record) => {
      if (record.queue.some(({ message }) => message === 'And then')) {
        asked.resolve();
        await held.promise;
      }
      return saveSession.call(servers.store, record);
    });
    const sending = a.runtime.send(sessionId, 'And then');
    await asked.promise;
    const rejoin = a.isolate();
    const name = `session:${sessionId}`;
    const take = async () => servers.leases.acquire(name, 'another', clusterLeaseMs);
    let lease = await take();
    await expect.poll(async () => (lease ??= await take())).toBeDefined();
    rejoin();
    await expect.poll(() => a.agent.alive.has(sessionId)).toBe(false);
    await servers.leases.release(lease!);
    held.resolve();

    const { turnId } = await sending;
    await expect.poll(() => a.agent.received).toEqual(['Hello', 'And then']);
    // The log has the turn as well.
    await expect.poll(status).toBe('running');
    expect(await a.runtime.getRun(turnId)).toMatchObject({
      outputItems: [{ content: 'And then' }],
    });
  },
);

test('a session does not show what a former owner posts', async () => {
  const servers = await startServers();
  const [a, b] = [await servers.start(), await servers.start()];
  const sessionId = await newSession(a, servers.projectDir);
  const reader = new Reader(b.runtime, sessionId);
  await a.runtime.send(sessionId, 'Hello');
  const rejoin = a.isolate();
  await reader.untilTurn('turn_error');
  await b.runtime.send(sessionId, 'Go on');
  expect(await b.runtime.status(sessionId)).toMatchObject({ state: 'running', isAlive: true });
  rejoin();
  await expect.poll(() => a.agent.alive.has(sessionId)).toBe(false);
  // The session is shown as running again only after all effects of the turn's end.
  await expect.poll(async () => (await a.runtime.status(sessionId)).state).toBe('running');
  expect(await b.runtime.status(sessionId)).toMatchObject({ state: 'running', isAlive: true });
});

test('INV-7: postings of a former owner are shown on no server', async () => {
  const servers = await startServers();
  const [a, b, c] = [await servers.start(), await servers.start(), await servers.start()];
  const sessionId = await newSession(a, servers.projectDir);
  const reader = await new Reader(c.runtime, sessionId).untilType('session:info');
  const listed: string[] = [];
  c.runtime.subscribeToSessionList(({ sessions }) => {
    listed.push(...sessions.map(({ state, title }) => `${title}: ${state}`));
  });
  await a.runtime.send(sessionId, 'Hello');
  a.isolate({ records: true });
  await reader.untilTurn('turn_error');
  await b.runtime.rename(sessionId, 'Over');
  await expect.poll(() => listed).toContain('Over: failed');
  listed.length = 0;

  a.agent.update(sessionId, { activity: 'Still at it.' });
  await expect.poll(async () => servers.posted(sessionId)).toContain('Still at it.');
  expect(await c.runtime.info(sessionId)).toMatchObject({ session: { state: 'failed' } });
  await b.runtime.rename(sessionId, 'Long over');
  await expect.poll(() => listed).toContain('Long over: failed');
  expect(listed.filter((one) => one !== 'Over: failed' && one !== 'Long over: failed')).toEqual([]);
  await reader.until((r) => r.ofType('session:info').at(-1)?.info.session.title === 'Long over');
  expect(JSON.stringify(reader.ofType('session:info'))).not.toContain('Still at it.');
});

test('an owner that loses a session while opening it forwards the command to the next owner', async () => {
  const servers = await startServers();
  const [a, b, c] = [await servers.start(), await servers.start(), await servers.start()];
  const sessionId = await newSession(c, servers.projectDir);
  await c.runtime.close();
  const fenceOf = async () => (await servers.store.getSession(sessionId))?.fence;
  const former = await fenceOf();
  a.isolate();
  const letRead = a.holdRecords();
  const sending = a.runtime.send(sessionId, 'From a');
  await expect.poll(fenceOf).not.toBe(former);
  await b.runtime.send(sessionId, 'From b');
  expect(b.agent.received).toEqual(['From b']);
  letRead();

  expect(await sending).toMatchObject({ queued: true });
  b.agent.finish(sessionId);
  await expect.poll(() => b.agent.received).toEqual(['From b', 'From a']);
  expect(a.agent.received).toEqual([]);
});

test('commands for an unknown session are rejected on every server', async () => {
  const servers = await startServers();
  const b = await servers.start();
  for (const command of [
    b.runtime.send('nobody', 'Hello'),
    b.runtime.cancel('nobody'),
    b.runtime.info('nobody'),
    b.runtime.history('nobody'),
    b.runtime.loadSession('nobody'),
  ])
    await expect(command).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  const reader = new Reader(b.runtime, 'nobody');
  await reader.untilType('session:error');
});

test('FR-001-16: any projecting server stores runs in history, and reports how far it is behind', async () => {
  const servers = await startServers();
  const a = await servers.start({ projects: false });
  const sessionId = await newSession(a, servers.projectDir);
  const { turnId } = await a.runtime.send(sessionId, 'Hello');
  expect(await a.runtime.metrics()).toEqual({ openRuns: 1, backlogRuns: 0, lagEvents: 0 });
  a.agent.finish(sessionId);
  await expect
    .poll(async () => a.runtime.metrics())
    .toEqual({ openRuns: 0, backlogRuns: 1, lagEvents: 0 });
  expect(await a.runtime.getRun(turnId)).toMatchObject({ status: 'complete' });
  expect((await a.runtime.send(sessionId, 'Next')).queued).toBe(true);

  await servers.start();
  await expect.poll(() => a.agent.received).toEqual(['Hello', 'Next']);
  expect(await a.runtime.metrics()).toMatchObject({ backlogRuns: 0 });
});

test('upserts are published for other readers if that is configured, once per turn', async () => {
  const servers = await startServers();
  const a = await servers.start({ publishUpserts: true });
  await servers.start({ publishUpserts: true });
  const sessionId = await newSession(a, servers.projectDir);
  const { turnId } = await a.runtime.send(sessionId, 'Hello');
  a.agent.text(sessionId, 'a', 'One');
  a.agent.finish(sessionId);
  await expect.poll(async () => (await a.runtime.metrics()).backlogRuns).toBe(0);
  const told = servers.published(turnId);
  expect(
    told.map(({ payloadType }) => payloadType).filter((type) => type === 'turn_event'),
  ).toHaveLength(2);
  const last = JSON.parse(told.at(-2)!.payload);
  expect(last).toMatchObject({ itemId: 'a', content: 'One', status: 'complete' });
});

test('upserts that cannot be published delay neither the turn’s end nor history', async () => {
  const servers = await startServers();
  const a = await servers.start({ publishUpserts: true, upserts: { retryAttempts: 0 } });
  servers.refuseUpserts(({ payloadType }) => payloadType === 'item_upsert');
  const sessionId = await newSession(a, servers.projectDir);
  const { turnId } = await a.runtime.send(sessionId, 'Hello');
  a.agent.text(sessionId, 'a', 'One');
  a.agent.finish(sessionId);
  await expect.poll(async () => (await a.runtime.metrics()).backlogRuns).toBe(0);
  const types = servers.published(turnId).map(({ payload }) => JSON.parse(payload).type);
  expect(types).toEqual(['turn_started', 'turn_complete']);
  expect((await servers.store.getResponse(turnId))?.status).toBe('complete');
  expect(a.warnings.filter((warning) => warning.includes('upserts'))).toHaveLength(1);
});

test('FR-003-05: an orderly stop of a projector publishes its buffered text first', async () => {
  const servers = await startServers();
  const a = await servers.start({ projects: false });
  const upserts = { batchTimeoutMs: 60_000 };
  const projecting = await servers.start({ publishUpserts: true, upserts });
  const sessionId = await newSession(a, servers.projectDir);
  const { turnId } = await a.runtime.send(sessionId, 'Hello');
  const contents = () =>
    servers.published(turnId).map(({ payload }) => JSON.parse(payload).content ?? '');
  a.agent.text(sessionId, 'a', 'One');
  await expect.poll(contents).toContain('One');
  a.agent.emit(sessionId, { type: 'item_delta', itemId: 'a', deltaContent: ' two' });
  // The lag counts all events except the first, which is stored at once.
  await expect.poll(async () => (await projecting.runtime.metrics()).lagEvents).toBe(5);
  await projecting.runtime.close();
  expect(contents().at(-1)).toBe('One two');
});

/** Whether a reader got a history with this turn in this state. */
const isShown = (turnId: string, status: string) => (reader: Reader) =>
  reader
    .ofType('session:history')
    .some(({ turns }) => turns.some((turn) => turn.turnId === turnId && turn.status === status));

describe('a log that has lost events', () => {
  test('INV-2: ends the turn whose next event has a wrong number, and the session continues', async () => {
    const servers = await startServers();
    const [a, b] = [await servers.start(), await servers.start()];
    const sessionId = await newSession(a, servers.projectDir);
    const reader = new Reader(b.runtime, sessionId, { deltas: true });
    await a.runtime.send(sessionId, 'Hello');
    a.agent.text(sessionId, 'a', 'One');
    await reader.until(({ items }) => items.has('a'));
    a.loseLog();
    a.agent.emit(sessionId, { type: 'item_delta', itemId: 'a', deltaContent: ' two' });
    await reader.untilTurn('turn_error');
    expect(reader.items.get('a')).toMatchObject({ content: 'One', status: 'error' });
    expect(reader.ofType('session:turn').at(-1)?.payload).toMatchObject({
      errorCode: 'OWNER_LOST',
    });
    await b.runtime.send(sessionId, 'Go on');
    await expect.poll(() => [...a.agent.received, ...b.agent.received]).toEqual(['Hello', 'Go on']);
  });

  test('INV-2: if the log has lost a turn’s end, the turn’s writer stores the turn', async () => {
    const servers = await startServers();
    const [a, b] = [await servers.start(), await servers.start()];
    const sessionId = await newSession(a, servers.projectDir);
    const reader = new Reader(b.runtime, sessionId, { deltas: true });
    const { turnId } = await a.runtime.send(sessionId, 'Hello');
    a.agent.text(sessionId, 'a', 'One');
    a.loseEnd();
    a.agent.finish(sessionId);
    await expect
      .poll(async () => (await servers.store.getResponse(turnId))?.status, { timeout: 10_000 })
      .toBe('complete');
    await reader.until(isShown(turnId, 'complete'));
    await a.runtime.send(sessionId, 'Next');
    await expect.poll(() => a.agent.received).toEqual(['Hello', 'Next']);
    expect(await b.runtime.metrics()).toMatchObject({ openRuns: 1, backlogRuns: 0 });
  });

  test('INV-2: a turn that was lost ends in history when its session is opened again', async () => {
    const servers = await startServers();
    const a = await servers.start();
    const sessionId = await newSession(a, servers.projectDir);
    const { turnId } = await a.runtime.send(sessionId, 'Hello');
    a.agent.text(sessionId, 'a', 'One');
    await expect.poll(async () => (await a.runtime.getRun(turnId)).outputItems).toHaveLength(2);
    const known = await a.runtime.getRun(turnId);
    a.agent.finish(sessionId);
    await expect.poll(async () => (await a.runtime.status(sessionId)).state).toBe('idle');
    await a.runtime.close();
    await servers.store.saveResponse({ ...known, id: 'forgotten', turnId: 'forgotten' });

    const b = await servers.start();
    expect(await b.runtime.getRun('forgotten')).toMatchObject({ status: 'in_progress' });
    const reader = new Reader((await servers.start()).runtime, sessionId);
    await reader.until(isShown('forgotten', 'in_progress'));
    await b.runtime.send(sessionId, 'Go on');
    await reader.until(isShown('forgotten', 'error'));
    expect(await b.runtime.getRun('forgotten')).toMatchObject({
      status: 'error',
      error: { code: 'OWNER_LOST', message: expect.stringContaining('log lost a part') },
      outputItems: [{ content: 'Hello' }, { content: 'One' }],
    });
    expect(await b.runtime.getRun(turnId)).toMatchObject({ status: 'complete' });
  });

  test('INV-2: a turn that is more complete in history ends there, with all its items', async () => {
    const servers = await startServers();
    const a = await servers.start({ projects: false });
    const sessionId = await newSession(a, servers.projectDir);
    const { turnId } = await a.runtime.send(sessionId, 'Hello');
    a.agent.text(sessionId, 'a', 'One');
    await expect.poll(async () => (await a.runtime.getRun(turnId)).outputItems).toHaveLength(2);
    const known = await a.runtime.getRun(turnId);
    const [prompt, answer] = known.outputItems;
    const more = { ...answer!, content: 'One and more' } as typeof answer & object;
    await servers.store.saveResponse({ ...known, outputItems: [prompt!, more], lastSeq: 50 });
    a.kill();

    const b = await servers.start();
    await expect
      .poll(async () => servers.store.getResponse(turnId))
      .toMatchObject({
        status: 'error',
        error: { code: 'OWNER_LOST' },
        outputItems: [{}, { content: 'One and more' }],
      });
    await expect.poll(async () => b.runtime.metrics()).toMatchObject({ backlogRuns: 0 });
    expect(await b.runtime.getRun(turnId)).toMatchObject({ status: 'error' });
  });
});
