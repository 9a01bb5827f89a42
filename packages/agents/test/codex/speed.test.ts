/** The service tiers of the real Codex. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answer } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { runCodex } from './running-codex.ts';

const tiers = [{ id: 'priority', name: 'Fast', description: '2x speed, increased usage' }];

test('a model’s service tiers are offered as the setting “speed”; the chosen tier is sent to the model’s server, and is kept', async () => {
  const { api, create, provider, workspace } = await runCodex(() => () => answer('Fine.'));
  const catalog = join(workspace.home, '.codex/catalog.json');
  const { models } = JSON.parse(await readFile(catalog, 'utf8')) as { models: object[] };
  const [scripted, ...others] = models;
  const changed = { models: [{ ...scripted, service_tiers: tiers }, ...others] };
  await writeFile(catalog, JSON.stringify(changed));
  const listener = await create();
  const { sessionId } = listener;
  const speed = () =>
    listener.updates
      .findLast((update) => update.configOptions !== undefined)
      ?.configOptions?.find(({ id }) => id === 'service_tier');
  const tierAsked = () => api.requests.at(-1)?.body['service_tier'];
  await listener.until(() => listener.updates.some((update) => update.configOptions !== undefined));
  expect(speed()).toMatchObject({
    name: 'Speed',
    currentValue: 'standard',
    options: [{ value: 'standard' }, { value: 'priority', name: 'Fast' }],
  });
  await listener.ask('One.');
  expect(tierAsked()).toBeUndefined();
  await provider.setConfigOption?.(sessionId, 'service_tier', 'priority');
  await listener.ask('Two.');
  expect(tierAsked()).toBe('priority');
  await provider.killSession(sessionId);
  await provider.loadSession(sessionId, { projectDir: workspace.projectDir });
  await listener.ask('Three.');
  expect(tierAsked()).toBe('priority');
  // This model has only one tier.
  await provider.setConfigOption?.(sessionId, 'model', 'scripted-mini');
  expect(speed()).toBeUndefined();
  await listener.ask('Four.');
  expect(tierAsked()).toBeUndefined();
});
