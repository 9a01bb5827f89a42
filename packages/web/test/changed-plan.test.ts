/** Tests a plan that a person edits before approving it. */
import type { ApprovalUpsert } from '@liminal/protocol';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { phone } from './controls/ways.ts';
import { approval, begun, tool, upsert } from './items.ts';
import { shareStage, stage } from './stage.ts';

shareStage(() => {
  stage.history = begun('Plan it');
});

const plan = '# Plan\n\nUse pine.';
const options: ApprovalUpsert['options'] = [
  { optionId: 'yes', name: 'Approve, ask before edits', kind: 'allow_once', takesNote: true },
  { optionId: 'no', name: 'Keep planning', kind: 'reject_once', takesNote: true },
];
const request = (rest: Partial<ApprovalUpsert> = {}) =>
  approval('p1', { callId: 'c1', title: 'Plan', options, editable: ['plan'], ...rest });

function ask(rest: Partial<ApprovalUpsert> = {}): void {
  const call = tool('c1', {
    toolName: 'ExitPlanMode',
    kind: 'switch_mode',
    title: 'Plan',
    toolArguments: { plan },
  });
  stage.history = { ...stage.history, entries: [...stage.history.entries, call, request(rest)] };
}

const dock = (page: Page) => page.getByRole('region', { name: 'Waiting for you' });
const edit = (page: Page) => dock(page).getByRole('button', { name: 'Edit the plan' });
const text = (page: Page) =>
  dock(page).getByRole('textbox', { name: 'The plan as you approve it' });
const approve = (page: Page) => dock(page).getByRole('button', { name: options[0]!.name }).first();
const answers = () =>
  stage.requests.filter(({ path }) => path.includes('/approval/')).map(({ body }) => body);
const changed = { optionId: 'yes', content: { plan: '# Plan\n\nUse oak.' } };

it('a plan can be edited by mouse, and the approval contains the edited plan', async () => {
  ask();
  const page = await stage.visit();
  await edit(page).click();
  expect(await text(page).inputValue()).toBe(plan);
  await text(page).fill('# Plan\n\nUse oak.');
  await approve(page).click();
  await expect.poll(answers).toEqual([changed]);

  const outcome = { outcome: 'selected', ...changed } as const;
  stage.send(upsert(request({ status: 'complete', outcome })));
  await page.getByRole('log').getByRole('button', { name: /^Plan/ }).click();
  await page.getByText('With your changes to the plan').click();
  await page.getByRole('log').getByText('Use oak.').waitFor();
});

it('a plan can be edited by keys; Escape leaves the text, and the edit stays', async () => {
  ask();
  const page = await stage.visit();
  await edit(page).focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => text(page).evaluate((one) => one === document.activeElement)).toBe(true);
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText('# Plan\n\nUse oak.');
  await page.keyboard.press('Escape');
  expect(answers()).toEqual([]);
  await approve(page).focus();
  // Keys answer a request only when it has been visible long enough.
  await expect
    .poll(async () => {
      await page.keyboard.press('Enter');
      return answers();
    })
    .toEqual([changed]);
});

it('on a phone, a plan can be edited by touch', async () => {
  ask();
  const page = await stage.visit(phone);
  await edit(page).tap();
  await text(page).fill('# Plan\n\nUse oak.');
  await approve(page).tap();
  await expect.poll(answers).toEqual([changed]);
});

it('approving an unchanged plan, or refusing a plan, sends no plan; a plan that cannot be edited has no edit button', async () => {
  ask();
  const page = await stage.visit();
  await edit(page).click();
  await text(page).fill('Something else');
  await dock(page).getByRole('button', { name: 'Keep planning', exact: true }).click();
  await expect.poll(answers).toEqual([{ optionId: 'no' }]);

  stage.history = begun('Plan it');
  ask({ editable: undefined });
  const other = await stage.visit();
  await approve(other).waitFor();
  expect(await edit(other).count()).toBe(0);
  await approve(other).click();
  await expect.poll(answers).toContainEqual({ optionId: 'yes' });
});
