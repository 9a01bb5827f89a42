import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { reply, toolUse, type Script, type Workspace } from '@liminal/testkit';
import type { EventPayload, OutputItem } from '@liminal/protocol';
import { expect, test } from 'vitest';
import {
  runClaude,
  messagesOf,
  shareClaude,
  type ClaudeListener,
  type RunningClaude,
} from './running-claude.ts';

type Asked = Extract<EventPayload, { type: 'item_start' }>;
type Approval = Extract<OutputItem, { type: 'approval' }>;

const write = ({ projectDir }: Workspace, name: string) =>
  reply(toolUse('Write', { file_path: join(projectDir, name), content: `${name}\n` }));

async function asked(listener: ClaudeListener, nth = 0): Promise<Asked> {
  return listener.until(() => {
    const requests = listener.events
      .map((draft) => draft.payload)
      .filter((payload) => payload.type === 'item_start')
      .filter((payload) => payload.itemType === 'approval');
    return requests[nth];
  });
}

const answer = (
  { provider }: RunningClaude,
  listener: ClaudeListener,
  { approvalId }: Asked,
  optionId: string,
  note?: string,
) => provider.answerApproval(listener.sessionId, approvalId!, { optionId, ...(note && { note }) });

const outcomes = (items: OutputItem[]): unknown[] =>
  items.filter((item): item is Approval => item.type === 'approval').map((item) => item.outcome);

const share = shareClaude();

async function ask(script: (workspace: Workspace) => Script) {
  const { first, listener, ...claude } = share(script);
  const { turnId } = await listener.send('Do it.');
  const mode = () => first.option('mode');
  const setMode = (mode: string) =>
    claude.provider.setConfigOption(listener.sessionId, 'mode', mode);
  return { claude, listener, turnId, mode, setMode, approval: await asked(listener) };
}

test('a permission is requested once, with its call, and an answer that allows the call lets the tool run', async () => {
  const { claude, listener, turnId, approval } = await ask((workspace) => [
    write(workspace, 'a.txt'),
    reply('Done.'),
  ]);
  const call = listener.response(turnId).outputItems.find((item) => item.type === 'function_call');
  expect(approval).toMatchObject({ title: 'Write a.txt', callId: call?.callId });
  expect(approval.options?.map((option) => option.kind)).toEqual([
    'allow_once',
    'allow_always',
    'reject_once',
  ]);
  const items = listener.response(turnId).outputItems.map(({ type }) => type);
  expect(items).toEqual(['message', 'function_call', 'approval']);
  const file = join(claude.workspace.projectDir, 'a.txt');
  expect(existsSync(file)).toBe(false);
  await answer(claude, listener, approval, 'allow_once');
  const response = await listener.ended(turnId);
  expect(readFileSync(file, 'utf8')).toBe('a.txt\n');
  expect(outcomes(response.outputItems)).toEqual([{ outcome: 'selected', optionId: 'allow_once' }]);
  await expect(answer(claude, listener, approval, 'allow_once')).rejects.toMatchObject({
    code: 'APPROVAL_NOT_FOUND',
  });
});

test('SAFE: a request describes its call with all arguments, and without earlier values', async () => {
  const input = { command: 'echo a > b.txt', dangerouslyDisableSandbox: true, timeout: 600_000 };
  const { approval, claude, listener, turnId } = await ask(({ projectDir }) => {
    const file = { file_path: join(projectDir, 'b.txt') };
    return [
      reply(toolUse('Bash', input)),
      reply(toolUse('Read', file)),
      reply(toolUse('Edit', { ...file, old_string: 'a', new_string: 'c' })),
      reply('Done.'),
    ];
  });
  expect(approval.asked).toMatchObject({ name: 'Bash', kind: 'execute' });
  expect(JSON.parse(approval.asked!.arguments)).toMatchObject(input);
  expect(approval.earlier).toBeUndefined();
  await answer(claude, listener, approval, 'allow_once');
  const edit = await asked(listener, 1);
  expect(edit.asked).toMatchObject({ name: 'Edit', diffs: [{ oldText: 'a', newText: 'c' }] });
  expect(edit.earlier).toBeUndefined();
  await answer(claude, listener, edit, 'reject_once');
  await listener.ended(turnId);
});

test('SAFE: if a hook changes a call, the request shows the changed call and the model’s original', async () => {
  const updatedInput = { command: 'touch hooked.txt' };
  const says = { hookEventName: 'PreToolUse', permissionDecision: 'ask', updatedInput };
  const command = `echo '${JSON.stringify({ hookSpecificOutput: says })}'`;
  const hooks = { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command }] }] };
  const { create, provider } = await runClaude(
    () => [reply(toolUse('Bash', { command: 'touch written.txt' })), reply('Done.')],
    { config: { 'settings.json': JSON.stringify({ hooks }) } },
  );
  const listener = await create();
  const { turnId } = await listener.send('Do it.');
  const approval = await asked(listener);
  expect(JSON.parse(approval.asked!.arguments)).toMatchObject(updatedInput);
  expect(approval).toMatchObject({
    title: 'Run touch hooked.txt',
    earlier: { title: 'Run touch written.txt', arguments: '{"command":"touch written.txt"}' },
  });
  await provider.answerApproval(listener.sessionId, approval.approvalId!, {
    optionId: 'reject_once',
  });
  await listener.ended(turnId);
});

test('a rejected tool does not run, and the turn continues', async () => {
  const { claude, listener, turnId, approval } = await ask((workspace) => [
    write(workspace, 'refused.txt'),
    reply('Then not.'),
  ]);
  await expect(answer(claude, listener, approval, 'perhaps')).rejects.toMatchObject({
    code: 'INVALID_OPTION',
  });
  await answer(claude, listener, approval, 'reject_once');
  const response = await listener.ended(turnId);
  expect(messagesOf(response)).toEqual(['user: Do it.', 'agent: Then not.']);
  expect(response.outputItems.find((item) => item.type === 'function_call_output')).toMatchObject({
    success: false,
    output: 'The user refused this.',
  });
  expect(existsSync(join(claude.workspace.projectDir, 'refused.txt'))).toBe(false);
});

test('the model reads the note of a refusal', async () => {
  const { claude, listener, turnId, approval } = await ask((workspace) => [
    write(workspace, 'noted.txt'),
    reply('Then b.txt.'),
  ]);
  expect(approval.options?.filter((option) => option.takesNote).map(({ kind }) => kind)).toEqual([
    'allow_once',
    'reject_once',
  ]);
  const note = 'Call it b.txt,\nnot “a”.';
  await expect(answer(claude, listener, approval, 'allow_always', note)).rejects.toMatchObject({
    code: 'INVALID_OPTION',
  });
  await answer(claude, listener, approval, 'reject_once', note);
  const response = await listener.ended(turnId);
  expect(outcomes(response.outputItems)).toEqual([
    { outcome: 'selected', optionId: 'reject_once', note },
  ]);
  const [result] = Object.values(claude.api.requests.at(-1)!.toolResults);
  expect(result).toBe(`The user refused this, and says: ${note}`);
});

test('after all edits are accepted, edits are not asked for in this session', async () => {
  const { claude, listener, turnId, mode, setMode, approval } = await ask((workspace) => [
    write(workspace, 'b.txt'),
    write(workspace, 'c.txt'),
    reply('Done.'),
  ]);
  expect(approval.options?.[1]?.name).toBe('Allow all edits in this session');
  await answer(claude, listener, approval, 'allow_always');
  const response = await listener.ended(turnId);
  expect(outcomes(response.outputItems)).toHaveLength(1);
  expect(readFileSync(join(claude.workspace.projectDir, 'c.txt'), 'utf8')).toBe('c.txt\n');
  expect(mode()).toBe('acceptEdits');
  await setMode('default');
});

test('always allowing a command allows that command, but no edits', async () => {
  const touch = (name: string) => reply(toolUse('Bash', { command: `touch ${name}` }));
  const { claude, listener, turnId, mode, setMode, approval } = await ask(() => [
    touch('a.txt'),
    touch('a.txt'),
    touch('b.txt'),
    reply('Done.'),
  ]);
  expect(approval.options?.map(({ name }) => name)).toEqual([
    'Allow',
    'Always allow `touch a.txt` in this project',
    'Allow all edits in this session',
    'Reject',
  ]);
  await answer(claude, listener, approval, 'allow_always');
  const next = await asked(listener, 1);
  expect(next.title).toContain('touch b.txt');
  expect(mode()).toBe('default');
  const kept = join(claude.workspace.projectDir, '.claude/settings.local.json');
  expect(JSON.parse(readFileSync(kept, 'utf8'))).toEqual({
    permissions: { allow: ['Bash(touch a.txt)'] },
  });
  await answer(claude, listener, next, 'allow_always_2');
  await listener.ended(turnId);
  expect(mode()).toBe('acceptEdits');
  await setMode('default');
});

test('a pending permission is cancelled when its turn is cancelled', async () => {
  const { claude, listener, turnId, approval } = await ask((workspace) => [
    write(workspace, 'waiting.txt'),
    reply('Yes.'),
  ]);
  await claude.provider.cancelTurn(listener.sessionId);
  const response = await listener.ended(turnId);
  expect(response.status).toBe('aborted');
  expect(outcomes(response.outputItems)).toMatchObject([{ outcome: 'cancelled' }]);
  await expect(answer(claude, listener, approval, 'allow_once')).rejects.toMatchObject({
    code: 'APPROVAL_NOT_FOUND',
  });
  expect(messagesOf(await listener.ask('Still there?')).at(-1)).toBe('agent: Yes.');
});

const colour = {
  question: 'Which colour?',
  header: 'Colour',
  multiSelect: false,
  options: [
    { label: 'Red', description: 'Warm', preview: '```\nred box\n```' },
    { label: 'Blue', description: 'Cold', preview: '```\nblue box\n```' },
  ],
};
const extras = {
  question: 'Which extras?',
  header: 'Extras',
  multiSelect: true,
  options: [
    { label: 'Bell', description: 'Rings' },
    { label: 'Basket, large', description: 'Holds' },
    { label: 'Lamp', description: 'Shines' },
  ],
};
const place = {
  question: 'Where to?',
  header: 'Place',
  multiSelect: false,
  options: [
    { label: 'Here', description: 'Near' },
    { label: 'There', description: 'Far' },
  ],
};

/** Runs a turn in which the model asks people, up to the question. */
const question = (...questions: object[]) =>
  ask(() => [reply(toolUse('AskUserQuestion', { questions })), reply('So be it.')]);

/** The call's result that the model reads. */
async function told({ claude, listener, turnId }: Awaited<ReturnType<typeof ask>>) {
  await listener.ended(turnId);
  return Object.values(claude.api.requests.at(-1)!.toolResults).at(-1);
}

test('all questions of a call are in one form, unchanged; the answers (one, several, a preview, own words) reach the model as from the terminal', async () => {
  const asking = await question(colour, extras, place);
  const { claude, listener, approval } = asking;
  expect(approval.title).toBe('3 questions: Colour, Extras, Place');
  expect(approval.options?.map(({ name, kind }) => [name, kind])).toEqual([
    ['Answer', 'allow_once'],
    ['Skip', 'reject_once'],
  ]);
  const choices = (asked: (typeof colour | typeof extras)['options']) =>
    asked.map(({ label, ...rest }) => ({ const: label, title: label, ...rest }));
  expect(Object.values(approval.form!.properties)).toEqual([
    {
      type: 'string',
      title: 'Which colour?',
      header: 'Colour',
      other: true,
      oneOf: choices(colour.options),
    },
    {
      type: 'array',
      title: 'Which extras?',
      header: 'Extras',
      other: true,
      items: { anyOf: choices(extras.options) },
    },
    {
      type: 'string',
      title: 'Where to?',
      header: 'Place',
      other: true,
      oneOf: choices(place.options),
    },
  ]);

  const [first, second, third] = Object.keys(asking.approval.form!.properties);
  const content = {
    [first!]: 'Blue',
    [second!]: ['Bell', 'Basket, large', 'A flag'],
    [third!]: 'To the moon',
  };
  const { approvalId } = approval;
  const give = (content: Record<string, string | string[]>) =>
    claude.provider.answerApproval(listener.sessionId, approvalId!, {
      optionId: 'allow_once',
      content,
    });
  await expect(give({ [first!]: 'Blue' })).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  await give(content);
  const result = await told(asking);
  expect(result).toContain('"Which colour?"="Blue" selected preview:\n```\nblue box\n```');
  expect(result).toContain('"Which extras?"="Bell, "Basket, large", A flag"');
  expect(result).toContain('"Where to?"="To the moon"');
});

test('a single question is the title of its form, and the model reads its answer', async () => {
  const asking = await question(place);
  expect(asking.approval.title).toBe('Where to?');
  const [field] = Object.keys(asking.approval.form!.properties);
  const { claude, listener, approval } = asking;
  await claude.provider.answerApproval(listener.sessionId, approval.approvalId!, {
    optionId: 'allow_once',
    content: { [field!]: 'Here' },
  });
  expect(await told(asking)).toBe(
    'Your questions have been answered: "Where to?"="Here". You can now continue with these answers in mind.',
  );
});

test('unanswered questions are refused, with people’s note', async () => {
  const asking = await question(place);
  const { claude, listener, approval } = asking;
  await claude.provider.answerApproval(listener.sessionId, approval.approvalId!, {
    optionId: 'reject_once',
    note: 'Ask again tomorrow.',
  });
  expect(await told(asking)).toContain('The user did not answer, and says: Ask again tomorrow.');
});

test('a plan is presented with its possible next modes', async () => {
  const { first, listener, ...claude } = share((workspace) => [
    reply(toolUse('ExitPlanMode', { plan: '# Plan\nWrite it.' })),
    write(workspace, 'planned.txt'),
    reply('Done.'),
  ]);
  await claude.provider.setConfigOption(listener.sessionId, 'mode', 'plan');
  expect(first.option('mode')).toBe('plan');
  const { turnId } = await listener.send('Plan it.');
  const approval = await asked(listener);
  // Claude Code's request lacks the plan; the plan comes from the call.
  const words = { name: 'ExitPlanMode', kind: 'switch_mode' };
  expect(approval.asked).toMatchObject({ ...words, arguments: '{"plan":"# Plan\\nWrite it."}' });
  expect(approval.earlier).toBeUndefined();
  expect(approval.options?.map((option) => option.name)).toEqual([
    'Approve, ask before edits',
    'Approve, accept edits',
    'Approve, in auto mode',
    'Keep planning',
  ]);
  await answer(claude, listener, approval, 'allow_always');
  const response = await listener.ended(turnId);
  expect(outcomes(response.outputItems)).toHaveLength(1);
  expect(existsSync(join(claude.workspace.projectDir, 'planned.txt'))).toBe(true);
  expect(first.option('mode')).toBe('acceptEdits');
  await claude.provider.setConfigOption(listener.sessionId, 'mode', 'default');
});

test('the note of an allowed call reaches the model with the call’s result, as “Yes, and …” in the terminal', async () => {
  const { claude, listener, turnId, approval } = await ask((workspace) => [
    write(workspace, 'amended.txt'),
    reply('Then b.txt.'),
  ]);
  const note = 'Write b.txt next.';
  await answer(claude, listener, approval, 'allow_once', note);
  const response = await listener.ended(turnId);
  expect(existsSync(join(claude.workspace.projectDir, 'amended.txt'))).toBe(true);
  expect(outcomes(response.outputItems)).toEqual([
    { outcome: 'selected', optionId: 'allow_once', note },
  ]);
  const last = JSON.stringify(claude.api.requests.at(-1)?.body.messages.at(-1));
  expect(last).toContain('tool_result');
  expect(last).toContain(note);
});

test('the note of an approved plan reaches the model in the same turn, and auto mode can follow', async () => {
  const { first, listener, ...claude } = share(() => [
    reply(toolUse('ExitPlanMode', { plan: '# Plan' })),
    reply('With oak.'),
  ]);
  const before = claude.api.requests.length;
  await claude.provider.setConfigOption(listener.sessionId, 'mode', 'plan');
  const { turnId } = await listener.send('Plan it.');
  const approval = await asked(listener);
  await claude.provider.answerApproval(listener.sessionId, approval.approvalId!, {
    optionId: 'allow_auto',
    note: 'Use oak.',
  });
  const response = await listener.ended(turnId);
  expect(messagesOf(response)).toContain('agent: With oak.');
  const last = JSON.stringify(claude.api.requests.at(-1)?.body.messages);
  expect(claude.api.requests.length).toBe(before + 2);
  expect(last).toContain('User has approved');
  expect(last).toContain('Use oak.');
  expect(first.option('mode')).toBe('auto');
  await claude.provider.setConfigOption(listener.sessionId, 'mode', 'default');
});

test('the model gets the plan as changed by the person', async () => {
  const { listener, ...claude } = share(() => [
    reply(toolUse('ExitPlanMode', { plan: '# Plan\n\nUse pine.' })),
    reply('With oak.'),
  ]);
  await claude.provider.setConfigOption(listener.sessionId, 'mode', 'plan');
  const { turnId } = await listener.send('Plan it.');
  const approval = await asked(listener);
  expect(approval.editable).toEqual(['plan']);
  const answer = (content: Record<string, string | number>) =>
    claude.provider.answerApproval(listener.sessionId, approval.approvalId!, {
      optionId: 'allow_once',
      content,
    });
  await expect(answer({ steps: 'None.' })).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  await expect(answer({ plan: 7 })).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  const plan = '# Plan\n\nUse oak.';
  await answer({ plan });
  const response = await listener.ended(turnId);
  expect(outcomes(response.outputItems)).toEqual([
    { outcome: 'selected', optionId: 'allow_once', content: { plan } },
  ]);
  const [result] = Object.values(claude.api.requests.at(-1)!.toolResults);
  expect(result).toContain(`## Approved Plan (edited by user):\n${plan}`);
});

test('a request contains Claude Code’s reason for asking', async () => {
  const command = 'cd sub && git status && echo $(date)';
  const { approval, claude, listener, turnId } = await ask(() => [
    reply(toolUse('Bash', { command, description: 'Look at the state' })),
    reply('Done.'),
  ]);
  expect(approval.description).toContain("can't be checked before it runs");
  // The model's description is one of the arguments.
  expect(approval.description).not.toContain('Look at the state');
  await answer(claude, listener, approval, 'reject_once');
  await listener.ended(turnId);
});

test('a request for a path outside the project folder shows that the path is outside', async () => {
  const { approval, claude, listener, turnId } = await ask(() => [
    reply(toolUse('Write', { file_path: '/etc/liminal-test.conf', content: 'a\n' })),
    reply('Done.'),
  ]);
  expect(approval.description).toBe('Path is outside allowed working directories');
  await answer(claude, listener, approval, 'reject_once');
  await listener.ended(turnId);
});

test('a pending permission is cancelled when its process is killed', async () => {
  const { claude, listener, turnId } = await ask((workspace) => [write(workspace, 'waiting.txt')]);
  await claude.provider.killSession(listener.sessionId);
  expect(outcomes(listener.response(turnId).outputItems)).toMatchObject([{ outcome: 'cancelled' }]);
});
