import { testAtLength } from '@liminal/testkit/at-length';
import type { AgentInfo, ConfigOption } from '@liminal/protocol';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { past } from './controls/scene.ts';
import { begun, turn } from './items.ts';
import { shareStage, sessionId, stage } from './stage.ts';

shareStage(() => {
  stage.info = { ...stage.info, session: { ...stage.info.session, state: 'idle' } };
  stage.history = past;
});

const choices = (...names: string[]) =>
  names.map((name) => ({ value: name.toLowerCase(), name, description: `${name}, described` }));

function option(name: string, options: ConfigOption['options'], rest = {}): ConfigOption {
  return { id: name.toLowerCase(), name, currentValue: options[0]?.value ?? '', options, ...rest };
}

const composer = (page: Page) => page.getByRole('form', { name: 'Composer' });
const settings = (page: Page) => composer(page).getByRole('combobox');
const sent = () => stage.requests.filter(({ path }) => path.endsWith('/config'));

testAtLength('if an agent offers no settings and no commands, none are shown', async () => {
  const page = await stage.visitShared();
  expect(await settings(page).count()).toBe(0);
  expect(await page.getByRole('button', { name: 'More settings' }).count()).toBe(0);
  await page.getByRole('textbox', { name: 'Message' }).fill('/');
  expect(await page.getByRole('listbox').count()).toBe(0);
  expect(await page.getByRole('textbox', { name: 'Message' }).getAttribute('placeholder')).toBe(
    'Message Demo, @ for files',
  );
});

it('settings can appear, change and disappear in the middle of a session', async () => {
  const page = await stage.visitShared();
  const mode = option('Mode', choices('Ask', 'Auto'), { category: 'mode' });
  const search = option('Search', choices('On', 'Off'));
  stage.sendInfo({ configOptions: [mode, search, option('Empty', [])] });
  await expect.poll(() => settings(page).allInnerTexts()).toEqual(['Ask', 'Search:\nOn']);
  stage.sendInfo({ configOptions: [{ ...mode, currentValue: 'auto' }] });
  await expect.poll(() => settings(page).allInnerTexts()).toEqual(['Auto']);
  stage.sendInfo({ configOptions: [{ ...mode, currentValue: 'its own' }] });
  await expect.poll(() => settings(page).allInnerTexts()).toEqual(['its own']);
  stage.sendInfo({ configOptions: [] });
  await expect.poll(() => settings(page).count()).toBe(0);
});

it('the mode can be read beside long settings, even while the agent works', async () => {
  stage.info = { ...stage.info, session: { ...stage.info.session, state: 'running' } };
  stage.history = begun('Go');
  const page = await stage.visit({ viewport: { width: 1400, height: 900 } });
  const long = 'Default (recommended) of all models';
  stage.sendInfo({
    configOptions: [
      option('Model', choices(long), { category: 'model' }),
      option('Mode', choices('Accept edits'), { category: 'mode' }),
      option('Thinking', choices('Extra high, as long as it takes'), { category: 'thought_level' }),
      option('Speed', choices('Standard, for all requests'), { category: 'speed' }),
    ],
  });
  await page.getByRole('button', { name: 'Stop' }).first().waitFor();
  const mode = page.getByRole('combobox', { name: 'Mode' }).getByText('Accept edits');
  await expect.poll(() => mode.evaluate((e) => e.scrollWidth - e.clientWidth)).toBe(0);
});

it('all settings that the bar shows can be read while the agent works', async () => {
  stage.info = { ...stage.info, session: { ...stage.info.session, state: 'running' } };
  stage.history = begun('Go');
  const page = await stage.visit({ viewport: { width: 1400, height: 900 } });
  stage.sendInfo({
    canSteer: true,
    usage: {
      inputTokens: 1,
      outputTokens: 1,
      contextTokens: 15_000,
      contextWindow: 1_000_000,
      costUsd: 0.2,
    },
    configOptions: [
      option('Model', choices('Default (recommended)'), { category: 'model' }),
      option('Mode', choices('Ask first'), { category: 'mode' }),
      option('Thinking', choices('Default'), { category: 'thought_level' }),
      option('Speed', choices('Standard'), { category: 'speed' }),
    ],
  });
  await page.getByRole('button', { name: 'More settings' }).waitFor();
  await settings(page).getByText('Ask first', { exact: true }).waitFor();
  const values = settings(page).locator('span', { hasNotText: ':' });
  const cut = () =>
    values.evaluateAll((all) =>
      all.filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent),
    );
  await expect.poll(cut).toEqual([]);
});

it('on a phone, the mode can be read beside a long model name', async () => {
  const page = await stage.visit({ viewport: { width: 390, height: 844 } });
  stage.sendInfo({
    configOptions: [
      option('Model', choices('Default (recommended) of all models'), { category: 'model' }),
      option('Mode', choices('Accept edits'), { category: 'mode' }),
      option('Thinking', choices('High'), { category: 'thought_level' }),
    ],
  });
  const mode = page.getByRole('combobox', { name: 'Mode' }).getByText('Accept edits');
  await expect.poll(() => mode.evaluate((e) => e.scrollWidth - e.clientWidth)).toBe(0);
});

it('a choice is shown at once, and is undone if the agent refuses it', async () => {
  const page = await stage.visitShared();
  const mode = option('Mode', choices('Ask', 'Auto', 'Full'), { category: 'mode' });
  stage.sendInfo({ configOptions: [mode] });
  const choose = async (name: string) => {
    await settings(page).click();
    await page.getByRole('option', { name: `${name} ${name}, described` }).click();
  };
  await choose('Auto');
  await expect.poll(() => settings(page).innerText()).toBe('Auto');
  const path = `/api/session/${sessionId}/config`;
  await expect.poll(sent).toEqual([{ method: 'POST', path, body: { id: 'mode', value: 'auto' } }]);
  stage.sendInfo({ configOptions: [{ ...mode, currentValue: 'auto' }] });

  stage.refuse = (at) =>
    at === path ? { code: 'INVALID_OPTION', message: 'Not in this folder.' } : undefined;
  await choose('Full');
  await page.getByRole('alert').getByText('Not in this folder.').waitFor();
  await expect.poll(() => settings(page).innerText()).toBe('Auto');
});

it('in a long list, a choice is found by words of its name and of its group', async () => {
  const page = await stage.visitShared();
  const options = ['Ada', 'Bob'].flatMap((group) =>
    Array.from({ length: 30 }, (_, n) => ({ value: `${group}/${n}`, name: `Model ${n}`, group })),
  );
  stage.sendInfo({ configOptions: [option('Model', options, { category: 'model' })] });
  await settings(page).click();
  await page.getByRole('group', { name: 'Bob' }).waitFor({ state: 'attached' });
  expect(await page.getByRole('option').count()).toBe(60);
  await page.keyboard.type('bob 17');
  await expect.poll(() => page.getByRole('option').allInnerTexts()).toEqual(['Model 17']);
  await page.keyboard.press('Enter');
  await expect.poll(sent).toMatchObject([{ body: { id: 'model', value: 'Bob/17' } }]);
  await expect.poll(() => settings(page).innerText()).toBe('Model 17');
});

testAtLength('short lists also show the names of their groups', async () => {
  const page = await stage.visitShared();
  const options = [{ value: 'x', name: 'X' }, ...choices('A', 'B')].map((choice, index) =>
    index === 0 ? choice : { ...choice, group: 'Letters' },
  );
  stage.sendInfo({ configOptions: [option('Which', options)] });
  await settings(page).click();
  const group = page.getByRole('group', { name: 'Letters' });
  await group.waitFor();
  expect(await group.getByRole('option').count()).toBe(2);
  expect(await page.getByRole('option').count()).toBe(3);
});

it('a model that is not listed can be chosen by its id, by keyboard, mouse or touch', async () => {
  const page = await stage.visit({ hasTouch: true });
  const model = option('Model', [], {
    category: 'model',
    currentValue: '',
    takesOther: ['local:'],
  });
  stage.sendInfo({ configOptions: [model] });
  await expect.poll(() => settings(page).innerText()).toBe('Choose: Model');
  const search = page.getByRole('combobox', { name: 'Search: Model' });
  const ways: [id: string, choose: () => Promise<void>][] = [
    ['qwen3:8b', async () => page.keyboard.press('Enter')],
    ['gpt-9', async () => page.getByRole('option', { name: 'Use “gpt-9”' }).click()],
    ['glm', async () => page.getByRole('option', { name: 'Use “glm”' }).tap()],
  ];
  for (const [id, choose] of ways) {
    await settings(page).click();
    await search.fill(` ${id}`);
    await page.getByRole('option', { name: `Use “${id}”` }).waitFor();
    await choose();
    await expect.poll(() => sent().at(-1)?.body).toEqual({ id: 'model', value: `local:${id}` });
    const chosen = { value: `local:${id}`, name: id, group: 'local' };
    stage.sendInfo({
      configOptions: [{ ...model, currentValue: chosen.value, options: [chosen] }],
    });
    await expect.poll(() => settings(page).innerText()).toBe(id);
  }
  await settings(page).click();
  await search.fill('glm');
  await expect.poll(() => page.getByRole('option').allInnerTexts()).toEqual(['glm']);
});

it('on a page of any width, many settings are behind one button, and all of them can be reached by keyboard', async () => {
  const names = ['Model', 'Mode', 'Thinking', 'Search', 'Sandbox', 'Persona', 'Depth'];
  const configOptions = names.map((name) => option(name, choices('Rather long', 'Short')));
  const page = await stage.visit({ viewport: { width: 390, height: 844 } });
  stage.sendInfo({ configOptions });
  const more = page.getByRole('button', { name: 'More settings' });
  await more.waitFor();
  await expect.poll(() => settings(page).count()).toBe(1);
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await more.focus();
  await page.keyboard.press('Enter');
  const rest = page.getByRole('dialog', { name: 'More settings' });
  await rest.getByRole('combobox', { name: 'Depth' }).click();
  await page.getByRole('option', { name: /^Short/ }).click();
  await expect.poll(sent).toMatchObject([{ body: { id: 'depth', value: 'short' } }]);
});

it('a command shows its hint until its argument is typed', async () => {
  const page = await stage.visitShared();
  const compact = { name: 'compact', description: 'Shorten it', hint: 'what to keep' };
  stage.sendInfo({ commands: [compact] });
  const field = page.getByRole('textbox', { name: 'Message' });
  await expect.poll(() => field.getAttribute('placeholder')).toContain('/ for commands');
  await field.pressSequentially('/c');
  await page.getByRole('option', { name: /compact what to keep/ }).waitFor();
  // The agent reports other commands while the menu is open.
  stage.sendInfo({ commands: [compact, { name: 'clear', description: 'Forget it' }] });
  await page.getByRole('option', { name: /clear/ }).waitFor();
  await field.press('Enter');
  expect(await field.inputValue()).toBe('/compact ');
  const hint = composer(page).getByText('what to keep');
  await hint.waitFor();
  await field.pressSequentially('t');
  await hint.waitFor({ state: 'detached' });
});

const agents: AgentInfo[] = [
  { cliType: 'claude-code', name: 'Claude Code', description: 'Anthropic’s.', available: true },
  { cliType: 'codex', name: 'Codex', description: 'OpenAI’s.', available: true, reason: 'No key.' },
  {
    cliType: 'gemini',
    name: 'Gemini',
    description: 'gemini --acp',
    available: false,
    reason: 'There is no program gemini: see https://example.org.',
  },
];

/** Sets up three sessions, each of another agent. The session of Codex is active. */
function withAgents(): void {
  const { session } = stage.info;
  stage.info = { ...stage.info, session: { ...session, cliType: 'codex' } };
  const sessions = agents.map(({ cliType }, index) => ({
    ...session,
    cliType,
    title: `Work ${index}`,
    sessionId: index === 1 ? sessionId : `other-${index}`,
  }));
  stage.answer = (_, path) => {
    if (path === '/api/agents') return { agents };
    if (path !== '/api/projects') return undefined;
    return { projects: [{ projectId: 'p', projectDir: '/code/shop', name: 'shop', sessions }] };
  };
}

it('each session shows the mark of its agent, in the sidebar and in its tab', async () => {
  withAgents();
  const page = await stage.visit();
  const sidebar = page.getByRole('navigation', { name: 'Sessions', exact: true });
  const marks = ['Claude Code', 'Codex', 'Gemini'];
  for (const [index, name] of marks.entries()) {
    const row = sidebar.getByRole('link', { name: `Work ${index}` });
    await row.getByRole('img', { name, exact: true }).waitFor();
  }
  const tab = page.getByRole('navigation', { name: 'Open sessions' }).getByRole('link');
  await expect.poll(() => tab.getByRole('img', { name: 'Codex' }).count()).toBe(1);
  const drawn = await sidebar
    .locator('svg[data-agent]')
    .evaluateAll((found) => found.map((mark) => mark.innerHTML.replace(/<title>.*<\/title>/, '')));
  expect(new Set(drawn).size).toBe(3);
});

it('a new session offers every agent, and folds the agents that are not set up, with the reason', async () => {
  withAgents();
  const page = await stage.visit();
  const asked = page.waitForResponse('**/api/agents');
  await page.keyboard.press('Alt+n');
  await asked;
  const dialog = page.getByRole('dialog', { name: 'New session' });
  await dialog.getByText('Not set up: Codex, Gemini').click();
  expect(await dialog.getByRole('radio', { name: /^Gemini/ }).isDisabled()).toBe(true);
  expect(await dialog.getByRole('link', { name: 'https://example.org' }).count()).toBe(1);
  expect(await dialog.getByRole('radio', { name: /^Codex.*No key\./ }).isEnabled()).toBe(true);
  const ready = agents.map((agent) => ({ ...agent, available: true, reason: undefined }));
  stage.answer = (_, path) => (path === '/api/agents' ? { agents: ready } : undefined);
  await dialog.getByRole('button', { name: 'Check again' }).click();
  await expect.poll(() => dialog.getByRole('radio', { name: /^Gemini/ }).isEnabled()).toBe(true);
  await expect.poll(() => dialog.getByText('Not set up').count()).toBe(0);
});

it('if an agent is not ready, its sessions show this before the person types anything', async () => {
  withAgents();
  stage.history = { entries: [], turns: [], cursor: '', hasMore: false };
  const page = await stage.visit();
  const notice = page.getByRole('status').filter({ hasText: 'Codex is not ready' });
  await notice.getByText('No key.').waitFor();
  stage.answer = (_, path) => (path === '/api/agents' ? { agents: agents.slice(0, 1) } : undefined);
  await notice.getByRole('button', { name: 'Check again' }).click();
  await notice.waitFor({ state: 'detached' });
});

it('a session shows that its agent is not ready, until the agent has answered for the first time', async () => {
  withAgents();
  const failed = { code: 'AUTHENTICATION_FAILED', message: '401' };
  const ended = { status: 'error', endedAt: 1, error: failed } as const;
  stage.history = { ...stage.history, turns: [turn('t1', ended)] };
  const page = await stage.visit();
  await page.getByRole('status').filter({ hasText: 'Codex is not ready' }).waitFor();
  const note = page.getByRole('group', { name: 'Codex could not sign in' });
  // The agent has made no turn, so the page offers only to send again, and offers no fork or rewind.
  expect(await note.getByRole('button').allInnerTexts()).toEqual(['Send again']);
});

it('a turn that failed because the agent is not signed in shows which agent this is, and what to do', async () => {
  withAgents();
  const error = { code: 'AUTH_REQUIRED', message: 'Its ways to sign in: a browser; a key.' };
  stage.history = {
    ...stage.history,
    turns: [turn('t1', { status: 'error', endedAt: 1, error })],
  };
  const page = await stage.visit();
  const note = page.getByRole('group', { name: 'Codex is not signed in' });
  await note.getByText('Its ways to sign in: a browser; a key.').waitFor();
  await note.getByText('No key.').waitFor();
  stage.answer = (_, path) =>
    path.endsWith('/send') ? { turnId: 't2', queued: false } : undefined;
  await note.getByRole('button', { name: 'Send again' }).click();
  await expect
    .poll(() => stage.requests)
    .toContainEqual({
      method: 'POST',
      path: `/api/session/${sessionId}/send`,
      body: { message: 'Hello', runCommand: true, turnId: expect.any(String) },
    });
});

it('the usage limits of the agent’s account are shown below the composer, with the used share and the time of the reset', async () => {
  const page = await stage.visitShared();
  const windows = page.getByRole('list', { name: 'Usage limits' });
  expect(await windows.count()).toBe(0);
  const resetsAt = new Date(Date.now() + 3 * 24 * 60 * 60_000).toISOString();
  stage.sendInfo({
    limits: [
      { name: '5-hour limit', usedPercent: 42.7 },
      { name: 'weekly limit', usedPercent: 92, resetsAt },
      { name: 'usage limit', isReached: true, resetsAt: 'never' },
      // This limit has no value at all.
      { name: 'weekly limit for Opus' },
    ],
  });
  await expect
    .poll(() => windows.getByRole('listitem').allInnerTexts())
    .toEqual([
      '5-hour limit 42% used',
      expect.stringMatching(
        /^weekly limit 92% used, resets on \w{3}, \w{3} \d+, \d\d:\d\d/,
      ) as string,
      'usage limit reached',
    ]);
  const box = await windows.boundingBox();
  const form = await composer(page).boundingBox();
  expect(box!.y).toBeGreaterThanOrEqual(form!.y + form!.height);
});
