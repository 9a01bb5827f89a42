/** Tests the dialog with the folders of a session. */
import type { Page } from 'playwright-core';
import { beforeEach, expect, it } from 'vitest';
import { sendCommand } from './page-command.ts';
import { openStage, sessionId, stage } from './stage.ts';

openStage();

let folders: string[];

beforeEach(() => {
  folders = ['/code/lib'];
  const agent = { cliType: 'demo', name: 'Demo', description: '', available: true };
  stage.answer = (_, path, body) => {
    if (path === '/api/agents')
      return { agents: [{ ...agent, takesDirectories: true, profiles: ['pirate'] }] };
    if (path !== `/api/session/${sessionId}/directories`) return undefined;
    const { add = [], remove = [] } = body as { add?: string[]; remove?: string[] };
    folders = [...folders.filter((each) => !remove.includes(each)), ...add];
    return { additionalDirectories: folders };
  };
});

const dialog = (page: Page) => page.getByRole('dialog', { name: 'Folders' });
const rows = (page: Page) => dialog(page).getByRole('listitem');
const changes = () =>
  stage.requests.flatMap(({ path, body }) => (path.endsWith('/directories') ? [body] : []));
const messages = () => stage.requests.filter(({ path }) => path.endsWith('/send'));

it('/add-dir with a folder adds the folder and shows all folders, and is not sent to the agent', async () => {
  const page = await stage.visit();
  await sendCommand(page, '/add-dir ../shared docs');
  await expect.poll(() => rows(page).allInnerTexts()).toHaveLength(2);
  expect(changes()).toEqual([{ add: ['../shared docs'] }]);
  expect(messages()).toEqual([]);
  await dialog(page).getByRole('button', { name: 'Remove: /code/lib' }).click();
  await expect.poll(() => rows(page).allInnerTexts()).toHaveLength(1);
  expect(changes().at(-1)).toEqual({ remove: ['/code/lib'] });
});

it('the session’s menu opens the list of folders, in which a folder can be added', async () => {
  const page = await stage.visit();
  await page.getByRole('button', { name: 'Session', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Folders…' }).click();
  await dialog(page).getByRole('textbox', { name: 'Another folder' }).fill('/code/docs');
  await page.keyboard.press('Enter');
  await expect.poll(() => rows(page).count()).toBe(2);
  expect(changes()).toEqual([{ add: ['/code/docs'] }]);
});

it('a folder that the server refuses stays in the field, and the reason is shown', async () => {
  const page = await stage.visit();
  stage.refuse = (path) =>
    path.endsWith('/directories')
      ? { code: 'PROJECT_DIR_NOT_ALLOWED', message: '/etc lies outside the folders.' }
      : undefined;
  await sendCommand(page, '/add-dir');
  const field = dialog(page).getByRole('textbox', { name: 'Another folder' });
  await field.fill('/etc');
  await page.keyboard.press('Enter');
  await dialog(page).getByText('lies outside the folders').waitFor();
  expect(await field.inputValue()).toBe('/etc');
});

it('a session starts with the additional folders, one per line, and with the profile', async () => {
  const page = await stage.visit();
  await page.keyboard.press('Alt+n');
  await page.getByRole('combobox', { name: 'Project folder' }).fill('/code/shop');
  await page.getByRole('combobox', { name: 'Profile' }).selectOption('pirate');
  await page.getByText('Additional folders').click();
  await page
    .getByRole('textbox', { name: 'Additional folders, one a line' })
    .fill('/code/lib\n\n ../docs \n');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await expect
    .poll(() => stage.requests.find(({ path }) => path === '/api/session/create')?.body)
    .toEqual({
      cliType: 'demo',
      projectDir: '/code/shop',
      options: { configOptions: { profile: 'pirate' } },
      additionalDirectories: ['/code/lib', '../docs'],
    });
});
