import { expect, test } from 'vitest';
import { costOf, ModelCatalog, type ModelServer } from './catalog.ts';
import { ModelError } from './model-error.ts';
import { ScriptedClient } from './testing/scripted-client.ts';

function server(
  name: string,
  more: Partial<ModelServer> = {},
): ModelServer & { client: ScriptedClient } {
  return { name, title: name.toUpperCase(), client: new ScriptedClient([]), ...more } as never;
}

test('the models of all servers can be chosen, the configured model first, each with its server', async () => {
  const catalog = new ModelCatalog([
    server('a', { model: 'own' }),
    server('b'),
    server('c', { problem: 'No key.' }),
  ]);
  await catalog.refresh('a');

  const { options, currentValue, takesOther } = catalog.option(catalog.first('a'), 'a');
  expect(takesOther).toEqual(['a:', 'b:']);
  expect(currentValue).toBe('a:own');
  expect(options).toEqual([
    { value: 'a:own', name: 'own', group: 'A' },
    { value: 'a:one', name: 'One', group: 'A' },
    { value: 'b:one', name: 'One', group: 'B' },
  ]);
  expect(catalog.windowOf(catalog.choose('b:one', 'a'))).toBe(1_000);
});

test('a model that is not listed can be chosen and is then listed as an option; a model of an unusable server cannot be chosen', () => {
  const catalog = new ModelCatalog([server('a'), server('c', { problem: 'Set C_KEY.' })]);
  const chosen = catalog.choose('a:library/new:7b', 'a');
  expect(chosen.model).toBe('library/new:7b');
  expect(catalog.option(chosen, 'a').options[0]).toMatchObject({ value: 'a:library/new:7b' });
  expect(catalog.choose('one', 'a')).toMatchObject({ model: 'one', server: { name: 'a' } });
  expect(catalog.option(undefined, 'a')).toMatchObject({ currentValue: '', options: [] });
  for (const wrong of ['', 'a:']) expect(() => catalog.choose(wrong, 'a')).toThrow(/SERVER:MODEL/);
  expect(() => catalog.choose('c:one', 'a')).toThrow(/Set C_KEY/);
});

test('an unlisted model stands before the listed ones, a listed model only in its place', async () => {
  const catalog = new ModelCatalog([server('a')]);
  await catalog.refresh('a');
  const values = (name: string) =>
    catalog.option(catalog.choose(name, 'a'), 'a').options.map(({ value }) => value);
  expect(values('a:one')).toEqual(['a:one']);
  expect(values('a:new')).toEqual(['a:new', 'a:one']);
});

test('a list is fetched once for all sessions, and again when it is old; only a session’s own server is reported as missing', async () => {
  const good = server('a');
  const bad = server('b');
  let asked = 0;
  good.client.listModels = async () => ((asked += 1), [{ id: 'one' }]);
  bad.client.listModels = async () => {
    throw new ModelError('CONNECTION_FAILED', 'It is down.');
  };
  const catalog = new ModelCatalog([good, bad]);
  expect(await Promise.all([catalog.refresh('a', 0), catalog.refresh('b', 0)])).toEqual([
    undefined,
    'The models of “B” could not be listed. It is down.',
  ]);
  await catalog.refresh('a', 1_000);
  expect(asked).toBe(1);
  await catalog.refresh('a', 10 * 60_000);
  expect(asked).toBe(2);
});

test('cached tokens have their own price, and only the configured model has a price', () => {
  const prices = { input: 2, output: 10, cacheRead: 0.2 };
  const one = server('a', { model: 'one', prices });
  const usage = { inputTokens: 1_000_000, outputTokens: 100_000, cacheReadInputTokens: 400_000 };
  expect(costOf({ server: one, model: 'one' }, usage)).toBeCloseTo(0.6 * 2 + 0.4 * 0.2 + 1);
  expect(costOf({ server: one, model: 'two' }, usage)).toBeUndefined();
});

test('the cost of web searches is computed from the price for a thousand searches', () => {
  const usage = { inputTokens: 1_000_000, outputTokens: 0 };
  const cost = (webSearch?: number) => {
    const one = server('a', { model: 'one', prices: { input: 2, output: 10, webSearch } });
    return costOf({ server: one, model: 'one' }, usage, 3);
  };
  expect([cost(), cost(10)]).toEqual([2, 2.03]);
});
