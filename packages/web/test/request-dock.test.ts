import { atLength, testAtLength } from '@liminal/testkit/at-length';
import type { ApprovalUpsert, ToolCallUpsert, UpsertObject } from '@liminal/protocol';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { phone } from './controls/ways.ts';
import { approval, begun, message, tool, upsert } from './items.ts';
import { shareStage, sessionId, stage } from './stage.ts';

shareStage(() => {
  stage.history = begun('Tidy up');
});

const options: ApprovalUpsert['options'] = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
  { optionId: 'always', name: 'Always allow npm test', kind: 'allow_always' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once', takesNote: true },
];

/** Returns a call and the call's permission request. */
function wanted(n: number, command: string, rest: Partial<ToolCallUpsert> = {}): UpsertObject[] {
  const call = tool(`c${n}`, { toolArguments: { command }, ...rest });
  const title = `Run ${command}`;
  return [call, approval(`p${n}`, { callId: `c${n}`, title, options })];
}

function ask(...items: UpsertObject[]): void {
  stage.history = { ...stage.history, entries: [...stage.history.entries, ...items] };
}

const dock = (page: Page) => page.getByRole('region', { name: 'Waiting for you' });
const composer = (page: Page) => page.getByRole('textbox', { name: 'Message' });
const answers = () =>
  stage.requests
    .filter(({ path }) => path.includes('/approval/'))
    .map(({ path, body }) => [path.split('/').at(-1), body]);

/** Presses a key until the docked request has been visible long enough. */
async function until(page: Page, key: string, count: number): Promise<void> {
  await expect
    .poll(async () => {
      await page.keyboard.press(key);
      return answers().length;
    })
    .toBe(count);
}

/** Lets the server report that a request was answered. */
function settle(n: number, command: string, optionId: string): void {
  const outcome = { outcome: 'selected', optionId };
  const [, asked] = wanted(n, command);
  stage.send(upsert({ ...asked, outcome, status: 'complete' } as UpsertObject));
}

it('a request is docked above the composer, wherever its call is in the conversation', async () => {
  const words = message('a', 'words\n\n'.repeat(200), { status: 'complete' });
  ask(...wanted(1, 'rm -rf build'), words);
  const page = await stage.visitShared();
  await dock(page).getByText('rm -rf build', { exact: true }).last().waitFor();
  const line = page.getByRole('log').getByRole('group', { name: 'Run rm -rf build' });
  expect(await line.getByRole('button').count()).toBe(1);
  expect(await page.getByRole('log').getByRole('button', { name: 'Allow' }).count()).toBe(0);

  await line.getByRole('link', { name: /^Waiting for you/ }).click();
  await dock(page)
    .getByRole('group', { name: 'Permission: Run rm -rf build' })
    .and(page.locator(':focus'))
    .waitFor();
  await composer(page).focus();
  await until(page, 'Enter', 1);
  expect(answers()).toEqual([['p1', { optionId: 'yes' }]]);
  settle(1, 'rm -rf build', 'yes');
  await dock(page).waitFor({ state: 'detached' });
  await expect.poll(() => line.getByRole('link').count()).toBe(0);
});

it('each of twelve waiting requests is shown with its content, and each can be answered', async () => {
  const commands = Array.from({ length: 12 }, (_, n) => `rm -rf folder-${n + 1}`);
  ask(...commands.flatMap((command, n) => wanted(n + 1, command)));
  const page = await stage.visitShared();
  for (const [n, command] of commands.entries()) {
    await dock(page)
      .getByText(`${n + 1} of 12`)
      .waitFor();
    await dock(page).getByText(command, { exact: true }).last().waitFor();
    await dock(page).getByRole('button', { name: 'Next request' }).click();
  }
  await dock(page).getByText('1 of 12').waitFor();
  await dock(page).getByRole('button', { name: 'Previous request' }).click();
  await dock(page).getByText('12 of 12').waitFor();
  await dock(page).getByRole('button', { name: 'Reject', exact: true }).click();
  await expect.poll(answers).toEqual([['p12', { optionId: 'no' }]]);
  settle(12, 'rm -rf folder-12', 'no');
  await dock(page).getByText('1 of 11').waitFor();
  await dock(page).getByText('rm -rf folder-1', { exact: true }).last().waitFor();
});

it('a key that is pressed at the moment when a request is docked answers nothing, even if it is the next request', async () => {
  const page = await stage.visitShared();
  await composer(page).focus();
  // Plays a person who presses Enter for another purpose.
  await page.evaluate(() => {
    const pressed: string[] = [];
    Object.assign(window, { pressed });
    new MutationObserver(() => {
      const title = document.querySelector('#request-dock [role="group"]')?.ariaLabel;
      if (title == null || pressed.includes(title)) return;
      pressed.push(title);
      for (const key of ['Enter', 'Escape']) {
        document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
      }
      const allow = document.querySelector<HTMLElement>('#request-dock [type="submit"]');
      allow?.focus();
      allow?.click();
      document.querySelector<HTMLElement>('[data-composer]')?.focus();
    }).observe(document.body, { subtree: true, childList: true, attributes: true });
  });
  for (const item of [...wanted(1, 'one'), ...wanted(2, 'two')]) stage.send(upsert(item));
  await dock(page).getByText('1 of 2').waitFor();
  await until(page, 'Enter', 1);
  settle(1, 'one', 'yes');
  await dock(page).getByRole('group', { name: 'Permission: Run two' }).waitFor();
  await until(page, 'Escape', 2);
  expect(answers()).toEqual([
    ['p1', { optionId: 'yes' }],
    ['p2', { optionId: 'no' }],
  ]);
  const pressed = await page.evaluate(() => (window as unknown as { pressed: string[] }).pressed);
  expect(pressed).toEqual(['Permission: Run one', 'Permission: Run two']);
});

testAtLength('a key that is pressed twice sends only one answer', async () => {
  ask(...wanted(1, 'one'));
  const page = await stage.visitShared();
  await composer(page).focus();
  await until(page, 'Enter', 1);
  for (let more = 0; more < 5; more += 1) await page.keyboard.press('Enter');
  settle(1, 'one', 'yes');
  await dock(page).waitFor({ state: 'detached' });
  expect(answers()).toHaveLength(1);
});

it('after a key has answered, the buttons show that the answer is being sent, until the server replies', async () => {
  ask(...wanted(1, 'npm test'));
  const page = await stage.visitShared();
  const arrived = Promise.withResolvers<object>();
  stage.answer = (_, path) => (path.includes('/approval/') ? arrived.promise : undefined);
  const allow = dock(page).getByRole('button', { name: 'Allow', exact: true });
  await expect.poll(() => allow.getAttribute('aria-disabled')).toBe('false');
  await until(page, 'Enter', 1);
  await expect.poll(() => allow.getAttribute('aria-disabled')).toBe('true');
  arrived.resolve({});
  settle(1, 'npm test', 'yes');
  await expect.poll(() => dock(page).count()).toBe(0);
});

it('after the server has refused an answer, a key can answer again', async () => {
  ask(...wanted(1, 'one'));
  let refuses = true;
  stage.refuse = (path) =>
    refuses && path.includes('/approval/')
      ? { code: 'INVALID_OPTION', message: 'Not now.' }
      : undefined;
  stage.answer = (_, path) => {
    if (path.includes('/approval/')) settle(1, 'one', 'yes');
    return undefined;
  };
  const page = await stage.visitShared();
  await composer(page).focus();
  const pressed = <T>(then: () => T) => page.keyboard.press('Enter').then(then);
  await expect.poll(() => pressed(() => answers().length)).toBeGreaterThan(0);
  await page.getByRole('alert').getByText('Not now.').waitFor();
  refuses = false;
  await expect.poll(() => pressed(() => dock(page).count())).toBe(0);
});

it('the second click of a double click does not answer the next request', async () => {
  ask(...wanted(1, 'one'), ...wanted(2, 'two'));
  const page = await stage.visitShared();
  stage.answer = (_, path) => {
    if (path.endsWith('/approval/p1')) settle(1, 'one', 'yes');
    return undefined;
  };
  const button = dock(page).getByRole('button', { name: 'Allow', exact: true });
  await button.click();
  await dock(page).getByRole('group', { name: 'Permission: Run two' }).waitFor();
  await button.dispatchEvent('click', { detail: 2 });
  await dock(page).getByRole('button', { name: 'Reject', exact: true }).click();
  await expect.poll(answers).toEqual([
    ['p1', { optionId: 'yes' }],
    ['p2', { optionId: 'no' }],
  ]);
});

it('in a read-only session, a request is not announced as waiting above a composer', async () => {
  stage.info.session = {
    ...stage.info.session,
    importedFrom: { sessionId: 'there', exportedAt: '2026-01-01T00:00:00.000Z' },
  };
  ask(...wanted(1, 'rm -rf build'));
  const page = await stage.visit();
  await page.getByText('Waiting for an answer').waitFor();
  expect(await page.getByRole('link', { name: /Waiting for you/ }).count()).toBe(0);
});

it('no key answers while the focus is in another window', async () => {
  ask(...wanted(1, 'one'));
  const page = await stage.visitShared();
  await dock(page).waitFor();
  await composer(page).focus();
  await page.evaluate(() => window.dispatchEvent(new Event('blur')));
  const from = Date.now();
  await expect
    .poll(async () => {
      await page.keyboard.press('Enter');
      return Date.now() - from;
    })
    .toBeGreaterThan(700);
  expect(answers()).toEqual([]);
  await page.evaluate(() => window.dispatchEvent(new Event('focus')));
  await until(page, 'Enter', 1);
});

it('if the composer contains a draft, Enter sends the draft, and allows nothing', async () => {
  ask(...wanted(1, 'one'));
  stage.answer = (_, path) => (path.endsWith('/send') ? { turnId: 't2', queued: true } : undefined);
  const page = await stage.visitShared();
  await dock(page).waitFor();
  // Wait for longer than it takes to read the request, because a key would only then answer it.
  const from = Date.now();
  await expect.poll(() => Date.now() - from).toBeGreaterThan(700);
  await composer(page).fill('Also this');
  await composer(page).press('Enter');
  await expect
    .poll(() => stage.requests.filter(({ path }) => path.endsWith('/send')))
    .toMatchObject([{ body: { message: 'Also this' } }]);
  expect(answers()).toEqual([]);
});

it('typed text is sent as the note of a rejection, and disappears from the composer', async () => {
  ask(...wanted(1, 'npm install left-pad'));
  const page = await stage.visitShared();
  await dock(page).getByRole('button', { name: 'Reject with a note' }).click();
  await composer(page).and(page.locator(':focus')).waitFor();
  await page.keyboard.type('Use the platform. ');
  await dock(page).getByRole('button', { name: 'Reject with this note' }).click();
  await expect.poll(answers).toEqual([['p1', { optionId: 'no', note: 'Use the platform.' }]]);
  await expect.poll(() => composer(page).inputValue()).toBe('');
});

it('if the agent accepts notes, the typed text can also be sent as a note with an answer that allows', async () => {
  const title = 'Plan';
  const start = { optionId: 'yes', name: 'Start', kind: 'allow_once', takesNote: true } as const;
  const [, , no] = options;
  ask(approval('p1', { title, options: [start, ...(no === undefined ? [] : [no])] }));
  const page = await stage.visitShared();
  await dock(page).getByRole('button', { name: 'Reject with a note' }).waitFor();
  expect(
    await dock(page)
      .getByRole('button', { name: /^Start with/ })
      .count(),
  ).toBe(0);
  await composer(page).fill('Use oak.');
  await dock(page).getByRole('button', { name: 'Start with this note' }).click();
  await expect.poll(answers).toEqual([['p1', { optionId: 'yes', note: 'Use oak.' }]]);
});

it('the answers of a request are in one row, even with a long answer and with a note', async () => {
  const always = {
    optionId: 'always',
    name: 'Always allow all commands that begin with `npm test` and `rm -rf build` in this project',
    kind: 'allow_always',
  } as const;
  const [yes, , no] = options;
  const all = [{ ...yes!, takesNote: true }, always, no!];
  const [call, asked] = wanted(1, 'npm test');
  ask(call!, { ...asked!, options: all } as UpsertObject);
  const page = await stage.visit({ viewport: { width: 1400, height: 900 } });
  const rows = async () => {
    const buttons = dock(page).getByRole('button');
    const middles = await buttons.evaluateAll((some) =>
      some.map((one) => {
        const { top, bottom } = one.getBoundingClientRect();
        return Math.round((top + bottom) / 2);
      }),
    );
    return new Set(middles).size;
  };
  await dock(page).getByRole('button', { name: 'Reject with a note' }).waitFor();
  await expect.poll(rows).toBe(1);
  await composer(page).fill('Only the tests.');
  await dock(page).getByRole('button', { name: 'Allow with this note' }).waitFor();
  await expect.poll(rows).toBe(1);
});

it('a note that the server refuses stays in the composer', async () => {
  ask(...wanted(1, 'one'));
  stage.refuse = (path) =>
    path.includes('/approval/') ? { code: 'INVALID_OPTION', message: 'Not now.' } : undefined;
  const page = await stage.visitShared();
  await composer(page).fill('Because.');
  await dock(page).getByRole('button', { name: 'Reject with this note' }).click();
  await dock(page).getByRole('alert').getByText('Not now.').waitFor();
  expect(await composer(page).inputValue()).toBe('Because.');
});

it('if an agent accepts no notes, there is no button for a note', async () => {
  ask(approval('p1'));
  const page = await stage.visitShared();
  await composer(page).fill('Because.');
  await dock(page).getByRole('button', { name: 'Deny' }).waitFor();
  expect(await dock(page).getByRole('button', { name: /note/ }).count()).toBe(0);
});

it('a long diff uses at most 40 % of the height, and can be scrolled by keyboard', async () => {
  const long = (what: string) => Array.from({ length: 90 }, (_, n) => `${what} ${n}`).join('\n');
  const diffs = [{ path: '/code/shop/a.ts', oldText: long('old'), newText: long('new') }];
  ask(...wanted(1, 'x', { kind: 'edit', title: 'Edit a.ts', diffs }));
  const page = await stage.visitShared();
  const asked = dock(page).getByRole('region', { name: 'What is asked' });
  await asked.getByText('old 1', { exact: true }).waitFor();
  const height = await asked.evaluate((element) => element.clientHeight);
  expect(height).toBeLessThanOrEqual(0.4 * 700);
  await asked.focus();
  await page.keyboard.press('End');
  await expect.poll(() => asked.evaluate((element) => element.scrollTop)).toBeGreaterThan(50);
});

it('a subagent’s request is docked together with the call that it is about', async () => {
  ask(
    tool('task', { toolName: 'Task', kind: 'other', toolArguments: { description: 'Look' } }),
    ...wanted(1, 'npm view x', { parentCallId: 'task' }),
  );
  const page = await stage.visitShared();
  await dock(page).getByText('npm view x', { exact: true }).last().waitFor();
});

it('if a request is answered elsewhere, a note says so, and the focus moves to the composer', async () => {
  ask(...wanted(1, 'one'));
  const page = await stage.visitShared();
  await dock(page).getByRole('button', { name: 'Allow', exact: true }).focus();
  settle(1, 'one', 'always');
  await page
    .getByRole('status')
    .filter({ hasText: 'Run one: answered elsewhere with “Always allow npm test”' })
    .waitFor();
  await composer(page).and(page.locator(':focus')).waitFor();
  expect(await dock(page).count()).toBe(0);
});

it.each(atLength ? (['light', 'dark'] as const) : (['dark'] as const))(
  'on a phone, the whole dock fits on the screen (%s)',
  async (colorScheme) => {
    const long = `npm run deploy -- --target=${'production-'.repeat(30)} && echo ${'x'.repeat(300)}`;
    ask(...wanted(1, long), ...wanted(2, 'two'));
    const page = await stage.visit({ ...phone, colorScheme });
    await dock(page).getByText('1 of 2').waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    // This is the height that is left when the keyboard is open.
    await page.setViewportSize({ width: 390, height: 480 });
    const expectInSight = async (locator: ReturnType<Page['locator']>) => {
      const isInSight = () =>
        locator.evaluate((element) => {
          const { top, bottom } = element.getBoundingClientRect();
          return top >= 0 && bottom <= innerHeight;
        });
      await expect.poll(isInSight).toBe(true);
    };
    for (const name of ['Allow', 'Reject', 'Reject with a note', 'Always allow npm test']) {
      await expectInSight(dock(page).getByRole('button', { name, exact: true }));
    }
    await expectInSight(composer(page));
    await dock(page).getByRole('button', { name: 'Allow', exact: true }).tap();
    await expect.poll(answers).toEqual([['p1', { optionId: 'yes' }]]);
    const answered = stage.requests.filter(({ path }) => path.includes('/approval/'));
    expect(answered.map(({ path }) => path)).toEqual([expect.stringContaining(sessionId)]);
  },
);

it('a request’s description is docked together with the request', async () => {
  const description = '1. Look at the loader\n2. **Change** it';
  ask(approval('p1', { title: 'Would you like to proceed?', description, options }));
  const page = await stage.visitShared();
  await dock(page).getByText('Would you like to proceed?').first().waitFor();
  await dock(page).getByRole('listitem').filter({ hasText: 'Look at the loader' }).waitFor();
  expect(await dock(page).locator('strong').innerText()).toBe('Change');
});
