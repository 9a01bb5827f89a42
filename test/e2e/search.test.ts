import { expect, test } from 'vitest';
import { useStage } from './stage.ts';

const stage = useStage();

test('what was said in a session long ago is found in the sidebar, and opened there', async () => {
  const ada = await stage.person();
  const session = await ada.startSession({ folder: await stage.project('shop'), agent: 'Demo' });
  const title = 'New session in shop';
  await ada.sidebar.getByRole('link', { name: title }).waitFor();
  await ada.tabs.getByRole('link', { name: title }).waitFor();
  await expect.poll(() => ada.page.title()).toContain(title);

  await session.choose('Pace', 'Instant');
  await session.send('Look for the bandersnatch, please.');
  await session.untilEnded(1);
  await session.send('plan');
  await session.untilEnded(2);
  await session.send('long');
  await session.untilEnded(3);
  const { id } = session;
  await ada.page.goto(new URL('/', ada.page.url()).href);
  await ada.sidebar.getByRole('searchbox').fill('bandersna');
  const hits = ada.sidebar.getByRole('region', { name: 'In conversations' });
  await hits
    .getByRole('link', { name: /bandersnatch/ })
    .first()
    .click();
  const prompt = session.conversation.locator('[data-found]');
  await prompt.filter({ hasText: 'Look for the bandersnatch' }).waitFor();
  expect(session.id).toBe(id);
  expect(new URL(ada.page.url()).hash).toMatch(/^#item-/);
});
