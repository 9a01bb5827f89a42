import { expect, test } from 'vitest';
import { useStage } from './stage.ts';

// What a page complains of, what it asks of others, and what its content policy refuses fails each of these tests.
const stage = useStage();

async function demoSession(folder: string) {
  const ada = await stage.person();
  const session = await ada.startSession({ folder: await stage.project(folder), agent: 'Demo' });
  await session.choose('Pace', 'Instant');
  return { ada, session };
}

test('the demo’s tour shows words, thought, reads, an edit and a command, each in its own form', async () => {
  const { session } = await demoSession('tour');
  await session.send('Show me around.');
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
});

test('the demo shows a plan, a subagent, long and short answers with code, and a failure', async () => {
  const { session } = await demoSession('scenes');
  await session.send('plan');
  await session.untilEnded(1);
  const plan = session.lastTurn.getByRole('region', { name: 'Plan' });
  expect(await plan.getByRole('img', { name: 'done' }).count()).toBe(5);

  await session.send('subagent');
  await session.untilEnded(2);
  const delegated = session.tool(/find where dates are formatted/);
  await session.unfold(delegated);
  await delegated.getByRole('article', { name: 'Agent' }).filter({ hasText: 'Four' }).waitFor();

  await session.send('explain');
  await session.untilEnded(3);
  // Colours come when the highlighter has been fetched.
  await session.lastTurn.locator('pre span[style]').first().waitFor();
  await session.send('long');
  await session.untilEnded(4);

  await session.send('error');
  await session.untilEnded(5);
  await session.failureOf('last').filter({ hasText: 'connection to the model' }).waitFor();
  expect(await session.lastTurn.getAttribute('data-status')).toBe('error');
});

test.for([
  { answer: 'Allow', says: 'You allowed it' },
  { answer: 'Reject', says: 'You refused it' },
])(
  'the demo’s permission, answered with $answer, goes on as answered',
  async ({ answer, says }) => {
    const { session } = await demoSession(`approve-${answer}`);
    await session.send('approve');
    const request = session.permission('Permission: Run npm run migrate');
    await request.getByRole('button', { name: answer, exact: true }).click();
    await session.untilSaid(says);
    await session.untilEnded(1);
    expect(await request.count()).toBe(0);
  },
);

test('the demo’s form is filled in, and its answers stay with the question over a reload', async () => {
  const { ada, session } = await demoSession('ask');
  await session.send('ask');
  const form = session.permission('Question: How should this be released?');
  await form.getByRole('textbox', { name: 'Version' }).fill('2.4');
  await form.getByRole('button', { name: 'Send' }).click();
  await form.getByText('does not have the form that is asked for').waitFor();
  await form.getByRole('textbox', { name: 'Version' }).fill('2.4.1');
  await form.getByRole('radio', { name: 'Next' }).check();
  await form.getByRole('checkbox', { name: 'macOS' }).uncheck();
  await form.getByRole('button', { name: 'Send' }).click();
  await session.untilEnded(1);
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
});

test('the output of the demo’s build grows in sight, by what is added to it', async () => {
  const ada = await stage.person();
  const session = await ada.startSession({ folder: await stage.project('build'), agent: 'Demo' });
  await session.choose('Pace', 'Fast');
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
  const { itemId } = calls[0]!;
  const partial = calls.filter(({ status, toolOutput }) => status !== 'complete' && toolOutput);
  expect(partial.length).toBeLessThanOrEqual(1);
  const appends = ada.received.filter(
    (message) => message.type === 'session:append' && message.itemId === itemId,
  );
  expect(appends.length).toBeGreaterThan(20);
});
