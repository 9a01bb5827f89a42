/** Tests the dialog with the MCP servers of a session. */
import type { McpServerState } from '@liminal/protocol';
import type { Page } from 'playwright-core';
import { beforeEach, expect, it } from 'vitest';
import { openStage, sessionId, stage } from './stage.ts';

openStage();

let servers: McpServerState[];

beforeEach(() => {
  servers = [
    { name: 'files', state: 'connected', tools: 3, actions: ['reconnect', 'off'] },
    { name: 'mail', state: 'signed-out', actions: ['sign-in', 'off'] },
    { name: 'evil \u202E', state: 'failed', problem: 'no \u202E way', actions: ['reconnect'] },
  ];
  const agent = { cliType: 'demo', name: 'Demo', description: '', available: true };
  stage.answer = (_, path, body) => {
    if (path === '/api/agents') return { agents: [{ ...agent, managesMcp: true }] };
    if (path === `/api/session/${sessionId}/mcp`) return { servers };
    if (!path.startsWith(`/api/session/${sessionId}/mcp/`)) return undefined;
    const { action } = body as { action: string };
    if (action === 'sign-in') return { url: 'https://mail.example/sign-in' };
    const name = decodeURIComponent(path.split('/').at(-1) ?? '');
    servers = servers.map((one) =>
      one.name === name ? { name, state: 'off', actions: ['on'] } : one,
    );
    return {};
  };
});

const dialog = (page: Page) => page.getByRole('dialog', { name: 'MCP servers' });
const rows = (page: Page) => dialog(page).getByRole('listitem');

async function open(): Promise<Page> {
  const page = await stage.visit();
  await page.getByRole('button', { name: 'Session', exact: true }).click();
  await page.getByRole('menuitem', { name: 'MCP servers…' }).click();
  await expect.poll(() => rows(page).count()).toBe(3);
  return page;
}

it('the dialog lists MCP servers with their states, and a server can be switched off', async () => {
  const page = await open();
  const texts = await rows(page).allInnerTexts();
  expect(texts[0]).toContain('Connected, 3 tools');
  expect(texts[1]).toContain('Wants you to sign in');
  expect(texts[2]).toContain('U+202E');
  await dialog(page).getByRole('button', { name: 'Switch off: files' }).click();
  await dialog(page).getByRole('button', { name: 'Switch on: files' }).waitFor();
  expect(stage.requests.findLast(({ path }) => path.includes('/mcp/'))).toMatchObject({
    path: `/api/session/${sessionId}/mcp/files`,
    body: { action: 'off' },
  });
});

it('the dialog contains a link to the sign-in page of a server', async () => {
  const page = await open();
  await dialog(page).getByRole('button', { name: 'Sign in: mail' }).click();
  const link = dialog(page).getByRole('link', { name: 'Sign in to mail' });
  expect(await link.getAttribute('href')).toBe('https://mail.example/sign-in');
  expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
});
