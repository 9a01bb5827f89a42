import { expect, test } from 'vitest';
import { hookNotice } from './hooks.ts';

const hook = (fields: object) => ({
  type: 'system',
  subtype: 'hook_response',
  hook_name: 'PostToolUse:Bash',
  outcome: 'success',
  exit_code: 0,
  stdout: '',
  stderr: '',
  ...fields,
});
const failed = { outcome: 'error', exit_code: 1 };

test.each([
  [{ ...failed, stderr: 'nope\n' }, 'failed (exit code 1):\n\nnope'],
  [{ ...failed, stdout: 'printed' }, 'failed (exit code 1):\n\nprinted'],
  [{ outcome: 'error', exit_code: undefined }, 'failed.'],
  [{ outcome: 'error', exit_code: 2, stderr: 'Not here.' }, 'blocked it:\n\nNot here.'],
  [{ stdout: '{"decision":"block","reason":"Look again."}\n' }, 'blocked it:\n\nLook again.'],
  [{ stdout: '{"continue":false,"stopReason":"Enough."}' }, 'stopped the turn:\n\nEnough.'],
  [{ stdout: '{"continue":false}' }, 'stopped the turn.'],
])('the notice about the hook %j says that it %s', (fields, what) => {
  expect(hookNotice(hook(fields))).toBe(`The hook PostToolUse:Bash ${what}`);
});

test('a hook at a session’s start can fail, but cannot refuse', () => {
  const message = hook({ hook_name: 'SessionStart:startup', outcome: 'error', exit_code: 2 });
  expect(hookNotice(message)).toBe('The hook SessionStart:startup failed (exit code 2).');
});

test.each([
  ['deny', 'blocked it:\n\nNo shell.'],
  ['ask', 'blocked it:\n\nNo shell.'],
  ['allow', undefined],
])(
  'a hook’s decision “%s” about a skill’s command is shown unless it allows the command',
  (permissionDecision, what) => {
    const hookSpecificOutput = {
      hookEventName: 'PreSkillShellCommand',
      permissionDecision,
      permissionDecisionReason: 'No shell.',
    };
    const stdout = JSON.stringify({ hookSpecificOutput });
    const message = hook({ hook_name: 'PreSkillShellCommand:Bash', stdout });
    expect(hookNotice(message)).toBe(what && `The hook PreSkillShellCommand:Bash ${what}`);
  },
);

test.each([
  [{ stdout: 'Remember the milk.' }],
  // No notice, because Claude Code itself shows the message.
  [{ stdout: '{"systemMessage":"Mind it."}' }],
  [{ stdout: '{"decision":"approve"}' }],
  [{ stdout: '{no JSON' }],
  [{ stdout: '[]' }],
  [{ outcome: 'cancelled' }],
  [{ outcome: 7 }],
  [{ hook_name: undefined, ...failed }],
])('SAFE: the hook %j gets no notice', (fields) => {
  expect(hookNotice(hook(fields))).toBeUndefined();
});

test('SAFE: messages that are not of a hook get no notice', () => {
  for (const message of [undefined, null, 7, {}]) expect(hookNotice(message)).toBeUndefined();
});
