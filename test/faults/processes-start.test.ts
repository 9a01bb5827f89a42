import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testAtLength } from '@liminal/testkit/at-length';
import { ApiError } from '@liminal/client';
import { byPrompt, gate, reply, text } from '@liminal/testkit';
import { afterAll, expect, test } from 'vitest';
import { Installation, realClaude } from './installation.ts';
import { shareServer } from './server.ts';

const works = `#!/bin/sh\nexec ${realClaude} "$@"\n`;
const hangs = '#!/bin/sh\nexec tail -f /dev/null\n';

/** An agent whose child process holds the agent's input and outputs open, and ignores signals to end. */
const holder = `#!/bin/sh
setsid -f sh -c 'trap "" TERM; exec tail -f /dev/null'
exec ${realClaude} "$@"
`;

/** Programs that do not become an agent, each with the expected error message. */
const broken: { text?: string; mode?: number; expected: RegExp }[] = [
  { expected: /not found. Reinstall/ },
  { text: works, mode: 0o644, expected: /failed to launch/ },
  { text: 'exit 4', expected: /exited with code 4/ },
  {
    text: '#!/bin/sh\nsetsid -f tail -f /dev/null\necho "Out of luck." >&2\nexit 3\n',
    expected: /exited with code 3.*Out of luck/,
  },
];

const script = byPrompt({
  'Go on.': [reply('Here I am.')],
  'Talk.': [reply(text(['So far', gate(), ' so good.']))],
});

let folder: string;
let installation: Installation;

/** A server whose Claude Code program can be broken. A test that breaks the program must restore a working program. */
const shared = shareServer(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'liminal-installed-')));
  installation = await Installation.make(folder);
  await installation.putClaude(works);
  return { script, program: installation.liminal };
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

/** Returns the error with which a request was rejected. */
async function refusal(request: Promise<unknown>): Promise<ApiError> {
  const error = await request.catch((caught: unknown) => caught);
  if (error instanceof ApiError) return error;
  throw new Error(`The request was not rejected, but answered with ${JSON.stringify(error)}.`);
}

test('INV-8 if an agent’s program is missing or ends at its start, the message is rejected with a code and a reason, and no process is left; when the program is repaired, the agent works', async () => {
  const { faults, sessionId } = shared;
  const reader = await faults.follow(sessionId);
  await faults.requests.kill(sessionId);
  for (const { text: program, mode, expected } of broken) {
    await installation.putClaude(program, mode);
    const refusals = [
      await refusal(faults.create()),
      await refusal(faults.requests.send(sessionId, 'Go on.')),
    ];
    for (const { code, status, message } of refusals) {
      expect({ code, status, message }).toEqual({
        code: 'SESSION_CREATE_FAILED',
        status: 502,
        message: expect.stringMatching(expected),
      });
    }
    expect(faults.others).toEqual([]);
  }

  await installation.putClaude(works);
  const { turnId } = await faults.requests.send(sessionId, 'Go on.');
  await reader.ended(turnId);
  expect(reader.agentText(turnId)).toBe('Here I am.');
  // The rejected message must not have become a turn later.
  expect(reader.turns).toHaveLength(1);
});

test('INV-2 INV-8 if an agent is killed while its child process holds its output, the turn ends at once, and the child process ends too', async () => {
  const { faults, sessionId } = shared;
  await faults.requests.kill(sessionId);
  await installation.putClaude(holder);
  const reader = await faults.follow(sessionId);
  const { turnId } = await faults.requests.send(sessionId, 'Talk.');
  await reader.until(() => reader.agentText(turnId) === 'So far');
  process.kill(faults.agentPid(sessionId), 'SIGKILL');
  const turn = await reader.ended(turnId);
  expect(turn).toMatchObject({ status: 'error', error: { code: 'PROCESS_CRASH' } });
  expect(reader.agentText(turnId)).toBe('So far');
  await expect.poll(() => faults.others, { timeout: 30_000 }).toEqual([]);

  const next = await faults.requests.send(sessionId, 'Go on.');
  await reader.ended(next.turnId);
  expect(reader.agentText(next.turnId)).toBe('Here I am.');
  await faults.requests.kill(sessionId);
  expect(faults.others).toEqual([]);
  await installation.putClaude(works);
});

testAtLength(
  'INV-8 if an agent hangs at its start, it ends with its session or with its server',
  async () => {
    const { faults } = shared;
    // These are more sessions than may start at the same time.
    const sessions = [shared.sessionId, await faults.create(), await faults.create()];
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
  },
);
