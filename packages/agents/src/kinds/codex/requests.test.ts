/** Tests the answers to Codex' requests, in the types of `codex app-server generate-ts` (0.169). */
import type { ApprovalOutcome } from '@liminal/protocol';
import { expect, test } from 'vitest';
import type { ApprovalQuestion } from '../../base/pending-approvals.ts';
import { CodexRequests } from './requests.ts';

const place = { threadId: 'own', turnId: 'first', itemId: 'call', startedAtMs: 0 };
const command = {
  ...place,
  kind: 'command',
  environmentId: 'local',
  reason: 'It makes a file.',
  command: 'touch made.txt',
  cwd: '/project',
};
const allow = { host: 'example.org', action: 'allow' };
const deny = { host: 'example.org', action: 'deny' };
const network = {
  ...command,
  reason: null,
  command: null,
  networkApprovalContext: { host: 'example.org', protocol: 'https' },
  proposedNetworkPolicyAmendments: [allow, deny],
  availableDecisions: [
    'accept',
    'acceptForSession',
    { applyNetworkPolicyAmendment: { network_policy_amendment: allow } },
    'cancel',
  ],
};

/** Returns the question to people, and the answer to Codex. Without `optionId`, the question is withdrawn. */
async function asked(kind: string, params: object, optionId?: string) {
  let question: ApprovalQuestion | undefined;
  const outcome: ApprovalOutcome =
    optionId === undefined
      ? { outcome: 'cancelled', reason: 'turn_ended' }
      : { outcome: 'selected', optionId };
  const requests = new CodexRequests(async (one) => {
    question = one;
    return outcome;
  });
  const { signal } = new AbortController();
  const answer = await requests.serve(`item/${kind}/requestApproval`, params, signal);
  const options = question?.options.map((option) => option.optionId);
  return { answer, options, question };
}

test.each(['accept', 'acceptForSession', 'decline'])(
  'the decision %s about a command without proposed rules is sent unchanged',
  async (decision) => {
    const { answer, options, question } = await asked('commandExecution', command, decision);
    expect(options).toEqual(['accept', 'acceptForSession', 'decline']);
    expect(question).toMatchObject({
      title: 'Run touch made.txt',
      description: 'It makes a file.',
      callId: 'call',
    });
    expect(answer).toEqual({ decision });
  },
);

test.each([
  ['all of it', "/bin/bash -lc 'touch made.txt'", 'touch made.txt', 'touch made.txt'],
  ['quotes in it', `/bin/bash -lc "echo 'a'"`, "echo 'a'", "echo 'a'"],
  ['a part', "/bin/bash -lc 'cd / && cat a'", 'cat a', "/bin/bash -lc 'cd / && cat a'"],
  ['something else', "/bin/bash -lc 'curl evil'", 'ls', "/bin/bash -lc 'curl evil'"],
  ['another program', 'rm -rf /', 'ls', 'rm -rf /'],
])(
  'SAFE: the question shows the whole command if Codex’ action has %s',
  async (_name, whole, read, shown) => {
    const commandActions = [{ type: 'unknown', command: read }];
    const params = { ...command, command: whole, commandActions };
    const { question } = await asked('commandExecution', params);
    const input = { command: shown, cwd: '/project' };
    expect(JSON.parse(question?.asked?.arguments ?? '')).toEqual(input);
  },
);

test('if a person allows the prefix rule that Codex proposes for a command, the answer has the rule', async () => {
  const rule = { execpolicy_amendment: ['touch', 'made.txt'] };
  const params = {
    ...command,
    proposedExecpolicyAmendment: rule.execpolicy_amendment,
    availableDecisions: ['accept', { acceptWithExecpolicyAmendment: rule }, 'cancel'],
  };
  const { answer, options } = await asked('commandExecution', params, 'amend');
  expect(options).toEqual(['accept', 'amend', 'decline']);
  expect(answer).toEqual({ decision: { acceptWithExecpolicyAmendment: rule } });
});

test('a command’s additional rights are shown, and are granted once', async () => {
  const params = {
    ...command,
    additionalPermissions: { network: { enabled: true }, fileSystem: null },
    availableDecisions: ['accept', 'cancel'],
  };
  const { answer, options, question } = await asked('commandExecution', params, 'accept');
  expect(options).toEqual(['accept', 'decline']);
  expect(question?.description).toMatch(/^It makes a file\.\n\n\{[^]*"enabled": true/);
  expect(answer).toEqual({ decision: 'accept' });
});

const amended = (network_policy_amendment: object) => ({
  applyNetworkPolicyAmendment: { network_policy_amendment },
});

test.each([
  ['accept', 'accept'],
  ['acceptForSession', 'acceptForSession'],
  ['network-0', amended(allow)],
  ['network-1', amended(deny)],
  ['decline', 'decline'],
  [undefined, 'cancel'],
])(
  'the answer about a connection to a host is sent in Codex’ form: %s',
  async (optionId, decision) => {
    const { answer, question } = await asked('commandExecution', network, optionId);
    expect(question).toMatchObject({ title: 'Connect to example.org' });
    expect(question?.options.map((option) => [option.optionId, option.kind, option.name])).toEqual([
      ['accept', 'allow_once', 'Allow'],
      ['acceptForSession', 'allow_always', 'Allow in this session'],
      ['network-0', 'allow_always', 'Always allow example.org'],
      ['network-1', 'reject_always', 'Never allow example.org'],
      ['decline', 'reject_once', 'Reject'],
    ]);
    expect(answer).toEqual({ decision });
  },
);

test.each([
  ['accept', 'accept'],
  ['acceptForSession', 'acceptForSession'],
  ['decline', 'decline'],
  [undefined, 'cancel'],
])('the answer about a patch is sent in Codex’ form: %s', async (optionId, decision) => {
  const params = { ...place, reason: null, grantRoot: '/project' };
  const { answer, options, question } = await asked('fileChange', params, optionId);
  expect(question?.title).toBe('Change files in /project');
  expect(options).toEqual(['accept', 'acceptForSession', 'decline']);
  expect(answer).toEqual({ decision });
});

const permissions = {
  network: null,
  fileSystem: { read: null, write: ['/tmp/elsewhere'] },
};

test.each([
  ['accept', { permissions, scope: 'turn' }],
  ['acceptForSession', { permissions, scope: 'session' }],
  ['decline', { permissions: {}, scope: 'turn' }],
  [undefined, { permissions: {}, scope: 'turn' }],
])('the answer about additional rights is sent in Codex’ form: %s', async (optionId, granted) => {
  const params = { ...place, cwd: '/project', reason: 'To write there.', permissions };
  const { answer, question } = await asked('permissions', params, optionId);
  expect(question?.description).toMatch(/^To write there\.\n\n[^]*\/tmp\/elsewhere/);
  expect(answer).toEqual(granted);
});

test('SAFE: the request for an MCP tool shows all arguments, and says how long a permission lasts', async () => {
  let question: ApprovalQuestion | undefined;
  const requests = new CodexRequests(async (one) => {
    question = one;
    return { outcome: 'selected', optionId: 'always' };
  });
  const params = {
    serverName: 'gh',
    mode: 'form',
    message: 'Allow the gh MCP server to run tool "Show repository"?',
    _meta: {
      codex_approval_kind: 'mcp_tool_call',
      persist: ['session', 'always'],
      tool_name: 'delete_repo',
      tool_params: { repo: 'prod/main', force: true },
    },
    requestedSchema: { type: 'object', properties: {} },
  };
  const { signal } = new AbortController();
  const answer = await requests.serve('mcpServer/elicitation/request', params, signal);
  expect(question).toMatchObject({
    title: params.message,
    asked: { name: 'mcp__gh__delete_repo', title: 'gh: delete_repo' },
    options: [
      { name: 'Allow' },
      { name: 'Allow every use of delete_repo of gh in this session' },
      { name: 'Always allow every use of delete_repo of gh' },
      { name: 'Reject' },
    ],
  });
  expect(JSON.parse(question?.asked?.arguments ?? '')).toEqual(params._meta.tool_params);
  expect(answer).toEqual({ action: 'accept', content: {}, _meta: { persist: 'always' } });

  // Any other request is shown whole, as JSON.
  const { tool_name: _, ...unnamed } = params._meta;
  await requests.serve('mcpServer/elicitation/request', { ...params, _meta: unnamed }, signal);
  expect(question?.description).toContain('prod/main');
});

/** Returns the question to people for another request of Codex. */
async function askedFor(method: string, params: object, outcome: ApprovalOutcome) {
  let question: ApprovalQuestion | undefined;
  const requests = new CodexRequests(async (one) => {
    question = one;
    return outcome;
  });
  const answer = await requests.serve(method, params, new AbortController().signal);
  return { answer, question };
}
const cancelled = { outcome: 'cancelled' } as const;

test('input for a running command is shown as input, not as a command', async () => {
  const params = { ...command, kind: 'writeStdin', command: "/bin/sh -c 'rm -rf /'" };
  const { question } = await asked('commandExecution', params);
  expect(question).toMatchObject({
    title: 'Send input to a running command',
    asked: { title: 'Send input to a running command' },
  });
  expect(JSON.parse(question!.asked!.arguments)).toEqual({ input: params.command });
});

test('a question for a secret has a password field, and a question with a time limit has a deadline', async () => {
  const questions = [
    { id: 'key', header: 'Key', question: 'Which?', isSecret: true, options: null },
  ];
  const before = Date.now();
  const { question, answer } = await askedFor(
    'item/tool/requestUserInput',
    { ...place, questions, isBlocking: false, autoResolutionMs: 60_000 },
    { outcome: 'selected', optionId: 'accept', content: { key: 'sk-1' } },
  );
  expect(question?.form?.properties['key']).toMatchObject({ format: 'password' });
  expect(Date.parse(question!.deadline!)).toBeGreaterThanOrEqual(before + 60_000);
  expect(answer).toEqual({ answers: { key: { answers: ['sk-1'] } } });
});

const elicitation = { threadId: 'own', turnId: null, serverName: 'door', _meta: null };
const requestedSchema = { type: 'object', properties: { a: { type: 'string' } } };

test.each(['form', 'openai/form', 'openaiForm'])(
  'a form of an MCP server names the server: %s',
  async (mode) => {
    const params = { ...elicitation, mode, message: 'Which?', requestedSchema };
    const { question } = await askedFor('mcpServer/elicitation/request', params, cancelled);
    expect(question).toMatchObject({ title: 'Which?', askedBy: 'MCP server “door”' });
    expect(question?.form?.properties).toEqual(requestedSchema.properties);
  },
);

test('a confirmation that only Codex’ own app can give can be declined, and the question says so', async () => {
  const verify = { title: 'Confirm', description: 'It is you?', challenge: 'x' };
  const params = { ...elicitation, mode: 'openai/userVerification', ...verify };
  const { question, answer } = await askedFor('mcpServer/elicitation/request', params, cancelled);
  expect(question?.options.map(({ kind }) => kind)).toEqual(['reject_once']);
  expect(question?.description).toContain('Only Codex’ own app can confirm this.');
  expect(answer).toMatchObject({ action: 'decline' });
});
