/** Tests `liminal notify`: called by hand, and as the program that the real Codex calls. */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  answer,
  codexEnvironment,
  gate,
  held,
  makeCodexHome,
  startResponsesApi,
} from '@liminal/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { clientOf, eventually, Home } from './command.ts';

const liminal = fileURLToPath(new URL('../bin/liminal.js', import.meta.url));

async function open(env: NodeJS.ProcessEnv = {}) {
  const home = new Home();
  const client = clientOf(await home.serve([], env));
  onTestFinished(async () => {
    client.close();
    await home.close();
  });
  return { home, client };
}

const refused = (exitCode: number, named: string) => ({
  exitCode,
  stdout: '',
  stderr: expect.stringContaining(named) as unknown,
});

/** Returns Codex's notification about a thread and a turn. */
const said = (thread: string, turn: string, type = 'agent-turn-complete') =>
  JSON.stringify({ type, 'thread-id': thread, 'turn-id': turn, cwd: '/', 'input-messages': [] });

test('FR-039-06: `notify` ends the running turn and prints its id, or reports that no turn runs', async () => {
  const { home, client } = await open();
  const { requests } = client;
  const { sessionId } = await requests.createSession({
    cliType: 'demo',
    projectDir: home.project,
  });
  const { turnId } = await requests.send(sessionId, 'build');
  expect(await home.play('notify', sessionId, '--turn', 'earlier')).toEqual(
    refused(1, 'The running turn is not earlier'),
  );
  const command = home.start(['notify', sessionId]);
  expect(await command.exitCode).toBe(0);
  expect(command.stdout).toBe(`${turnId}\n`);
  expect(await requests.getRun(turnId)).toMatchObject({
    status: 'complete',
    finishReason: 'notified',
  });

  expect(await home.play('notify', sessionId)).toEqual(refused(1, 'No turn is running.'));
  expect(await home.play('notify', 'nobody')).toEqual(refused(1, 'There is no session nobody.'));
  expect(await home.play('notify', '{"type": 7}')).toEqual(
    refused(2, 'neither a session’s id nor'),
  );
  // Codex also sends notifications after turns of other clients. `notify` must not treat these notifications as errors.
  const quiet = { exitCode: 0, stdout: '', stderr: '' };
  expect(await home.play('notify', said('nobody', 'x'))).toEqual(quiet);
  expect(await home.play('notify', said(sessionId, 'x'))).toEqual(quiet);
  expect(await home.play('notify', said(sessionId, 'x', 'something-new'))).toEqual(quiet);
});

test('`notify` starts no server. If no server runs, it reports this when called by hand, and prints nothing when called by Codex', async () => {
  const home = new Home();
  onTestFinished(() => home.close());
  expect(await home.play('notify', 'x')).toEqual(refused(1, 'No server runs'));
  const quiet = { exitCode: 0, stdout: '', stderr: '' };
  expect(await home.play('notify', said('x', 'y'))).toEqual(quiet);
});

/** Returns the ids of the turns in the only thread of a Codex home, oldest first, and the thread's id. */
function storedIn(codexHome: string): { thread: string; turns: string[] } {
  const files = readdirSync(join(codexHome, 'sessions'), { recursive: true, encoding: 'utf8' });
  const rollout = files.find((file) => file.endsWith('.jsonl')) ?? '';
  const lines = readFileSync(join(codexHome, 'sessions', rollout), 'utf8')
    .trimEnd()
    .split('\n');
  const read = lines.map((line) => JSON.parse(line) as { type: string; payload: object });
  const turns = read.flatMap(({ type, payload }) =>
    type === 'turn_context' && 'turn_id' in payload ? [String(payload.turn_id)] : [],
  );
  return { thread: rollout.slice(-'.jsonl'.length - 36, -'.jsonl'.length), turns };
}

test('FR-039-06: a notification of the real Codex does not end a later turn, but ends the turn that it names if that turn is still waiting', async () => {
  const never = gate();
  const api = await startResponsesApi({
    script: [answer('One.'), answer('Two.'), held(never, answer('Never.')), answer('Four.')],
  });
  const codexHome = new Home();
  onTestFinished(async () => {
    never.open();
    await api.close();
    await codexHome.close();
  });
  const env = codexEnvironment(codexHome.folder);
  const [folder, log] = [join(codexHome.folder, '.codex'), join(codexHome.folder, 'notified')];
  await makeCodexHome(folder, api.url);
  await mkdir(env['TMPDIR'] ?? folder, { recursive: true });
  const { home, client } = await open(env);
  const run = `"${process.execPath}" "${liminal}" notify --data "${home.data}" "$1"`;
  const program = ['/bin/sh', '-c', `echo "$1 $(${run} 2>&1) $?" >> "${log}"`, 'notify'];
  const config = await readFile(join(folder, 'config.toml'), 'utf8');
  await writeFile(join(folder, 'config.toml'), `notify = ${JSON.stringify(program)}\n${config}`);
  const { requests } = client;
  const { sessionId } = await requests.createSession({
    cliType: 'codex',
    projectDir: home.project,
  });
  const ended = async (message: string) => {
    const { turnId } = await requests.send(sessionId, message);
    await eventually(async () => (await requests.getRun(turnId)).status).toBe('complete');
  };
  const notified = async () => (await readFile(log, 'utf8')).trimEnd().split('\n');

  await ended('First.');
  await eventually(async () => notified().catch(() => [])).toHaveLength(1);
  await ended('Second.');
  await eventually(notified).toHaveLength(2);
  const { thread, turns } = storedIn(folder);
  for (const [at, line] of (await notified()).entries()) {
    const [json = '', ...said] = line.split(/(?<=\}) /);
    expect(JSON.parse(json)).toMatchObject({
      type: 'agent-turn-complete',
      'thread-id': thread,
      'turn-id': turns[at],
    });
    // The command printed nothing and exited with 0.
    expect(said.join('').trim()).toBe('0');
  }

  const { turnId } = await requests.send(sessionId, 'Third.');
  await eventually(() => storedIn(folder).turns).toHaveLength(3);
  expect(await home.play('notify', said(thread, turns[1]!))).toMatchObject({ stdout: '' });
  expect((await requests.getRun(turnId)).status).toBe('in_progress');
  const third = said(thread, storedIn(folder).turns[2]!);
  expect(await home.play('notify', third)).toMatchObject({ stdout: `${turnId}\n` });
  expect((await requests.getRun(turnId)).finishReason).toBe('notified');
  await ended('Fourth.');
});
