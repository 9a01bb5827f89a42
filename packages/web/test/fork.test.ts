import { testAtLength } from '@liminal/testkit/at-length';
import type { Page } from 'playwright-core';
import { beforeEach, expect, it } from 'vitest';
import { message, turn } from './items.ts';
import { shareStage, otherSession, sessionId, stage } from './stage.ts';

shareStage();

const done = { status: 'complete', endedAt: 1 } as const;
const forkedFrom = () => ({ sessionId, turnId: 't1', title: 'Fix the login' });

beforeEach(() => {
  const { session } = stage.info;
  stage.info = { ...stage.info, session: { ...session, state: 'running' } };
  stage.history = {
    entries: ['t1', 't2', 't3'].flatMap((turnId) => [
      message(`${turnId}-u`, `Ask ${turnId}`, { turnId, origin: 'user', status: 'complete' }),
      message(`${turnId}-a`, `Answer ${turnId}`, { turnId, status: 'complete' }),
    ]),
    turns: [turn('t1', done), turn('t2', done), turn('t3')],
    cursor: 't3:0',
    hasMore: false,
  };
  stage.others = [
    otherSession('forked', { title: 'Fork of Fix the login', forkedFrom: forkedFrom() }),
  ];
  stage.answer = (_, path) => {
    if (path.endsWith('/fork')) return { sessionId: 'forked', cliType: 'demo' };
    const demo = { cliType: 'demo', name: 'Demo', description: '', available: true };
    const agents = [{ ...demo, forks: true }];
    return path === '/api/agents' ? { agents } : undefined;
  };
});

const forkButtons = (page: Page) => page.getByRole('button', { name: 'Fork from here' });
const turnOf = (page: Page, turnId: string) => page.locator(`[data-turn-id="${turnId}"]`);
const at = async (page: Page, path: string) =>
  await expect.poll(() => new URL(page.url()).pathname).toBe(path);

it('a session can be forked after each ended turn, and the fork is shown in a kept tab', async () => {
  const page = await stage.visit();
  await expect.poll(() => forkButtons(page).count()).toBe(2);
  await turnOf(page, 't1').getByRole('button', { name: 'Fork from here' }).click();

  await at(page, '/session/forked');
  expect(stage.requests).toContainEqual({
    method: 'POST',
    path: `/api/session/${sessionId}/fork`,
    body: { turnId: 't1', sessionId: expect.any(String) },
  });
  await page
    .getByRole('main', { name: 'Fork of Fix the login' })
    .getByText('Forked from')
    .waitFor();
  const kept = () => page.evaluate(() => localStorage.getItem('liminal.tabs'));
  await expect.poll(kept).toContain('forked');
});

it('if an agent can fork only its whole conversation, a fork is offered only after the newest turn, when the agent has reported this ability', async () => {
  stage.history = { ...stage.history, turns: stage.history.turns.slice(0, 2), cursor: 't2:0' };
  stage.history.entries = stage.history.entries.slice(0, 4);
  let forks: object = {};
  stage.answer = (_, path) => {
    const demo = { cliType: 'demo', name: 'Demo', description: '', available: true };
    return path === '/api/agents' ? { agents: [{ ...demo, ...forks }] } : undefined;
  };
  const page = await stage.visit();
  await turnOf(page, 't2').getByRole('button', { name: 'Copy answer' }).waitFor();
  expect(await forkButtons(page).count()).toBe(0);

  forks = { forks: true, forksWhole: true };
  stage.sendInfo({ accepts: { image: [], audio: [], resource: [] } });
  await turnOf(page, 't2').getByRole('button', { name: 'Fork from here' }).waitFor();
  expect(await forkButtons(page).count()).toBe(1);
});

it('a fork contains a link to the turn after which it was made', async () => {
  const page = await stage.visit({}, '/session/forked');
  await page.getByRole('main').getByRole('link', { name: 'Fix the login', exact: true }).click();

  await at(page, `/session/${sessionId}`);
  const item = () => page.evaluate(() => document.activeElement?.getAttribute('data-item-id'));
  await expect.poll(item).toBe('t1-u');
});

it('a fork still shows the name of the session from which it was made after that session was deleted', async () => {
  const gone = { ...forkedFrom(), sessionId: 'deleted', title: 'An old one' };
  stage.others = [otherSession('forked', { forkedFrom: gone })];
  const page = await stage.visit({}, '/session/forked');
  await page.getByText('Forked from An old one').waitFor();
  expect(await page.getByRole('link', { name: 'An old one' }).count()).toBe(0);
});

it('the session’s menu forks the whole session', async () => {
  const page = await stage.visitShared();
  await page.getByRole('button', { name: 'Session', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Fork' }).click();
  await at(page, '/session/forked');
  const asked = stage.requests.find(({ path }) => path.endsWith('/fork'));
  expect(asked?.body).toEqual({ sessionId: expect.any(String) });
});

testAtLength(
  'if the server refuses a fork, the reason is shown, and the fork can be retried',
  async () => {
    const page = await stage.visit();
    const code = 'TURN_NOT_STORED';
    stage.refuse = (path) =>
      path.endsWith('/fork')
        ? { code, message: 'Claude Code has not stored this turn.' }
        : undefined;
    await forkButtons(page).first().click();
    await page.getByRole('alert').getByText('has not stored this turn').waitFor();
    await page.getByRole('button', { name: 'Session', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Fork' }).click();
    await expect.poll(() => page.getByRole('alert').getByText('has not stored').count()).toBe(2);

    stage.refuse = () => undefined;
    await forkButtons(page).first().click();
    await at(page, '/session/forked');
  },
);

it('if an agent cannot fork, no fork is offered', async () => {
  stage.answer = () => undefined;
  const page = await stage.visit();
  await page.getByRole('button', { name: 'Copy answer' }).first().waitFor();
  expect(await forkButtons(page).count()).toBe(0);
  await page.getByRole('button', { name: 'Session', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Rename' }).waitFor();
  expect(await page.getByRole('menuitem', { name: 'Fork' }).count()).toBe(0);
});

it('if a response was lost, another press of the button requests the same fork', async () => {
  const page = await stage.visitShared();
  const button = turnOf(page, 't1').getByRole('button', { name: 'Fork from here' });
  await page.route('**/fork', async (route) => {
    await route.fetch();
    await route.abort();
  });
  await button.click();
  await page.getByText('The server did not answer.').waitFor();
  await page.unroute('**/fork');
  await button.click();
  await at(page, '/session/forked');
  const ids = stage.requests
    .filter(({ path }) => path.endsWith('/fork'))
    .map(({ body }) => (body as { sessionId: string }).sessionId);
  expect(ids).toHaveLength(2);
  expect(ids[0]).toBe(ids[1]);
});

it('a line marks the start of a fork, between the copied turns and the fork’s own turns', async () => {
  const { session } = stage.info;
  stage.info = { ...stage.info, session: { ...session, forkedFrom: forkedFrom() } };
  stage.history = { ...stage.history, turns: stage.history.turns.slice(0, 2) };
  stage.history.entries = stage.history.entries.slice(0, 4);
  const page = await stage.visit();
  const mark = page.getByText('Forked here');
  await mark.waitFor();
  const topOf = async (locator: ReturnType<Page['locator']>) => (await locator.boundingBox())!.y;
  const isBelow = async (upper: ReturnType<Page['locator']>, lower: ReturnType<Page['locator']>) =>
    (await topOf(lower)) > (await topOf(upper));
  await expect.poll(() => isBelow(page.getByText('Answer t2'), mark)).toBe(true);

  const own = turn('own', { ...done, startedAt: Date.parse(session.createdAt) + 1 });
  stage.history = {
    ...stage.history,
    turns: [...stage.history.turns, own],
    entries: [
      ...stage.history.entries,
      message('own-u', 'Ask more', { turnId: 'own', origin: 'user', status: 'complete' }),
    ],
  };
  await page.reload();
  await page.getByText('Ask more').waitFor();
  expect(await mark.count()).toBe(1);
  await expect.poll(() => isBelow(page.getByText('Answer t2'), mark)).toBe(true);
  await expect.poll(() => isBelow(mark, page.getByText('Ask more'))).toBe(true);
});
