import { ApiError } from '@liminal/client';
import { byPrompt, reply } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { Installation, realClaude } from './installation.ts';
import { FaultServer } from './server.ts';

const works = `#!/bin/sh\nexec ${realClaude} "$@"\n`;
const hangs = '#!/bin/sh\nexec tail -f /dev/null\n';

/** Programs that do not become an agent, and what people are told. */
const broken: { text?: string; mode?: number; told: RegExp }[] = [
  { told: /not found. Reinstall/ },
  { text: works, mode: 0o644, told: /failed to launch/ },
  { text: 'exit 4', told: /exited with code 4/ },
  {
    text: '#!/bin/sh\nsetsid -f tail -f /dev/null\necho "Out of luck." >&2\nexit 3\n',
    told: /exited with code 3.*Out of luck/,
  },
];

/** A server whose Claude Code program can be put out of order, with a session whose agent has been ended. */
async function start(): Promise<{
  faults: FaultServer;
  installation: Installation;
  sessionId: string;
}> {
  const made = Promise.withResolvers<Installation>();
  const install = async (root: string) => {
    const installation = await Installation.make(root);
    await installation.putClaude(works);
    made.resolve(installation);
    return installation;
  };
  const script = byPrompt({ 'Go on.': [reply('Here I am.')] });
  const faults = await FaultServer.start({ script, install });
  const sessionId = await faults.create();
  await faults.requests.kill(sessionId);
  return { faults, sessionId, installation: await made.promise };
}

/** What was refused with. */
async function refusal(request: Promise<unknown>): Promise<ApiError> {
  const error = await request.catch((caught: unknown) => caught);
  if (error instanceof ApiError) return error;
  throw new Error(`It was not refused, but answered with ${JSON.stringify(error)}.`);
}

test('INV-8 an agent whose program is missing or ends at its start is refused with a code and a reason, leaves nothing, and works once it is mended', async () => {
  const { faults, installation, sessionId } = await start();
  const reader = await faults.follow(sessionId);
  for (const { text, mode, told } of broken) {
    await installation.putClaude(text, mode);
    const refusals = [
      await refusal(faults.create()),
      await refusal(faults.requests.send(sessionId, 'Go on.')),
    ];
    for (const { code, status, message } of refusals) {
      expect({ code, status, message }).toEqual({
        code: 'SESSION_CREATE_FAILED',
        status: 502,
        message: expect.stringMatching(told),
      });
    }
    expect(faults.others).toEqual([]);
  }

  await installation.putClaude(works);
  const { turnId } = await faults.requests.send(sessionId, 'Go on.');
  await reader.ended(turnId);
  expect(reader.said(turnId)).toBe('Here I am.');
  // What was refused was not sent later either.
  expect(reader.turns).toHaveLength(1);
});

test('INV-8 an agent that hangs at its start goes with its session, or with its server', async () => {
  const { faults, installation, sessionId } = await start();
  // More than may start at once.
  const sessions = [sessionId, await faults.create(), await faults.create()];
  for (const id of sessions) await faults.requests.kill(id);
  await installation.putClaude(hangs);
  const sending = sessions.map((id) => refusal(faults.requests.send(id, 'Go on.')));
  await expect.poll(() => faults.others).toEqual(Array(2).fill('tail -f /dev/null'));
  for (const id of sessions) await faults.requests.kill(id);
  for (const { code } of await Promise.all(sending)) expect(code).toBe('SESSION_CREATE_FAILED');
  expect(faults.others).toEqual([]);

  const creating = refusal(faults.create());
  await expect.poll(() => faults.others).toEqual(['tail -f /dev/null']);
  expect(await faults.server.stop()).toBe(0);
  expect(faults.census.take()).toEqual([]);
  expect((await creating).code).toBe('SESSION_CREATE_FAILED');
});

test('INV-8 two who want a session at once get one agent', async () => {
  const script = byPrompt({ 'Go on.': [reply('Here I am.')] });
  const faults = await FaultServer.start({ script });
  const sessionId = await faults.create();
  const reader = await faults.follow(sessionId);
  await faults.requests.kill(sessionId);
  const [{ turnId }] = await Promise.all([
    faults.requests.send(sessionId, 'Go on.'),
    faults.requests.load(sessionId),
    faults.requests.load(sessionId),
  ]);
  await reader.ended(turnId);
  expect(faults.others).toHaveLength(1);
  await faults.requests.kill(sessionId);
  expect(faults.others).toEqual([]);
});
