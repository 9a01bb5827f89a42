import { expect, test } from 'vitest';
import { useStage } from './stage.ts';

const stage = useStage();

// Each of these tests fails if a page logs an error, requests another host, or breaks its content policy.
test('the demo shows each kind of agent output in the form of this kind; a search in the sidebar finds a message and opens it', async () => {
  const ada = await stage.person();
  const session = await ada.startSession({ folder: await stage.project('shop'), agent: 'Demo' });
  const title = 'New session in shop';
  await ada.sidebar.getByRole('link', { name: title }).waitFor();
  await ada.tabs.getByRole('link', { name: title }).waitFor();
  await expect.poll(() => ada.page.title()).toContain(title);
  await session.choose('Speed', 'Instant');

  await session.send('Look for the bandersnatch, please.');
  await session.untilEnded(1);
  const { lastTurn } = session;
  await lastTurn
    .getByRole('article', { name: 'Agent' })
    .filter({ hasText: 'demo agent' })
    .waitFor();
  await lastTurn.getByRole('button', { name: /^Thought/ }).waitFor();
  await session.tool(/^Read 1 file, 1 search/).waitFor();

  const edit = session.tool(/^Edit src\/cart\/line-total.ts/);
  await session.unfold(edit);
  await edit.getByRole('row').filter({ hasText: 'Math.round(price * 100 * quantity)' }).waitFor();
  const run = session.tool('Run npm test -- cart');
  await session.unfold(run);
  await run.getByLabel('Output').filter({ hasText: '41 passed' }).waitFor();
  expect(await lastTurn.getByRole('table').last().getByRole('row').count()).toBe(9);

  await session.send('plan');
  await session.untilEnded(2);
  const plan = session.lastTurn.getByRole('region', { name: 'Plan' });
  expect(await plan.getByRole('img', { name: 'done' }).count()).toBe(5);

  await session.send('subagent');
  await session.untilEnded(3);
  const delegated = session.tool(/find where dates are formatted/);
  await session.unfold(delegated);
  await delegated.getByRole('article', { name: 'Agent' }).filter({ hasText: 'Four' }).waitFor();

  await session.send('explain');
  await session.untilEnded(4);
  // Colours appear when the highlighter has been loaded.
  await session.lastTurn.locator('pre span[class^="code-"]').first().waitFor();
  await session.send('long');
  await session.untilEnded(5);

  await session.send('error');
  await session.untilEnded(6);
  await session.failureOf('last').filter({ hasText: 'connection to the model' }).waitFor();
  expect(await session.lastTurn.getAttribute('data-status')).toBe('error');

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
  await ada.sidebar.getByRole('searchbox').fill('');
});

test('the demo requests one permission that is allowed and one that is rejected, and shows a form whose answers survive a reload; the output of its build grows visibly', async () => {
  const ada = await stage.person();
  const session = await ada.startSession({ folder: await stage.project('ask'), agent: 'Demo' });
  await session.choose('Speed', 'Instant');
  for (const [turns, { answer, says }] of [
    { answer: 'Allow', says: 'You allowed it' },
    { answer: 'Reject', says: 'You refused it' },
  ].entries()) {
    await session.send('approve');
    const request = session.permission('Permission: Run npm run migrate');
    await request.getByRole('button', { name: answer, exact: true }).click();
    await session.untilAnswer(says);
    await session.untilEnded(turns + 1);
    expect(await request.count()).toBe(0);
  }

  await session.send('ask');
  const form = session.permission('Question: How should this be released?');
  await form.getByRole('textbox', { name: 'Version' }).fill('2.4');
  await session.scrollRequest();
  await form.getByRole('button', { name: 'Send' }).click();
  await form.getByText('does not have the form that is asked for').waitFor();
  await form.getByRole('textbox', { name: 'Version' }).fill('2.4.1');
  await form.getByRole('radio', { name: 'Next' }).check();
  await form.getByRole('checkbox', { name: 'macOS' }).uncheck();
  await session.scrollRequest();
  await form.getByRole('button', { name: 'Send' }).click();
  await session.untilEnded(3);
  await ada.page.reload();
  const answers = session.lastTurn.getByLabel('Answers');
  await answers.waitFor();
  expect(await answers.locator('dd').allTextContents()).toEqual([
    '2.4.1',
    'Next',
    'Linux',
    '24',
    'Yes',
  ]);

  await session.choose('Speed', 'Fast');
  await session.send('build');
  const run = session.tool('Run npm run build');
  await run.getByLabel('Output').filter({ hasText: 'packages/server' }).waitFor();
  await run.getByText('Exit code 0').waitFor();
  expect(await run.getByLabel('Output').innerText()).not.toContain('Fetching');

  const calls = ada.received.flatMap((message) =>
    message.type === 'session:upsert' && message.payload.type === 'tool_call'
      ? [message.payload]
      : [],
  );
  const { itemId } = calls.at(-1)!;
  const partial = calls.filter(
    (call) => call.itemId === itemId && call.status !== 'complete' && call.toolOutput,
  );
  expect(partial.length).toBeLessThanOrEqual(1);
  const appends = ada.received.filter(
    (message) => message.type === 'session:append' && message.itemId === itemId,
  );
  expect(appends.length).toBeGreaterThan(20);
});
