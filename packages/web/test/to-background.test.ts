import type { Page } from 'playwright-core';
import { beforeEach, expect, it } from 'vitest';
import { message, tool, turn } from './items.ts';
import { shareStage, stage } from './stage.ts';

shareStage();

let backgrounds: boolean;

beforeEach(() => {
  backgrounds = true;
  stage.info = { ...stage.info, session: { ...stage.info.session, state: 'running' } };
  stage.history = {
    entries: [
      message('u', 'Serve it', { origin: 'user', status: 'complete' }),
      tool('call-1', { toolArguments: { command: 'npm start' } }),
      tool('call-2', { toolName: 'Read', kind: 'read', toolArguments: { file_path: '/a.ts' } }),
    ],
    turns: [turn('t1', { status: 'in_progress' })],
    cursor: 't1:0',
    hasMore: false,
  };
  stage.answer = (_, path) => {
    if (path.endsWith('/background')) return {};
    const demo = { cliType: 'demo', name: 'Demo', description: '', available: true };
    return path === '/api/agents' ? { agents: [{ ...demo, backgrounds }] } : undefined;
  };
});

const buttons = (page: Page) => page.getByRole('button', { name: 'To background' });

it('a running command can be sent to the background by its button; other calls have no such button', async () => {
  const page = await stage.visitShared();
  await buttons(page).click();
  const asked = () =>
    stage.requests.flatMap(({ path, body }) => (path.endsWith('/background') ? [body] : []));
  await expect.poll(asked).toEqual([{ callId: 'call-1' }]);
});

it('if an agent cannot send calls to the background, no call has such a button', async () => {
  backgrounds = false;
  // A page loads the agents only once.
  const page = await stage.visit();
  await page.getByText('npm start').waitFor();
  await expect.poll(() => stage.requests.some(({ path }) => path === '/api/agents')).toBe(true);
  expect(await buttons(page).count()).toBe(0);
});
