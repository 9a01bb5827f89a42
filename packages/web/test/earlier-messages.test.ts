/** Tests the arrow keys, which step through a person's earlier messages as in the terminals. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { message, turn } from './items.ts';
import { shareStage, stage } from './stage.ts';

const said = ['First.', 'Second,\nin two lines.', 'Third.'];

shareStage(() => {
  const entries = said.flatMap((text, at) => [
    message(`u${at}`, text, { origin: 'user', turnId: `t${at}`, status: 'complete' }),
    message(`a${at}`, 'Yes.', { turnId: `t${at}`, status: 'complete' }),
  ]);
  const turns = said.map((_, at) => turn(`t${at}`, { status: 'complete', endedAt: 1 }));
  stage.history = { entries, turns, cursor: '', hasMore: false };
});

const field = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });

it('arrow up recalls earlier messages, arrow down returns to an empty draft, and an edited message stays in the field', async () => {
  const page = await stage.visit();
  await page.getByText('Third.').waitFor();
  const press = async (key: string, text: string) => {
    await field(page).press(key);
    await expect.poll(() => field(page).inputValue()).toBe(text);
  };
  await press('ArrowUp', 'Third.');
  await press('ArrowUp', said[1]!);
  // The first press of ArrowUp only moves the cursor to the first line.
  await press('ArrowUp', said[1]!);
  await press('ArrowUp', 'First.');
  await press('ArrowUp', 'First.');
  await press('ArrowDown', said[1]!);
  await press('ArrowDown', 'Third.');
  await press('ArrowDown', '');
  await press('ArrowUp', 'Third.');
  await field(page).pressSequentially(' Now!');
  await press('ArrowUp', 'Third. Now!');
  await press('ArrowDown', 'Third. Now!');
});
