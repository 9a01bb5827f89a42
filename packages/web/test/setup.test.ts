/** Tests the dialog with a session's setup. */
import type { Page } from 'playwright-core';
import { beforeEach, expect, it } from 'vitest';
import { sendCommand } from './page-command.ts';
import { openStage, sessionId, stage } from './stage.ts';

openStage();

beforeEach(() => {
  const agent = { cliType: 'demo', name: 'Demo', description: '', available: true };
  const many = Array.from({ length: 60 }, (_, n) => ({
    name: `Bash(task ${n})`,
    detail: 'Allowed',
  }));
  stage.answer = (_, path) => {
    if (path === '/api/agents') {
      return { agents: [{ ...agent, tellsSetup: true, managesMcp: true }] };
    }
    if (path === `/api/session/${sessionId}/mcp`) {
      return { servers: [{ name: 'files', state: 'connected', actions: [] }] };
    }
    if (path !== `/api/session/${sessionId}/setup`) return undefined;
    return {
      facts: [{ name: 'Version', value: '1.2.3' }],
      parts: [
        { kind: 'permissions', entries: many },
        {
          kind: 'hooks',
          entries: [{ name: 'Stop', detail: 'evil \u202E', source: 'a', isOff: true }],
        },
        { kind: 'skills', entries: [] },
      ],
    };
  };
});

const dialog = (page: Page) => page.getByRole('dialog', { name: 'Status and setup' });
const part = (page: Page, name: string) => dialog(page).getByRole('region', { name });

it('/status shows the facts about the agent, the settings and the MCP servers, and is not sent to the agent', async () => {
  const page = await stage.visit();
  await sendCommand(page, '/status');
  const facts = dialog(page).getByRole('list', { name: 'Status' });
  await facts.getByText('1.2.3').waitFor();
  await facts.getByText('MCP server files').waitFor();
  // The list must be higher than one line, because a list that has shrunk to one line would also count as visible.
  const isHigher = async () => {
    const { height = 0 } = (await facts.boundingBox()) ?? {};
    const { height: row = 0 } = (await facts.getByRole('listitem').first().boundingBox()) ?? {};
    return height > row;
  };
  await expect.poll(isHigher).toBe(true);
  expect(await part(page, 'Skills').innerText()).toContain('None.');
  expect(await part(page, 'Hooks').innerText()).toMatch(/U\+202E[^]*Not in force/);
  expect(stage.requests.filter(({ path }) => path.endsWith('/send'))).toEqual([]);
});

it('/hooks scrolls to the hooks at once, even if there are many rules above them', async () => {
  const page = await stage.visit();
  await sendCommand(page, '/hooks');
  await part(page, 'Hooks').getByText('Not in force').waitFor();
  const isShown = async () => {
    const box = await part(page, 'Hooks').boundingBox();
    const frame = await dialog(page).boundingBox();
    return box !== null && frame !== null && box.y >= frame.y && box.y < frame.y + frame.height;
  };
  await expect.poll(isShown).toBe(true);
});

it('the session’s menu opens the setup dialog', async () => {
  const page = await stage.visit();
  await page.getByRole('button', { name: 'Session', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Status and setup…' }).click();
  await dialog(page).getByText('1.2.3').waitFor();
});
