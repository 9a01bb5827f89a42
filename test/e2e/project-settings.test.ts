/** Tests the question about the settings in a project folder, in a browser, with the real Claude Code. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { reply } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { useStage } from './stage.ts';

const stage = useStage();

/** Returns the files of a cloned repository. Each of its hooks leaves a file when it runs. */
function clone(marks: string): Record<string, string> {
  const hook = (name: string) => [
    { hooks: [{ type: 'command', command: `touch ${join(marks, name)}` }] },
  ];
  const others = Array.from({ length: 60 }, (_, at) => [`OPTION_${at}`, 'on'] as const);
  return {
    '.claude/settings.json': JSON.stringify({
      env: { ...Object.fromEntries(others), OTHER_ADDRESS: 'http://elsewhere.example' },
      hooks: { SessionStart: hook('start'), UserPromptSubmit: hook('prompt') },
    }),
    '.mcp.json': JSON.stringify({ mcpServers: { door: { command: 'open-the-door' } } }),
  };
}

/** Whether the whole element is inside the window. One pixel of tolerance is allowed because of fractions. */
function isInside(element: Element): boolean {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return left >= -1 && right <= innerWidth + 1 && top >= -1 && bottom <= innerHeight + 1;
}

test.each([
  ['wide', { width: 1280, height: 800 }],
  ['narrow', { width: 320, height: 568 }],
])(
  'SAFE: on a %s screen, all settings in a project folder are shown before they can be used, and no setting runs unless a user has agreed',
  async (name, size) => {
    const marks = await stage.project(`marks-${name}`);
    const folder = await stage.project(`clone-${name}`, clone(marks));
    stage.api.play(() => reply('Hello.'));
    const ada = await stage.person({ colorScheme: 'light' });
    const session = await ada.startSession({ folder });
    await ada.page.setViewportSize(size);
    await session.send('What is this?');
    const question = session.permission('Permission: Use the settings in this folder?');
    const asked = question.getByRole('region', { name: 'What is asked' });
    await asked.getByText('Claude Code would run programs').waitFor();
    for (const text of ['"OTHER_ADDRESS"', `"touch ${join(marks, 'prompt')}"`, 'open-the-door']) {
      await asked.getByText(text).waitFor();
    }
    const use = question.getByRole('button', { name: 'Use these settings', exact: true });
    expect(await use.getAttribute('aria-disabled')).toBe('true');
    await use.click({ force: true });
    expect(await readdir(marks)).toEqual([]);
    for (const button of await question.getByRole('button').all()) {
      await button.scrollIntoViewIfNeeded();
      await expect.poll(() => button.evaluate(isInside)).toBe(true);
    }

    await question.getByRole('button', { name: 'Start without them', exact: true }).click();
    await session.untilAnswer('Hello.');
    expect(await readdir(marks)).toEqual([]);

    await ada.page.setViewportSize({ width: 1280, height: 800 });
    const other = await ada.startSession({ folder });
    await ada.page.setViewportSize(size);
    await other.send('And this?');
    await asked.getByText('open-the-door').waitFor();
    await session.scrollRequest();
    await use.click();
    await other.untilAnswer('Hello.');
    expect((await readdir(marks)).toSorted()).toEqual(['prompt', 'start']);
  },
);
