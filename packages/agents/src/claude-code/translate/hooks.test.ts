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
])('of the hook %j people are told that it %s', (fields, what) => {
  expect(hookNotice(hook(fields))).toBe(`The hook PostToolUse:Bash ${what}`);
});

test('a hook at the start of a session can only fail', () => {
  const message = hook({ hook_name: 'SessionStart:startup', outcome: 'error', exit_code: 2 });
  expect(hookNotice(message)).toBe('The hook SessionStart:startup failed (exit code 2).');
});

test.each([
  ['deny', 'blocked it:\n\nNo shell.'],
  ['ask', 'blocked it:\n\nNo shell.'],
  ['allow', undefined],
])('a hook that decides “%s” of a skill’s command', (permissionDecision, what) => {
  const hookSpecificOutput = {
    hookEventName: 'PreSkillShellCommand',
    permissionDecision,
    permissionDecisionReason: 'No shell.',
  };
  const stdout = JSON.stringify({ hookSpecificOutput });
  const message = hook({ hook_name: 'PreSkillShellCommand:Bash', stdout });
  expect(hookNotice(message)).toBe(what && `The hook PreSkillShellCommand:Bash ${what}`);
});

test.each([
  [{ stdout: 'Remember the milk.' }],
  // Claude Code tells that itself.
  [{ stdout: '{"systemMessage":"Mind it."}' }],
  [{ stdout: '{"decision":"approve"}' }],
  [{ stdout: '{no JSON' }],
  [{ stdout: '[]' }],
  [{ outcome: 'cancelled' }],
  [{ outcome: 7 }],
  [{ hook_name: undefined, ...failed }],
])('SAFE: of the hook %j there is nothing to say', (fields) => {
  expect(hookNotice(hook(fields))).toBeUndefined();
});

test('SAFE: what is no message of a hook says nothing', () => {
  for (const message of [undefined, null, 7, {}]) expect(hookNotice(message)).toBeUndefined();
});
