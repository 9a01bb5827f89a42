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

const options: ApprovalOption[] = [
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];
const question = { type: 'approval', id: 'a', approvalId: 'a', title: 'Run ls?', options } as const;

interface Asked {
  method: string;
  params: object;
  options: { cancellationSignal: AbortSignal; stopWaitingOnCancel: boolean };
  answer: PromiseWithResolvers<unknown>;
}

/** Returns the questions of a client that answers when the test does. */
function openQuestions() {
  const asked: Asked[] = [];
  const given: unknown[] = [];
  const problems: unknown[] = [];
  const request = (method: string, params: object, more: Asked['options']) => {
    const answer = Promise.withResolvers<unknown>();
    asked.push({ method, params, options: more, answer });
    return answer.promise;
  };
  const questions = new Questions({
    client: { request } as unknown as AgentContext,
    capabilities: { elicitation: { form: {} } },
    runtime: { answerApproval: async (...answer) => void given.push(answer) },
    sessionId: 's',
    onProblem: (error) => void problems.push(error),
  });
  return { asked, given, problems, questions };
}

/** Resolves when everything that follows from an answer has happened. */
const settled = async () => new Promise((resolve) => setImmediate(resolve));
const toolCall = { toolCallId: 'call' };

test('a permission request offers all options, and the chosen option is the answer', async () => {
  const { asked, given, questions } = openQuestions();
  questions.ask(question, toolCall);
  expect(asked).toMatchObject([
    { method: 'session/request_permission', params: { sessionId: 's', toolCall, options } },
  ]);
  asked[0]!.answer.resolve({ outcome: { outcome: 'selected', optionId: 'no' } });
  await settled();
  expect(given).toEqual([['s', 'a', { optionId: 'no' }]]);
});

test('an accepted form is answered with its content, and a rejected form without content', async () => {
  const { asked, given, questions } = openQuestions();
  const form = { properties: { name: { type: 'string' } } };
  const described = {
    ...question,
    askedBy: 'A subagent',
    description: 'The name of the release.',
    form,
  };
  questions.ask(described, toolCall);
  expect(asked).toMatchObject([
    {
      method: 'elicitation/create',
      params: {
        mode: 'form',
        sessionId: 's',
        toolCallId: 'call',
        message: 'A subagent asks:\n\nRun ls?\n\nThe name of the release.',
        requestedSchema: { type: 'object', ...form },
      },
    },
  ]);
  asked[0]!.answer.resolve({ action: 'accept', content: { name: 'Ada' } });
  await settled();
  questions.ask(described, toolCall);
  asked[1]!.answer.resolve({ action: 'decline', content: { name: 'Ada' } });
  await settled();
  questions.ask(described, toolCall);
  asked[2]!.answer.resolve({ action: 'accept' });
  await settled();
  expect(given).toStrictEqual([
    ['s', 'a', { optionId: 'yes', content: { name: 'Ada' } }],
    ['s', 'a', { optionId: 'no' }],
    ['s', 'a', { optionId: 'yes' }],
  ]);
});

test('while a question is open, it is asked only once; after its answer, it can be asked again', async () => {
  const { asked, questions } = openQuestions();
  questions.ask(question, toolCall);
  questions.ask(question, toolCall);
  expect(asked).toHaveLength(1);
  asked[0]!.answer.resolve({ outcome: { outcome: 'cancelled' } });
  await settled();
  questions.ask(question, toolCall);
  expect(asked).toHaveLength(2);
});

test.each([
  ['is answered elsewhere', (questions: Questions) => questions.closeDialog('a')],
  ['belongs to a client that leaves', (questions: Questions) => questions.close()],
])(
  'if an open question %s, its dialog closes, and a late answer does not count',
  async (_, close) => {
    for (const form of [undefined, { properties: {} }]) {
      const { asked, given, problems, questions } = openQuestions();
      questions.ask({ ...question, ...(form && { form }) }, toolCall);
      questions.closeDialog('another');
      const { cancellationSignal, stopWaitingOnCancel } = asked[0]!.options;
      expect([cancellationSignal.aborted, stopWaitingOnCancel]).toEqual([false, true]);
      close(questions);
      expect(cancellationSignal.aborted).toBe(true);
      const late = { action: 'accept', outcome: { outcome: 'selected', optionId: 'yes' } };
      asked[0]!.answer.resolve(late);
      await settled();
      expect({ given, problems }).toEqual({ given: [], problems: [] });
    }
  },
);

test('if a client fails to ask a question, the error is reported as a problem, unless its dialog was closed', async () => {
  const { asked, problems, questions } = openQuestions();
  const error = new Error('The editor has no window.');
  questions.ask(question, toolCall);
  asked[0]!.answer.reject(error);
  await settled();
  expect(problems).toEqual([error]);
  questions.ask(question, toolCall);
  questions.closeDialog('a');
  asked[1]!.answer.reject(new Error('The dialog was closed.'));
  await settled();
  expect(problems).toEqual([error]);
});
