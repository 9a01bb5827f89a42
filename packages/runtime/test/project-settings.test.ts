/** Settings in a project folder: used only after users have accepted exactly these settings. */
import type { ProjectSettings } from '@liminal/agents';
import type { ApprovalUpsert } from '@liminal/protocol';
import { StorageError } from '@liminal/storage';
import { afterEach, expect, test } from 'vitest';
import { Reader, startWorld, type World } from './harness.ts';
import { openMedium } from './medium.ts';

const worlds: World[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.end();
});

async function start(
  project: ProjectSettings | undefined,
  ...[settings, kept]: Parameters<typeof startWorld>
): Promise<World> {
  const world = await startWorld(settings, kept);
  world.agent.project = project;
  worlds.push(world);
  return world;
}

/** Settings of one file in the project folder of any world. */
const brought = (hash: string, text = `{"hooks": "${hash}"}`): ProjectSettings => ({
  hash,
  files: [{ path: '/elsewhere/settings.json', text }],
});

class Talk {
  readonly world: World;
  readonly sessionId: string;
  readonly reader: Reader;

  constructor(world: World, sessionId: string) {
    this.world = world;
    this.sessionId = sessionId;
    this.reader = new Reader(world.runtime, sessionId);
  }

  static async create(world: World): Promise<Talk> {
    const { projectDir } = world;
    const request = { cliType: 'scripted', projectDir };
    return new Talk(world, (await world.runtime.createSession(request)).sessionId);
  }

  get questions(): ApprovalUpsert[] {
    return [...this.reader.items.values()].filter((item) => item.type === 'approval');
  }

  get waiting(): ApprovalUpsert | undefined {
    return this.questions.find(({ status }) => status === 'create');
  }

  async asked(): Promise<ApprovalUpsert> {
    await this.reader.until(() => this.waiting !== undefined);
    return this.waiting!;
  }

  async answer(optionId: string): Promise<void> {
    const { approvalId } = await this.asked();
    await this.world.runtime.answerApproval(this.sessionId, approvalId, { optionId });
  }

  /** Resolves when the agent has the message. */
  async received(message: string): Promise<void> {
    const { agent } = this.world;
    await this.reader.until(() => agent.received.includes(message));
  }

  /** Sends a message that needs no question. */
  async runTurn(message: string): Promise<void> {
    await this.reader.untilType('session:info');
    const before = this.questions.length;
    await this.world.runtime.send(this.sessionId, message);
    await this.received(message);
    expect(this.questions.length - before).toBe(0);
    await this.end();
  }

  async end(): Promise<void> {
    const over = this.reader.ofType('session:turn').length;
    this.world.agent.finish(this.sessionId);
    await this.reader.until((one) => one.ofType('session:turn').length > over);
  }
}

const lastUsed = ({ agent }: World) => agent.projectsUsed.at(-1);

test('a folder without settings needs no question', async () => {
  const world = await start(undefined);
  const talk = await Talk.create(world);
  await talk.runTurn('Hello');
  expect(talk.questions).toEqual([]);
});

test('before the first message users are asked, and the message is queued; the files are shown completely', async () => {
  const world = await start(brought('one', 'touch /tmp/x'));
  const talk = await Talk.create(world);
  await world.runtime.loadSession(talk.sessionId);
  expect(lastUsed(world)).toBeUndefined();
  expect(talk.questions).toEqual([]);
  const { turnId, queued } = await world.runtime.send(talk.sessionId, 'Hello');
  expect(queued).toBe(true);
  const question = await talk.asked();
  expect(question.options.map(({ optionId, kind }) => [optionId, kind])).toEqual([
    ['use', 'allow_always'],
    ['without', 'reject_once'],
    ['never', 'reject_always'],
  ]);
  const call = [...talk.reader.items.values()].find((item) => item.type === 'tool_call');
  expect(call).toMatchObject({
    callId: question.callId,
    toolArguments: { '/elsewhere/settings.json': 'touch /tmp/x' },
  });
  const { queue, session } = await world.runtime.info(talk.sessionId);
  expect(queue).toMatchObject([{ turnId, message: 'Hello' }]);
  expect(session.state).toBe('waiting');
  expect(world.agent.received).toEqual([]);

  await talk.answer('use');
  await talk.received('Hello');
  expect(lastUsed(world)).toBe('one');
  await talk.end();
  await talk.runTurn('And now?');
  await (await Talk.create(world)).runTurn('In another session');
  expect(lastUsed(world)).toBe('one');
});

test('after “without”, the session keeps the running agent, and users are not asked again', async () => {
  const world = await start(brought('one'));
  const talk = await Talk.create(world);
  const { length } = world.agent.projectsUsed;
  await world.runtime.send(talk.sessionId, 'Hello');
  await talk.answer('without');
  await talk.received('Hello');
  await talk.end();
  await talk.runTurn('And now?');
  expect(world.agent.projectsUsed.slice(length)).toEqual([]);
  expect(await world.runtime.listGrants(world.projectDir)).toEqual([]);
  const next = await Talk.create(world);
  expect(await world.runtime.send(next.sessionId, 'Hello')).toMatchObject({ queued: true });
  await next.asked();
});

test('a lasting answer is listed with the project’s grants, applies after a restart, and can be removed', async () => {
  const world = await start(brought('one'), {}, { medium: openMedium('sqlite') });
  const talk = await Talk.create(world);
  await world.runtime.send(talk.sessionId, 'Hello');
  await talk.answer('never');
  await talk.received('Hello');
  await talk.end();
  const grant = {
    rule: 'project-settings:leave:scripted:one',
    title: 'scripted leaves out the settings in this folder: /elsewhere/settings.json',
    grantedAt: expect.any(String),
  };
  expect(await world.runtime.listGrants(world.projectDir)).toEqual([grant]);

  const next = await world.restart('close');
  next.agent.project = brought('one');
  const later = new Talk(next, talk.sessionId);
  await later.runTurn('Later');
  expect(lastUsed(next)).toBeUndefined();
  await next.runtime.removeGrant(next.projectDir, grant.rule);
  await next.runtime.send(talk.sessionId, 'Again');
  await later.answer('use');
  await later.received('Again');
  expect(lastUsed(next)).toBe('one');
  expect(await next.runtime.listGrants(next.projectDir)).toMatchObject([
    { rule: 'project-settings:use:scripted:one' },
  ]);
});

test('when the files change, the answer no longer applies, and the agent is restarted', async () => {
  const world = await start(brought('one'));
  const talk = await Talk.create(world);
  await world.runtime.send(talk.sessionId, 'Hello');
  await talk.answer('use');
  await talk.received('Hello');
  await talk.end();
  world.agent.project = brought('two');
  await world.runtime.send(talk.sessionId, 'Changed');
  await talk.answer('without');
  await talk.received('Changed');
  expect(lastUsed(world)).toBeUndefined();
  await talk.end();
  // A process that is prewarmed does not use the settings.
  await world.runtime.kill(talk.sessionId);
  await world.runtime.prewarm(talk.sessionId);
  expect(lastUsed(world)).toBeUndefined();
  world.agent.project = brought('one');
  await talk.runTurn('As before');
  expect(lastUsed(world)).toBe('one');
  world.agent.project = undefined;
  await talk.runTurn('Without any');
  expect(lastUsed(world)).toBeUndefined();
});

test('two sessions of a folder both ask, and the newest answer applies', async () => {
  const world = await start(brought('one'));
  const [a, b] = [await Talk.create(world), await Talk.create(world)];
  await Promise.all([a, b].map(async ({ sessionId }) => world.runtime.send(sessionId, sessionId)));
  await a.answer('use');
  await b.answer('never');
  await Promise.all([a, b].map(async (talk) => talk.received(talk.sessionId)));
  expect((await world.runtime.listGrants(world.projectDir)).map(({ rule }) => rule)).toEqual([
    'project-settings:leave:scripted:one',
  ]);
  await a.end();
  await a.runTurn('Again');
  expect(lastUsed(world)).toBeUndefined();
});

test.each(['allow', 'reject'] as const)(
  'the default policy (%s) starts without the settings, and stores no lasting decision',
  async (fallback) => {
    const world = await start(brought('one'), { approvals: { deadlineMs: 1, fallback } });
    const talk = await Talk.create(world);
    await world.runtime.send(talk.sessionId, 'Hello');
    await talk.received('Hello');
    expect(lastUsed(world)).toBeUndefined();
    expect(talk.questions).toMatchObject([{ outcome: { optionId: 'without' } }]);
    expect(await world.runtime.listGrants(world.projectDir)).toEqual([]);
  },
);

test('a stop just before the question withdraws it, and keeps its message in the paused queue', async () => {
  const world = await start(brought('one'));
  const talk = await Talk.create(world);
  const { store } = world.storage;
  const { listGrants } = store;
  const [looks, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  store.listGrants = async (...asked) => {
    looks.resolve();
    await goesOn.promise;
    return listGrants.apply(store, asked);
  };
  const sending = world.runtime.send(talk.sessionId, 'Hello');
  await looks.promise;
  await world.runtime.cancel(talk.sessionId);
  expect(talk.questions).toEqual([]);
  goesOn.resolve();

  expect(await sending).toMatchObject({ queued: true });
  await expect.poll(() => talk.questions).toMatchObject([{ outcome: { outcome: 'cancelled' } }]);
  expect(world.agent.received).toEqual([]);
  expect(await world.runtime.info(talk.sessionId)).toMatchObject({
    session: { queuePaused: true },
    queue: [{ message: 'Hello' }],
  });
});

test('a question ends with its agent, and with the server; its message stays queued and the question is asked again', async () => {
  const world = await start(brought('one'), {}, { medium: openMedium('sqlite') });
  const talk = await Talk.create(world);
  await world.runtime.send(talk.sessionId, 'Hello');
  await talk.asked();
  await world.runtime.kill(talk.sessionId);
  await talk.reader.until(() => talk.waiting === undefined);
  expect((await world.runtime.info(talk.sessionId)).session.state).not.toBe('waiting');
  await world.runtime.send(talk.sessionId, 'Hello again');
  await talk.asked();

  const next = await world.restart('crash');
  next.agent.project = brought('one');
  const later = new Talk(next, talk.sessionId);
  await next.runtime.send(talk.sessionId, 'The third');
  await later.answer('use');
  await later.received('Hello again');
  expect((await next.runtime.info(talk.sessionId)).queue.map(({ message }) => message)).toContain(
    'Hello',
  );
});

test('settings that cannot be shown completely cannot be used', async () => {
  const world = await start({ ...brought('one'), problem: 'They are too long.' });
  const talk = await Talk.create(world);
  await world.runtime.send(talk.sessionId, 'Hello');
  const question = await talk.asked();
  expect(question.description).toContain('They are too long.');
  expect(question.options.map(({ optionId }) => optionId)).toEqual(['without', 'never']);
  await expect(talk.answer('use')).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  await talk.answer('without');
  await talk.received('Hello');
});

test('settings that can no longer be shown completely are not used, even if users have accepted them', async () => {
  const world = await start(brought('one'));
  const talk = await Talk.create(world);
  await world.runtime.send(talk.sessionId, 'Hello');
  await talk.answer('use');
  await talk.received('Hello');
  expect(lastUsed(world)).toBe('one');
  await talk.end();
  const next = await world.restart('crash');
  next.agent.project = { ...brought('one'), problem: 'They are too long.' };
  const later = new Talk(next, talk.sessionId);
  await next.runtime.send(talk.sessionId, 'Again');
  expect((await later.asked()).options.map(({ optionId }) => optionId)).toEqual([
    'without',
    'never',
  ]);
  await later.answer('without');
  await later.received('Again');
  expect(lastUsed(next)).toBeUndefined();
});

test('an answer that cannot be stored does not count, and can be sent again', async () => {
  const world = await start(brought('one'));
  const talk = await Talk.create(world);
  await world.runtime.send(talk.sessionId, 'Hello');
  const { store } = world.storage;
  const { addGrant } = store;
  store.addGrant = async () => Promise.reject(new StorageError('STORE_WRITE_FAILED', 'Full.'));
  await expect(talk.answer('use')).rejects.toMatchObject({ code: 'STORE_WRITE_FAILED' });
  expect(world.agent.received).toEqual([]);
  store.addGrant = addGrant;
  await talk.answer('use');
  await talk.received('Hello');
  expect(lastUsed(world)).toBe('one');
});
