import type { ContentBlock, OutputItem } from '@liminal/protocol';
import { pixel } from '@liminal/testkit';
import { expect, test } from 'vitest';
import type { ModelRequest } from './model-client.ts';
import { type Refusal, Refusals } from './refusals.ts';

const gif = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
const picture = (data: string, mimeType = 'image/png'): ContentBlock => ({
  type: 'image',
  data,
  mimeType,
});
const message = (
  origin: 'user' | 'agent',
  content: string,
  blocks?: ContentBlock[],
): OutputItem => ({ type: 'message', id: content, origin, content, ...(blocks && { blocks }) });
const thought: OutputItem = {
  type: 'reasoning',
  id: 'r',
  content: 'Hm.',
  origin: 'agent',
  raw: { openai: { encrypted_content: 'e' } },
};
const call: OutputItem = {
  type: 'function_call',
  id: 'c',
  callId: 'call_of_another_maker',
  name: 'show',
  arguments: '{}',
  origin: 'agent',
  raw: { field: 'of its maker' },
};
const output: OutputItem = {
  type: 'function_call_output',
  id: 'o',
  callId: 'call_of_another_maker',
  output: 'shown',
  success: true,
  origin: 'tool_harness',
};

interface Body {
  conversation: ModelRequest['conversation'];
  reasoningField?: string | undefined;
  fields?: readonly string[];
}

const badRequest = 'Bad request.';

/** An error with which the server refuses a request. */
class Refused extends Error {
  readonly status: number;
  constructor(words: string, status = 400) {
    super(words);
    this.status = status;
  }
}

const refusalIn = (error: unknown): Refusal | undefined => {
  if (!(error instanceof Refused)) return undefined;
  const { message: words, status } = error;
  const complaint = { status, words, code: '', type: '', param: '', body: undefined };
  return { complaint, isUnknown: words.startsWith(badRequest) };
};

/** A server; `refuses` returns the words with which the server refuses a body. */
function serverThat(refuses: (body: Body, count: number) => string | undefined) {
  const refusals = new Refusals();
  const bodies: Body[] = [];
  const ask = async (conversation: readonly OutputItem[], model = 'one') =>
    refusals.ask<Body, string>(
      { conversation, model, instructions: '', tools: [] },
      {
        bodyOf: ({ conversation: sent, reasoningField }) => ({
          conversation: sent,
          reasoningField,
        }),
        send: async (body) => {
          bodies.push(body);
          const words = refuses(body, bodies.length);
          if (words !== undefined) throw new Refused(words);
          return 'Yes.';
        },
        refusalIn,
      },
    );
  return { ask, bodies };
}

/** What is left of a conversation in a request. */
const sent = ({ conversation }: Body): string =>
  conversation
    .map((item) => {
      if (item.type === 'reasoning') return 'thought';
      const raw = item.raw === undefined ? '' : ' with fields';
      if (item.type === 'function_call') return `${item.callId}${raw}`;
      if (item.type === 'function_call_output') return `output of ${item.callId}`;
      if (item.type !== 'message') return item.type;
      const files = (item.blocks ?? []).map((block) =>
        block.type === 'image' && block.data !== undefined
          ? block.data === gif
            ? ' +gif'
            : ' +png'
          : ' +name',
      );
      const [first = ''] = item.content.split(/[\n.]/);
      return `${first}${files.join('')}`;
    })
    .join(', ');

test('an accepted request is sent once and unchanged; an error that is not a refusal is thrown at once', async () => {
  const { ask, bodies } = serverThat(() => undefined);
  const conversation = [message('user', 'Go', [picture(pixel)]), thought, call, output];
  expect(await ask(conversation)).toBe('Yes.');
  expect(bodies).toEqual([{ conversation, reasoningField: undefined }]);

  const lost = new Error('The connection broke off.');
  const asked: unknown[] = [];
  const format = {
    bodyOf: (request: ModelRequest) => request,
    send: async (body: unknown) => {
      asked.push(body);
      throw lost;
    },
    refusalIn,
  };
  const request = { conversation, model: 'one', instructions: '', tools: [] };
  await expect(new Refusals().ask(request, format)).rejects.toBe(lost);
  expect(asked).toHaveLength(1);
});

test('a known error leads to its concession, which then applies to all conversations of that model only', async () => {
  const { ask, bodies } = serverThat(({ conversation }) =>
    conversation.some((item) => item.type === 'function_call' && item.callId.length !== 9)
      ? 'Tool call IDs should be alphanumeric strings with length 9!'
      : undefined,
  );
  expect(await ask([message('user', 'Go'), call, output])).toBe('Yes.');
  expect(bodies.map(sent)).toEqual([
    'Go, call_of_another_maker with fields, output of call_of_another_maker',
    expect.stringMatching(/^Go, (\w{9}) with fields, output of \1$/),
  ]);
  await ask([message('user', 'Again'), call, output]);
  expect(bodies).toHaveLength(3);
  await ask([message('user', 'Again'), call, output], 'two');
  expect(bodies).toHaveLength(5);
});

test('a loss applies only to the items that caused the error', async () => {
  const { ask, bodies } = serverThat((body) =>
    sent(body).includes('+gif') ? badRequest : undefined,
  );
  const [bad, good] = [picture(gif, 'image/gif'), picture(pixel)];
  expect(await ask([message('user', 'See', [bad])])).toBe('Yes.');
  expect(await ask([message('user', 'See', [bad]), message('user', 'And', [good])])).toBe('Yes.');
  expect(bodies.map(sent)).toEqual(['See +gif', 'See +name', 'See +name, And +png']);
});

test('after unknown errors, more and more parts are left out: first the new files, and at the end everything except plain text', async () => {
  let isBroken = false;
  const { ask, bodies } = serverThat((_, count) =>
    isBroken ? `${badRequest} ${count}` : undefined,
  );
  const old = message('user', 'Old', [picture(pixel)]);
  expect(await ask([old])).toBe('Yes.');
  isBroken = true;
  const conversation = [
    old,
    thought,
    call,
    output,
    message('user', 'New', [picture(gif, 'image/gif')]),
  ];
  // If nothing helps, the caller gets the first error.
  await expect(ask(conversation)).rejects.toMatchObject({ message: `${badRequest} 2` });
  const id = 'call_of_another_maker';
  const plain = '(This is from Liminal, not from the user';
  expect(bodies.slice(1).map(sent)).toEqual([
    `Old +png, thought, ${id} with fields, output of ${id}, New +gif`,
    `Old +png, thought, ${id} with fields, output of ${id}, New +name`,
    `Old +name, thought, ${id} with fields, output of ${id}, New +name`,
    expect.stringMatching(
      /^Old \+png, thought, (\w{9}) with fields, output of \1, I have the result, New \+gif$/,
    ),
    `Old +png, ${id}, output of ${id}, New +gif`,
    `Old +png, thought, ${plain}, New +gif`,
    expect.stringMatching(/^Old \+name, (\w{9}), output of \1, I have the result, New \+name$/),
    `Old +name, ${plain}, New +name`,
  ]);
  // A failed request leads to no concession.
  isBroken = false;
  bodies.length = 0;
  await ask(conversation);
  expect(bodies.map(sent)).toEqual([
    `Old +png, thought, ${id} with fields, output of ${id}, New +gif`,
  ]);
});

test('the error is thrown after the last known concession, if a server names its reason', async () => {
  const { ask, bodies } = serverThat((_, count) => `Roles must alternate, ${count}.`);
  await expect(ask([message('user', 'A')])).rejects.toThrow('Roles must alternate, 1.');
  await expect(ask([message('agent', 'A')])).rejects.toThrow('Roles must alternate, 3.');
  expect(bodies.map(sent)).toEqual(['A', 'A', '(No message, A, (Go on']);
});

test('a guess that does not help is dropped, unless a known error came after the guess', async () => {
  const { ask, bodies } = serverThat((body) => {
    const now = sent(body);
    if (now.includes('+png')) return badRequest;
    if (!now.includes('I have the result')) return "Unexpected role 'user' after role 'tool'";
    return now.includes('thought') ? badRequest : undefined;
  });
  const conversation = [
    message('user', 'See', [picture(pixel)]),
    thought,
    call,
    output,
    message('user', 'So'),
  ];
  expect(await ask(conversation)).toBe('Yes.');
  const id = 'call_of_another_maker';
  const rest = `${id} with fields, output of ${id}`;
  expect(bodies.map(sent)).toEqual([
    `See +png, thought, ${rest}, So`,
    `See +name, thought, ${rest}, So`,
    `See +name, thought, ${rest}, I have the result, So`,
    expect.stringMatching(/^See \+name, thought, \w{9} with .*, I have the result, So$/),
    `See +name, ${id}, output of ${id}, I have the result, So`,
  ]);
});

test('the field in which a server expects its reasoning is searched for once, and then used for all requests', async () => {
  const { ask, bodies } = serverThat(({ reasoningField }) =>
    reasoningField === undefined
      ? 'The `reasoning_content` in the thinking mode must be passed back to the API.'
      : undefined,
  );
  expect(await ask([message('user', 'A')])).toBe('Yes.');
  expect(await ask([message('user', 'B')])).toBe('Yes.');
  const field = 'reasoning_content';
  expect(bodies.map(({ reasoningField }) => reasoningField)).toEqual([undefined, field, field]);
});

/** A server that refuses fields of a request one after another, and then refuses with `words`. */
function serverWithout(fields: string[], words: (body: Body) => string | undefined) {
  const left = new Set<string>();
  const bodies: Body[] = [];
  const ask = async (conversation: readonly OutputItem[]) =>
    new Refusals().ask<Body, string>(
      { conversation, model: 'one', instructions: '', tools: [] },
      {
        bodyOf: ({ conversation: put }) => ({
          conversation: put,
          fields: fields.filter((field) => !left.has(field)),
        }),
        send: async (body) => {
          bodies.push(body);
          const [field] = body.fields ?? [];
          const refused = field === undefined ? words(body) : `Unknown parameter: ${field}`;
          if (refused !== undefined) throw new Refused(refused);
          return 'Yes.';
        },
        refusalIn,
        noteRefusal: (body, complaint) => {
          const field = body.fields?.find((one) => complaint.words.endsWith(one));
          if (field !== undefined) left.add(field);
          return field !== undefined || complaint.words.includes('again');
        },
      },
    );
  return { ask, bodies };
}

test('if the client leaves a field out, the request is repeated without a concession', async () => {
  const { ask, bodies } = serverWithout(['a', 'b'], () => undefined);
  expect(await ask([message('user', 'See', [picture(pixel)])])).toBe('Yes.');
  expect(bodies.map((body) => [body.fields, sent(body)])).toEqual([
    [['a', 'b'], 'See +png'],
    [['b'], 'See +png'],
    [[], 'See +png'],
  ]);
});

test('the same request is never sent twice', async () => {
  const { ask, bodies } = serverWithout([], (body) =>
    sent(body).includes('+png') ? `${badRequest} Try again.` : undefined,
  );
  expect(await ask([message('user', 'See', [picture(pixel)])])).toBe('Yes.');
  expect(bodies.map(sent)).toEqual(['See +png', 'See +name']);
});

test.each([
  [11, ['See +png', 'See +name, (Th']],
  [10, ['See +png', 'See +name', 'See +name, (Th']],
])('after %i refused fields, the remaining requests are %j', async (count, expected) => {
  const fields = Array.from({ length: count }, (_, at) => `field ${at}.`);
  const { ask, bodies } = serverWithout(fields, (body) =>
    sent(body).includes('output') ? badRequest : undefined,
  );
  const conversation = [message('user', 'See', [picture(pixel)]), call, output];
  expect(await ask(conversation)).toBe('Yes.');
  const after = bodies.slice(count).map((body) => sent(body).replace(/, call_.*|is is .*/, ''));
  expect(after).toEqual(expected);
});

test.each([
  [11, 'Roles must alternate.'],
  [10, undefined],
])('after %i refused fields, a known error leads to: %s', async (count, error) => {
  const fields = Array.from({ length: count }, (_, at) => `field ${at}.`);
  const { ask } = serverWithout(fields, (body) =>
    sent(body).includes('(No message') ? undefined : 'Roles must alternate.',
  );
  const outcome = await ask([message('agent', 'A'), message('user', 'B')]).catch(
    ({ message: words }: Error) => words,
  );
  expect(outcome).toBe(error ?? 'Yes.');
});
