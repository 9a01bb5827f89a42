import type { Page } from 'playwright-core';
import { beforeEach, expect, it } from 'vitest';
import { message, turn } from './items.ts';
import { shareStage, sessionId, stage } from './stage.ts';

shareStage();

const done = { status: 'complete', endedAt: 1 } as const;
const files = ['/code/shop/src/cart.ts'];

function said(id: string, content: string, answer: string) {
  const whole = { turnId: id, status: 'complete' } as const;
  const asked = message(`${id}-u`, content, { ...whole, origin: 'user' });
  return [asked, message(`${id}-a`, answer, whole)];
}

beforeEach(() => {
  stage.info = { ...stage.info, session: { ...stage.info.session, state: 'idle' } };
  stage.history = {
    entries: [
      ...said('t1', 'First wish', 'First answer.'),
      ...said('t2', 'Second wish', 'Second answer.'),
      ...said('t3', 'Third wish', 'Third answer.'),
    ],
    turns: [turn('t1', done), turn('t2', done), turn('t3', done)],
    cursor: 't3:0',
    hasMore: false,
  };
  stage.answer = (_, path, body) => {
    const { scope = 'files' } = (body ?? {}) as { scope?: string };
    const takenBack = { turnIds: ['t2', 't3'], message: 'Second wish' };
    const changed = { files: scope === 'conversation' ? [] : files, insertions: 3, deletions: 12 };
    if (path.endsWith('/rewind')) return { ...changed, ...(scope !== 'files' && { takenBack }) };
    const demo = { cliType: 'demo', name: 'Demo', description: '', available: true };
    const abilities = { rewinds: true, rewindsConversation: true, forks: true };
    return path === '/api/agents' ? { agents: [{ ...demo, ...abilities }] } : undefined;
  };
});

/** Makes the conversation after turns 2 and 3 were taken back, with later turns. */
function takenBack(): void {
  const system = { turnId: 'r', origin: 'system', status: 'complete' } as const;
  const { history } = stage;
  stage.history = {
    ...history,
    entries: [
      ...history.entries,
      message('n', '2 turns were taken back.', system),
      ...said('t4', 'Another wish', 'Another answer.'),
    ],
    turns: [
      ...history.turns,
      turn('r', { ...done, finishReason: 'rewind', trigger: 'agent', rewoundTo: 't2' }),
      turn('t4', done),
    ],
    cursor: 't4:0',
  };
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
const edit = (page: Page, id: string) =>
  page.locator(`[data-turn-id="${id}"]`).getByRole('button', { name: 'Edit and send again' });
const dialog = (page: Page) => page.getByRole('dialog', { name: 'Edit and send again' });
const field = (page: Page) => page.getByRole('textbox', { name: /message/i });
const asked = () =>
  stage.requests.flatMap(({ path, body }) => (path.endsWith('/rewind') ? [body] : []));
const turnsShown = (page: Page) =>
  page
    .locator('[data-turn-id]')
    .evaluateAll((all) => all.map((one) => one.getAttribute('data-turn-id')));

it('when its turns are taken back, a message returns to the composer with its attachments', async () => {
  const page = await stage.visitShared();
  await edit(page, 't2').click();
  await dialog(page).getByText('This turn and 1 later one are taken back').waitFor();
  const conversation = { turnId: 't2', scope: 'conversation' };
  expect(asked()).toEqual([{ ...conversation, dryRun: true }]);
  await button(page, 'Take back 2 turns').click();
  await dialog(page).waitFor({ state: 'detached' });
  expect(asked().slice(1)).toEqual([conversation]);
  await expect.poll(() => field(page).inputValue()).toBe('Second wish');
  await expect.poll(() => field(page).evaluate((e) => e === document.activeElement)).toBe(true);
});

it('if the person chooses so by keys alone, files are also changed back', async () => {
  const page = await stage.visitShared();
  await edit(page, 't2').focus();
  await page.keyboard.press('Enter');
  const scope = dialog(page).getByRole('combobox', { name: 'What goes back' });
  await scope.selectOption('both');
  await dialog(page).getByText('src/cart.ts').waitFor();
  await button(page, 'Take back 2 turns, restore 1 file').focus();
  await page.keyboard.press('Enter');
  await dialog(page).waitFor({ state: 'detached' });
  expect(asked().at(-1)).toEqual({ turnId: 't2', scope: 'both' });
});

it('if taking back fails, the reason is shown, and the composer does not change', async () => {
  const page = await stage.visitShared();
  stage.refuse = (path) =>
    path.endsWith('/rewind') ? { code: 'CANNOT_REWIND', message: 'It was summarised.' } : undefined;
  await edit(page, 't2').click();
  await dialog(page).getByRole('alert').getByText('It was summarised.').waitFor();
  expect(await button(page, /^Take back/).count()).toBe(0);
  await dialog(page).getByText('Close', { exact: true }).click();
  expect(await field(page).inputValue()).toBe('');
});

it('turns that were taken back are folded; if they are unfolded, they are marked and have no actions', async () => {
  takenBack();
  const page = await stage.visitShared();
  await page.getByText('Another answer.').waitFor();
  expect(await turnsShown(page)).toEqual(['t1', 'r', 't4']);
  await button(page, '2 turns taken back · Show').click();
  await page.getByText('Second answer.').waitFor();
  expect(await turnsShown(page)).toEqual(['t1', 't2', 't3', 'r', 't4']);
  await page.getByText('Taken back: the agent does not know of this').waitFor();
  const old = page.locator('[data-turn-id="t3"]');
  expect(await old.getByRole('button', { name: /Fork|Edit|Restore/ }).count()).toBe(0);
  await button(page, '2 turns taken back · Hide').click();
  await page.getByText('Second answer.').waitFor({ state: 'detached' });
});

it('when turns are taken back, they are folded on all open pages', async () => {
  const page = await stage.visitShared();
  await page.getByText('Third answer.').waitFor();
  const of = { turnId: 'r', sessionId } as const;
  const begin = { ...of, modelId: '', providerId: 'demo', trigger: 'agent' } as const;
  const end = { ...of, status: 'completed', finishReason: 'rewind', rewoundTo: 't2' } as const;
  const told = message('n', '2 turns were taken back.', {
    turnId: 'r',
    origin: 'system',
    status: 'complete',
  });
  const about = { sessionId, cursor: 'r:0' } as const;
  stage.send({ type: 'session:turn', ...about, payload: { type: 'turn_started', ...begin } });
  stage.send({ type: 'session:upsert', ...about, payload: told });
  stage.send({ type: 'session:turn', ...about, payload: { type: 'turn_complete', ...end } });
  await button(page, '2 turns taken back · Show').waitFor();
  expect(await turnsShown(page)).toEqual(['t1', 'r']);
});

it('a search finds items of turns that were taken back, and shows them', async () => {
  takenBack();
  const page = await stage.visitShared();
  await page.getByText('Another answer.').waitFor();
  await page.keyboard.press('Control+f');
  await page.getByRole('searchbox', { name: 'Find in this session' }).fill('Second answer');
  await page.getByText('1 of 1').waitFor();
  await page.getByText('Second answer.').waitFor();
});

it('taking back is not offered if the agent cannot take turns back', async () => {
  stage.answer = () => undefined;
  const page = await stage.visitShared();
  await page.reload();
  await page.getByText('Third answer.').waitFor();
  expect(await button(page, 'Edit and send again').count()).toBe(0);
});
