import type { LiminalClient, SessionView, TurnView } from '@liminal/client';
import type { ApprovalUpsert } from '@liminal/protocol';
import { afterEach, expect, test, vi } from 'vitest';
import { PrintedTurn } from './run.ts';

afterEach(() => vi.restoreAllMocks());

const at = '2026-01-01T00:00:00.000Z';
const base = { sessionId: 's', sourceTimestamp: at, emittedAt: at } as const;

function asks(turnId: string, rest: Partial<ApprovalUpsert> = {}): ApprovalUpsert {
  const options = [{ optionId: 'no', name: 'Refuse', kind: 'reject_once' as const }];
  const question = { approvalId: 'p', callId: 'c', title: 'Run it?', options };
  const itemId = `${turnId}:approval:p`;
  return { ...base, type: 'approval', turnId, itemId, status: 'create', ...question, ...rest };
}

const outcome = { outcome: 'cancelled', reason: 'turn_ended' } as const;
const error = { code: 'OWNER_LOST', message: 'The server stopped.' };
const closed = asks('t1', { status: 'complete', outcome });
/**
 * The turn before the end of its server (`asking`), the same turn after the end of its server (`cut`), and the turn
 * that continues it (`next`).
 */
const asking: TurnView = { turnId: 't1', status: 'in_progress', items: [asks('t1')] };
const cut: TurnView = { turnId: 't1', status: 'error', error, items: [closed] };
const next: TurnView = {
  turnId: 't2',
  trigger: 'agent',
  status: 'in_progress',
  items: [asks('t2')],
};
const answer = { ...base, turnId: 't2', itemId: 'm', status: 'complete' } as const;
const message = { ...answer, type: 'message', content: 'Then not.', origin: 'agent' } as const;
const over: TurnView = { ...next, status: 'complete', items: [message] };

class Server {
  /** Called for each answer to a question, with the question's id. */
  take: (approvalId: string) => Promise<void> = async () => {};
  choose: (answer: unknown) => void = () => {};
  readonly answered: string[] = [];
  stopped = 0;
  #turns: readonly TurnView[] = [];
  #look = () => {};

  show(...turns: TurnView[]): void {
    this.#turns = turns;
    this.#look();
  }

  get client(): LiminalClient {
    const view = () => ({ phase: 'ready', turns: this.#turns }) as unknown as SessionView;
    const subscribe = (look: () => void) => {
      this.#look = look;
      return () => {};
    };
    const answerApproval = async (_: string, approvalId: string, answer: unknown) => {
      this.answered.push(approvalId);
      this.choose(answer);
      await this.take(approvalId);
    };
    return {
      session: () => ({ subscribe, getSnapshot: view }),
      connection: { subscribe: () => () => {}, getSnapshot: () => ({ state: 'open' }) },
      requests: { answerApproval, cancel: async () => void (this.stopped += 1) },
    } as unknown as LiminalClient;
  }
}

/** Runs `liminal run` on the turn that asks a question. Returns the command's exit code and output. */
function follow(server: Server, first: TurnView[] = [asking]) {
  const said: string[] = [];
  const written: string[] = [];
  vi.spyOn(console, 'error').mockImplementation((text: string) => void said.push(text));
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  server.show(...first);
  const exitCode = new PrintedTurn(server.client, 's', 't1', false).follow();
  return { exitCode, said, written };
}

test('if a turn is cut off because its server ended, `run` follows the turn that continues it, and asks the continued turn’s question again', async () => {
  const server = new Server();
  server.take = async () => {
    throw new Error('The server is away.');
  };
  const { exitCode, said, written } = follow(server);
  await expect.poll(() => said).toContain('The server is away.');

  server.take = async () => {};
  server.show(cut, next);
  await expect.poll(() => server.answered).toEqual(['p', 'p']);
  server.show(cut, over);
  expect(await exitCode).toBe(0);
  expect(written.join('')).toContain('Then not.');
  expect(said).toContain('! The server stopped here; the turn continues below.');
  expect(said.join('\n')).not.toMatch(/turn failed|turn_ended/);
});

test('if another turn continues a turn with an open question, the question is asked only once', async () => {
  const server = new Server();
  const taken = Promise.withResolvers<void>();
  server.take = () => taken.promise;
  const { exitCode, said } = follow(server);
  server.show(cut, next);
  taken.resolve();
  server.show(cut, over);
  expect(await exitCode).toBe(0);
  expect(server.answered).toEqual(['p']);
  expect(said.filter((line) => line.includes('Run it?'))).toHaveLength(1);
});

test('SAFE: if nobody can answer a request that has no rejecting option, the turn is stopped', async () => {
  const server = new Server();
  const { exitCode, said } = follow(server);
  const options = [{ optionId: 'ever', name: 'Always', kind: 'allow_always' as const }];
  const asked = asks('t1', { itemId: 'q', approvalId: 'q', options });
  server.show({ turnId: 't1', status: 'in_progress', items: [asked] });
  await expect.poll(() => server.stopped).toBe(1);
  server.show({ turnId: 't1', status: 'aborted', items: [] });
  expect(await exitCode).toBe(1);
  expect(server.answered).toEqual(['p']);
  expect(said).toContain('There is no terminal for an answer, so the turn was stopped: Run it?');
});

test('if nobody is at the terminal, the turn starts without the settings of the project folder', async () => {
  const options = [
    { optionId: 'use', name: 'Use them', kind: 'allow_always' as const },
    { optionId: 'without', name: 'Start without them', kind: 'reject_once' as const },
  ];
  const call = {
    ...base,
    type: 'tool_call',
    turnId: 'q',
    itemId: 'c',
    callId: 'c',
    status: 'complete',
    toolName: 'use_project_settings',
    toolArguments: { '.mcp.json': '{}' },
  } as const;
  const before: TurnView = {
    turnId: 'q',
    trigger: 'agent',
    status: 'in_progress',
    items: [call, asks('q', { approvalId: 'settings', options })],
  };
  const other: TurnView = { turnId: 'o', status: 'in_progress', items: [asks('o')] };
  const server = new Server();
  const chosen: unknown[] = [];
  server.choose = (answer) => void chosen.push(answer);
  const { exitCode } = follow(server, [other]);
  server.show(other, before);
  await expect.poll(() => server.answered).toEqual(['settings']);
  expect(chosen.at(-1)).toEqual({ optionId: 'without' });
  server.show({ ...before, status: 'complete' }, { ...over, turnId: 't1' });
  expect(await exitCode).toBe(0);
});
