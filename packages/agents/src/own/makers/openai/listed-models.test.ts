import { expect, test } from 'vitest';
import { readModels, readOwnModels } from './listed-models.ts';

const list = (...ids: string[]) => ({
  object: 'list',
  data: ids.map((id, index) => ({ id, object: 'model', created: 100 + index })),
});

test('in OpenAI’s own list, the newest model for conversations is the first', () => {
  const answer = list('gpt-4o', 'text-embedding-3-large', 'gpt-5', 'gpt-image-1', 'whisper-1');
  expect(readOwnModels(answer).map(({ id }) => id)).toEqual(['gpt-5', 'gpt-4o']);
});

test('lists of other servers keep their order and their data about models', () => {
  expect(readModels(list('b', 'a')).map(({ id }) => id)).toEqual(['b', 'a']);
  expect(readModels({ data: [{ id: 'a', max_model_len: 8_192 }] })).toEqual([
    { id: 'a', name: undefined, contextWindow: 8_192 },
  ]);
  // llama.cpp’s server may have been started with a smaller context than the model supports.
  expect(
    readModels({ data: [{ id: 'a', meta: { n_ctx: 2_048, n_ctx_train: 4_096 } }] }),
  ).toMatchObject([{ contextWindow: 2_048 }]);
  expect(readModels({ models: [{ name: 'tiny:1b', model: 'tiny:1b' }] })).toMatchObject([
    { id: 'tiny:1b' },
  ]);
  expect(readModels({ data: null })).toEqual([]);
});

test.each([
  [true, { supported_parameters: ['stop', 'tools'] }],
  [false, { supported_parameters: ['stop'] }],
  [true, { capabilities: { completion_chat: true, function_calling: true } }],
  [false, { capabilities: { completion_chat: true, function_calling: false } }],
  [undefined, { capabilities: ['completion'] }],
  [undefined, {}],
])('whether a model calls tools is %s for the entry %j', (callsTools, entry) => {
  expect(readModels({ data: [{ id: 'a', ...entry }] })[0]?.callsTools).toBe(callsTools);
});
