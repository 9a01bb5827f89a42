import { expect, test } from 'vitest';
import { isSilentType, readNotice } from './notices.ts';

const read = (message: object) => readNotice({ type: 'system', subtype: '', ...message });

test.each([
  { subtype: 'local_command_output', content: 'Printed.', tell: 'Printed.' },
  { subtype: 'informational', content: 'Careful.', tell: 'Careful.' },
  {
    subtype: 'model_refusal_fallback',
    content: 'Another model answers.',
    tell: 'Another model answers.',
  },
  { subtype: 'model_refusal_no_fallback', content: 'It refused.', tell: 'It refused.' },
  { subtype: 'notification', text: 'Look here.', tell: 'Look here.' },
])('people are told: $tell', ({ tell, ...message }) => {
  expect(read(message)).toEqual({ tell });
});

test.each([
  ['bookkeeping', { subtype: 'task_progress', content: 'Half.' }],
  ['what says nothing', { subtype: 'notification', text: ' \n' }],
  [
    'what the session tells',
    { subtype: 'informational', content: 'A.', tag: 'settings_not_in_effect' },
  ],
])('%s is silent', (_name, message) => {
  expect(read(message)).toBe('silent');
});

test.each(['hologram', 'toString', 'notification'])(
  'of “%s” without words nobody knows',
  (subtype) => {
    expect(read({ subtype })).toBe('unknown');
  },
);

test('messages for Claude Code’s own screens are silent, and nothing else is', () => {
  expect(isSilentType({ type: 'keep_alive' })).toBe(true);
  const others = [{ type: 'hologram' }, { type: 7 }, {}, null, undefined, 'keep_alive'];
  expect(others.filter((message) => isSilentType(message))).toEqual([]);
});
