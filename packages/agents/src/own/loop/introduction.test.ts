import { expect, test } from 'vitest';
import { introduce } from './introduction.ts';
import type { ListedModel } from './model-client.ts';
import { ModelError, type ModelErrorCode } from './model-error.ts';

/** The introduction of a server that lists these models, or fails with an error. */
function introductionOf(
  listed: string[] | Error,
  { model, providerId = 'openai' }: { model?: string; providerId?: string } = {},
) {
  const listModels = async (): Promise<ListedModel[]> => {
    if (listed instanceof Error) throw listed;
    return listed.map((id) => ({ id }));
  };
  const answer = () => expect.fail('Nothing is asked of a model.');
  const client = { providerId, listModels, answer };
  return introduce({ name: 'here', title: 'Here', client, model }, 60_000);
}

const error = (code: ModelErrorCode) => new ModelError(code, 'The server has no such page.');

test('the description of a model server lists its interface and its first three models', async () => {
  expect(await introductionOf(['one', 'two', 'three', 'four', 'five'])).toEqual({
    protocol: 'OpenAI’s interface',
    abilities: ['answer as one, two, three, 2 more'],
    signIn: [],
    problems: [],
  });
  const three = await introductionOf(['one', 'two', 'three'], { providerId: 'anthropic' });
  expect(three.protocol).toBe('Anthropic’s interface');
  expect(three.abilities).toEqual(['answer as one, two, three']);
  expect((await introductionOf(['one'], { providerId: 'other' })).protocol).toBe('other');
});

test('a server without models has a problem if the configuration names no model either', async () => {
  expect(await introductionOf([])).toMatchObject({
    abilities: [],
    problems: ['It lists no model. Load one there, or set the "model" of its configuration.'],
  });
});

test('a configured model that the server does not list is a problem', async () => {
  const about = { model: 'two' };
  expect((await introductionOf(['one', 'two'], about)).problems).toEqual([]);
  const missing = ['It does not list “two”, which the configuration names.'];
  expect((await introductionOf(['one'], about)).problems).toEqual(missing);
  expect((await introductionOf([], about)).problems).toEqual(missing);
});

test.each<ModelErrorCode>(['MODEL_NOT_FOUND', 'MODEL_ERROR'])(
  'a server without a list (%s) can be used only with a configured model',
  async (code) => {
    expect(await introductionOf(error(code), { model: 'one' })).toEqual({
      protocol: 'OpenAI’s interface',
      abilities: [],
      signIn: [],
      problems: ['It does not list its models.'],
    });
    await expect(introductionOf(error(code))).rejects.toThrow(
      'The server has no such page. If it lists no models, set the "model" of its configuration.',
    );
  },
);

test('a server that rejects the key, or cannot be reached, makes the description reject with the server’s own error', async () => {
  for (const failed of [error('AUTHENTICATION'), new Error('No route.')]) {
    await expect(introductionOf(failed, { model: 'one' })).rejects.toBe(failed);
  }
});

test('a server that does not answer in time makes the description reject with the limit', async () => {
  const listModels = (signal: AbortSignal) =>
    new Promise<ListedModel[]>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  const answer = () => expect.fail('Nothing is asked of a model.');
  const client = { providerId: 'openai', listModels, answer };
  const introducing = introduce({ name: 'here', title: 'Here', client, model: 'one' }, 10);
  await expect(introducing).rejects.toThrow('It did not answer within 0.01 s.');
});
