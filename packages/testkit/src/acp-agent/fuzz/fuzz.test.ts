import { expect, test } from 'vitest';
import { fuzzLines } from './fuzz.ts';
import { mutate, mutations } from './mutate.ts';
import { seeded } from './random.ts';
import { sampleLines, sampleUpdates } from './sample-lines.ts';

const count = 5000;
const lines = [...fuzzLines({ seed: 1, count }, 's')];

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};

test('the same seed gives the same lines, and different seeds give different lines', () => {
  expect([...fuzzLines({ seed: 1, count }, 's')]).toEqual(lines);
  expect([...fuzzLines({ seed: 2, count }, 's')]).not.toEqual(lines);
});

test('the number of lines is the requested number, and no line contains a line feed', () => {
  expect(lines).toHaveLength(count);
  expect(lines.filter((line) => line.includes('\n'))).toEqual([]);
});

test('some lines are valid, most lines are not, and each valid line occurs unchanged', () => {
  const valid = sampleLines('s');
  const whole = lines.filter((line) => valid.includes(line));

  expect(whole.length / count).toBeGreaterThan(0.15);
  expect(whole.length / count).toBeLessThan(0.4);
  expect(new Set(whole)).toEqual(new Set(valid));
});

test('the valid lines contain every update of the stable protocol, every request, and answers', () => {
  expect(new Set(sampleUpdates.map(({ sessionUpdate }) => sessionUpdate))).toEqual(
    new Set([
      'user_message_chunk',
      'agent_message_chunk',
      'agent_thought_chunk',
      'tool_call',
      'tool_call_update',
      'plan',
      'available_commands_update',
      'current_mode_update',
      'config_option_update',
      'session_info_update',
      'usage_update',
      'notice',
      'compaction_update',
      'compaction_summary_chunk',
    ]),
  );
  const methods = sampleLines('s').map((line) => JSON.parse(line).method);
  expect(methods).toEqual(
    expect.arrayContaining([
      'session/request_permission',
      'fs/read_text_file',
      'fs/write_text_file',
      'terminal/create',
      'terminal/output',
      'terminal/wait_for_exit',
      'terminal/kill',
      'terminal/release',
      'elicitation/create',
      'elicitation/complete',
      undefined,
    ]),
  );
});

test.each(Object.entries(mutations))(
  'the mutation “%s” breaks every valid line without throwing',
  (_, mutation) => {
    const random = seeded(3);

    const broken = sampleLines('s').filter((line) => {
      const changed = Array.from({ length: 20 }, () => mutation(line, random));
      return changed.some((said) => said.length !== 1 || said[0] !== line);
    });

    expect(broken).toEqual(sampleLines('s'));
  },
);

test.each([
  ['a batch', (line: string) => Array.isArray(parsed(line)) && line.startsWith('[{')],
  ['a line that is not JSON', (line: string) => parsed(line) === undefined],
  ['a huge string', (line: string) => line.includes('huge '.repeat(10_000))],
  ['deep nesting', (line: string) => /(\[{1000}|({"a":){1000})/.test(line)],
  ['NUL in a string', (line: string) => line.includes('\\u0000')],
  ['a lone surrogate', (line: string) => line.includes('\\ud800')],
  ['an unknown update', (line: string) => line.includes('"sessionUpdate":"no_such_variant"')],
  ['another session', (line: string) => line.includes('"sessionId":"no-such-session"')],
  ['a request as a notification', (line: string) => isNotification(line, 'fs/read_text_file')],
  ['a notification as a request', (line: string) => hasId(line, 'session/update')],
  ['an answer that is both', (line: string) => /"result":.*"error":/.test(line)],
  ['a prototype', (line: string) => line.startsWith('{"__proto__"')],
])('the mutated lines include %s', (_, matches) => {
  expect(lines.filter(matches).length).toBeGreaterThan(0);
});

test('some lines are sent twice, and some out of order', () => {
  const twice = lines.filter((line, at) => line !== '' && line === lines[at - 1]);

  expect(twice.length).toBeGreaterThan(10);
  expect(mutate(lines[0] ?? '', seeded(1))).toEqual(mutate(lines[0] ?? '', seeded(1)));
});

function isNotification(line: string, method: string): boolean {
  const message = parsed(line) as { id?: unknown; method?: unknown } | null | undefined;
  return message?.method === method && !('id' in message);
}

function hasId(line: string, method: string): boolean {
  const message = parsed(line) as { id?: unknown; method?: unknown } | null | undefined;
  return message?.method === method && 'id' in message;
}
