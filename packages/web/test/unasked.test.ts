import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { approval, begun, message, tool, turn, upsert } from './items.ts';
import { sessionId, shareStage, stage } from './stage.ts';

const turnId = 't2';
const said = message('a', 'The build has ended.', { turnId, status: 'complete' });
const told = message('n', 'The command “npm run build” has ended.', {
  turnId,
  origin: 'system',
  status: 'complete',
});

shareStage(() => {
  const first = begun('Start the build');
  stage.history = {
    ...first,
    turns: [turn('t1', { status: 'complete', endedAt: 1_000, trigger: 'user' })],
  };
});

const line = (page: Page) => page.getByText('Demo went on by itself', { exact: true });

function beginUnasked(): void {
  const started = { turnId, sessionId, modelId: 'm', providerId: 'p', trigger: 'agent' } as const;
  const payload = { type: 'turn_started', ...started } as const;
  stage.send({ type: 'session:turn', sessionId, payload, cursor: 'c' });
}

it.each([
  { width: 1000, height: 700 },
  { width: 390, height: 700 },
])('if no person began a turn, the page shows that the agent began it: %j', async (viewport) => {
  const page = await stage.visit({ viewport });
  await page.getByText('Start the build').waitFor();
  beginUnasked();
  await page.getByText('Working').waitFor();
  expect(await line(page).count()).toBe(0);
  stage.send(upsert(said));
  await page.getByText(said.content).waitFor();
  expect(await line(page).count()).toBe(1);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(viewport.width);
});

it('a turn with a message, or with a text that explains why it began, has no line about the agent', async () => {
  const page = await stage.visitShared();
  await page.getByText('Start the build').waitFor();
  expect(await line(page).count()).toBe(0);
  beginUnasked();
  stage.send(upsert(told));
  stage.send(upsert(said));
  await page.getByText(said.content).waitFor();
  expect(await line(page).count()).toBe(0);
});

it('a question about the settings of the project folder is not shown as begun by the agent', async () => {
  const page = await stage.visitShared();
  await page.getByText('Start the build').waitFor();
  beginUnasked();
  const toolName = 'use_project_settings';
  stage.send(upsert(tool('c', { turnId, toolName, title: 'Use the settings?' })));
  await page.getByText('Use the settings?').first().waitFor();
  expect(await line(page).count()).toBe(0);
});

it('for turns from history, the page also shows that the agent began them', async () => {
  const { entries, turns } = stage.history;
  const unasked = turn(turnId, { status: 'complete', endedAt: 2_000, trigger: 'agent' });
  stage.history = { ...stage.history, entries: [...entries, said], turns: [...turns, unasked] };
  const page = await stage.visit();
  await line(page).waitFor();
});

it('a turn that only asks a person a question is not shown as begun by the agent', async () => {
  const page = await stage.visitShared();
  await page.getByText('Start the build').waitFor();
  beginUnasked();
  stage.send(upsert(approval('plan', { turnId, title: 'Implement this plan?' })));
  await page.getByRole('group', { name: 'Permission: Implement this plan?' }).waitFor();
  expect(await line(page).count()).toBe(0);
});
