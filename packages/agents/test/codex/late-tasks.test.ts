/** Tasks that Codex tells of after their turn: a real one does so only by chance. */
import { setImmediate as settled } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { AppServer, type OpenThread } from '../../src/codex/app-server.ts';
import { CodexSession } from '../../src/codex/codex-session.ts';
import { Rollouts } from '../../src/codex/rollouts.ts';
import { CodexSettings, readOpened } from '../../src/codex/settings.ts';
import type { AgentProcessEvents } from '../../src/base/agent-process.ts';

interface Request {
  id: number;
  method: string;
  params: Record<string, unknown>;
}

/** A session with a turn that runs, in a Codex that answers everything with nothing. */
async function runningTurn() {
  const asked: Request[] = [];
  let events: AgentProcessEvents | undefined;
  const say = (message: object) => void events?.onLine(JSON.stringify(message));
  const server = new AppServer({
    listen: async (all) => {
      events = all;
    },
    write: (line) => {
      const request = JSON.parse(line) as Request;
      asked.push(request);
      // As a program does: later.
      queueMicrotask(() => say({ id: request.id, result: {} }));
    },
    note: () => {},
    explain: String,
    end: async () => {},
  });
  const left: OpenThread[] = [];
  const opened = readOpened({ thread: { id: 'own' }, model: 'gpt', cwd: '/project' })!;
  const session = new CodexSession({
    server,
    threadId: 'own',
    projectDir: '/project',
    output: { emit: () => {}, update: () => {}, exit: () => {} },
    settings: new CodexSettings(opened),
    rollouts: new Rollouts({ CODEX_HOME: '/nowhere' }),
    leave: async (threads) => void left.push(...threads),
  });
  server.admit('own', session);
  const turn = (method: string, threadId: string, said: object) =>
    say({ method, params: { threadId, turn: { items: [], status: 'inProgress', ...said } } });
  await session.send('Have it counted.', 'turn-1');
  turn('turn/started', 'own', { id: 'first' });
  const requests = () =>
    asked.map(({ method, params }) => [method, params['threadId'], params['turnId']]);
  return { session, turn, requests, left };
}

test('INV-8: a task of a stopped turn that begins to work later is stopped, too', async () => {
  const { session, turn, requests } = await runningTurn();
  await session.cancel();
  turn('turn/completed', 'own', { id: 'first', status: 'interrupted' });

  turn('turn/started', 'task', { id: 'second', rootTurnId: 'first' });
  await settled();

  expect(requests().slice(-2)).toEqual([
    ['turn/interrupt', 'task', 'second'],
    ['thread/backgroundTerminals/clean', 'task', undefined],
  ]);
});

test('INV-8: a task that works on after its turn goes on, and is closed with its session', async () => {
  const { session, turn, requests, left } = await runningTurn();
  turn('turn/completed', 'own', { id: 'first', status: 'completed' });

  turn('turn/started', 'task', { id: 'second', rootTurnId: 'first' });
  turn('turn/started', 'of somebody else', { id: 'third', rootTurnId: 'other' });
  await settled();

  expect(requests().filter(([method]) => method === 'turn/interrupt')).toEqual([]);
  await session.close();
  expect(left).toEqual([
    { threadId: 'own', turnId: undefined },
    { threadId: 'task', turnId: 'second' },
  ]);
});
