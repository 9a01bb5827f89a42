import type { EventDraft } from '@liminal/protocol';
import { AppServer, type OpenThread } from '../../src/kinds/codex/app-server.ts';
import { CodexSession } from '../../src/kinds/codex/codex-session.ts';
import { Rollouts } from '../../src/kinds/codex/rollouts.ts';
import { CodexSettings, readOpened } from '../../src/kinds/codex/settings.ts';
import type { AgentProcessEvents } from '../../src/base/agent-process.ts';

interface Request {
  id: number;
  method: string;
  params: Record<string, unknown>;
}

/**
 * Makes a session with a running turn in a scripted Codex, which sends what a test passes to `say`. The scripted Codex
 * answers requests with empty results, and a method given to `refuse` with an error.
 */
export async function runningTurn() {
  let refused: string | undefined;
  const asked: Request[] = [];
  const drafts: EventDraft[] = [];
  let events: AgentProcessEvents | undefined;
  let reading: void | Promise<void>;
  const send = (message: object) => {
    reading = events?.onLine(JSON.stringify(message));
  };
  const say = (method: string, threadId: string, params: object) =>
    send({ method, params: { threadId, ...params } });
  const server = new AppServer({
    listen: async (all) => {
      events = all;
    },
    write: (line) => {
      const request = JSON.parse(line) as Request;
      asked.push(request);
      // The answer arrives later, as a real program's answer does.
      const error = { code: -32_600, message: `No ${request.method} now.` };
      const answer = request.method === refused ? { error } : { result: {} };
      queueMicrotask(() => send({ id: request.id, ...answer }));
    },
    note: () => {},
    explain: String,
    end: async () => {},
  });
  const left: OpenThread[] = [];
  const openedThread = (id: string) =>
    readOpened({ thread: { id }, model: 'gpt', cwd: '/project' })!;
  const session = new CodexSession({
    server,
    threadId: 'own',
    projectDir: '/project',
    output: { emit: (draft) => void drafts.push(draft), update: () => {}, exit: () => {} },
    settings: new CodexSettings(openedThread('own')),
    rollouts: new Rollouts({ CODEX_HOME: '/nowhere' }),
    runsUserCommands: true,
    startThread: async () => openedThread('fresh'),
    leave: async (threads) => void left.push(...threads),
  });
  server.admit('own', session);
  const turn = (method: string, threadId: string, said: object) =>
    say(method, threadId, { turn: { items: [], status: 'inProgress', ...said } });
  await session.send('Have it counted.', 'turn-1');
  turn('turn/started', 'own', { id: 'first' });
  const requests = () =>
    asked.map(({ method, params }) => [method, params['threadId'], params['turnId']]);
  const gone = () => events?.onGone(new Error('It was killed.'));
  const refuse = (method: string | undefined) => {
    refused = method;
  };
  // A large line is read asynchronously.
  const lineRead = () => reading;
  return { session, refuse, lineRead, say, turn, drafts, requests, left, gone };
}
