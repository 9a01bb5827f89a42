import { loadClaudeRecording } from '@liminal/testkit';
import { describe, expect, test } from 'vitest';
import { readActivity } from './activity.ts';

/** The activity in a recording, each change once. */
async function activitiesIn(name: string): Promise<string[]> {
  const { entries } = await loadClaudeRecording(name);
  const told = entries.flatMap((entry) => ('sdk' in entry ? (readActivity(entry.sdk) ?? []) : []));
  return told.filter((text, index) => text !== (told[index - 1] ?? ''));
}

describe('retries', () => {
  test('each retry of an overloaded model is shown until the model answers', async () => {
    expect(await activitiesIn('retry-529')).toEqual([
      'The model is overloaded (529). Trying again now (attempt 1 of 2).',
      'The model is overloaded (529). Trying again now (attempt 2 of 2).',
      '',
    ]);
  });

  test('a retry after too many requests is shown until the model answers', async () => {
    expect(await activitiesIn('retry-429')).toEqual([
      'The model rejects further requests for now (429). Trying again now (attempt 1 of 2).',
      '',
    ]);
  });

  test('the activity is empty once the retries are used up', async () => {
    expect((await activitiesIn('error-529')).at(-1)).toBe('');
  });
});

test.each([
  [
    { error_status: null, retry_delay_ms: 4_600 },
    'The model cannot be reached. Trying again in 5 s',
  ],
  [{ error_status: 502, retry_delay_ms: 32_000 }, 'The model’s service has failed (502). Trying'],
  [
    { error_status: null, retry_delay_ms: 0, no_response: { waited_ms: 30_000 } },
    'The model has not answered for 30 s. Trying again now',
  ],
])('the message about the retry %j begins with “%s”', (fields, words) => {
  const retry = { type: 'system', subtype: 'api_retry', attempt: 2, max_retries: 10, ...fields };
  expect(readActivity(retry)).toMatch(words);
  expect(readActivity(retry)).toMatch(/\(attempt 2 of 10\)\.$/);
});

test('a turn without a retry has no activity', async () => {
  expect(await activitiesIn('text')).toEqual([]);
});
