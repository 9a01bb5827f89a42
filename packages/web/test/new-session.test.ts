import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { withOthers } from './controls/scene.ts';
import { shareStage, stage } from './stage.ts';

shareStage(() => withOthers(stage));

const created = () => stage.requests.filter(({ path }) => path === '/api/session/create');
const folder = (page: Page) => page.getByRole('combobox', { name: 'Project folder' });
const options = (page: Page) => page.getByRole('option').allInnerTexts();

/** Opens the dialog. The cursor is in the field for the folder. */
async function visit(): Promise<Page> {
  const page = await stage.visitShared();
  await page.keyboard.press('Alt+n');
  await page.getByRole('radio', { name: /Demo/ }).waitFor();
  await folder(page).and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Control+a');
  return page;
}

it('Enter on a suggested folder chooses the folder, and the next Enter starts the session', async () => {
  const page = await visit();
  await page.keyboard.type('/code/s');
  await expect.poll(() => options(page)).toEqual(['/code/shop/api', '/code/shop/docs']);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  expect(await folder(page).inputValue()).toBe('/code/shop/docs');
  expect(created()).toEqual([]);
  await page.keyboard.press('Enter');
  await expect
    .poll(created)
    .toMatchObject([{ body: { cliType: 'demo', projectDir: '/code/shop/docs' } }]);
});

it('Enter on a fully typed folder starts the session at once, whatever is suggested', async () => {
  const page = await visit();
  await page.keyboard.type('/code/');
  await expect.poll(() => options(page)).toHaveLength(3);
  await page.keyboard.press('Enter');
  await expect.poll(created).toMatchObject([{ body: { projectDir: '/code/' } }]);
});

it('typing after a choice filters the folders again', async () => {
  const page = await visit();
  await page.keyboard.type('/code/');
  await page.getByRole('option', { name: '/code/lib' }).click();
  await expect.poll(() => folder(page).inputValue()).toBe('/code/lib');
  for (let letter = 0; letter < 3; letter += 1) await page.keyboard.press('Backspace');
  await page.keyboard.type('shop/d');
  await expect.poll(() => options(page)).toEqual(['/code/shop/docs']);
});

it('Escape first closes the list and keeps the typed text; the next Escape closes the dialog', async () => {
  const page = await visit();
  await page.keyboard.type('/code/');
  await page.getByRole('option', { name: '/code/lib' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('option').first().waitFor({ state: 'detached' });
  expect(await folder(page).inputValue()).toBe('/code/');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

it('Tab moves the focus from the list to the next control', async () => {
  const page = await visit();
  await page.keyboard.type('/code/');
  await page.getByRole('option', { name: '/code/lib' }).waitFor();
  await page.keyboard.press('Tab');
  await page.getByRole('option').first().waitFor({ state: 'detached' });
  await page.getByRole('button', { name: '/code/shop' }).and(page.locator(':focus')).waitFor();
});

it('the focus ring of an agent is inside the list of agents, which scrolls', async () => {
  const page = await visit();
  await page.getByRole('radio', { name: /Demo/ }).focus();
  const cutOff = await page.getByRole('radio', { name: /Demo/ }).evaluate((radio) => {
    const row = radio.closest('label')!;
    const list = [row.getBoundingClientRect(), row.parentElement!.getBoundingClientRect()] as const;
    const { outlineWidth, outlineOffset } = getComputedStyle(row);
    const reach = Number.parseFloat(outlineWidth) + Number.parseFloat(outlineOffset);
    return { reach, left: list[0].left - list[1].left, right: list[1].right - list[0].right };
  });
  expect(cutOff.reach).toBeGreaterThan(0);
  expect(cutOff.left).toBeGreaterThanOrEqual(cutOff.reach);
  expect(cutOff.right).toBeGreaterThanOrEqual(cutOff.reach);
});
