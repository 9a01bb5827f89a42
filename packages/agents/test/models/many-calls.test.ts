/** Tests one answer with a hundred calls: every call gets an output, and few calls run at the same time. */
import { readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextRound } from 'node:timers/promises';
import type { Response } from '@liminal/protocol';
import { afterEach, expect, test } from 'vitest';
import { DriverProvider } from '../../src/base/driver-provider.ts';
import type { CliProvider } from '../../src/contract/provider.ts';
import { createModelDrivers } from '../../src/own/loop/model-driver.ts';
import { loudEcho } from '../../src/own/loop/testing/echo.ts';
import { calls, repliesWith, ScriptedClient } from '../../src/own/loop/testing/scripted-client.ts';
import { foldTurn } from '../../src/testing/folding.ts';
import { Watch } from '../../src/testing/watch.ts';
import { type BuiltInOptions, builtInTools } from '../../src/own/tools/index.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const many = (times: number, name: string, input: unknown) =>
  calls(...Array.from({ length: times }, (): [string, unknown] => [name, input]));

async function open(
  mode: string,
  answers: ReturnType<typeof many>[],
  options: BuiltInOptions = {},
) {
  const projectDir = await realpath(await mkdtemp(join(tmpdir(), 'liminal-many-')));
  ends.push(() => rm(projectDir, { recursive: true, force: true }));
  const client = new ScriptedClient([...answers, ...answers.map(() => repliesWith('Done.'))]);
  const servers = [{ name: 'openai', title: 'OpenAI', client, model: 'one' }];
  const [provider] = createModelDrivers({
    servers,
    tools: [...builtInTools(options), loudEcho],
  }).map((driver) => new DriverProvider(driver));
  if (provider === undefined) throw new Error('No provider was created.');
  ends.push(() => provider.close());
  const session = async (sessionId: string) => {
    const watch = new Watch(provider, sessionId);
    await provider.createSession({ sessionId, projectDir, config: { mode } });
    const send = async () => (await provider.sendMessage(sessionId, 'Go')).turnId;
    const done = async (turnId: string): Promise<Response> => {
      await watch.ended(turnId);
      return foldTurn(watch.events, turnId);
    };
    return { watch, send, done };
  };
  return { projectDir, provider, session };
}

const outputsOf = ({ outputItems }: Response) =>
  outputItems.flatMap((item) => (item.type === 'function_call_output' ? item : []));

const threadsNow = (): number => readdirSync('/proc/self/task').length;

/** Counts the session's running scripts, and answers every question with "allow". */
function follow(provider: CliProvider, sessionId: string) {
  const seen = { scripts: 0, mostScripts: 0, mostThreads: threadsNow(), asked: new Set<string>() };
  provider.onEvent(sessionId, ({ payload }) => {
    if (payload.type === 'script_execution_start') seen.scripts += 1;
    if (/^script_execution_(done|error)$/.test(payload.type)) seen.scripts -= 1;
    seen.mostScripts = Math.max(seen.mostScripts, seen.scripts);
    seen.mostThreads = Math.max(seen.mostThreads, threadsNow());
    const id = 'approvalId' in payload ? payload.approvalId : undefined;
    if (id === undefined || seen.asked.has(id)) return;
    seen.asked.add(id);
    const answer = async () => provider.answerApproval?.(sessionId, id, { optionId: 'allow' });
    setImmediate(() => void answer());
  });
  return seen;
}

const script = (code: string) => ({ code });
const asksPeople = script("return await tools.echo({ text: 'loud' });");

test('a hundred scripts whose calls wait for people use few threads, and each gets an output', async () => {
  const { provider, session } = await open('ask', [many(100, 'run_script', asksPeople)]);
  const { send, done } = await session('s');
  const before = threadsNow();
  const seen = follow(provider, 's');
  const outputs = outputsOf(await done(await send()));
  const ofScripts = outputs.filter(({ parentCallId }) => parentCallId === undefined);
  expect(ofScripts.filter(({ success }) => success)).toHaveLength(100);
  expect(outputs).toHaveLength(200);
  expect(seen.asked.size).toBe(100);
  expect(seen.mostScripts).toBe(4);
  // Node also starts some threads of its own.
  expect(seen.mostThreads - before).toBeLessThan(30);
});

test('while scripts of one session wait for people, scripts of other sessions can run', async () => {
  const stored = await open('ask', [
    many(20, 'run_script', asksPeople),
    many(20, 'run_script', script('return 1')),
  ]);
  const [waiting, other] = [await stored.session('waiting'), await stored.session('other')];
  const turnId = await waiting.send();
  await waiting.watch.event(turnId, 'script_execution_start');
  const outputs = outputsOf(await other.done(await other.send()));
  expect(outputs.filter(({ output }) => output === '1')).toHaveLength(20);
  await stored.provider.cancelTurn('waiting');
  const stopped = outputsOf(await waiting.done(turnId));
  // Scripts that were waiting for a free place get an output, but never started.
  const begun = waiting.watch.events.filter(
    ({ payload }) => payload.type === 'script_execution_start',
  );
  expect(begun).toHaveLength(4);
  expect(stopped.filter(({ parentCallId }) => parentCallId === undefined)).toHaveLength(20);
});

/**
 * A shell script that logs how many of its processes run at the same time; the first processes wait for the file `go`.
 */
const countsItself = (folder: string): string =>
  `cd '${folder}'; touch running/$$; until [ -e go ]; do sleep 0.1; done; ls running | wc -l >> counts; rm running/$$`;

/**
 * Makes a folder for the script. `peak` creates `go` when eight processes are running, and returns the largest number
 * that ran at the same time.
 */
async function counting() {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'liminal-counting-')));
  ends.push(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, 'running'));
  const program = join(folder, 'program');
  await writeFile(program, `#!/bin/sh\n${countsItself(folder)}\nexit 1\n`, { mode: 0o755 });
  const peak = async (turn: Promise<unknown>): Promise<number> => {
    while ((await readdir(join(folder, 'running'))).length < 8) await nextRound();
    await writeFile(join(folder, 'go'), '');
    await turn;
    const counts = (await readFile(join(folder, 'counts'), 'utf8')).trim().split('\n').map(Number);
    expect(counts).toHaveLength(100);
    return Math.max(...counts);
  };
  return { program, command: countsItself(folder), peak };
}

test('of a hundred commands at most eight run at the same time, and each gets an output', async () => {
  const { command, peak } = await counting();
  const { session } = await open('all', [many(100, 'bash', { command })]);
  const { send, done } = await session('s');
  const turn = done(await send());
  expect(await peak(turn)).toBe(8);
  expect(outputsOf(await turn).filter(({ success }) => success)).toHaveLength(100);
});

test('of a hundred searches at most eight run at the same time, and each gets an output', async () => {
  const { program, peak } = await counting();
  const search = { findProgram: async () => program, timeLimit: 300_000 };
  const { session } = await open('ask', [many(100, 'search', { pattern: 'x' })], { search });
  const { send, done } = await session('s');
  const turn = done(await send());
  expect(await peak(turn)).toBe(8);
  expect(outputsOf(await turn).map(({ output }) => output)).toEqual(
    Array(100).fill('Nothing matches.'),
  );
});

test('calls over the limit for one answer get an output but are not run', async () => {
  const { projectDir, session } = await open('all', [
    many(150, 'bash', { command: 'echo x >> ran' }),
  ]);
  const { send, done } = await session('s');
  const outputs = outputsOf(await done(await send()));
  expect(outputs).toHaveLength(150);
  const refused = outputs.filter(({ output }) => output.includes('at most 128 calls'));
  expect(refused).toHaveLength(22);
  expect(refused.every(({ success }) => !success)).toBe(true);
  expect(await readFile(join(projectDir, 'ran'), 'utf8')).toBe('x\n'.repeat(128));
});
