import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  gate,
  reply,
  text,
  thinking,
  toolUse,
  withSubagents,
  apiError,
  claudeEnvironment,
  type Script,
  type Workspace,
} from '@liminal/testkit';
import {
  emptyResponse,
  foldResponse,
  isTerminal,
  stampEvent,
  toResponse,
  type OutputItem,
  type Response,
} from '@liminal/protocol';
import { expect, test } from 'vitest';
import type { StoredTurn } from '../../src/contract/provider.ts';
import {
  runClaude,
  messagesOf,
  shareClaude,
  type ClaudeListener,
  type RunningClaude,
} from './running-claude.ts';

function fold({ turnId, events }: StoredTurn): Response {
  const run = {
    sessionId: 's',
    runId: turnId,
    traceContext: { traceparent: `00-${'1'.repeat(32)}-${'1'.repeat(16)}-01` },
  };
  return toResponse(
    events.reduce(
      (state, draft, seq) => foldResponse(state, stampEvent(draft, run, seq)),
      emptyResponse(),
    ),
  )!;
}

/** An item's content, without times and ids. */
const content = (item: OutputItem): unknown => {
  const { id: _, startedAt: _start, endedAt: _end, ...rest } = item;
  return rest;
};

const share = shareClaude({ files: { 'notes.txt': 'one\n' } });

/** The stored turns of a session, from a given turn on. */
async function read(
  { provider, workspace }: Pick<RunningClaude, 'provider' | 'workspace'>,
  { sessionId }: ClaudeListener,
  firstTurn: string,
): Promise<StoredTurn[]> {
  const turns = await provider.readStoredHistory(sessionId, workspace.projectDir);
  return turns.slice(turns.findIndex(({ turnId }) => turnId === firstTurn));
}

const busyTurn = ({ projectDir }: Workspace): Script =>
  withSubagents(
    [
      reply([
        thinking('Hm.'),
        text('Reading.'),
        toolUse('Read', { file_path: join(projectDir, 'notes.txt') }),
      ]),
      reply([
        text('Delegating.'),
        toolUse('Agent', {
          description: 'Look',
          prompt: 'an errand',
          subagent_type: 'general-purpose',
          run_in_background: false,
        }),
      ]),
      reply('All done.'),
      reply('Second answer.'),
    ],
    {
      'an errand': [
        reply([text('Looking.'), toolUse('Bash', { command: 'echo looked' })]),
        reply('Nothing there.'),
      ],
    },
  );

test('a session made by Claude Code alone can be read and continued, and is listed before older sessions, of one folder and of all', async () => {
  const { api, listener: older, provider, workspace } = share(() => () => reply('From here.'));
  await older.ask('The older one.');
  const program = createRequire(import.meta.url).resolve(
    `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/claude`,
  );
  const env = claudeEnvironment(workspace.home, api.url);
  const { projectDir } = workspace;
  const claude = promisify(execFile)(program, ['-p', 'Hello from a terminal.'], {
    cwd: projectDir,
    env,
  });
  claude.child.stdin?.end();
  await claude;

  const listed = await provider.listStoredSessions(projectDir);
  expect(listed).toMatchObject([
    { projectDir, title: 'Hello from a terminal.' },
    { projectDir, sessionId: older.sessionId, title: 'The older one.' },
  ]);
  expect(Date.parse(listed[0]!.createdAt)).toBeGreaterThan(Date.parse(listed[1]!.createdAt));
  expect(await provider.listStoredSessions()).toEqual(listed);
  expect(await provider.listStoredSessions(workspace.home)).toEqual([]);

  const { sessionId } = listed[0]!;
  const turns = (await provider.readStoredHistory(sessionId, projectDir)).map(fold);
  expect(turns.map(messagesOf)).toEqual([['user: Hello from a terminal.', 'agent: From here.']]);
  await provider.loadSession(sessionId, { projectDir });
  await provider.sendMessage(sessionId, 'And from here.');
  const request = await api.request(({ prompt }) => prompt === 'And from here.');
  expect(JSON.stringify(request.body.messages)).toContain('Hello from a terminal.');
});

test('stored history has the same turns and ids as the live turns; each turn has one start and one end, and every item ended', async () => {
  const { listener, ...claude } = share(busyTurn);
  const first = await listener.ask('Do a lot.');
  const second = await listener.ask('And more.');
  const turns = await read(claude, listener, first.turnId);
  expect(turns.map(({ turnId }) => turnId)).toEqual([first.turnId, second.turnId]);
  for (const [index, live] of [first, second].entries()) {
    const stored = fold(turns[index]!);
    expect(stored).toMatchObject({ status: 'complete', modelId: live.modelId });
    const withoutReport = (item: OutputItem): boolean => item.type !== 'function_call_output';
    expect(stored.outputItems.filter(withoutReport).map(content)).toEqual(
      live.outputItems.filter(withoutReport).map(content),
    );
    expect(stored.outputItems).toHaveLength(live.outputItems.length);
    expect(Math.abs(stored.createdAt - live.createdAt)).toBeLessThan(5_000);
  }
  for (const { events } of turns) {
    const types = events.map(({ payload }) => payload.type);
    expect(types[0]).toBe('response_start');
    expect(events.findIndex(({ payload }) => isTerminal(payload))).toBe(events.length - 1);
    const count = (type: string): number => types.filter((one) => one === type).length;
    expect(count('item_start')).toBe(count('item_done'));
  }
});

test('interrupted turns, failed turns and commands are recognised in stored history', async () => {
  const halfway = gate();
  const answers = [
    reply(text(['Half ', halfway, 'way'])),
    apiError(400, 'Not that.'),
    apiError(400, 'Not that.'),
  ];
  let next = 0;
  const { listener, ...claude } = share(() => () => {
    return answers[Math.min(next++, answers.length - 1)]!;
  });
  const { turnId } = await listener.send('Talk.');
  await listener.event(({ type }) => type === 'item_delta');
  await claude.provider.cancelTurn(listener.sessionId);
  await listener.ended(turnId);
  await listener.ask('Fail.');
  await listener.ask('/context all');
  const turns = (await read(claude, listener, turnId)).map(fold);
  expect(turns.map(({ status }) => status)).toEqual(['aborted', 'error', 'complete']);
  expect(messagesOf(turns[0]!)).toEqual(['user: Talk.', 'agent: Half ']);
  expect(turns[1]?.error?.message).toContain('Not that.');
  expect(messagesOf(turns[2]!)[0]).toBe('user: /context all');
});

test('a turn that the agent began by itself is a separate turn in stored history', async () => {
  const { listener, ...claude } = share(() => [
    reply(toolUse('Bash', { command: 'sleep 0.5; echo finished', run_in_background: true })),
    reply('Started.'),
    reply('It has finished.'),
  ]);
  const { turnId } = await listener.ask('Start it.');
  const start = await listener.event(
    (payload) => payload.type === 'response_start' && payload.trigger === 'agent',
  );
  await listener.ended(start.turnId);
  const turns = (await read(claude, listener, turnId)).map(fold);
  expect(turns.map(({ trigger }) => trigger)).toEqual(['user', 'agent']);
  expect(messagesOf(turns[1]!)).toEqual([
    'system: Background command "sleep 0.5; echo finished" completed (exit code 0)',
    'agent: It has finished.',
  ]);
});

test('reading starts no process, and an unknown session is not found', async () => {
  const { provider, workspace } = await runClaude(() => []);
  await expect(
    provider.readStoredHistory(randomUUID(), workspace.projectDir),
  ).rejects.toMatchObject({
    code: 'SESSION_NOT_FOUND',
  });
});
