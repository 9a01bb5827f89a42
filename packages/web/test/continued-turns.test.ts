import type { ToolCallUpsert, TurnSummary, UpsertObject } from '@liminal/protocol';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { approval, message, tool, turn, upsert } from './items.ts';
import { sessionId, shareStage, stage } from './stage.ts';

shareStage();

const stopped = 'The server stopped while this turn was running.';
const lost = { errorCode: 'OWNER_LOST', errorMessage: stopped } as const;
const command = { toolArguments: { command: 'npm test' } };
const question = (turnId: string, rest: Partial<UpsertObject> = {}) =>
  approval('p', { turnId, itemId: `${turnId}:p`, callId: 'c', ...rest });

/** Returns a turn that had read a file, run a command, and waited for a permission when its server ended. */
const cut: UpsertObject[] = [
  message('u', 'Test it', { origin: 'user', status: 'complete' }),
  message('m', 'I look first.', { status: 'complete' }),
  tool('r', {
    kind: 'read',
    toolName: 'Read',
    title: 'Read a.ts',
    status: 'complete',
    toolOutput: 'a',
  }),
  tool('x', { toolArguments: { command: 'npm run build' }, status: 'error', ...lost }),
  tool('c', { ...command, status: 'error', ...lost }),
  question('t1', { status: 'complete', outcome: { outcome: 'cancelled', reason: 'turn_ended' } }),
];
const error = { code: lost.errorCode, message: stopped };
const head = turn('t1', { status: 'error', endedAt: 2_000, trigger: 'user', error });
const again = [tool('c', { ...command, turnId: 't2', itemId: 't2:c' }), question('t2')];

function holds(turns: TurnSummary[], entries: UpsertObject[]): void {
  stage.history = { entries, turns, cursor: 't1:0', hasMore: false };
}

const log = (page: Page) => page.getByRole('log', { name: 'Conversation' });
const line = (page: Page) =>
  log(page).getByText('The server stopped here; the turn continues below.');

/** Checks that both turns are shown as one turn when the second has started. */
async function expectOneTurn(page: Page): Promise<void> {
  await line(page).waitFor();
  await log(page).getByText('I look first.').waitFor();
  await log(page).getByRole('group', { name: 'Read a.ts' }).waitFor();
  // It is not known how this command ended.
  await log(page).getByRole('group', { name: 'Run npm run build' }).waitFor();
  await page.getByRole('group', { name: /^Permission: / }).waitFor();
  expect(await log(page).getByRole('group', { name: 'Run npm test' }).count()).toBe(1);
  const words = await log(page).innerText();
  expect(words).not.toMatch(/Something went wrong|OWNER_LOST|turn_ended|went on by itself/);
}

it.each([
  { width: 1000, height: 700 },
  { width: 390, height: 700 },
])(
  'a turn that waited when its server ended and the turn that continues it are shown as one turn: %j',
  async (viewport) => {
    holds([head], cut);
    const page = await stage.visit({ viewport });
    // At this time, it is not known that another turn will continue this turn.
    await log(page)
      .getByRole('group', { name: 'The server restarted while the agent was working' })
      .waitFor();
    const started = {
      turnId: 't2',
      sessionId,
      modelId: 'm',
      providerId: 'p',
      trigger: 'agent',
    } as const;
    stage.send({
      type: 'session:turn',
      sessionId,
      payload: { type: 'turn_started', ...started },
      cursor: 'c',
    });
    for (const item of again) stage.send(upsert(item));
    await expectOneTurn(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(viewport.width);
  },
);

it('a turn that was cut off, and the turn that continues it, are shown as one turn in history', async () => {
  holds([head, turn('t2', { trigger: 'agent' })], [...cut, ...again]);
  await expectOneTurn(await stage.visitShared());
});

it('if a call was repeated, a search hit in the call or in its question leads to the turn that continues', async () => {
  holds([head, turn('t2', { trigger: 'agent' })], [...cut, ...again]);
  const page = await stage.visit({}, `/session/${sessionId}#item-t1:p`);
  await log(page).locator('[data-found="true"]').filter({ hasText: 'npm test' }).waitFor();
});

/** Returns a script with its calls so far: a search, and a command that waits for a permission. */
function script(turnId: string, rest: Partial<ToolCallUpsert> = {}): UpsertObject[] {
  const itself = `${turnId}:run:script`;
  const code = "await tools.search({ pattern: 'a' });\nawait tools.bash({ command: 'npm test' });";
  const made = { turnId, toolArguments: { code }, ...rest };
  const { kind: _, ...below } = tool(itself, { ...made, toolName: 'script', parentCallId: 'run' });
  const within = (place: number, more: Partial<ToolCallUpsert>) =>
    tool(`${itself}:${place}`, { turnId, parentCallId: itself, ...more });
  return [
    tool('run', { ...made, itemId: `${turnId}:run`, toolName: 'run_script', title: 'Script' }),
    below,
    within(1, { kind: 'search', title: 'Search a', status: 'complete', toolOutput: 'a' }),
    within(2, { ...command, ...rest }),
  ];
}

it('a script that waited is shown only once, in the turn that continues', async () => {
  const asked = question('t1', {
    callId: 't1:run:script:2',
    status: 'complete',
    outcome: { outcome: 'cancelled', reason: 'turn_ended' },
  });
  const before = [...cut.slice(0, 3), ...script('t1', { status: 'error', ...lost }), asked];
  const next = [...script('t2'), question('t2', { callId: 't2:run:script:2' })];
  holds([head, turn('t2', { trigger: 'agent' })], [...before, ...next]);
  const page = await stage.visitShared();
  await line(page).waitFor();
  const cards = log(page).getByRole('group', { name: /^Script / });
  await cards.getByRole('group', { name: 'Run npm test' }).waitFor();
  expect(await cards.count()).toBe(1);
  for (const name of ['Read a.ts', 'Search a', 'Run npm test']) {
    expect(await log(page).getByRole('group', { name }).count()).toBe(1);
  }
  expect(await log(page).innerText()).not.toMatch(/Something went wrong|OWNER_LOST|turn_ended/);
  await page.getByRole('group', { name: /^Permission: / }).waitFor();
});
