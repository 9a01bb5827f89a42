import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { append, approval, begun, ended, message, tool, turn, upsert } from './items.ts';
import { pauseClock } from './paused-clock.ts';
import { shareStage, sessionId, stage } from './stage.ts';

shareStage(() => {
  stage.history = begun('Fix it');
});

/** Counts changes inside an element from now on, and reports whether the element is still in the page. */
async function watch(page: Page, selector: string) {
  const handle = await page.locator(selector).first().elementHandle();
  await handle.evaluate((element) => {
    const seen = { changes: 0 };
    Object.assign(element, { seen });
    const observer = new MutationObserver((records) => (seen.changes += records.length));
    observer.observe(element, {
      subtree: true,
      childList: true,
      characterData: true,
      attributes: true,
    });
  });
  return {
    changes: () =>
      handle.evaluate(
        (element) => (element as unknown as { seen: { changes: number } }).seen.changes,
      ),
    isConnected: () => handle.evaluate((element) => element.isConnected),
  };
}

it('TC-7.2a: text messages are rendered progressively, each at its own position', async () => {
  const page = await stage.visitShared();
  stage.send(upsert(message('a', 'I will')));
  const item = page.locator('[data-item-id="a"]');
  await item.getByText('I will', { exact: true }).waitFor();
  const element = await watch(page, '[data-item-id="a"]');

  stage.send(upsert(message('a', 'I will look at', { status: 'update' })));
  await item.getByText('I will look at', { exact: true }).waitFor();
  stage.send(append('a', 14, ' the **loader**'));
  await item.getByText('loader', { exact: true }).waitFor();
  stage.send(upsert(message('a', 'I will look at the **loader** first.', { status: 'complete' })));
  await item.getByText('first.').waitFor();

  expect(await item.innerText()).toBe('I will look at the loader first.');
  expect(await item.locator('strong').innerText()).toBe('loader');
  expect(await item.getAttribute('data-status')).toBe('complete');
  expect(await element.isConnected()).toBe(true);
  expect(await page.locator('[data-item-id="a"]').count()).toBe(1);
});

it('TC-7.2b: a tool call renders its invocation, and later its result', async () => {
  const page = await stage.visitShared();
  const call = { toolArguments: { command: 'npm test' } };
  stage.send(upsert(tool('call', call)));
  const card = page.getByRole('group', { name: 'Run npm test' });
  await card.getByRole('img', { name: 'running' }).waitFor();
  await card.getByRole('button').click();
  expect(await card.getByLabel('Command').innerText()).toContain('npm test');
  expect(await card.getByLabel('Output').count()).toBe(0);

  stage.send(
    upsert(tool('call', { ...call, status: 'complete', toolOutput: '41 passed', exitCode: 0 })),
  );
  await card.getByRole('img', { name: 'done' }).waitFor();
  expect(await card.getByLabel('Output').innerText()).toBe('41 passed');
  expect(await page.getByRole('group', { name: 'Run npm test' }).count()).toBe(1);
});

it('the file changes of a turn are one line at the turn’s end, which opens to show each file', async () => {
  const page = await stage.visitShared();
  const path = '/code/shop/src/cart.ts';
  const diffs = [
    { path, oldText: 'one\ntwo\n', newText: 'one\nzwei\n' },
    { path, oldText: 'nine\n', newText: 'nine\nten\n' },
    { path: '/code/shop/new.md', newText: '# New\n' },
  ];
  stage.send(upsert({ ...message('f', ''), type: 'file_changes', diffs } as never));
  stage.send(upsert(message('a', 'All done.', { status: 'complete' })));
  await page.getByText('All done.').waitFor();
  const line = page.getByRole('group', { name: '2 files changed' });
  expect(await line.count()).toBe(0);

  stage.send(ended('t1'));
  await line.getByText('src/cart.ts, new.md').waitFor();
  await line.getByLabel('3 lines added').waitFor();
  await line.getByLabel('1 lines removed').waitFor();
  const isBelow = await line.evaluate((e) =>
    Boolean(
      document.querySelector('[data-item-id="a"]')!.compareDocumentPosition(e) &
      Node.DOCUMENT_POSITION_FOLLOWING,
    ),
  );
  expect(isBelow).toBe(true);
  await line.getByRole('button').click();
  expect(await line.getByRole('region').count()).toBe(3);
  expect(await line.getByRole('button', { name: 'src/cart.ts' }).count()).toBe(1);
  await line.getByText('zwei').waitFor();
});

it('TC-7.2b: the card of a tool call that failed opens by itself', async () => {
  const page = await stage.visitShared();
  const failure = { toolOutput: 'No such file', toolOutputIsError: true, exitCode: 1 };
  stage.send(
    upsert(tool('call', { toolArguments: { command: 'cat x' }, status: 'complete', ...failure })),
  );
  const card = page.getByRole('group', { name: 'Run cat x' });
  await card.getByRole('img', { name: 'failed' }).waitFor();
  expect(await card.getByLabel('Output').innerText()).toBe('No such file');
  expect(await card.getByText('exit 1').count()).toBe(1);
});

it('TC-7.2c: items render independently: updating one item does not change another', async () => {
  const page = await stage.visitShared();
  stage.send(upsert(message('a', 'first')));
  stage.send(upsert(tool('call', { toolArguments: { command: 'npm test' } })));
  stage.send(upsert(message('b', 'second')));
  await page.locator('[data-item-id="b"]').getByText('second').waitFor();
  const [first, card] = [
    await watch(page, '[data-item-id="a"]'),
    await watch(page, '[data-item-id="call"]'),
  ];

  for (const content of ['second grows', 'second grows on']) {
    stage.send(upsert(message('b', content, { status: 'update' })));
    await page.locator('[data-item-id="b"]').getByText(content, { exact: true }).waitFor();
  }
  expect(await first.changes()).toBe(0);
  // A card of a running call shows the seconds, and nothing else in the card changes.
  expect(await card.isConnected()).toBe(true);

  const second = await watch(page, '[data-item-id="b"]');
  stage.send(upsert(message('a', 'first grows', { status: 'update' })));
  await page.locator('[data-item-id="a"]').getByText('first grows').waitFor();
  expect(await second.changes()).toBe(0);
});

it('finished blocks of a growing message are not rendered again', async () => {
  const page = await stage.visitShared();
  const start = 'One.\n\nTwo.\n\n```ts\nconst a = 1;\n';
  stage.send(upsert(message('a', start)));
  const item = page.locator('[data-item-id="a"]');
  await item.getByLabel('Code, ts').getByText('const a = 1;').waitFor();
  const paragraph = await watch(page, '[data-item-id="a"] p');
  const more = 'const b = 2;\n```\n\nThree **bold';
  for (let at = 0; at < more.length; at += 4) {
    stage.send(append('a', start.length + at, more.slice(at, at + 4)));
  }
  await item.getByText('bold').waitFor();
  expect(await paragraph.changes()).toBe(0);
  expect(await paragraph.isConnected()).toBe(true);
  expect(await item.locator('strong').innerText()).toBe('bold');
});

it('a permission request can be answered by keyboard', async () => {
  const page = await stage.visit();
  await pauseClock(page);
  stage.send(upsert(tool('call', { toolArguments: { command: 'npm test' } })));
  stage.send(upsert(approval('p1', { callId: 'call' })));
  const request = page.getByRole('group', { name: 'Permission: Run npm test' });
  await expect.poll(() => page.clock.runFor(20).then(() => request.isVisible())).toBe(true);
  await page.getByRole('textbox', { name: 'Message' }).focus();
  // Keys that are pressed before a person can have read the request do not answer it.
  await page.keyboard.press('Enter');
  const answers = () => stage.requests.filter(({ path }) => path.includes('/approval/'));
  expect(answers()).toEqual([]);
  await expect
    .poll(async () => {
      await page.clock.runFor(600);
      await page.keyboard.press('Enter');
      return answers();
    })
    .toEqual([
      { method: 'POST', path: `/api/session/${sessionId}/approval/p1`, body: { optionId: 'yes' } },
    ]);
});

it('Escape stops a running turn', async () => {
  const page = await stage.visitShared();
  await page.getByRole('button', { name: 'Stop', exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await expect
    .poll(() => stage.requests.map(({ path }) => path))
    .toContain(`/api/session/${sessionId}/cancel`);
});

it('a message is shown at once, and its text is kept if the message cannot be sent', async () => {
  const page = await stage.visitShared();
  await page.getByRole('textbox', { name: 'Message' }).fill('Now this');
  await page.keyboard.press('Enter');
  await page.getByText('Not sent').waitFor();
  expect(await page.getByRole('log').getByText('Now this').count()).toBe(1);
  let turnId = '';
  stage.answer = (_, path, body) => {
    if (!path.endsWith('/send')) return undefined;
    ({ turnId } = body as { turnId: string });
    return { turnId, queued: false };
  };
  await page.getByRole('button', { name: 'Send again' }).click();
  await expect.poll(() => turnId).not.toBe('');
  await page.getByText('Not sent').waitFor({ state: 'detached' });
  const own = { turnId, origin: 'user', status: 'complete' } as const;
  stage.send(upsert(message('u2', 'Now this', own)));
  await page.locator('[data-item-id="u2"]').waitFor();
  expect(await page.getByRole('log').getByText('Now this').count()).toBe(1);
});

it('queued messages are shown, and can be edited and removed', async () => {
  const page = await stage.visitShared();
  const queued = { turnId: 'q1', message: 'Then that', queuedAt: '', state: 'queued' } as const;
  stage.sendInfo({ queue: [queued] });
  const list = page.getByRole('list', { name: 'Queued messages' });
  await list.getByText('Then that').waitFor();
  await list.getByRole('button', { name: 'Edit queued message' }).click();
  await list.getByRole('textbox', { name: 'Queued message' }).fill('Then this');
  await page.keyboard.press('Enter');
  const path = `/api/session/${sessionId}/queue/q1`;
  await expect
    .poll(() => stage.requests)
    .toContainEqual({ method: 'PUT', path, body: { message: 'Then this', runCommand: true } });
  await list.getByRole('button', { name: 'Remove queued message' }).click();
  await expect
    .poll(() => stage.requests)
    .toContainEqual({ method: 'DELETE', path, body: undefined });
});

it('nothing is fetched from other servers, and links open outside the app', async () => {
  const page = await stage.visitShared();
  const foreign: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith('http://127.0.0.1:')) foreign.push(request.url());
  });
  const text =
    '![logo](https://x.test/a.png) <img src="https://x.test/b.png"> [site](https://x.test) [bad](javascript:alert(1))';
  stage.send(upsert(message('a', text, { status: 'complete' })));
  const item = page.locator('[data-item-id="a"]');
  const link = item.getByRole('link', { name: 'site' });
  await link.waitFor();
  expect(await link.getAttribute('target')).toBe('_blank');
  expect(await link.getAttribute('rel')).toContain('noopener');
  expect(await item.locator('img').count()).toBe(0);
  expect(await item.locator('[href^="javascript"]').count()).toBe(0);
  expect(foreign).toEqual([]);
});

it.each([
  ['max_tokens', 'Stopped: the answer reached its length limit'],
  ['max_turn_requests', 'Stopped: the agent reached its limit of steps in one turn'],
  ['refusal', 'Stopped: the model refused to continue'],
  ['of_tomorrow', 'Stopped: of_tomorrow'],
])(
  'a turn that stops because of %s shows the reason at its end, both live and from history',
  async (finishReason, sentence) => {
    const page = await stage.visitShared();
    stage.send(upsert(message('a', 'Half of it', { status: 'complete' })));
    const end = { type: 'turn_complete', turnId: 't1', sessionId, status: 'completed' } as const;
    stage.send({
      type: 'session:turn',
      sessionId,
      payload: { ...end, finishReason },
      cursor: 't1:9',
    });
    await page.getByText(sentence).waitFor();

    stage.history = {
      ...stage.history,
      turns: [turn('t1', { status: 'complete', endedAt: 5_000, finishReason })],
    };
    await page.reload();
    await page.getByText(sentence).waitFor();
  },
);

it('a turn that ends normally shows no reason', async () => {
  const page = await stage.visitShared();
  const end = { type: 'turn_complete', turnId: 't1', sessionId, status: 'completed' } as const;
  const payload = { ...end, finishReason: 'end_turn', usage: { inputTokens: 1, outputTokens: 7 } };
  stage.send({ type: 'session:turn', sessionId, payload, cursor: 't1:9' });
  await page.getByText('7 tokens out').waitFor();
  expect(await page.getByText('Stopped').count()).toBe(0);
});
