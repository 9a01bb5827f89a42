import type { ToolCallUpsert, UpsertObject } from '@liminal/protocol';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { approval, ended, message, tool, turn, upsert } from './items.ts';
import { sessionId, shareStage, stage } from './stage.ts';

shareStage();

const code = `const files = await tools.search({ pattern: 'loadConfig' });
for (const path of files.split('\\n')) {
  print(await tools.read({ path }));
}
await tools.bash({ command: 'npm test' });
return files.length;`;

const call = (rest: Partial<ToolCallUpsert> = {}) =>
  tool('run', { toolName: 'run_script', title: 'Script', toolArguments: { code }, ...rest });
const script = (rest: Partial<ToolCallUpsert> = {}): ToolCallUpsert => {
  const { kind: _, ...item } = tool('run:script', {
    toolName: 'script',
    toolArguments: { code },
    parentCallId: 'run',
  });
  return { ...item, ...rest };
};
const within = (place: number, rest: Partial<ToolCallUpsert>) =>
  tool(`run:script:${place}`, { parentCallId: 'run:script', ...rest });

const done = { status: 'complete' } as const;
const search = within(1, {
  ...done,
  toolName: 'search',
  kind: 'search',
  toolArguments: { pattern: 'loadConfig' },
  toolOutput: 'a.ts',
});
const command = within(2, { toolName: 'bash', toolArguments: { command: 'npm test' } });
const question = (rest: Partial<UpsertObject> = {}) =>
  approval('p', { callId: 'run:script:2', parentCallId: 'run:script', ...rest });
const allowed = { ...done, outcome: { outcome: 'selected', optionId: 'yes' } } as const;

const user = message('u', 'Find it', { origin: 'user', ...done });

function holds(entries: UpsertObject[], rest: Parameters<typeof turn>[1] = {}): void {
  stage.history = {
    entries: [user, ...entries],
    turns: [turn('t1', rest)],
    cursor: 't1:0',
    hasMore: false,
  };
}

const log = (page: Page) => page.getByRole('log', { name: 'Conversation' });
const card = (page: Page) => log(page).getByRole('group', { name: /^Script const files = await/ });
const codeOf = (page: Page) => card(page).getByLabel('Code, js');

it.each([
  { width: 1000, height: 760, colorScheme: 'light' as const, hasTouch: false },
  { width: 1000, height: 760, colorScheme: 'dark' as const, hasTouch: false },
  { width: 390, height: 760, colorScheme: 'light' as const, hasTouch: true },
  { width: 390, height: 760, colorScheme: 'dark' as const, hasTouch: true },
])(
  'a script is shown as one card with its code, its calls and its result: %j',
  async ({ width, height, colorScheme, hasTouch }) => {
    holds([call(), script(), search, command, question()]);
    const page = await stage.visit({ viewport: { width, height }, colorScheme, hasTouch });
    await card(page)
      .getByRole('link', { name: /Waiting for you/ })
      .first()
      .waitFor();
    // The card contains the script and its calls. There must be no further rows for them.
    expect(await log(page).locator(':scope [data-row] > [data-item-id]').count()).toBe(2);
    await card(page).getByRole('group', { name: 'Search loadConfig' }).waitFor();
    await card(page).getByRole('group', { name: 'Run npm test' }).waitFor();
    expect(await codeOf(page).count()).toBe(0);

    const fold = card(page).getByRole('button', { name: 'Code, 6 lines' });
    await (hasTouch ? fold.tap() : fold.click());
    expect(await codeOf(page).innerText()).toBe(code);
    // The code has the colours of its language.
    await codeOf(page).locator('span[class]').first().waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);

    const gave = { toolOutput: 'export const loadConfig = 1;\n4' };
    stage.send(upsert(question(allowed)));
    stage.send(upsert({ ...command, ...done, toolOutput: '12 passed', exitCode: 0 }));
    stage.send(upsert(script({ ...done, toolOutput: '4' })));
    stage.send(upsert(call({ ...done, ...gave })));
    stage.send(ended('t1'));
    await card(page).getByRole('img', { name: 'done' }).first().waitFor();
    await card(page).getByText('export const loadConfig = 1;').waitFor();
    expect(
      await card(page)
        .getByRole('link', { name: /Waiting for you/ })
        .count(),
    ).toBe(0);
  },
);

it('a script’s card and its code can be opened and closed by keys', async () => {
  holds([call({ ...done, toolOutput: '4' }), script({ ...done, toolOutput: '4' }), search], {
    status: 'complete',
    endedAt: 2_000,
  });
  const page = await stage.visitShared();
  const head = card(page).getByRole('button').first();
  await head.focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  expect(await codeOf(page).innerText()).toBe(code);
  await head.focus();
  await page.keyboard.press('Enter');
  expect(await codeOf(page).count()).toBe(0);
});

it('the question of a script’s call is answered in the dock, and the script’s card contains a link to it', async () => {
  holds([call(), script(), search, command, question()]);
  const page = await stage.visitShared();
  await card(page).getByRole('button').first().click();
  await card(page)
    .getByRole('link', { name: /Waiting for you/ })
    .click();
  const dock = page.getByRole('group', { name: /^Permission: / });
  await dock.getByRole('button', { name: /^Allow/ }).click();
  await expect
    .poll(() => stage.requests.map(({ path }) => path))
    .toContainEqual(expect.stringMatching(/approval\/p$/));
});

it('the card of a script that fails opens by itself and shows the error', async () => {
  const error = 'SCRIPT_FAILED: Error: No such file. (line 3)';
  const problem = { errorCode: 'SCRIPT_FAILED', errorMessage: 'Error: No such file. (line 3)' };
  holds(
    [
      call({ ...done, toolOutput: error, toolOutputIsError: true }),
      script({ status: 'error', toolOutputIsError: true, ...problem }),
    ],
    { status: 'complete', endedAt: 2_000 },
  );
  const page = await stage.visitShared();
  await card(page).getByRole('img', { name: 'failed' }).waitFor();
  await card(page).getByText(error).waitFor();
  // The error must be shown only once, and not for both the call and the script.
  expect((await log(page).innerText()).match(/No such file/g)).toHaveLength(1);
});

it('a stopped script is shown as stopped', async () => {
  const problem = { errorCode: 'SCRIPT_CANCELLED', errorMessage: 'The script was cancelled.' };
  holds(
    [
      call({ ...done, toolOutput: 'This was stopped by the user.', toolOutputIsError: true }),
      script({ status: 'error', toolOutputIsError: true, ...problem }),
    ],
    { status: 'aborted', endedAt: 2_000 },
  );
  const page = await stage.visitShared();
  await card(page).getByRole('img', { name: 'stopped' }).waitFor();
  expect(await card(page).getByRole('img', { name: 'failed' }).count()).toBe(0);
});

it('a search hit in a script leads to the script’s card', async () => {
  holds([call(done), script(done), search], { status: 'complete', endedAt: 2_000 });
  const page = await stage.visit({}, `/session/${sessionId}#item-run:script`);
  await log(page).locator('[data-found="true"]').getByText('const files').first().waitFor();
});
