import { testAtLength } from '@liminal/testkit/at-length';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { openStage, stage } from './stage.ts';

openStage();

declare global {
  interface Window {
    order: string[];
  }
}

/** Records when the database has stored a draft and when other pages are notified. */
function noteOrder(): void {
  globalThis.window.order = [];
  const { postMessage } = BroadcastChannel.prototype;
  BroadcastChannel.prototype.postMessage = function (said: unknown) {
    if (this.name === 'liminal.drafts') window.order.push('told');
    postMessage.call(this, said);
  };
  const { transaction } = IDBDatabase.prototype;
  IDBDatabase.prototype.transaction = function (stores, mode, options) {
    const begun = transaction.call(this, stores, mode, options);
    if (stores === 'drafts' && mode === 'readwrite') {
      begun.addEventListener('complete', () => window.order.push('written'));
    }
    return begun;
  };
}

testAtLength(
  'other pages are notified of a draft only after the database has stored it, so that a page that is just opening misses no draft',
  async () => {
    const page = await stage.visit();
    await page.evaluate(noteOrder);
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill('Half a');
    const order = () => page.evaluate(() => window.order);
    await expect.poll(async () => (await order()).length).toBe(2);
    expect(await order()).toEqual(['written', 'told']);
  },
);

const left = (page: Page) =>
  page.evaluate(() => Object.entries(localStorage).filter(([name]) => /draft/.test(name)));
const field = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });

it('a draft is stored at once, even if the database does not respond', async () => {
  const page = await stage.visit();
  await page.addInitScript(() => {
    IDBFactory.prototype.open = () => {
      throw new DOMException('Not here.');
    };
  });
  await page.reload();
  await field(page).fill('Half a');
  expect(await left(page)).toEqual([
    [expect.stringMatching(/s1$/), expect.stringMatching(/^\d+ .*Half a/)],
  ]);
  const notes = { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('text') };
  await page.locator('input[type="file"]').first().setInputFiles(notes);
  await expect
    .poll(() => left(page))
    .toEqual([[expect.anything(), expect.stringMatching(/a\.txt/)]]);
});

it('a draft that the database has stored is removed from localStorage', async () => {
  const page = await stage.visit();
  await field(page).fill('Half a');
  await expect.poll(() => left(page)).toEqual([]);
  await page.reload();
  await expect.poll(() => field(page).inputValue()).toBe('Half a');
});
