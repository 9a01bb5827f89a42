/** Turns of Liminal's own tool loop that wait for a user: they continue after the server has ended. */
import { createModelDrivers } from '@liminal/agents/models';
import { calls, repliesWith, ScriptedClient, type Act, loudEcho } from '@liminal/agents/testing';
import { afterEach, expect, test } from 'vitest';
import { Reader, startWorld, type World } from './harness.ts';

const worlds: World[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.end();
});

/** A server whose models perform these acts, one after another, across restarts. */
async function start(acts: Act[]): Promise<{ world: World; client: ScriptedClient }> {
  const client = new ScriptedClient(acts);
  const servers = [{ name: 'openai', title: 'OpenAI', client, model: 'one' }];
  const agents = () => createModelDrivers({ servers, tools: [loudEcho] });
  const world = await startWorld({}, { agents });
  worlds.push(world);
  return { world, client };
}

const approvals = (reader: Reader) =>
  [...reader.items.values()].filter((item) => item.type === 'approval');

test.each(['crash', 'close'] as const)(
  'INV-2: a permission request that is open when the server ends (%s) is asked again by the next server, and its answer resumes the turn',
  async (how) => {
    const { world, client } = await start([
      calls(['echo', { text: 'loud' }]),
      repliesWith('It was loud.'),
    ]);
    const { sessionId } = await world.runtime.createSession({
      cliType: 'openai',
      projectDir: world.projectDir,
    });
    await world.runtime.send(sessionId, 'Be loud');
    const before = await new Reader(world.runtime, sessionId).until(
      (one) => approvals(one).length > 0,
    );
    const [asked] = approvals(before);

    const second = await world.restart(how);
    expect(world.warnings).toEqual([]);
    const { runtime } = second;
    expect((await runtime.info(sessionId)).session.state).toBe('waiting');
    const reader = new Reader(runtime, sessionId);
    await reader.until((one) => approvals(one).some(({ status }) => status === 'create'));
    const [over, again] = approvals(reader);
    expect(over).toMatchObject({ approvalId: asked?.approvalId, status: 'complete' });
    expect(again).toMatchObject({ approvalId: asked?.approvalId, title: 'Echo loud' });

    await runtime.answerApproval(sessionId, asked?.approvalId ?? '', { optionId: 'allow' });
    await reader.untilTurn('turn_complete');
    const { conversation } = client.requests.at(-1) ?? { conversation: [] };
    expect(conversation.map(({ type }) => type)).toEqual([
      'message',
      'function_call',
      'function_call_output',
    ]);
    expect([...reader.items.values()].at(-1)).toMatchObject({ content: 'It was loud.' });
    // No turn waits now.
    const next = await (await second.restart('close')).runtime.info(sessionId);
    expect(next.session.state).toBe('idle');
  },
);

test('a session whose agent does not repeat its question after a crash is listed as interrupted until a user continues it', async () => {
  const world = await startWorld();
  worlds.push(world);
  const { sessionId } = await world.runtime.createSession({
    cliType: world.agent.cliType,
    projectDir: world.projectDir,
  });
  await world.runtime.send(sessionId, 'Hello');
  world.agent.ask(sessionId, 'p1');
  await new Reader(world.runtime, sessionId).until((one) => approvals(one).length > 0);

  const { runtime, agent } = await world.restart('crash');
  const state = async () => (await runtime.info(sessionId)).session;
  await expect.poll(state).toMatchObject({ state: 'failed', interrupted: true });
  await runtime.send(sessionId, 'Continue');
  agent.finish(sessionId);
  await expect.poll(state).toMatchObject({ state: 'idle' });
  expect(await state()).not.toHaveProperty('interrupted');
});
