import { expect, test } from 'vitest';
import { readComplaint } from './errors.ts';
import { RefusedFields } from './refused-fields.ts';

const chat = { model: 'm', messages: [], stream_options: {}, reasoning_effort: 'low' };
const responses = {
  model: 'm',
  include: [],
  store: false,
  reasoning: { effort: 'low', summary: 'auto' },
};
const openAi = (message: string, param: string | null = null, code: string | null = null) => ({
  error: { message, type: 'invalid_request_error', param, code },
});

/** The request without the field that the error is about; undefined if the error names no field. */
function left(body: object, said: unknown, status = 400): object | undefined {
  const refused = new RefusedFields();
  if (!refused.noteRefusal('m', body, readComplaint(said, status))) return undefined;
  return refused.without('m', body);
}

const { stream_options: _options, ...withoutOptions } = chat;
const { store: _store, ...withoutStore } = responses;
const { include: _include, ...withoutInclude } = responses;
const { reasoning: _reasoning, ...withoutReasoning } = responses;
const onlySummary = { ...responses, reasoning: { summary: 'auto' } };
const withoutSummary = { ...responses, reasoning: { effort: 'low' } };

test.each([
  [chat, withoutOptions, 400, openAi('Unknown parameter: stream_options.')],
  [
    chat,
    withoutOptions,
    422,
    { detail: [{ type: 'extra_forbidden', loc: ['body', 'stream_options'], msg: 'No' }] },
  ],
  [responses, withoutStore, 400, openAi("Unrecognized argument: 'store'")],
  [responses, withoutStore, 400, openAi('No', 'store', 'unknown_parameter')],
  [responses, withoutInclude, 400, openAi('Encrypted content is not supported with this model.')],
  [responses, withoutInclude, 400, openAi('No', 'include[0]')],
  [responses, withoutSummary, 400, openAi('Verify yourself', 'reasoning.summary')],
  [responses, withoutSummary, 400, openAi('No', 'reasoning.summary', 'unsupported_value')],
  [responses, withoutSummary, 400, openAi('Verify to generate reasoning summaries.')],
  [onlySummary, withoutReasoning, 400, openAi('No', 'reasoning.summary', 'unsupported_value')],
  [onlySummary, withoutReasoning, 400, openAi('No', 'reasoning', 'invalid_value')],
  [onlySummary, withoutReasoning, 400, openAi('This model does not support reasoning.')],
  [responses, withoutStore, 400, openAi('No', 'store', 'unsupported_value')],
  [responses, withoutInclude, 400, openAi('No', 'include', 'invalid_value')],
  [chat, withoutOptions, 400, openAi('No', 'stream_options', 'invalid_value')],
  [responses, withoutReasoning, 400, openAi('No', 'reasoning.effort', 'unsupported_parameter')],
  [responses, withoutReasoning, 400, { error: 'unknown field "reasoning"' }],
])('the request %j becomes %j after the status %j with %j', (body, expected, status, said) => {
  expect(left(body, said, status)).toEqual(expected);
});

test.each([
  [400, openAi('The request must include a reasoning to store.')],
  [400, openAi('Broken')],
  [400, openAi('Unknown parameter', 'tools')],
  [400, openAi('Unsupported value', 'reasoning.effort', 'unsupported_value')],
  [500, openAi('No', 'store')],
])('the status %j with %j is not the refusal of a field', (status, said) => {
  expect(left(responses, said, status)).toBeUndefined();
});

test('if a server rejects the value of the effort, the field is not left out, because a person has chosen that value', () => {
  const complaint = openAi('Unsupported value', 'reasoning_effort', 'unsupported_value');
  expect(left(chat, complaint)).toBeUndefined();
});

test('a refused field is recorded once for each model', () => {
  const refused = new RefusedFields();
  const complaint = readComplaint(openAi('No', 'store'), 400);
  expect(refused.noteRefusal('m', responses, complaint)).toBe(true);
  expect(refused.noteRefusal('m', refused.without('m', responses), complaint)).toBe(false);
  expect(refused.without('other', responses)).toEqual(responses);
});
