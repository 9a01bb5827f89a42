import { gate, reply, text, toolUse } from '@liminal/testkit';
import { testAtLength } from '@liminal/testkit/at-length';
import { expect, test } from 'vitest';
import { claudeStage } from './claude-stage.ts';
import { idle, words } from './server-stage.ts';

const exchange = (...prompts: string[]): string[] =>
  prompts.flatMap((prompt) => [`user: ${prompt}`, `agent: So: ${prompt}`]);

/** Returns the texts that the model received with its last prompt, which has no answer yet. */
const modelTexts = (...prompts: string[]): string[] =>
  prompts.flatMap((prompt) => [prompt, `So: ${prompt}`]).slice(0, -1);

test('INV-7 a page that is already open gets the terminal’s turns before the next message is sent, and the running agent is restarted so that it knows these turns; a page that was not connected while the server restarted continues from its cursor, and shows these turns once', async () => {
  const stage = await claudeStage();
  const sessionId = await stage.create();
  await stage.runTurn(sessionId, 'One here.');
  const reader = stage.watch(sessionId);
  await reader.untilType('session:history');
  expect((await stage.runtime.status(sessionId)).isAlive).toBe(true);
  await stage.inTerminal(sessionId, 'Two there.');

  await stage.runTurn(sessionId, 'Three here.');
  expect(await stage.modelTexts('Three here.')).toEqual(
    modelTexts('One here.', 'Two there.', 'Three here.'),
  );
  const all = exchange('One here.', 'Two there.', 'Three here.');
  await reader.until(({ items }) => [...items.values()].flatMap(words).length === all.length);
  expect([...reader.items.values()].flatMap(words)).toEqual(all);
  expect(await stage.history(sessionId)).toEqual(all);

  const { cursor } = reader;
  reader.close();
  await stage.restart();
  await stage.inTerminal(sessionId, 'Four there.');
  await stage.runtime.loadSession(sessionId);
  await stage.runtime.loadSession(sessionId);
  expect(await stage.history(sessionId)).toEqual([...all, ...exchange('Four there.')]);
  const { turns } = await stage.runtime.history(sessionId);
  const elsewhere = turns.map(({ madeElsewhere = false }) => madeElsewhere);
  expect(elsewhere).toEqual([false, true, false, true]);
  const after = stage.watch(sessionId);
  await after.untilType('session:history');
  const back = stage.watch(sessionId, cursor);
  await back.untilType('session:history');
  const [history] = back.ofType('session:history');
  expect(history?.resumed).toBe('tail');
  expect(history?.entries.flatMap(words)).toEqual(exchange('Four there.'));
  expect(back.cursor).toBe(after.cursor);

  await stage.runTurn(sessionId, 'Five here.');
  const prompts = ['One here.', 'Two there.', 'Three here.', 'Four there.', 'Five here.'];
  expect(await stage.modelTexts('Five here.')).toEqual(modelTexts(...prompts));
  expect(await stage.history(sessionId)).toEqual(exchange(...prompts));
  await stage.restart();
  await stage.runtime.loadSession(sessionId);
  expect(await stage.history(sessionId)).toEqual(exchange(...prompts));
  expect(stage.warnings).toEqual([]);
});

testAtLength(
  'if a conversation has forked, it gets a notice, and Liminal’s agent continues from its own memory',
  async () => {
    const stage = await claudeStage();
    const sessionId = await stage.create();
    await stage.runTurn(sessionId, 'One here.');
    const terminal = stage.openTerminal(sessionId);
    await terminal.runTurn('Two there.');
    await stage.runTurn(sessionId, 'Three here.');
    expect(await stage.modelTexts('Three here.')).toEqual(
      modelTexts('One here.', 'Two there.', 'Three here.'),
    );
    // The terminal has not loaded the messages that were sent in Liminal in the meantime.
    await terminal.runTurn('Four there.');
    expect(await stage.modelTexts('Four there.')).toEqual(
      modelTexts('One here.', 'Two there.', 'Four there.'),
    );

    await stage.runtime.loadSession(sessionId);
    const [notice] = (await stage.history(sessionId)).filter((line) => line.startsWith('system: '));
    expect(notice).toContain('does not know what was said there');
    expect(await stage.history(sessionId)).toEqual([
      ...exchange('One here.', 'Two there.', 'Three here.'),
      notice,
      ...exchange('Four there.'),
    ]);
    await stage.runTurn(sessionId, 'Five here.');
    expect(await stage.modelTexts('Five here.')).toEqual(
      modelTexts('One here.', 'Two there.', 'Three here.', 'Five here.'),
    );
  },
);

testAtLength(
  'if a conversation has forked and the terminal ended last, the conversation continues after the terminal’s last turn',
  async () => {
    const stage = await claudeStage();
    const sessionId = await stage.create();
    await stage.runTurn(sessionId, 'One here.');
    const terminal = stage.openTerminal(sessionId);
    await terminal.runTurn('Two there.');
    await stage.runTurn(sessionId, 'Three here.');
    await stage.restart();
    await terminal.runTurn('Four there.');
    await terminal.end();

    await stage.runtime.loadSession(sessionId);
    const [notice] = (await stage.history(sessionId)).filter((line) => line.startsWith('system: '));
    expect(notice).toContain('The agent now knows that continuation');
    await stage.runTurn(sessionId, 'Five here.');
    expect(await stage.modelTexts('Five here.')).toEqual(
      modelTexts('One here.', 'Two there.', 'Four there.', 'Five here.'),
    );
    expect(await stage.history(sessionId)).toEqual([
      ...exchange('One here.', 'Two there.', 'Three here.'),
      notice,
      ...exchange('Four there.', 'Five here.'),
    ]);
  },
);

testAtLength(
  'if a terminal ends later, the agent moves back to the terminal’s branch, and one notice reports this',
  async () => {
    const stage = await claudeStage();
    const sessionId = await stage.create();
    await stage.runTurn(sessionId, 'One here.');
    const terminal = stage.openTerminal(sessionId);
    await terminal.runTurn('Two there.');
    await stage.runTurn(sessionId, 'Three here.');
    await terminal.runTurn('Four there.');
    await stage.runTurn(sessionId, 'Five here.');
    await stage.restart();
    await terminal.end();

    await stage.runtime.loadSession(sessionId);
    await stage.runtime.loadSession(sessionId);
    const notices = (await stage.history(sessionId)).filter((line) => line.startsWith('system: '));
    expect(notices).toHaveLength(2);
    expect(notices[1]).toContain('now continues from “Four there.”');
    await stage.runTurn(sessionId, 'Six here.');
    expect(await stage.modelTexts('Six here.')).toEqual(
      modelTexts('One here.', 'Two there.', 'Four there.', 'Six here.'),
    );
  },
);

testAtLength(
  'commands, and turns that the agent began by itself, are not treated as turns of a terminal',
  async () => {
    const stage = await claudeStage();
    const sessionId = await stage.create();
    let hasStarted = false;
    stage.api.play(({ prompt }) => {
      if (prompt !== 'Start it.' || hasStarted) return reply('Fine.');
      hasStarted = true;
      const command = 'sleep 0.5; echo over';
      return reply(toolUse('Bash', { command, run_in_background: true }));
    });
    await stage.runTurn(sessionId, '/context all');
    const reader = stage.watch(sessionId);
    await stage.runtime.setConfig(sessionId, 'mode', 'acceptEdits');
    await stage.runtime.send(sessionId, 'Start it.');
    // The agent began the second turn by itself. This turn is about the task that has ended.
    await reader.untilTurn('turn_complete', 2);
    await idle(stage.runtime, sessionId);
    await stage.runTurn(sessionId, '/compact');
    await stage.runTurn(sessionId, 'Go on.');
    const before = await stage.history(sessionId);
    await stage.runtime.loadSession(sessionId);
    await stage.restart();
    await stage.runtime.loadSession(sessionId);
    expect(await stage.history(sessionId)).toEqual(before);
    const { turns } = await stage.runtime.history(sessionId);
    expect(turns.filter(({ madeElsewhere }) => madeElsewhere)).toEqual([]);
  },
);

testAtLength(
  'if a conversation has forked, it gets a notice; in this test, the page’s branch is the last one',
  async () => {
    const stage = await claudeStage();
    const sessionId = await stage.create();
    await stage.runTurn(sessionId, 'One here.');
    const terminal = stage.openTerminal(sessionId);
    const rest = gate();
    stage.api.play(({ prompt }) =>
      reply(text(['So: ', ...(prompt === 'Two here.' ? [rest] : []), prompt])),
    );
    const reader = stage.watch(sessionId);
    await reader.untilType('session:info');
    await stage.runtime.send(sessionId, 'Two here.');
    await reader.until(({ items }) => [...items.values()].flatMap(words).includes('agent: So: '));
    await terminal.runTurn('Three there.');
    rest.open();
    await idle(stage.runtime, sessionId);

    await stage.runtime.loadSession(sessionId);
    const [notice] = (await stage.history(sessionId)).filter((line) => line.startsWith('system: '));
    expect(notice).toContain('does not know what was said there');
    expect(await stage.history(sessionId)).toEqual([
      ...exchange('One here.', 'Two here.'),
      notice,
      ...exchange('Three there.'),
    ]);
    await stage.runTurn(sessionId, 'Four here.');
    expect(await stage.modelTexts('Four here.')).toEqual(
      modelTexts('One here.', 'Two here.', 'Four here.'),
    );
  },
);

test('if a session was compacted twice in a terminal, it is imported completely, and search finds its beginning', async () => {
  const stage = await claudeStage();
  const sessionId = await stage.begin('The walrus sings.');
  for (const message of ['Two there.', '/compact', 'Three there.', '/compact', 'Four there.']) {
    await stage.inTerminal(sessionId, message);
  }
  await stage.runtime.loadSession(sessionId);
  const said = (await stage.history(sessionId)).map((one) => one.replace(/^agent: .*/, 'agent'));
  const compaction = 'system: The conversation so far was summarised to make room.';
  expect(said).toEqual([
    'user: The walrus sings.',
    'agent',
    'user: Two there.',
    'agent',
    'user: /compact',
    compaction,
    'user: Three there.',
    'agent',
    'user: /compact',
    compaction,
    'user: Four there.',
    'agent',
  ]);
  const { hits } = await stage.runtime.search('walrus sings', { limit: 10 });
  expect(hits.map((hit) => hit.sessionId)).toContain(sessionId);
  // The session must continue, and no turn may be shown twice.
  await stage.runTurn(sessionId, 'Five here.');
  expect((await stage.history(sessionId)).slice(0, 1)).toEqual(['user: The walrus sings.']);
  expect(await stage.history(sessionId)).toHaveLength(said.length + 2);
});
