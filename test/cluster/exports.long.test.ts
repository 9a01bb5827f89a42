/** Exports in a cluster whose events a separate projector archives. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { emptyResponse, foldResponse, readExport, toResponse } from '@liminal/protocol';
import { byPrompt, reply, text } from '@liminal/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { Cluster, type Member } from './cluster.ts';

const main = fileURLToPath(new URL('../../packages/cli/bin/liminal.js', import.meta.url));
const words = 'Each of these words is sent in a piece of its own, and each piece is an event.';

test('a server that never owned a session exports it, with every event that the projector archived; after an import on another server, all servers show the session', async () => {
  const script = byPrompt({ 'Hello.': [reply(text(words, { chunk: 5, delayMs: 40 }))] });
  const config = { projector: false, keepEvents: true };
  const cluster = await Cluster.start({ servers: 2, script, config });
  const [a, b] = cluster.members as [Member, Member];
  const { env, dataDir } = cluster;
  const projector = spawn(process.execPath, [main, 'projector', '--data', dataDir], { env });
  const exited = once(projector, 'exit');
  onTestFinished(() => void projector.kill('SIGKILL'));
  const sessionId = await cluster.create(a);
  const reader = await a.follow(sessionId);
  const { turnId } = await a.requests.send(sessionId, 'Hello.');
  expect(await reader.ended(turnId)).toMatchObject({ status: 'complete' });
  await expect.poll(async () => runsOf(b, sessionId)).toHaveLength(1);
  await a.server.crash();

  const [run] = await runsOf(b, sessionId);
  const { events = [] } = run!;
  expect(events.filter(({ type }) => type === 'item_delta').length).toBeGreaterThan(5);
  expect(toResponse(events.reduce(foldResponse, emptyResponse()))).toEqual(run!.run);
  expect(await b.requests.getRun(turnId)).toEqual(run!.run);

  const file = await new Response(await b.requests.exportSession(sessionId)).blob();
  await b.requests.deleteSession(sessionId);
  const imported = await b.requests.importSession(file);
  await a.server.restart();
  const [again] = await runsOf(a, imported.sessionId);
  const later = await a.follow(imported.sessionId);
  await later.until((one) => one.agentText(again!.run.turnId) === words);
  expect(again?.events?.map(({ payload }) => payload)).toEqual(
    events.map(({ payload }) => payload),
  );
  await expect(a.requests.send(imported.sessionId, 'More.')).rejects.toMatchObject({
    code: 'NOT_SUPPORTED',
  });
  projector.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});

/** Returns the finished runs in a session’s file. */
async function runsOf({ requests }: Member, sessionId: string) {
  const file = await requests.exportSession(sessionId);
  const parts = await Array.fromAsync(readExport(textOf(file)));
  return parts.flatMap((part) =>
    part.type === 'run' && part.run.status === 'complete' ? [part] : [],
  );
}

async function* textOf(file: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  for await (const piece of file) yield decoder.decode(piece, { stream: true });
}
