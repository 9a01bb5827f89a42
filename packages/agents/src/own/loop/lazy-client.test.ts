import { expect, test, vi } from 'vitest';
import type { AnswerWriter } from './answer-writer.ts';
import { LazyClient } from './lazy-client.ts';
import type { ModelAnswer, ModelClient, ModelRequest } from './model-client.ts';

test('a client is loaded once, at its first request', async () => {
  const listModels = vi.fn<ModelClient['listModels']>(async () => [{ id: 'one' }]);
  const answer = vi.fn<ModelClient['answer']>(async () => ({}) as ModelAnswer);
  const load = vi.fn<() => Promise<ModelClient>>(async () => ({
    providerId: 'other',
    listModels,
    answer,
  }));
  const client = new LazyClient('openai', load);
  expect(client.providerId).toBe('openai');
  expect(load).not.toHaveBeenCalled();
  const { signal } = new AbortController();
  const request = {} as ModelRequest;
  const writer = {} as AnswerWriter;
  const [models] = await Promise.all([
    client.listModels(signal),
    client.answer(request, writer, signal),
  ]);
  expect(models).toEqual([{ id: 'one' }]);
  expect(listModels).toHaveBeenCalledWith(signal);
  expect(answer).toHaveBeenCalledWith(request, writer, signal);
  expect(load).toHaveBeenCalledTimes(1);
});
