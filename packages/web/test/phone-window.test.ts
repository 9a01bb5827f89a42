/** Tests the page in a phone's window: the drawer, and dialogs that are higher than the window. */
import { expect, it } from 'vitest';
import { phone } from './controls/ways.ts';
import { message, turn } from './items.ts';
import { otherSession, shareStage, stage } from './stage.ts';

shareStage();

it('the drawer closes when the window becomes wide enough for the sidebar', async () => {
  const page = await stage.visit(phone);
  await page.getByRole('button', { name: 'Sessions' }).tap();
  const drawer = page.getByRole('dialog', { name: 'Sessions' });
  await drawer.waitFor();
  await page.setViewportSize({ width: 844, height: 390 });
  await drawer.waitFor({ state: 'detached' });
  await page.getByRole('navigation', { name: 'Sessions', exact: true }).waitFor();
});

it('the buttons of a dialog are visible, however many fields the dialog contains', async () => {
  const names = Array.from({ length: 12 }, (_, n) => `Agent ${n}`);
  stage.answer = (_, path) =>
    path === '/api/agents'
      ? {
          agents: names.map((name) => {
            const description = 'Does what it can, and says so in many words.';
            return { cliType: name, name, description, available: true };
          }),
        }
      : undefined;
  const page = await stage.visit({ ...phone, viewport: { width: 390, height: 480 } }, '/');
  await page.getByRole('main').getByRole('button', { name: 'New session' }).tap();
  const dialog = page.getByRole('dialog', { name: 'New session' });
  await dialog.getByRole('radio', { name: 'Agent 0' }).waitFor();
  const start = dialog.getByRole('button', { name: 'Start' });
  await expect
    .poll(() => start.evaluate((element) => element.getBoundingClientRect().bottom))
    .toBeLessThanOrEqual(480);
});

it('when a later message follows, a turn’s failure is shown in one line, without its code', async () => {
  const error = { code: 'INVALID_REQUEST', message: 'The request is too odd.' };
  stage.info = { ...stage.info, session: { ...stage.info.session, state: 'failed' } };
  const said = (id: string) =>
    message(`${id}-u`, 'Go', { origin: 'user', turnId: id, status: 'complete' });
  stage.history = {
    entries: [said('t1'), said('t2')],
    turns: ['t1', 't2'].map((id) => turn(id, { status: 'error', error, endedAt: 1 })),
    cursor: '',
    hasMore: false,
  };
  const page = await stage.visit();
  const failures = page.getByRole('group', { name: 'Something went wrong' });
  await expect.poll(() => failures.count()).toBe(2);
  await failures.first().getByText('The request is too odd.').waitFor();
  const codes = page.getByText('INVALID_REQUEST');
  expect(await codes.filter({ visible: true }).count()).toBe(1);
  const heights = await failures.evaluateAll((all) => all.map((one) => one.clientHeight));
  expect(heights[0]).toBeLessThan(heights[1] ?? 0);
});

it('the header shows a title of twenty letters completely, even while another session waits', async () => {
  stage.others = [otherSession('o1', { state: 'waiting' })];
  stage.info = {
    ...stage.info,
    session: { ...stage.info.session, state: 'idle', title: 'Round totals by half' },
  };
  const page = await stage.visit(phone);
  await page.getByRole('button', { name: '1 needs you: Session o1' }).waitFor();
  const title = page.getByRole('banner').getByText('Round totals by half');
  await expect.poll(() => title.evaluate((shown) => shown.scrollWidth - shown.clientWidth)).toBe(0);
});

it('a menu shows keyboard shortcuts, but not on a touch screen', async () => {
  for (const options of [{}, phone]) {
    const page = await stage.visit(options);
    await page.getByRole('button', { name: 'Session', exact: true }).click();
    await page.getByRole('menuitem', { name: /^Find in this session/ }).waitFor();
    const keys = page.getByRole('menu').getByText('Ctrl+F');
    expect(await keys.isVisible()).toBe(options !== phone);
  }
});
