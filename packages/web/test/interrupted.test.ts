/** Tests sessions with a turn that was cut off when its server ended, and texts that people add to their answers. */
import { testAtLength } from '@liminal/testkit/at-length';
import type { UpsertObject } from '@liminal/protocol';
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { phone } from './controls/ways.ts';
import { approval, begun, message, tool, turn } from './items.ts';
import { shareStage, stage } from './stage.ts';

shareStage(() => {
  stage.answer = (_, path) =>
    path.endsWith('/send') ? { turnId: 'next', queued: false } : undefined;
});

const log = (page: Page) => page.getByRole('log', { name: 'Conversation' });
const dock = (page: Page) => page.getByRole('region', { name: 'Waiting for you' });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const answers = () =>
  stage.requests.filter(({ path }) => path.includes('/approval/')).map(({ body }) => body);
const sent = () =>
  stage.requests.filter(({ path }) => path.endsWith('/send')).map(({ path, body }) => [path, body]);

const user = message('u', 'Test it', { origin: 'user', status: 'complete' });
const command = { toolArguments: { command: 'npm test' } };

describe.each(['OWNER_LOST', 'SERVER_ENDED'])('a turn that ended with %s', (code) => {
  const error = { code, message: 'The server ended.' };
  const head = turn('t1', { status: 'error', endedAt: 2_000, trigger: 'user', error });
  const holds = (...entries: UpsertObject[]) => {
    stage.history = { entries: [user, ...entries], turns: [head], cursor: 't1:0', hasMore: false };
  };
  const asked = (reason: string) =>
    approval('p', {
      callId: 'c',
      status: 'complete',
      outcome: { outcome: 'cancelled', reason },
    });

  it.each(['turn_ended', 'process_ended'])(
    'a command that waited for a permission is shown as not run, and not as failed: %s',
    async (reason) => {
      const output = 'The turn ended before this call finished.';
      const failed = { status: 'complete', toolOutput: output, toolOutputIsError: true } as const;
      holds(tool('c', { ...command, ...failed }), asked(reason));
      const page = await stage.visitShared();
      const card = log(page).getByRole('group', { name: 'Run npm test' });
      await card.getByText('Not run: the server was restarted').waitFor();
      expect(await card.getByRole('img', { name: 'failed' }).count()).toBe(0);
      expect(await log(page).innerText()).not.toMatch(/turn_ended|process_ended|0 s|ended first/);
      await card.getByRole('button').first().click();
      await log(page).getByText('Not answered').waitFor();
    },
  );

  it('a button lets the agent continue, with a short message', async () => {
    holds(message('m', 'I look first.', { status: 'complete' }));
    const page = await stage.visitShared();
    await log(page).getByText('The server restarted while the agent was working').waitFor();
    expect(await button(page, 'Send again').count()).toBe(0);
    await button(page, 'Continue').click();
    await expect
      .poll(() => sent().map(([, body]) => body))
      .toMatchObject([{ message: 'Continue.' }]);
  });

  it('if the agent had not started to answer a message, the page offers to send the message again', async () => {
    holds();
    const page = await stage.visitShared();
    await button(page, 'Send again').click();
    await expect.poll(() => sent().map(([, body]) => body)).toMatchObject([{ message: 'Test it' }]);
  });
});

describe('the start page', () => {
  const other = (sessionId: string, more: object = {}) => ({
    ...stage.info.session,
    sessionId,
    title: `Session ${sessionId}`,
    state: 'failed' as const,
    ...more,
  });
  const at = async (...sessions: ReturnType<typeof other>[]) => {
    stage.others = sessions;
    const page = await stage.visitShared();
    await page.goto(new URL('/', page.url()).href);
    return page;
  };
  const shown = (page: Page) => page.getByRole('region', { name: 'Interrupted sessions' });
  const interrupted = { interrupted: true };

  it('the start page resumes all interrupted sessions at once, and no other sessions', async () => {
    const page = await at(
      other('one', interrupted),
      other('two', interrupted),
      other('three', interrupted),
      other('failed'),
      other('away', { ...interrupted, archived: true }),
    );
    await shown(page).getByText('3 sessions were interrupted').waitFor();
    await button(page, 'Continue all').click();
    await expect
      .poll(() => sent().map(([path]) => path))
      .toEqual(['one', 'two', 'three'].map((id) => expect.stringContaining(`/${id}/send`)));
    expect(sent()[0]).toMatchObject([expect.anything(), { message: 'Continue.' }]);
    stage.change(...['one', 'two', 'three'].map((id) => other(id, { state: 'running' })));
    await expect.poll(() => shown(page).count()).toBe(0);
  });

  it('if a session could not be resumed, the start page shows the reason', async () => {
    stage.refuse = (path) =>
      path.endsWith('/send')
        ? { code: 'SHUTTING_DOWN', message: 'The server is shutting down.' }
        : undefined;
    const page = await at(other('one', interrupted));
    await button(page, 'Continue').click();
    await shown(page).getByRole('alert').waitFor();
  });
});

describe('the text of a person', () => {
  beforeEach(() => {
    stage.history = { ...begun('Go'), turns: [turn('t1', { status: 'complete', endedAt: 1 })] };
  });
  const holds = (...entries: UpsertObject[]) => {
    stage.history = { ...stage.history, entries: [...stage.history.entries, ...entries] };
  };

  it('the text with which a person rejected a call is shown on the call’s line', async () => {
    const outcome = { outcome: 'selected', optionId: 'no', note: 'Not on a Friday.' };
    const rejected = { status: 'complete', outcome } as Partial<UpsertObject>;
    for (const id of ['a', 'b']) {
      holds(
        tool(id, { ...command, status: 'complete', toolOutput: 'No', toolOutputIsError: true }),
        approval(`p${id}`, { ...rejected, callId: id }),
      );
    }
    const page = await stage.visitShared();
    await expect.poll(() => log(page).getByText('Not on a Friday.').count()).toBe(2);
    await log(page).getByText('Not on a Friday.').first().waitFor();
  });

  it('the text that a person wrote in a form is shown on the line of the form’s call', async () => {
    const form = {
      type: 'object',
      properties: {
        rounding: {
          type: 'string',
          title: 'Rounding',
          oneOf: [{ const: 'bank', title: 'Banker’s rounding' }],
        },
        region: { type: 'string', title: 'Region' },
      },
    };
    const content = { rounding: 'bank', region: 'DE' };
    const outcome = { outcome: 'selected', optionId: 'yes', content };
    holds(
      tool('q', {
        kind: 'other',
        toolName: 'AskUserQuestion',
        status: 'complete',
        toolOutput: 'ok',
      }),
      approval('p', { callId: 'q', status: 'complete', form, outcome } as Partial<UpsertObject>),
    );
    const page = await stage.visitShared();
    await log(page).getByText('Banker’s rounding; DE').waitFor();
  });
});

describe('a request', () => {
  const wants = (call: Partial<Parameters<typeof tool>[1]> = {}, title = 'Run npm test') => {
    stage.history = begun('Go');
    stage.history.entries.push(
      tool('c', { ...command, ...call }),
      approval('p', { callId: 'c', title }),
    );
  };

  it('while the composer contains a draft, Escape does not reject the request, wherever the focus is', async () => {
    wants();
    const page = await stage.visitShared();
    const field = page.getByRole('textbox', { name: 'Message', exact: true });
    await dock(page).waitFor();
    await field.fill('Please call it something else, because');
    const region = dock(page).getByRole('region', { name: 'What is asked' });
    const from = Date.now();
    await expect
      .poll(async () => {
        for (const place of [field, region]) await place.press('Escape');
        return Date.now() - from;
      })
      .toBeGreaterThan(900);
    expect(answers()).toEqual([]);
    expect(await field.inputValue()).toBe('Please call it something else, because');
    await field.fill('');
    await expect.poll(() => field.press('Escape').then(answers)).toEqual([{ optionId: 'no' }]);
  });

  it('a request shows its command only once', async () => {
    wants();
    const page = await stage.visitShared();
    await dock(page).waitFor();
    // Texts that only screen readers receive are left out.
    const words = await dock(page).locator('header, [aria-label="What is asked"]').allInnerTexts();
    expect(words.join(' ').match(/npm test/g)).toHaveLength(1);
  });

  testAtLength('on a phone, a request wraps the lines of a change', async () => {
    const newText = `const a = '${'long '.repeat(80)}';\n`.repeat(3);
    const diffs = [{ path: '/code/shop/a.ts', newText }];
    wants({ kind: 'edit', toolName: 'Write', toolArguments: {}, diffs }, 'Write a.ts');
    const page = await stage.visit(phone);
    const region = dock(page).getByRole('region', { name: /^Changes to/ });
    await region.waitFor();
    expect(await region.evaluate((one) => one.scrollWidth - one.clientWidth)).toBeLessThanOrEqual(
      0,
    );
    expect(await button(page, 'Allow').getAttribute('aria-disabled')).toBe('true');
  });
});
