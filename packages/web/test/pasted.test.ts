import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { past } from './controls/scene.ts';
import { phone } from './controls/ways.ts';
import { openStage, stage } from './stage.ts';

openStage(() => {
  stage.history = past;
});

const lines = Array.from({ length: 3_000 }, (_, n) => `line ${n} of a pasted log, with some words`);
const log = lines.join('\n');
const permissions = ['clipboard-read', 'clipboard-write'];
const field = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });
const pasted = (page: Page) => page.getByRole('list', { name: 'Pasted' }).getByRole('listitem');
const sent = () => stage.requests.filter(({ path }) => path.endsWith('/send'));

async function paste(page: Page, text: string): Promise<void> {
  await page.evaluate((written) => navigator.clipboard.writeText(written), text);
  await field(page).focus();
  await page.keyboard.press('ControlOrMeta+v');
}

it.each([
  ['a wide window', {}],
  ['a phone', phone],
])(
  'in %s, a long pasted text is shown as a chip, survives a reload, and is sent completely',
  async (_, options) => {
    const page = await stage.visit({ ...options, permissions });
    await field(page).fill('What failed?');
    await paste(page, log);
    await pasted(page).getByText('Pasted 3,000 lines').waitFor();
    expect(await field(page).inputValue()).toBe('What failed?');
    await page.reload();
    await expect.poll(() => pasted(page).count()).toBe(1);
    await page.getByRole('button', { name: 'Show: Pasted 3,000 lines' }).click();
    const shown = page.getByRole('dialog', { name: 'Pasted 3,000 lines' });
    await shown.getByText('line 2999 of a pasted log').waitFor({ state: 'attached' });
    await shown.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Send message' }).click();
    await expect.poll(sent).toMatchObject([{ body: { message: `What failed?\n\n${log}` } }]);
    await expect.poll(() => pasted(page).count()).toBe(0);
  },
);

it('a pasted text can be sent without other text, and can be removed or edited in the message', async () => {
  const page = await stage.visit({ permissions });
  await paste(page, log);
  await page.getByRole('button', { name: 'Remove: Pasted 3,000 lines' }).click();
  await expect.poll(() => pasted(page).count()).toBe(0);
  const words = 'word '.repeat(1_000).trim();
  await paste(page, words);
  await page.getByRole('button', { name: 'Show: Pasted 4,999 characters' }).click();
  await page.getByRole('button', { name: 'Edit in the message' }).click();
  await expect.poll(() => field(page).inputValue()).toBe(words);
  await expect.poll(() => pasted(page).count()).toBe(0);
  await field(page).fill('');
  await paste(page, log);
  await field(page).press('Enter');
  await expect.poll(sent).toMatchObject([{ body: { message: log } }]);
});

it('a short pasted text is inserted into the field', async () => {
  const page = await stage.visit({ permissions });
  await paste(page, 'three short words');
  await expect.poll(() => field(page).inputValue()).toBe('three short words');
});
