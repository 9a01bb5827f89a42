import type { AgentContext } from '@agentclientprotocol/sdk/unstable';
import type { ApprovalAnswer, ApprovalOption } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { Questions } from './questions.ts';

/** Returns the requests to the client, and the answers to the runtime, for a form with options of these kinds. */
async function fillIn(kinds: string, action: 'accept' | 'decline', takesForms = true) {
  const asked: string[] = [];
  const offered: string[] = [];
  const given: ApprovalAnswer[] = [];
  const answered = Promise.withResolvers<void>();
  const request = async (method: string, params: { options?: ApprovalOption[] }) => {
    asked.push(method);
    offered.push(...(params.options ?? []).map(({ optionId }) => optionId));
    // By this time, an answer would have reached the runtime.
    setImmediate(() => setImmediate(answered.resolve));
    if (method === 'elicitation/create') return { action, content: {} };
    return { outcome: { outcome: 'cancelled' } };
  };
  const questions = new Questions({
    client: { request } as unknown as AgentContext,
    capabilities: takesForms ? { elicitation: { form: {} } } : {},
    runtime: { answerApproval: async (_session, _id, answer) => void given.push(answer) },
    sessionId: 's',
    onProblem: answered.reject,
  });
  const options = kinds.split(' ').map((kind) => ({ optionId: kind, name: kind, kind }));
  const approval = { type: 'approval', id: 'a', approvalId: 'a', title: 'Which release?' } as const;
  questions.ask(
    { ...approval, options: options as ApprovalOption[], form: { properties: {} } },
    { toolCallId: 'a' },
  );
  await answered.promise;
  return { asked, offered, given: given.map(({ optionId }) => optionId) };
}

test.each([
  ['allow_always allow_once reject_once', 'accept', 'allow_once'],
  ['reject_always allow_once reject_once', 'decline', 'reject_once'],
  ['reject_always allow_once', 'decline', 'reject_always'],
  ['allow_once allow_always', 'decline', undefined],
] as const)(
  'SAFE: if a form has the options %s and the client answers %s, the chosen option is %s',
  async (kinds, action, given) => {
    expect(await fillIn(kinds, action)).toEqual({
      asked: ['elicitation/create'],
      offered: [],
      given: given === undefined ? [] : [given],
    });
  },
);

test('SAFE: if only a permanent option would allow a form, the request is not sent as a form', async () => {
  expect(await fillIn('allow_always reject_once', 'accept')).toEqual({
    asked: ['session/request_permission'],
    offered: ['reject_once'],
    given: [],
  });
});

test('SAFE: an editor that cannot show forms can only reject a form, and cannot send an empty form', async () => {
  const kinds = 'allow_once allow_always reject_once reject_always';
  expect(await fillIn(kinds, 'accept', false)).toEqual({
    asked: ['session/request_permission'],
    offered: ['reject_once', 'reject_always'],
    given: [],
  });
});
