/** Resetting the conversation to before a message: what the model gets next, what the log keeps, what readers see. */
import { ProviderError, type StoredTurn } from '@liminal/agents';
import { createModelDrivers } from '@liminal/agents/models';
import { repliesWith, ScriptedClient } from '@liminal/agents/testing';
import { type ContentBlock, type HistoryPage, takenBack } from '@liminal/protocol';
import { afterEach, describe, expect, test } from 'vitest';
import { Reader, startWorld, type World } from './harness.ts';
import { openMedium } from './medium.ts';

const worlds: World[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.end();
});

interface Talk {
  world: World;
  sessionId: string;
  /** Sends a message, and waits until its answer is in history. Returns the turn's id. */
  ask: (text: string, where?: World, blocks?: ContentBlock[]) => Promise<string>;
}

async function idle({ runtime }: World, sessionId: string): Promise<void> {
  await expect.poll(async () => (await runtime.status(sessionId)).state).toBe('idle');
}

/** A session of a bare model. The model's answers are A1, A2 and so on. */
async function modelTalk(): Promise<Talk & { client: ScriptedClient }> {
  const answers = Array.from({ length: 9 }, (_, at) => repliesWith(`A${at + 1}`));
  const client = new ScriptedClient(answers);
  const servers = [{ name: 'openai', title: 'OpenAI', client, model: 'one' }];
  const agents = () => createModelDrivers({ servers, tools: [] });
  const world = await startWorld({}, { agents, medium: openMedium('sqlite') });
  worlds.push(world);
  const { projectDir } = world;
  const { sessionId } = await world.runtime.createSession({ cliType: 'openai', projectDir });
  const ask = async (text: string, where = world): Promise<string> => {
    const { turnId } = await where.runtime.send(sessionId, text);
    await idle(where, sessionId);
    return turnId;
  };
  return { world, client, sessionId, ask };
}

async function scriptedTalk(medium?: Parameters<typeof openMedium>[0]): Promise<Talk> {
  const world = await startWorld({}, { medium: openMedium(medium ?? 'memory') });
  worlds.push(world);
  const { projectDir } = world;
  const { sessionId } = await world.runtime.createSession({ cliType: 'scripted', projectDir });
  const ask = async (text: string, where = world, blocks: ContentBlock[] = []) => {
    const { turnId } = await where.runtime.send(sessionId, text, undefined, { blocks });
    where.agent.finish(sessionId);
    await idle(where, sessionId);
    return turnId;
  };
  return { world, sessionId, ask };
}

const modelInput = ({ requests }: ScriptedClient) =>
  requests.at(-1)?.conversation.map((item) => ('content' in item ? item.content : item.type));

const textsOf = ({ entries }: HistoryPage) =>
  entries.map((one) => ('content' in one ? one.content : ''));

const onePixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

const both = { scope: 'both' } as const;
const conversation = { scope: 'conversation' } as const;
const taken = (turnIds: string[], message: string) => ({
  files: [],
  insertions: 0,
  deletions: 0,
  takenBack: { turnIds, message },
});

describe('taking back turns of a bare model', () => {
  test('after turn 2 of 3 is taken back, the model gets turn 1 and the new message, before and after a restart', async () => {
    const { world, client, sessionId, ask } = await modelTalk();
    const [, two, three] = [await ask('One?'), await ask('Two?'), await ask('Three?')];
    const planned = taken([two, three], 'Two?');
    const dry = { ...conversation, dryRun: true };
    expect(await world.runtime.rewind(sessionId, two, dry)).toEqual(planned);
    expect(await world.runtime.rewind(sessionId, two, conversation)).toEqual(planned);
    await ask('Two again?');
    expect(modelInput(client)).toEqual(['One?', 'A1', 'Two again?']);

    const next = await world.restart();
    await ask('And?', next);
    expect(modelInput(client)).toEqual(['One?', 'A1', 'Two again?', 'A4', 'And?']);
  });

  test('the model gets only the new message, even if the server restarts before it is sent', async () => {
    const { world, client, sessionId, ask } = await modelTalk();
    const first = await ask('One?');
    await ask('Two?');
    await world.runtime.rewind(sessionId, first, conversation);
    await ask('Anew?', await world.restart());
    expect(modelInput(client)).toEqual(['Anew?']);
  });

  test('turns that were taken back still count as cost', async () => {
    const { world, sessionId, ask } = await modelTalk();
    const turns = [await ask('One?'), await ask('Two?')];
    const costs = async ({ runtime }: World) =>
      (await runtime.history(sessionId)).turns.map(({ usage }) => usage);
    const before = await costs(world);
    expect(before).toMatchObject([{ inputTokens: expect.any(Number) }, {}]);
    await world.runtime.rewind(sessionId, turns[1] ?? '', conversation);
    expect((await costs(world)).slice(0, 2)).toEqual(before);
  });
});

test('nothing is removed: history has all turns, and connected, returning and new readers see the same', async () => {
  const { world, sessionId, ask } = await scriptedTalk('sqlite');
  const live = await new Reader(world.runtime, sessionId).untilType('session:info');
  const turns = [await ask('One.'), await ask('Two.'), await ask('Three.')];
  const [, two = '', three = ''] = turns;
  const { place } = live;
  await world.runtime.rewind(sessionId, two, conversation);
  const four = await ask('Four.');
  await live.untilTurn('turn_complete', 5);
  const back = new Reader(world.runtime, sessionId, place);
  await back.untilType('session:history');

  const next = await world.restart();
  const page = await next.runtime.history(sessionId);
  expect(textsOf(page)).toEqual([
    'One.',
    'Two.',
    'Three.',
    '2 turns were taken back, from “Two.” on. The agent continues from before that message.',
    'Four.',
  ]);
  const rewind = page.turns[3]?.turnId ?? '';
  expect(page.turns[3]).toMatchObject({ rewoundTo: two, finishReason: 'rewind' });
  expect(Object.fromEntries(takenBack(page.turns))).toEqual({ [two]: rewind, [three]: rewind });
  expect(page.turns.at(-1)?.turnId).toBe(four);

  const ends = live.ofType('session:turn').map(({ payload }) => payload);
  expect(ends).toContainEqual(expect.objectContaining({ turnId: rewind, rewoundTo: two }));
  const resumed = back.ofType('session:history').flatMap((message) => message.turns);
  expect(resumed).toContainEqual(expect.objectContaining({ turnId: rewind, rewoundTo: two }));
  // Pages of history, put together, show the same turns as taken back.
  const newest = await next.runtime.history(sessionId, { limit: 2 });
  const older = await next.runtime.history(sessionId, { limit: 2, before: newest.before });
  expect([...takenBack([...older.turns, ...newest.turns]).keys()]).toEqual([three, two]);
});

describe('taking turns back is rejected', () => {
  test('while a turn runs, and for turns that are unknown, were taken back, or were not begun by a user', async () => {
    const { world, sessionId, ask } = await scriptedTalk();
    const [one, two] = [await ask('One.'), await ask('Two.')];
    const code = async (id: string) =>
      world.runtime.rewind(sessionId, id, conversation).then(
        () => 'done',
        (error) => error.code,
      );
    expect(await code('x')).toBe('TURN_NOT_FOUND');
    expect(await code(two)).toBe('done');
    expect(await code(two)).toBe('TURN_TAKEN_BACK');
    const { turns } = await world.runtime.history(sessionId);
    expect(await code(turns.at(-1)?.turnId ?? '')).toBe('CANNOT_REWIND');
    await world.runtime.send(sessionId, 'Three.');
    expect(await code(one)).toBe('TURN_IN_PROGRESS');
    expect(world.agent.takenBack).toEqual([[two]]);
  });

  test('if the agent cannot take turns back; then nothing is changed', async () => {
    const { world, sessionId, ask } = await scriptedTalk();
    const one = await ask('One.');
    Object.assign(world.agent, { rewindsConversation: false });
    expect((await world.runtime.listAgents())[0]).not.toHaveProperty('rewindsConversation');
    world.agent.rewound = { files: ['/x'], insertions: 1, deletions: 0 };
    await expect(world.runtime.rewind(sessionId, one, both)).rejects.toMatchObject({
      code: 'NOT_SUPPORTED',
    });
    expect(world.agent.rewindings).toEqual([`look at ${one}`]);
  });

  test('if the agent rejects this turn: the conversation shows the error, and continues unchanged', async () => {
    const { world, sessionId, ask } = await scriptedTalk();
    const one = await ask('One.');
    world.agent.refuseRewind = new ProviderError('CANNOT_REWIND', 'It was summarised.');
    world.agent.rewound = { files: ['/x'], insertions: 1, deletions: 0 };
    await expect(world.runtime.rewind(sessionId, one, both)).rejects.toMatchObject({
      code: 'CANNOT_REWIND',
    });
    await expect.poll(async () => (await world.runtime.status(sessionId)).state).toBe('failed');
    const { turns } = await world.runtime.history(sessionId);
    expect(turns.at(-1)?.error?.message).toContain('It was summarised.');
    expect(takenBack(turns).size).toBe(0);
    expect(world.agent.rewindings).toEqual([`look at ${one}`]);
  });
});

test('if two are made at once, one succeeds and the other is rejected', async () => {
  const { world, sessionId, ask } = await scriptedTalk();
  const [one, two] = [await ask('One.'), await ask('Two.')];
  const go = Promise.withResolvers<void>();
  world.agent.holdRewind = go.promise;
  const rewinds = [one, two].map(async (id) =>
    world.runtime.rewind(sessionId, id, conversation).then(
      ({ takenBack: gone }) => gone?.turnIds,
      (error) => error.code,
    ),
  );
  const faster = await Promise.race(rewinds);
  expect(faster).toBe('TURN_IN_PROGRESS');
  go.resolve();
  const all = await Promise.all(rewinds);
  expect(world.agent.takenBack).toHaveLength(1);
  expect(all).toContainEqual(world.agent.takenBack[0]);
});

test('conversation and files are both reset; if only the files fail, the conversation is reset with a notice', async () => {
  const { world, sessionId, ask } = await scriptedTalk();
  const [one, two] = [await ask('One.'), await ask('Two.')];
  const files = [`${world.projectDir}/a.ts`];
  world.agent.rewound = { files, insertions: 1, deletions: 2 };
  const rewound = await world.runtime.rewind(sessionId, two, both);
  expect(rewound).toEqual({ ...taken([two], 'Two.'), files, insertions: 1, deletions: 2 });
  expect(textsOf(await world.runtime.history(sessionId)).at(-1)).toBe(
    'One turn was taken back, from “Two.” on. The agent continues from before that message. Files were restored to their state before “Two.”: a.ts.',
  );
  world.agent.rewound = new ProviderError('NO_CHECKPOINT', 'The copies are gone.');
  const problem = 'The copies are gone.';
  const half = await world.runtime.rewind(sessionId, one, both);
  expect(half).toEqual({ ...taken([one], 'One.'), problem });
  const page = await world.runtime.history(sessionId);
  expect(textsOf(page).at(-1)).toContain('The files stay as they are. The copies are gone.');
  expect([...takenBack(page.turns).keys()]).toContain(one);
});

test('the message is returned with its attachments, and can be sent again with them', async () => {
  const { world, sessionId, ask } = await scriptedTalk();
  const image = { type: 'image', mimeType: 'image/png', data: onePixel, name: 'a.png' } as const;
  const one = await ask('Look.', world, [image]);
  const { takenBack: gone } = await world.runtime.rewind(sessionId, one, conversation);
  expect(gone).toMatchObject({ message: 'Look.', blocks: [{ type: 'image', name: 'a.png' }] });
  await ask('Look again.', world, gone?.blocks);
  expect(world.agent.attached.at(-1)).toMatchObject([{ data: image.data }]);
});

test('queued messages stay queued', async () => {
  const { world, sessionId, ask } = await scriptedTalk();
  const one = await ask('One.');
  await world.runtime.send(sessionId, 'Two.');
  await world.runtime.send(sessionId, 'Three.');
  await world.runtime.cancel(sessionId);
  await expect.poll(async () => (await world.runtime.status(sessionId)).state).toBe('queued');
  await world.runtime.rewind(sessionId, one, conversation);
  const { queue } = await world.runtime.info(sessionId);
  expect(queue.map(({ message }) => message)).toEqual(['Three.']);
});

test('a fork has neither the turns that were taken back nor their notice, and cannot begin at such a turn', async () => {
  const { world, sessionId, ask } = await scriptedTalk();
  const [one, two] = [await ask('One.'), await ask('Two.')];
  await world.runtime.rewind(sessionId, two, conversation);
  const three = await ask('Three.');
  await expect(world.runtime.fork(sessionId, { turnId: two })).rejects.toMatchObject({
    code: 'TURN_TAKEN_BACK',
  });
  const fork = await world.runtime.fork(sessionId, { turnId: three });
  const page = await world.runtime.history(fork.sessionId);
  expect(textsOf(page)).toEqual(['One.', 'Three.']);
  expect(page.turns.every(({ rewoundTo }) => rewoundTo === undefined)).toBe(true);
  await world.runtime.fork(sessionId, { turnId: one });
  expect(world.agent.forks).toEqual([three, one]);
});

test('an export has the turns that were taken back, marked, also if it is imported under other ids', async () => {
  const { world, sessionId, ask } = await scriptedTalk();
  const two = (await ask('One.'), await ask('Two.'));
  await world.runtime.rewind(sessionId, two, conversation);
  const file = await Array.fromAsync(
    await world.runtime.exportSession(sessionId, { liminal: '0.1.0' }),
  );
  const bytes = async function* () {
    for (const piece of file) yield Buffer.from(piece);
  };
  // The session's ids are taken on this server, so the import gets other ids.
  const copy = await world.runtime.importSession(bytes());
  expect(copy.sessionId).not.toBe(sessionId);
  const { turns } = await world.runtime.history(copy.sessionId);
  expect(takenBack(turns).get(turns[1]?.turnId ?? '')).toBe(turns[2]?.turnId);
  expect(turns[0]?.turnId).toBeDefined();
  expect(takenBack(turns).size).toBe(1);
});

test('a search finds turns that were taken back, and marks them', async () => {
  const { world, sessionId, ask } = await scriptedTalk();
  const two = (await ask('The first wombat.'), await ask('The second wombat.'));
  const found = async () => {
    const { hits } = await world.runtime.search('wombat', { limit: 9 });
    return hits.flatMap(({ item, snippet }) => (item ? [[snippet, item.takenBack]] : []));
  };
  await world.runtime.rewind(sessionId, two, conversation);
  const all = await found();
  expect(all).toContainEqual([expect.stringContaining('The second wombat.'), true]);
  expect(all).toContainEqual(['The first wombat.', undefined]);
});

/** An agent's stored turn. */
function stored(turnId: string, said: string, place: Partial<StoredTurn> = {}): StoredTurn {
  const item = { type: 'message', id: `${turnId}-user`, content: said, origin: 'user' } as const;
  const payloads = [
    { type: 'response_start', modelId: 'm', providerId: 'scripted', trigger: 'user' },
    { type: 'item_done', itemId: item.id, finalItem: item },
    { type: 'response_done', status: 'completed', finishReason: 'end_turn' },
  ] as const;
  const timestamp = new Date(0).toISOString();
  return { turnId, events: payloads.map((payload) => ({ turnId, timestamp, payload })), ...place };
}

test('turns that were taken back do not count as a fork: not for the agent’s next process, nor when a terminal continues', async () => {
  const { world, sessionId, ask } = await scriptedTalk();
  const [one, two] = [await ask('One.'), await ask('Two.')];
  await world.runtime.rewind(sessionId, two, conversation);
  await world.runtime.kill(sessionId);
  const left = stored(two, 'Two.', { after: one, isLeft: true });
  world.agent.storedTurns = [stored(one, 'One.'), left];
  world.agent.mark = 'first';
  const three = await ask('Three.');
  const there = stored('elsewhere', 'In the terminal.', { after: three });
  world.agent.storedTurns.push(stored(three, 'Three.', { after: one }), there);
  world.agent.mark = 'second';
  await ask('Four.');
  expect(textsOf(await world.runtime.history(sessionId))).toEqual([
    'One.',
    'Two.',
    expect.stringContaining('taken back'),
    'Three.',
    'In the terminal.',
    'Four.',
  ]);
});
