import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventDraft } from '@liminal/protocol';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { AgentDriver, AgentSession, SessionOpening } from '../contract/driver.ts';
import { ProviderError } from '../contract/errors.ts';
import type { SessionUpdate } from '../contract/provider.ts';
import { DriverProvider } from './driver-provider.ts';
import { Semaphore } from '../contract/semaphore.ts';

/** A driver that counts closed sessions; the test decides how it opens them. */
class PlayedSession implements AgentSession<string> {
  isAlive = true;
  closes = 0;
  readonly received: string[] = [];
  readonly agentSessionId: string;
  readonly memory: string;
  readonly opening: SessionOpening<string>;
  /** `close` waits for this. */
  ending: Promise<void> = Promise.resolve();

  constructor(opening: SessionOpening<string>, count: number) {
    this.opening = opening;
    this.agentSessionId = `agent’s ${opening.sessionId}`;
    this.memory = `memory ${count}`;
  }

  async send(message: string): Promise<void> {
    this.received.push(message);
  }

  async cancel(): Promise<void> {
    this.received.push('(cancel)');
  }

  async close(): Promise<void> {
    this.isAlive = false;
    this.closes += 1;
    await this.ending;
  }
}

const listed = { projectDir: '', title: '', createdAt: '', updatedAt: '' };

class PlayedDriver implements AgentDriver<string> {
  readonly cliType = 'played';
  readonly name = 'Played';
  readonly starts = new Semaphore(1);
  readonly sessions: PlayedSession[] = [];
  readonly read: string[] = [];
  /** Called when a session is opened. */
  onOpen: (opening: SessionOpening<string>) => Promise<void> | void = () => {};

  async open(opening: SessionOpening<string>): Promise<PlayedSession> {
    await this.onOpen(opening);
    const session = new PlayedSession(opening, this.sessions.length);
    this.sessions.push(session);
    return session;
  }

  async describe() {
    const { cliType, name } = this;
    return { cliType, name, description: 'Plays.', available: true };
  }

  async listStoredSessions() {
    return [{ ...listed, sessionId: this.name }];
  }

  async readStoredHistory(agentSessionId: string) {
    this.read.push(agentSessionId);
    return [];
  }
}

let projectDir: string;
beforeAll(async () => {
  projectDir = await mkdtemp(join(tmpdir(), 'liminal-driver-'));
});
afterAll(() => rm(projectDir, { recursive: true }));

let driver: PlayedDriver;
let provider: DriverProvider<PlayedDriver>;
beforeEach(() => {
  driver = new PlayedDriver();
  provider = new DriverProvider(driver);
});

const create = (sessionId = 'a') => provider.createSession({ sessionId, projectDir });
const coded = (code: string) => expect.objectContaining({ code });

/** An opening that stays pending until it is aborted. */
const endless = ({ signal }: SessionOpening<string>) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });

test('a message goes to the session with the given id, and only the session’s own listeners get its events', async () => {
  const heard: [string, unknown][] = [];
  provider.onEvent('a', (draft) => heard.push(['a', draft]));
  provider.onEvent('b', (draft) => heard.push(['b', draft]));
  await create('a');
  await create('b');
  const draft: EventDraft = {
    turnId: 't',
    timestamp: '2026-01-01T00:00:00.000Z',
    payload: { type: 'response_start', modelId: 'm', providerId: 'p' },
  };

  await provider.sendMessage('b', 'Hello');
  await provider.cancelTurn('b');
  driver.sessions[1]!.opening.output.emit(draft);

  expect(driver.sessions.map(({ received }) => received)).toEqual([[], ['Hello', '(cancel)']]);
  expect(heard).toEqual([['b', draft]]);
});

test('after a session has ended, only the data for opening it again is kept', async () => {
  await create();
  await provider.killSession('a');

  expect(provider.isAlive('a')).toBe(false);
  await expect(provider.sendMessage('a', 'Hello')).rejects.toEqual(coded('PROCESS_CRASH'));
  await provider.cancelTurn('a');
  await provider.killSession('a');
  expect(driver.sessions[0]?.closes).toBe(1);

  await provider.loadSession('a');
  expect(driver.sessions[1]?.opening).toMatchObject({
    projectDir,
    earlier: { agentSessionId: 'agent’s a', memory: 'memory 0' },
  });
});

test('a crashed session is closed before it is opened again, and reopens with its remembered data', async () => {
  await create();
  driver.sessions[0]!.isAlive = false;
  const closes: (number | undefined)[] = [];
  driver.onOpen = () => void closes.push(driver.sessions[0]?.closes);

  await provider.loadSession('a');

  expect(closes).toEqual([1]);
  expect(driver.sessions[1]?.opening.earlier).toMatchObject({ memory: 'memory 0' });
});

test('a session that is being closed is not alive, even if its driver still reports it as alive', async () => {
  await create();
  const session = driver.sessions[0]!;
  vi.spyOn(session, 'close').mockImplementationOnce(async () => {
    session.opening.output.exit({ expected: true });
    session.isAlive = false;
  });
  const alive: boolean[] = [];
  provider.onExit('a', () => alive.push(provider.isAlive('a')));
  await provider.killSession('a');
  expect(alive).toEqual([false]);
});

test('the caller’s data about an earlier session overrides the remembered data', async () => {
  await create();
  await provider.killSession('a');

  await provider.loadSession('a', { agentSessionId: 'another', storedMark: 'mark' });

  expect(driver.sessions[1]?.opening.earlier).toMatchObject({
    agentSessionId: 'another',
    storedMark: 'mark',
    memory: 'memory 0',
  });
});

test('a session that is opened again while its predecessor is being ended stays open', async () => {
  await create();
  const ending = Promise.withResolvers<void>();
  driver.sessions[0]!.ending = ending.promise;
  const killed = provider.killSession('a');
  const loaded = provider.loadSession('a');
  ending.resolve();
  await Promise.all([killed, loaded]);

  expect(provider.isAlive('a')).toBe(true);
  expect(driver.sessions).toHaveLength(2);
});

test('the newest thousand ended sessions are remembered', async () => {
  for (let count = 0; count <= 1_000; count += 1) {
    await create(`${count}`);
    await provider.killSession(`${count}`);
  }

  await expect(provider.sendMessage('0', '')).rejects.toEqual(coded('SESSION_NOT_FOUND'));
  await expect(provider.sendMessage('1', '')).rejects.toEqual(coded('PROCESS_CRASH'));
});

test('an unknown session is not found, and a session without a known folder is not found', async () => {
  const unknown = coded('SESSION_NOT_FOUND');
  await expect(provider.sendMessage('a', '')).rejects.toEqual(unknown);
  await expect(provider.cancelTurn('a')).rejects.toEqual(unknown);
  await expect(provider.killSession('a')).rejects.toEqual(unknown);
  await expect(provider.loadSession('a')).rejects.toEqual(unknown);
  expect(driver.sessions).toEqual([]);
});

test('two callers share one opening, and a second session with the same id is rejected', async () => {
  const [first, second] = [create(), provider.loadSession('a')];
  expect(await Promise.all([first, second])).toEqual([
    { sessionId: 'a', cliType: 'played' },
    { sessionId: 'a', cliType: 'played' },
  ]);
  expect(driver.sessions).toHaveLength(1);
  await expect(create()).rejects.toEqual(coded('SESSION_CREATE_FAILED'));
});

test('an aborted opening is rejected with a code, even while the opening waits for a free slot', async () => {
  driver.onOpen = endless;
  const both = Promise.allSettled([create('a'), create('b')]);
  await provider.killSession('b');
  await provider.killSession('a');

  const reason = { code: 'SESSION_CREATE_FAILED', message: expect.stringContaining('was ended') };
  const refused = { status: 'rejected', reason: expect.objectContaining(reason) };
  expect(await both).toEqual([refused, refused]);
  expect(provider.isAlive('a')).toBe(false);
});

test('updates that are sent during an opening arrive together once the session is open', async () => {
  const updates: SessionUpdate[] = [];
  provider.onUpdate('a', (update) => updates.push(update));
  driver.onOpen = ({ output }) => {
    output.update({ title: 'First' });
    output.update({ title: 'Second', commands: [] });
  };

  await create();
  expect(updates).toEqual([]);

  await expect.poll(() => updates).toMatchObject([{ title: 'Second', commands: [] }]);
});

test('updates of a session that failed to open are never sent', async () => {
  const updates: SessionUpdate[] = [];
  provider.onUpdate('a', (update) => updates.push(update));
  driver.onOpen = ({ output, earlier }) => {
    output.update({ title: earlier ? 'Second' : 'First' });
    if (!earlier) throw new ProviderError('SESSION_CREATE_FAILED', 'Not today.');
  };
  await expect(create()).rejects.toEqual(coded('SESSION_CREATE_FAILED'));

  await provider.loadSession('a', { projectDir });

  await expect.poll(() => updates).toMatchObject([{ title: 'Second' }]);
});

test('a provider lacks methods that its driver lacks, and rejects calls that its session does not support', async () => {
  expect(provider.introduce).toBeUndefined();
  expect(provider.peekStoredSessions).toBeUndefined();
  expect(await provider.listStoredSessions?.()).toMatchObject([{ sessionId: 'Played' }]);
  await create();

  const answer = provider.answerApproval('a', 'x', { optionId: 'y' });
  await expect(answer).rejects.toEqual(coded('NOT_SUPPORTED'));
  await expect(provider.setConfigOption('a', 'x', 'y')).rejects.toEqual(coded('NOT_SUPPORTED'));
});

test('stored history is read by the agent’s own session id, if known', async () => {
  await create();
  await provider.readStoredHistory?.('a', projectDir);
  await provider.killSession('a');
  await provider.readStoredHistory?.('a', projectDir);
  await provider.readStoredHistory?.('b', projectDir);

  expect(driver.read).toEqual(['agent’s a', 'agent’s a', 'b']);
});

test('a failed fork is rejected with its reason, and a provider whose agent cannot fork has no `fork` method', async () => {
  const driver: AgentDriver<string> = new PlayedDriver();
  expect(new DriverProvider(driver).fork).toBeUndefined();
  driver.fork = async () => {
    throw new Error('The disk is full.');
  };
  await expect(new DriverProvider(driver).fork!('a', '/', 't')).rejects.toMatchObject({
    code: 'SESSION_CREATE_FAILED',
    message: 'Played did not fork the session. The disk is full.',
  });
});
