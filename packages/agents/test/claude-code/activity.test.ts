import { apiError, reply } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { runClaude, said, type Listener } from './running-claude.ts';

/** The activities of a session, without their delays. */
const activities = ({ updates }: Listener): string[] =>
  updates
    .flatMap(({ activity }) => activity ?? [])
    .map((text) => text.replace(/again (now|in \d+ s)/, 'again'));

test.each([
  { status: 529, problem: 'The model is overloaded (529).' },
  { status: 429, problem: 'The model takes no more requests for now (429).' },
])('a retry after $status is shown while the turn waits for it', async ({ status, problem }) => {
  const { create } = await runClaude(() => [apiError(status), apiError(status), reply('Finally.')]);
  const listener = await create();
  expect(said(await listener.ask('Go on.'))).toEqual(['user: Go on.', 'agent: Finally.']);
  expect(activities(listener)).toEqual([
    `${problem} Trying again (attempt 1 of 2).`,
    `${problem} Trying again (attempt 2 of 2).`,
    '',
  ]);
});
