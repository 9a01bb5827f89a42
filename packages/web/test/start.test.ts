import { expect, it } from 'vitest';
import { past } from './controls/scene.ts';
import { openStage, otherSession, stage } from './stage.ts';

openStage(() => {
  stage.history = past;
});

it('a file that is dropped where no session accepts it does not replace the page', async () => {
  const page = await stage.visit({}, '/');
  const main = page.getByRole('main', { name: 'Start' });
  await main.waitFor();
  const areKept = () =>
    main.evaluate((element) =>
      ['dragover', 'drop'].map((type) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File(['a'], 'a.txt'));
        const init = { bubbles: true, cancelable: true, dataTransfer };
        return !element.dispatchEvent(new DragEvent(type, init));
      }),
    );
  await expect.poll(areKept).toEqual([true, true]);
});

it('agents that can be used come first, and the chosen agent is visible', async () => {
  const agent = (cliType: string, rest = {}) => ({
    cliType,
    name: cliType,
    description: 'Some words about it.',
    available: true,
    ...rest,
  });
  const reason = 'A key is missing. '.repeat(8);
  stage.answer = (_, path) =>
    path === '/api/agents'
      ? {
          agents: [
            agent('gone', { available: false, reason }),
            ...['a', 'b', 'c'].map((name) => agent(name, { reason })),
            agent('demo'),
          ],
        }
      : undefined;
  const page = await stage.visit({ viewport: { width: 1400, height: 900 } }, '/');
  await page.getByRole('main').getByRole('button', { name: 'New session' }).click();
  const radios = page.getByRole('dialog').getByRole('radio');
  await radios.first().waitFor();
  expect(await radios.count()).toBe(1);
  await page.getByRole('dialog').getByText('Not set up: a, b, c, gone').click();
  const names = () =>
    radios.evaluateAll((all) => all.map((one) => (one as HTMLInputElement).value));
  await expect.poll(names).toEqual(['demo', 'a', 'b', 'c', 'gone']);
  const chosen = page.getByRole('radio', { checked: true });
  expect(await chosen.getAttribute('value')).toBe('demo');
  const isInSight = () =>
    chosen.evaluate((radio) => {
      const { left, top, width, height } = radio.getBoundingClientRect();
      return document.elementFromPoint(left + width / 2, top + height / 2) === radio;
    });
  await expect.poll(isInSight).toBe(true);
});

it('agents that are not set up are folded, with instructions whose commands can be copied', async () => {
  const agent = (name: string, reason?: string) => ({
    cliType: name.toLowerCase(),
    name,
    description: 'An agent.',
    available: true,
    ...(reason !== undefined && { reason }),
  });
  const command = "'/opt/my tools/claude'";
  const agents = [
    agent('Claude', `Not signed in. Run \`${command}\` in a terminal, or set \`SOME_KEY\`.`),
    agent('Codex', 'One ` is text.'),
    agent('Demo'),
  ];
  stage.answer = (_, path) => (path === '/api/agents' ? { agents } : undefined);
  const page = await stage.visit({ permissions: ['clipboard-read', 'clipboard-write'] }, '/');
  const main = page.getByRole('main', { name: 'Start' });
  await main.getByText('Not set up: Claude, Codex').waitFor();
  expect(await main.getByText('Not signed in.').isVisible()).toBe(false);
  await main.getByText('Not set up: Claude, Codex').click();
  await main.getByText('One ` is text.').waitFor();
  expect(await main.locator('code').allInnerTexts()).toEqual([command, 'SOME_KEY']);
  expect(await main.getByRole('button', { name: 'Copy command' }).count()).toBe(1);
  await main.getByRole('button', { name: 'Copy command' }).click();
  await main.getByRole('button', { name: 'Copied' }).waitFor();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(command);
});

it('the window title contains the title of the waiting session', async () => {
  stage.others = [otherSession('o1', { title: 'ask me', state: 'waiting' })];
  const page = await stage.visit();
  await expect.poll(() => page.title()).toBe('◆ ask me – Liminal');
});

it('too many attachments are reported in a line that is visible, with a button that removes the refused attachments', async () => {
  const page = await stage.visit();
  const files = Array.from({ length: 23 }, (_, n) => ({
    name: `file-${n}.txt`,
    mimeType: 'text/plain',
    buffer: Buffer.from(`file ${n}`),
  }));
  const choosing = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Attach files' }).click();
  await (await choosing).setFiles(files);
  const line = page.getByText('3 attachments cannot be sent.');
  await line.waitFor();
  await page.getByRole('button', { name: 'Remove them' }).click();
  await line.waitFor({ state: 'detached' });
  const attached = page.getByRole('list', { name: 'Attached' }).getByRole('listitem');
  await expect.poll(() => attached.count()).toBe(20);
  await expect
    .poll(() => page.getByRole('button', { name: 'Send message' }).isEnabled())
    .toBe(true);
});
