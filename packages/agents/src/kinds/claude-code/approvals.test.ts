import type { CanUseTool } from '@anthropic-ai/claude-agent-sdk';
import { type ApprovalAnswer, defaultOption } from '@liminal/protocol';
import { expect, test } from 'vitest';
import type { ApprovalRequest } from '../../base/pending-approvals.ts';
import { ClaudeApprovals } from './approvals.ts';

type Context = Partial<Parameters<CanUseTool>[2]>;

function start(notesQueued = Promise.resolve(), answer?: ApprovalAnswer) {
  const opened: ApprovalRequest[] = [];
  const approvals = new ClaudeApprovals(
    {
      open: (request) => {
        opened.push(request);
        if (answer === undefined) approvals.cancelAll('turn_ended');
        else approvals.answer(request.approvalId, answer);
      },
      close: () => {},
      canAsk: () => true,
      offersAutoMode: () => false,
      titleOfSubagent: (agentId) => (agentId === 'known' ? 'Inspect the notes' : undefined),
    },
    '/project',
    { allowed: () => {}, proposals: (suggestions) => [...suggestions] },
    { allQueued: () => notesQueued },
  );
  return { approvals, opened };
}

/** The request that is shown to people for a call of `tool` in this context. */
async function asked(context: Context, tool = 'Bash', input = {}): Promise<ApprovalRequest> {
  const { approvals, opened } = start();
  const { signal } = new AbortController();
  await approvals.canUseTool(tool, input, {
    signal,
    toolUseID: 'call',
    requestId: 'request',
    ...context,
  });
  return opened[0]!;
}

test('a call with a note does not run before Claude Code has the note', async () => {
  const queued = Promise.withResolvers<void>();
  const { approvals } = start(queued.promise, { optionId: 'allow_once', note: 'Use oak.' });
  const { signal } = new AbortController();
  const context = { signal, toolUseID: 'call', requestId: 'request' };
  const order: string[] = [];
  const answered = approvals.canUseTool('Bash', {}, context).then(() => order.push('runs'));
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  order.push('queued');
  queued.resolve();
  await answered;
  expect(order).toEqual(['queued', 'runs']);
});

const input = { command: 'git push', description: 'Push it' };

test('SAFE: every reason that Claude Code gives is shown, once', async () => {
  const { description } = await asked(
    {
      decisionReason: '\u001b[1mPath is outside.\u001b[0m',
      blockedPath: '/etc',
      matchedAskRule: { source: 'userSettings', toolName: 'Bash', ruleContent: 'git push:*' },
      mcpServer: { name: 'door', source: 'project' },
      description: 'Push it',
      defaultToNo: true,
    },
    'Bash',
    input,
  );
  expect(description?.split('\n\n')).toEqual([
    'Path is outside.',
    'The path is /etc.',
    'Your settings have a rule that asks for this: Bash(git push:*).',
    'The tool belongs to the MCP server “door” (project).',
    'Claude Code wants a deliberate answer: Enter does not allow this.',
  ]);
  const other = { decisionReason: 'Not in /etc.', blockedPath: '/etc', description: 'Opens it.' };
  expect((await asked(other)).description).toBe('Not in /etc.\n\nOpens it.');
  expect(await asked({}, 'Bash', input)).not.toHaveProperty('description');
});

test('SAFE: if one key press must not allow a request, no option to allow it is the default, and one key press can refuse it', async () => {
  const { options } = await asked({ defaultToNo: true });
  expect(defaultOption(options, 'allow')).toBeUndefined();
  expect(defaultOption(options, 'reject')?.optionId).toBe('reject_once');
  expect(defaultOption((await asked({})).options, 'allow')?.optionId).toBe('allow_once');
});

test('an approval names its asker: a subagent by the subagent’s task, an MCP server by the server’s name', async () => {
  expect(await asked({})).not.toHaveProperty('askedBy');
  expect((await asked({ agentID: 'known' })).askedBy).toBe('Subagent “Inspect the notes”');
  expect((await asked({ agentID: 'other' })).askedBy).toBe('A subagent');
  const questions = [{ question: 'Which?', header: 'A', options: [], multiSelect: false }];
  const question = await asked({ agentID: 'known' }, 'AskUserQuestion', { questions });
  expect(question.askedBy).toBe('Subagent “Inspect the notes”');

  const { approvals, opened } = start();
  const { signal } = new AbortController();
  const request = { serverName: 'door', message: 'Confirm your account', title: 'Account' };
  await approvals.onElicitation(
    { ...request, mode: 'form', requestedSchema: { properties: { a: { type: 'string' } } } },
    { signal, requestId: 'request' },
  );
  expect(opened).toMatchObject([
    { title: 'Confirm your account', askedBy: 'MCP server “door”', description: 'Account' },
  ]);
});
