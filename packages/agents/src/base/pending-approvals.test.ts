import { maxDepth } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { type ApprovalRequest, maxAsked, PendingApprovals } from './pending-approvals.ts';

const options = [
  { optionId: 'once', name: 'Allow', kind: 'allow_once' as const },
  { optionId: 'always', name: 'Always', kind: 'allow_always' as const },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' as const },
];

/** The request that is shown to people for a call with this input. */
async function shown(input: string): Promise<ApprovalRequest> {
  const { promise, resolve } = Promise.withResolvers<ApprovalRequest>();
  const approvals = new PendingApprovals({ open: resolve, close: () => {} });
  const asked = { name: 'Do', arguments: input };
  const { signal } = new AbortController();
  const outcome = approvals.ask({ title: 'Do it', options, asked }, signal);
  const request = await promise;
  const refused = options.filter(
    ({ optionId }) => !request.options.some((one) => one.optionId === optionId),
  );
  for (const { optionId } of refused) {
    const answer = () => approvals.answer(request.approvalId, { optionId });
    expect(answer).toThrow(`“${optionId}” is not an answer to this request.`);
  }
  approvals.cancelAll('turn_ended');
  await outcome;
  return request;
}

const nested = (depth: number): string => `${'{"a":'.repeat(depth)}"evil"${'}'.repeat(depth)}`;

test.each([
  ['a call that is too long', JSON.stringify({ a: 'x'.repeat(maxAsked) })],
  ['a call that is nested too deeply', nested(maxDepth + 1)],
  ['a call that was already cut', '{"a":"… (cut here: nested too deeply)"}'],
])('SAFE: %s cannot be shown whole, so it can only be rejected', async (_, input) => {
  const request = await shown(input);
  expect(request.options.map(({ optionId }) => optionId)).toEqual(['no']);
  expect(request.description).toContain('This cannot be allowed');
});

test.each([
  ['a usual call', '{"command":"ls"}'],
  ['a call at the depth limit', nested(maxDepth)],
  [
    'a call with text that resembles a cut',
    JSON.stringify({ a: "'… (cut here: nested too deeply)'" }),
  ],
])('%s can be allowed', async (_, input) => {
  expect((await shown(input)).options).toEqual(options);
});

test('a question with a deadline is cancelled at the deadline, with the deadline as the reason', async () => {
  const closed: unknown[] = [];
  const close = (_id: string, outcome: unknown) => void closed.push(outcome);
  const approvals = new PendingApprovals({ open: () => {}, close });
  const deadline = new Date(Date.now() + 1).toISOString();
  const { signal } = new AbortController();
  const over = { outcome: 'cancelled', reason: 'deadline' };
  expect(await approvals.ask({ title: 'Which?', options, deadline }, signal)).toEqual(over);
  expect(closed).toEqual([over]);
});

test('SAFE: the agent gets a secret answer, and subscribers get a mask', async () => {
  const { promise, resolve } = Promise.withResolvers<ApprovalRequest>();
  const closed: unknown[] = [];
  const close = (_id: string, outcome: unknown) => void closed.push(outcome);
  const approvals = new PendingApprovals({ open: resolve, close });
  const form = { properties: { key: { type: 'string', format: 'password' } } };
  const answer = approvals.ask({ title: 'Which?', options, form }, new AbortController().signal);
  const { approvalId } = await promise;
  approvals.answer(approvalId, { optionId: 'once', content: { key: 'sk-1' } });
  expect(await answer).toMatchObject({ content: { key: 'sk-1' } });
  expect(JSON.stringify(closed)).not.toContain('sk-1');
});
