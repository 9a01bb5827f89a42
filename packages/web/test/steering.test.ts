import { testAtLength } from '@liminal/testkit/at-length';
import type { QueuedMessage } from '@liminal/protocol';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { phone } from './controls/ways.ts';
import { message, turn, upsert } from './items.ts';
import { shareStage, stage } from './stage.ts';

const waiting = (...messages: string[]): QueuedMessage[] =>
  messages.map((said) => ({ turnId: said, message: said, queuedAt: '', state: 'queued' }));

shareStage(() => {
  stage.info = { ...stage.info, canSteer: true, queue: waiting('one', 'two', 'three') };
  stage.history = {
    entries: [message('u', 'Go', { origin: 'user', status: 'complete' })],
    turns: [turn('t1')],
    cursor: 'c',
    hasMore: false,
  };
  stage.answer = (_, path) => (path.endsWith('/steer') ? { turnId: 't1' } : undefined);
});

const field = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const queued = (page: Page, said: string) =>
  page
    .getByRole('list', { name: 'Queued messages' })
    .getByRole('listitem')
    .filter({ hasText: said });
const unsent = (page: Page) => page.getByRole('article', { name: 'Unsent message' });
const prompts = (page: Page) => page.getByRole('article', { name: 'You' });

/** Returns the bodies of the requests to a route. */
const bodies = (route: string): unknown[] =>
  stage.requests.filter(({ path }) => path.endsWith(route)).map(({ body }) => body);

const sendQueue = (queue: QueuedMessage[]): void => stage.sendInfo({ queue });

const ways: [string, (page: Page) => Promise<void>][] = [
  ['the button', (page) => button(page, 'Steer').click()],
  [
    'Ctrl+Enter',
    async (page) => {
      await button(page, 'Steer').waitFor();
      await field(page).press('Control+Enter');
    },
  ],
];

it.each(ways)(
  '%s sends the draft into the running turn, and the turn shows it once',
  async (_, use) => {
    const page = await stage.visitShared();
    await field(page).fill('A word');
    await use(page);
    await expect.poll(() => bodies('/steer')).toMatchObject([{ message: 'A word' }]);
    const { messageId } = bodies('/steer')[0] as { messageId: string };
    await unsent(page).filter({ hasText: 'A word' }).waitFor();
    await expect.poll(() => field(page).inputValue()).toBe('');

    const said = message(`t1:said:${messageId}`, 'A word', { origin: 'user', delivery: 'sent' });
    stage.send(upsert(said));
    await prompts(page).filter({ hasText: 'A word' }).waitFor();
    await page.getByText('Sent, not read yet').waitFor();
    await expect.poll(() => unsent(page).count()).toBe(0);
    stage.send(upsert({ ...said, delivery: 'taken', status: 'complete' }));
    await page.getByText('Steered').waitFor();
    expect(await page.getByText('A word', { exact: true }).count()).toBe(1);
    expect(bodies('/send')).toEqual([]);
  },
);

it('Enter queues the message; Ctrl+Enter also queues it if no turn runs or if the agent cannot be steered', async () => {
  const page = await stage.visitShared();
  await field(page).fill('Later');
  await field(page).press('Enter');
  await expect.poll(() => bodies('/send')).toMatchObject([{ message: 'Later' }]);

  stage.sendInfo({ canSteer: false });
  await field(page).fill('This, too');
  await expect.poll(() => button(page, 'Steer').count()).toBe(0);
  await field(page).press('Control+Enter');
  await expect.poll(() => bodies('/send')).toHaveLength(2);
  expect(bodies('/steer')).toEqual([]);
});

it('attachments are sent together with a steered message', async () => {
  stage.info = {
    ...stage.info,
    accepts: { image: [], audio: [], resource: ['text/*'] },
  };
  const page = await stage.visitShared();
  const choosing = page.waitForEvent('filechooser');
  await button(page, 'Attach files').click();
  const buffer = Buffer.from('# Notes');
  await (await choosing).setFiles([{ name: 'notes.md', mimeType: 'text/markdown', buffer }]);
  // Wait for the file's size, which is shown when the file can be sent.
  await page.getByRole('list', { name: 'Attached' }).getByText('7 bytes').waitFor();
  await button(page, 'Steer').waitFor();
  await field(page).press('Control+Enter');
  await expect
    .poll(() => bodies('/steer'))
    .toMatchObject([{ message: '', blocks: [{ type: 'resource' }] }]);
});

it('a steered message that arrived too late is marked, and can be sent as a message of its own', async () => {
  stage.refuse = (path) =>
    path.endsWith('/steer')
      ? { code: 'NOTHING_TO_STEER', message: 'No turn is running. Send it as a message.' }
      : undefined;
  const page = await stage.visitShared();
  await field(page).fill('A word');
  await button(page, 'Steer').click();
  await page.getByRole('alert').filter({ hasText: 'Not sent: No turn is running' }).waitFor();
  await button(page, 'Send as a message').click();
  await expect.poll(() => bodies('/send')).toMatchObject([{ message: 'A word' }]);
});

it('a steered message that the agent has not read can be sent again', async () => {
  stage.history = {
    ...stage.history,
    entries: [
      ...stage.history.entries,
      message('t1:said:m', 'A word', { origin: 'user', delivery: 'not_taken', status: 'complete' }),
    ],
    turns: [turn('t1', { status: 'aborted', endedAt: 1 })],
  };
  const page = await stage.visitShared();
  await page.getByText('Not read: the agent had finished').waitFor();
  await button(page, 'Send again').click();
  await expect.poll(() => bodies('/send')).toMatchObject([{ message: 'A word' }]);
});

it('queued messages can be moved by Alt and the arrow keys, and the focus moves with them', async () => {
  const page = await stage.visitShared();
  const edit = queued(page, 'two').getByRole('button', { name: 'Edit queued message' });
  const areInOrder = async (...order: RegExp[]) =>
    await expect
      .poll(() => queued(page, '').allTextContents())
      .toMatchObject(order.map((like) => expect.stringMatching(like)));
  await edit.focus();
  await page.keyboard.press('Alt+ArrowUp');
  await expect.poll(() => bodies('/queue/two/move')).toEqual([{ before: 'one' }]);
  sendQueue(waiting('two', 'one', 'three'));
  await areInOrder(/two/, /one/, /three/);
  await expect.poll(() => edit.evaluate((one) => one === document.activeElement)).toBe(true);
  await page.keyboard.press('Alt+ArrowDown');
  await expect
    .poll(() => bodies('/queue/two/move'))
    .toEqual([{ before: 'one' }, { before: 'three' }]);
  sendQueue(waiting('one', 'two', 'three'));
  await areInOrder(/one/, /two/, /three/);
  await expect.poll(() => edit.evaluate((one) => one === document.activeElement)).toBe(true);
  await page.keyboard.press('Alt+ArrowDown');
  await expect.poll(() => bodies('/queue/two/move').at(-1)).toEqual({});
});

testAtLength(
  'on a phone, a queued message has a line of its own, and a tap sends it at once',
  async () => {
    const page = await stage.visit(phone);
    const row = queued(page, 'two');
    const text = await row.getByText('two', { exact: true }).boundingBox();
    const now = row.getByRole('button', { name: 'Send now' });
    expect((await now.boundingBox())!.y).toBeGreaterThanOrEqual(text!.y + text!.height);
    await now.tap();
    await expect.poll(() => bodies('/queue/two/now')).toHaveLength(1);
  },
);

const pauses: [string, (page: Page) => Promise<void>][] = [
  ['the mouse', async (page) => button(page, 'Resume').click()],
  ['a key', async (page) => button(page, 'Resume').press('Enter')],
];

it.each(pauses)(
  'if a stop has paused the queue, the queue is shown as paused, and can be resumed by %s',
  async (_, use) => {
    stage.history = { ...stage.history, turns: [turn('t1', { status: 'aborted', endedAt: 1 })] };
    stage.info.session = { ...stage.info.session, state: 'queued', queuePaused: true };
    const page = await stage.visitShared();
    await page.getByRole('status').filter({ hasText: 'Queue paused' }).waitFor();
    await use(page);
    await expect.poll(() => bodies('/queue/resume')).toHaveLength(1);
    stage.sendInfo({ session: { ...stage.info.session, queuePaused: undefined } });
    await expect.poll(() => button(page, 'Resume').count()).toBe(0);
    await field(page).and(page.locator(':focus')).waitFor();
  },
);

it('the first message of a paused queue can also be sent now', async () => {
  stage.history = { ...stage.history, turns: [turn('t1', { status: 'aborted', endedAt: 1 })] };
  stage.info = { ...stage.info, canSteer: false };
  stage.info.session = { ...stage.info.session, state: 'queued', queuePaused: true };
  const page = await stage.visitShared();
  await queued(page, 'one').getByRole('button', { name: 'Send now' }).click();
  await expect.poll(() => bodies('/queue/one/now')).toHaveLength(1);
});

it('if an agent cannot be steered, a queued message can be moved to the front', async () => {
  stage.info = { ...stage.info, canSteer: false };
  const page = await stage.visitShared();
  const row = queued(page, 'two');
  await row.getByRole('button', { name: 'Move to front' }).click();
  await expect.poll(() => bodies('/queue/two/now')).toHaveLength(1);
  expect(await button(page, 'Send now').count()).toBe(0);
});

testAtLength('on a phone, a paused queue can be resumed by a tap', async () => {
  stage.info.session = { ...stage.info.session, state: 'queued', queuePaused: true };
  const page = await stage.visit(phone);
  await button(page, 'Resume').tap();
  await expect.poll(() => bodies('/queue/resume')).toHaveLength(1);
});
