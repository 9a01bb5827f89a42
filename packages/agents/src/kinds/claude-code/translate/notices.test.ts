import { expect, test } from 'vitest';
import { isSilentType, readNotice } from './notices.ts';

const read = (message: object) => readNotice({ type: 'system', subtype: '', ...message });

test.each([
  { subtype: 'local_command_output', content: 'Printed.', show: 'Printed.' },
  { subtype: 'informational', content: 'Careful.', show: 'Careful.' },
  {
    subtype: 'model_refusal_fallback',
    content: 'Another model answers.',
    show: 'Another model answers.',
  },
  { subtype: 'model_refusal_no_fallback', content: 'It refused.', show: 'It refused.' },
  { subtype: 'notification', text: 'Look here.', show: 'Look here.' },
  { subtype: 'notification', text: 'A problem · ctrl+o to see', show: 'A problem' },
  {
    subtype: 'permission_denied',
    tool_name: 'Bash',
    decision_reason: 'It deletes files.',
    message: 'Denied.',
    show: 'Claude Code refused a call of Bash without asking. It deletes files.',
  },
  {
    subtype: 'permission_denied',
    tool_name: 'Bash',
    message: 'Denied.',
    show: 'Claude Code refused a call of Bash without asking. Denied.',
  },
  {
    subtype: 'memory_recall',
    mode: 'select',
    memories: [{ path: '/m/a.md', scope: 'personal' }],
    show: 'The model was given memories:\n\n- /m/a.md',
  },
  {
    subtype: 'memory_recall',
    mode: 'synthesize',
    memories: [{ path: '<synthesis:/m>', scope: 'personal', content: 'Tabs, not blanks.' }],
    show: 'The model was given memories:\n\nTabs, not blanks.',
  },
  {
    subtype: 'mirror_error',
    error: 'No answer.',
    show: 'Claude Code could not copy the session to its second store. No answer.',
  },
  {
    subtype: 'session_writes_lost',
    error_code: 'ENOSPC',
    lost: ['transcript'],
    show: 'Claude Code could not store a part of this conversation: the disk was full. A later start of the session may lack that part. Make room on the disk.',
  },
  {
    subtype: 'session_writes_lost',
    error_code: 'EDQUOT',
    lost: ['global_config'],
    show: 'Claude Code could not store changes of its settings: the disk quota was used up. Make room on the disk.',
  },
  {
    subtype: 'worker_shutting_down',
    reason: 'host_exit',
    show: 'Claude Code is being stopped from outside (host exit). Running work may be cut off.',
  },
  {
    subtype: 'plugin_install',
    status: 'failed',
    name: 'lint',
    error: 'Not found.',
    show: 'The plugin lint was not installed. Not found.',
  },
])('this message is shown to people: $show', ({ show, ...message }) => {
  expect(read(message)).toEqual({ show });
});

test.each([
  ['bookkeeping', { subtype: 'task_progress', content: 'Half.' }],
  ['a plugin that was installed', { subtype: 'plugin_install', status: 'installed' }],
  ['a blank text', { subtype: 'notification', text: ' \n' }],
  [
    'a message that is a session notice',
    { subtype: 'informational', content: 'A.', tag: 'settings_not_in_effect' },
  ],
])('no message is shown for %s', (_name, message) => {
  expect(read(message)).toBe('silent');
});

test.each(['hologram', 'toString', 'notification'])(
  'a message of the subtype “%s” without a text counts as unknown',
  (subtype) => {
    expect(read({ subtype })).toBe('unknown');
  },
);

test('only messages for Claude Code’s own screens are not shown', () => {
  expect(isSilentType({ type: 'keep_alive' })).toBe(true);
  const others = [{ type: 'hologram' }, { type: 7 }, {}, null, undefined, 'keep_alive'];
  expect(others.filter((message) => isSilentType(message))).toEqual([]);
});
