import { testAtLength } from '@liminal/testkit/at-length';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { approval, ended, failed, message, tool, turn, upsert } from './items.ts';
import { shareStage, otherSession, sessionId, stage } from './stage.ts';

shareStage(() => {
  stage.others = [otherSession('o1'), otherSession('o2')];
});

const drawn = (page: Page) =>
  page.evaluate(
    () =>
      new Promise((done) =>
        requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))),
      ),
  );

/** Returns the focused element in short form; "body" if no element has the focus. */
async function focused(page: Page): Promise<string> {
  await drawn(page);
  return page.evaluate(() => {
    const element = document.activeElement;
    if (element === null || element === document.body) return 'body';
    return element.getAttribute('aria-label') ?? element.textContent?.trim() ?? element.tagName;
  });
}

const tabs = (page: Page) => page.getByRole('navigation', { name: 'Open sessions' });
const running = () => {
  stage.history = { entries: [], turns: [turn('t1')], cursor: 'c', hasMore: false };
};

it('a dialog returns the focus to the element that opened it, however the dialog is closed', async () => {
  const page = await stage.visitShared();
  const opener = page.getByRole('button', { name: /^New session \(/ });
  await opener.click();
  await page.getByRole('dialog', { name: 'New session' }).waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => focused(page)).toMatch(/^New session/);
  await opener.click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect.poll(() => focused(page)).toMatch(/^New session/);
  await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
  await page.getByRole('button', { name: 'Close', exact: true }).click();
  await expect.poll(() => focused(page)).toMatch(/^Keyboard shortcuts/);
  await page.getByRole('button', { name: /^Commands/ }).click();
  await page.getByRole('option', { name: 'Start page' }).click();
  await page.getByRole('main', { name: 'Start' }).waitFor();
  await expect.poll(() => focused(page)).toMatch(/^Commands/);
});

it('a menu returns the focus when it closes; if a focused element is removed, a neighbour receives the focus', async () => {
  const page = await stage.visitShared();
  const menu = page.getByRole('button', { name: 'Session', exact: true });
  await menu.click();
  await page.getByRole('menuitem', { name: 'Rename' }).waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => focused(page)).toBe('Session');
  await menu.click();
  await page.getByRole('menuitem', { name: 'Rename' }).click();
  await page.getByRole('textbox', { name: 'Title' }).waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => focused(page)).not.toBe('body');
  await menu.click();
  await page.getByRole('menuitem', { name: 'Close tab' }).click();
  await page.getByRole('main', { name: 'Start' }).waitFor();
  await expect.poll(() => focused(page)).not.toBe('body');
});

it('a dialog that was opened from the menu of a row returns the focus to this row', async () => {
  const page = await stage.visitShared();
  const row = page
    .getByRole('navigation', { name: 'Sessions', exact: true })
    .getByRole('link', { name: /Session o1/ });
  for (const close of ['Escape', 'Cancel']) {
    await row.focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('menuitem', { name: 'Delete…' }).press('Enter');
    const cancel = page.getByRole('dialog').getByRole('button', { name: 'Cancel' });
    await expect.poll(() => focused(page)).toBe('Cancel');
    if (close === 'Escape') await page.keyboard.press('Escape');
    else await cancel.press('Enter');
    await cancel.waitFor({ state: 'detached' });
    await expect.poll(() => focused(page)).toMatch(/Session o1/);
  }
});

it('when a tab is closed, the tab that is shown next receives the focus', async () => {
  const page = await stage.visitShared();
  await tabs(page).getByRole('link', { name: 'Fix the login' }).dblclick();
  await page.getByRole('link', { name: 'Session o1' }).dblclick();
  await page.waitForURL(/\/session\/o1$/);
  await expect.poll(() => focused(page)).toBe('Message');
  await tabs(page).getByRole('link', { name: 'Session o1' }).focus();
  await page.keyboard.press('Delete');
  await page.waitForURL((url) => !url.pathname.endsWith('/o1'));
  await expect.poll(() => focused(page)).not.toBe('body');
  await tabs(page).getByRole('button', { name: 'Close Fix the login' }).click();
  await page.getByRole('main', { name: 'Start' }).waitFor();
  await expect.poll(() => focused(page)).not.toBe('body');
});

it('a session receives the focus when it is loaded, unless a person is typing elsewhere', async () => {
  const page = await stage.visitShared();
  const search = page.getByRole('searchbox', { name: 'Search sessions' });
  await expect.poll(() => focused(page)).toBe('Message');
  for (const id of ['o1', 'o2']) {
    const loaded = Promise.withResolvers<object>();
    stage.answer = (_, path) => (path.endsWith('/load') ? loaded.promise : undefined);
    await page
      .getByRole('link', { name: `Session ${id}` })
      .first()
      .click();
    await page.getByRole('main', { name: 'Session' }).waitFor();
    await expect.poll(() => focused(page)).not.toBe('Message');
    if (id === 'o2') {
      await search.click();
      await page.keyboard.type('log');
    }
    loaded.resolve({ sessionId: id, cliType: 'demo' });
    await page.getByRole('main', { name: `Session ${id}` }).waitFor();
    await expect.poll(() => focused(page)).toBe(id === 'o1' ? 'Message' : 'Search sessions');
  }
  expect(await search.inputValue()).toBe('log');
});

it('on a computer without a mouse, an opened session receives the focus as it does with a mouse', async () => {
  const page = await stage.visit({}, '/');
  await page.addInitScript(() => {
    const real = window.matchMedia.bind(window);
    window.matchMedia = (query) => real(query.replaceAll('(pointer: fine)', 'not all'));
  });
  await page.goto(`http://127.0.0.1:${stage.port}/session/${sessionId}`);
  await page.getByRole('log', { name: 'Conversation' }).waitFor();
  await expect.poll(() => focused(page)).toBe('Message');
});

it('when a request is answered, or ends by itself, the focus stays in the session', async () => {
  running();
  const page = await stage.visitShared();
  for (const [id, end] of [
    ['p1', 'answered'],
    ['p2', 'over'],
  ] as const) {
    stage.send(upsert(approval(id)));
    const allow = page.getByRole('button', { name: /^Allow/ }).first();
    await allow.focus();
    await expect.poll(() => focused(page)).toContain('Allow');
    if (end === 'answered') await allow.click();
    const outcome = { outcome: 'selected', optionId: 'yes' } as const;
    stage.send(upsert(approval(id, { status: 'complete', outcome })));
    await expect.poll(() => allow.count()).toBe(0);
    await expect.poll(() => focused(page)).not.toBe('body');
    const inSession = () => page.evaluate(() => document.activeElement?.closest('main') !== null);
    await expect.poll(inSession).toBe(true);
  }
});

it('when a queued message is removed, the focus moves to the next message, or to the composer if there is none', async () => {
  running();
  const queued = (turnId: string) => ({
    turnId,
    message: `Message ${turnId}`,
    queuedAt: '2026-01-01T00:00:00.000Z',
    state: 'queued' as const,
  });
  stage.info = { ...stage.info, queue: [queued('q1'), queued('q2')] };
  const page = await stage.visitShared();
  const remove = page.getByRole('button', { name: 'Remove queued message' });
  await remove.first().focus();
  stage.sendInfo({ queue: [queued('q2')] });
  await expect.poll(() => focused(page)).toMatch(/queued message$/);
  await remove.first().focus();
  stage.sendInfo({ queue: [] });
  await expect.poll(() => focused(page)).toBe('Message');
});

it('when a message is removed, the same button of the next message receives the focus; when it is edited, its edit button', async () => {
  running();
  const queued = (turnId: string) => ({
    turnId,
    message: `Message ${turnId}`,
    queuedAt: '2026-01-01T00:00:00.000Z',
    state: 'queued' as const,
  });
  const queue = [queued('q1'), queued('q2'), queued('q3')];
  stage.info = { ...stage.info, canSteer: true, queue };
  const page = await stage.visitShared();
  /** Returns the focused control and its message. */
  const place = async () => [
    await focused(page),
    await page.evaluate(() => document.activeElement?.closest('li')?.dataset['turnId']),
  ];
  await page.getByRole('button', { name: 'Edit queued message' }).nth(1).press('Enter');
  await page.getByRole('textbox', { name: 'Queued message' }).press('Escape');
  await expect.poll(place).toEqual(['Edit queued message', 'q2']);
  await page.getByRole('button', { name: 'Remove queued message' }).nth(1).focus();
  stage.sendInfo({ queue: [queued('q1'), queued('q3')] });
  await expect.poll(place).toEqual(['Remove queued message', 'q3']);
  stage.sendInfo({ queue: [queued('q1')] });
  await expect.poll(place).toEqual(['Remove queued message', 'q1']);
  stage.sendInfo({ queue: [] });
  await expect.poll(() => focused(page)).toBe('Message');
});

it('after a message is sent, the focus stays in the message field', async () => {
  const page = await stage.visitShared();
  await page.getByRole('textbox', { name: 'Message' }).fill('Go.');
  await page.getByRole('button', { name: 'Send message' }).click();
  await expect.poll(() => focused(page)).toBe('Message');
  const started = { turnId: 't1', sessionId, modelId: 'm', providerId: 'p' };
  const payload = { type: 'turn_started', ...started } as const;
  stage.send({ type: 'session:turn', sessionId, payload, cursor: 'c' });
  const stop = page.getByRole('button', { name: 'Stop' });
  await stop.focus();
  stage.send(upsert(message('m1', 'Done.', { status: 'complete' })));
  stage.send(ended('t1'));
  await expect.poll(() => stop.count()).toBe(0);
  await expect.poll(() => focused(page)).not.toBe('body');
});

it('if a focused notice, list or card disappears, a neighbouring element receives the focus', async () => {
  stage.history = {
    entries: [tool('c1', { status: 'complete', toolOutput: 'text' })],
    turns: [turn('t1', { status: 'complete', endedAt: 1 })],
    cursor: 'c',
    hasMore: false,
  };
  const page = await stage.visitShared();
  await page.locator('[data-item-id="c1"] button').first().focus();
  stage.history = { entries: [], turns: [], cursor: 'd', hasMore: false };
  stage.send({ type: 'session:history', sessionId, resumed: 'snapshot', ...stage.history });
  await expect.poll(() => page.locator('[data-item-id="c1"]').count()).toBe(0);
  await expect.poll(() => focused(page)).toBe('Message');

  const row = page
    .getByRole('navigation', { name: 'Sessions', exact: true })
    .getByRole('link', { name: 'Session o2' });
  await row.focus();
  stage.others = stage.others.slice(0, 1);
  stage.send({ type: 'sessions:changed', sessions: [], removed: ['o2'] });
  await expect.poll(() => row.count()).toBe(0);
  await expect.poll(() => focused(page)).toContain('Fix the login');
});

testAtLength('the drawer of a phone returns the focus when it closes', async () => {
  const page = await stage.visit({
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
  });
  await page.getByRole('button', { name: 'Sessions' }).tap();
  await page.getByRole('dialog').getByRole('link', { name: 'Session o1' }).tap();
  await page.getByRole('main', { name: 'Session o1' }).waitFor();
  await expect.poll(() => focused(page)).toMatch(/^Sessions/);
});

it('a click on an empty area does not move the focus', async () => {
  const page = await stage.visitShared();
  await page.getByRole('textbox', { name: 'Message' }).focus();
  await page.mouse.click(600, 300);
  const left = await focused(page);
  expect(left).not.toBe('Message');
  stage.change(otherSession('o1', { state: 'running' }));
  await page.getByRole('navigation', { name: 'Sessions' }).getByText('o1').waitFor();
  expect(await focused(page)).toBe(left);
});

it('the first stops of the Tab key skip the list: they lead to the message field and to the conversation', async () => {
  const page = await stage.visitShared();
  const sidebar = page.getByRole('navigation', { name: 'Sessions', exact: true });
  await sidebar.getByRole('button', { name: 'New session' }).focus();
  await page.keyboard.press('Shift+Tab');
  await expect.poll(() => focused(page)).toBe('Skip to conversation');
  await page.keyboard.press('Shift+Tab');
  await expect.poll(() => focused(page)).toBe('Skip to message');
  await page.keyboard.press('Enter');
  await expect.poll(() => focused(page)).toBe('Message');
  await page.getByRole('button', { name: 'Skip to conversation' }).focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => focused(page)).toBe('Conversation');
});

/** Collects all announcements to screen readers that follow. */
async function listen(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const told: string[] = [];
    Object.assign(window, { told });
    const region = document.querySelector('[data-announcements]');
    new MutationObserver(() => {
      const text = region?.textContent ?? '';
      if (text !== '') told.push(text);
    }).observe(region!, { childList: true, subtree: true, characterData: true });
  });
  return () => page.evaluate(() => (window as unknown as { told: string[] }).told);
}

it('a failed turn is announced only once, however quickly it fails', async () => {
  const page = await stage.visitShared();
  const told = await listen(page);
  const started = { turnId: 't2', sessionId, modelId: 'm', providerId: 'p' };
  const payload = { type: 'turn_started', ...started } as const;
  stage.send({ type: 'session:turn', sessionId, payload, cursor: 'c' });
  stage.send(failed('t2', 'The model is away.'));
  await page.getByRole('group', { name: 'Something went wrong' }).waitFor();
  await expect.poll(told).toEqual(['Demo has failed. The model is away.']);
  expect(await page.getByRole('alert').count()).toBe(0);
});

it('a turn that was cut off when its server ended is not announced as failed while a later turn continues it', async () => {
  running();
  const page = await stage.visitShared();
  const told = await listen(page);
  const error = { code: 'OWNER_LOST', message: 'The server stopped.' };
  const outcome = { outcome: 'cancelled', reason: 'turn_ended' } as const;
  const closed = approval('p', { status: 'complete', outcome });
  const again = approval('p', { turnId: 't2', itemId: 't2:p' });
  stage.history = {
    ...stage.history,
    entries: [...stage.history.entries, closed, again],
    turns: [turn('t1', { status: 'error', error }), turn('t2', { trigger: 'agent' })],
  };
  stage.hangUp();
  await page.getByText('The server stopped here; the turn continues below.').waitFor();
  stage.send(ended('t2'));
  await expect.poll(told).toEqual(['Demo has answered.']);
});

it('the end of an answer, a wait and a failure are each announced once, and running times are not announced', async () => {
  running();
  const page = await stage.visitShared();
  const told = await listen(page);
  for (let part = 0; part < 5; part += 1)
    stage.send(upsert(message('m1', 'word '.repeat(part + 1))));
  await page.getByText('word word word word word').waitFor();
  expect(await told()).toEqual([]);
  stage.send(ended('t1'));
  await expect.poll(told).toEqual(['Demo has answered.']);
  stage.change(otherSession('o1', { state: 'running' }));
  stage.change(otherSession('o1', { state: 'waiting' }));
  await expect.poll(told).toEqual(['Demo has answered.', 'Session o1 needs you.']);
  const live = await page
    .locator('[role="status"], [role="timer"], [aria-live]:not([aria-live="off"])')
    .allTextContents();
  expect(live.filter((text) => /\d+ s\b/.test(text))).toEqual([]);
});
