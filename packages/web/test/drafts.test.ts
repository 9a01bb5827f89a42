import { expect, it } from 'vitest';
import { openStage, stage } from './stage.ts';

openStage();

declare global {
  interface Window {
    order: string[];
  }
}

/** Notes when the database has a draft, and when other pages are told of one. */
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

it('other pages are told of a draft when the database has it: one that opens meanwhile misses nothing', async () => {
  const page = await stage.visit();
  await page.evaluate(noteOrder);
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('Half a');
  const order = () => page.evaluate(() => window.order);
  await expect.poll(async () => (await order()).length).toBe(2);
  expect(await order()).toEqual(['written', 'told']);
});
