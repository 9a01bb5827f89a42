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

test('a chosen model that is not listed is the first option; a listed model is offered only once', async () => {
  const catalog = new ModelCatalog([server('a')]);
  await catalog.refresh('a');
  const values = (name: string) =>
    catalog.option(catalog.choose(name, 'a'), 'a').options.map(({ value }) => value);
  expect(values('a:one')).toEqual(['a:one']);
  expect(values('a:new')).toEqual(['a:new', 'a:one']);
});

test('a list is fetched once for all sessions, and again when the list is old; only the failure of a session’s own server is reported', async () => {
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

test('a model’s context window is the configured one, or else the listed one', async () => {
  const one = server('a', { model: 'one', contextWindow: 5 });
  const catalog = new ModelCatalog([one, server('b')]);
  expect(catalog.windowOf({ server: one, model: 'one' })).toBe(5);
  expect(catalog.windowOf({ server: one, model: 'two' })).toBeUndefined();
  one.client.models = [
    { id: 'one', contextWindow: 7 },
    { id: 'two', contextWindow: 8 },
  ];
  await catalog.refresh('a');
  expect(catalog.windowOf({ server: one, model: 'one' })).toBe(5);
  expect(catalog.windowOf({ server: one, model: 'two' })).toBe(8);
  expect(catalog.windowOf(catalog.choose('b:one', 'a'))).toBe(1_000);
});

test('a model has tools unless its list says otherwise or the model has rejected tools', async () => {
  const one = server('a');
  one.client.models = [
    { id: 'one', callsTools: false },
    { id: 'two', callsTools: true },
    { id: 'three' },
  ];
  const catalog = new ModelCatalog([one, server('b')]);
  const has = (value: string) => catalog.callsTools(catalog.choose(value, 'a'));
  expect(has('a:one')).toBe(true);
  await catalog.refresh('a');
  expect(['a:one', 'a:two', 'a:three', 'a:four'].map(has)).toEqual([false, true, true, true]);
  catalog.callsNoTools(catalog.choose('a:two', 'a'));
  expect(['a:two', 'a:three', 'b:two'].map(has)).toEqual([false, true, true]);
});

test('a chosen model is written as SERVER:MODEL, or as a model of the session’s own server, with spaces around', () => {
  const catalog = new ModelCatalog([server('a'), server('b'), server('c', { problem: 'No key.' })]);
  const chosen = (value: string) => {
    const { server: of, model } = catalog.choose(value, 'a');
    return `${of.name} ${model}`;
  };
  expect([' b: x:y ', ' x ', 'a:x'].map(chosen)).toEqual(['b x:y', 'a x', 'a x']);
  expect(() => catalog.choose(' d:x ', 'a')).toThrow(
    'There is no model “ d:x ”. Name a model as SERVER:MODEL, as in a:d:x, with one of these servers: a, b.',
  );
  expect(() => catalog.choose('b:', 'a')).toThrow(
    'There is no model “b:”. Name a model as SERVER:MODEL, as in a:MODEL, with one of these servers: a, b.',
  );
  const unusable = { code: 'INVALID_OPTION', message: 'There is no model “c:x”. No key.' };
  expect(() => catalog.choose('c:x', 'a')).toThrow(expect.objectContaining(unusable));
});

test('a model that was chosen earlier is known even if its server is unusable or gone', async () => {
  const keyless = server('c', { problem: 'No key.' });
  const catalog = new ModelCatalog([server('a'), keyless]);
  expect(catalog.recall('x', 'a')).toMatchObject({ server: { name: 'a' }, model: 'x' });
  expect(catalog.recall('c:x', 'a').server).toBe(keyless);
  const { server: gone, model } = catalog.recall('d:x', 'a');
  const problem = 'The model server “d” is no longer configured.';
  expect(gone).toMatchObject({ name: 'd', title: 'd', problem, client: { providerId: 'd' } });
  expect(model).toBe('x');
  const { signal } = new AbortController();
  await expect(gone.client.listModels(signal)).rejects.toThrow(problem);
  await expect(gone.client.answer({} as never, {} as never, signal)).rejects.toMatchObject({
    code: 'MODEL_UNAVAILABLE',
    message: problem,
  });
});

test('a new session begins with the configured model, or else with the first listed model', async () => {
  const catalog = new ModelCatalog([server('a', { model: 'own' }), server('b')]);
  expect(catalog.first('a')?.model).toBe('own');
  expect(catalog.first('b')).toBeUndefined();
  await catalog.refresh('a');
  expect(catalog.first('a')?.model).toBe('own');
  expect(catalog.first('b')?.model).toBe('one');
  expect(() => catalog.first('z')).toThrow('There is no model server z.');
});

test('the configured model is listed once, first, with the name from the list', async () => {
  const one = server('a', { model: 'two' });
  one.client.models = [{ id: 'one' }, { id: 'two', name: 'Two' }];
  const catalog = new ModelCatalog([one, server('b'), server('c')]);
  const chosen = catalog.choose('two', 'a');
  expect(catalog.option(chosen, 'b')).toEqual({
    id: 'model',
    name: 'Model',
    category: 'model',
    currentValue: 'a:two',
    options: [{ value: 'a:two', name: 'two', group: 'A' }],
    takesOther: ['b:', 'a:', 'c:'],
  });
  await catalog.refresh('a');
  expect(catalog.option(chosen, 'a').options.filter(({ group }) => group === 'A')).toEqual([
    { value: 'a:two', name: 'Two', group: 'A' },
    { value: 'a:one', name: 'one', group: 'A' },
  ]);
  expect(catalog.option(catalog.choose('b:new', 'a'), 'a').options[0]).toEqual({
    value: 'b:new',
    name: 'new',
    group: 'B',
  });
});

test('a list is valid for five minutes, and parallel refreshes share one request', async () => {
  const one = server('a');
  const unusable = server('c', { problem: 'No key.' });
  const asked: string[] = [];
  const signals: AbortSignal[] = [];
  const lists = (name: string) => async (signal: AbortSignal) => {
    asked.push(name);
    signals.push(signal);
    return [{ id: `${name}${asked.length}` }];
  };
  one.client.listModels = lists('a') as never;
  unusable.client.listModels = lists('c') as never;
  const catalog = new ModelCatalog([one, unusable]);
  await Promise.all([catalog.refresh('a', 500_000), catalog.refresh('a', 500_000)]);
  await catalog.refresh('a', 800_000);
  expect(asked).toEqual(['a']);
  await catalog.refresh('a', 800_001);
  expect(asked).toEqual(['a', 'a']);
  expect(catalog.first('a')?.model).toBe('a2');
  expect(signals[0]?.aborted).toBe(false);
});

test('a list whose request failed is requested again the next time, and is not needed if a model is configured', async () => {
  const [listless, configured] = [server('a'), server('b', { model: 'own' })];
  let count = 0;
  const fails = async () => {
    count += 1;
    throw new ModelError('CONNECTION_FAILED', 'It is down.');
  };
  listless.client.listModels = fails;
  configured.client.listModels = fails;
  const catalog = new ModelCatalog([listless, configured]);
  const problem = 'The models of “A” could not be listed. It is down.';
  expect(await catalog.refresh('a', 0)).toBe(problem);
  expect(await catalog.refresh('b', 0)).toBeUndefined();
  expect(count).toBe(4);
});

test('each kind of token has its price', () => {
  const usage = {
    inputTokens: 1_000_000,
    outputTokens: 100_000,
    cacheReadInputTokens: 400_000,
    cacheCreationInputTokens: 200_000,
  };
  const cost = (prices: ModelServer['prices'], used: Parameters<typeof costOf>[1] = usage) =>
    costOf({ server: server('a', { model: 'one', prices }), model: 'one' }, used);
  expect(cost({ input: 2, output: 10 })).toBeCloseTo(2 + 1);
  expect(cost({ input: 2, output: 10, cacheRead: 1, cacheWrite: 3 })).toBeCloseTo(
    0.4 * 2 + 0.4 * 1 + 0.2 * 3 + 1,
  );
  // A server that counts cached tokens beside the input must not make the price negative.
  const beside = { inputTokens: 0, outputTokens: 0, cacheReadInputTokens: 1_000_000 };
  expect(cost({ input: 2, output: 10, cacheRead: 1 }, beside)).toBeCloseTo(1);
  expect(cost(undefined)).toBeUndefined();
});
