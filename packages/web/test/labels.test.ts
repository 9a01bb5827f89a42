import { type SessionInfo, ToolKind, type UpsertObject } from '@liminal/protocol';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { approval, message, tool, turn, upsert } from './items.ts';
import { png } from './png.ts';
import { openStage, otherSession, stage } from './stage.ts';

openStage();

/** A text that changes the writing direction, clears a terminal, hides letters, and is too long for a label. */
const hostile = (word: string) =>
  `${word} \u202Egpj\u2066.\u001B[2J\u0007\u200B\u00AD ${'x'.repeat(700)} end`;

const done = { status: 'complete' } as const;

/** Returns the labels, tooltips and titles that contain hidden characters or are too long. */
const uncleanLabels = (page: Page) =>
  page.evaluate(() => {
    const names = ['title', 'aria-label', 'alt', 'download', 'placeholder', 'aria-description'];
    names.push('aria-valuetext', 'aria-roledescription', 'label', 'abbr', 'summary');
    const labels = [...document.querySelectorAll('*')].flatMap((element) =>
      names.flatMap((name) => {
        const text = element.getAttribute(name);
        return text === null ? [] : [{ name: `${element.localName} ${name}`, text }];
      }),
    );
    const drawn = [...document.querySelectorAll('svg title')].map((element) => element.textContent);
    const spoken = [...document.querySelectorAll('[data-announcements]')].map(
      (element) => element.textContent,
    );
    const all = [
      { name: 'window', text: document.title },
      ...labels,
      ...[...drawn, ...spoken].map((text) => ({ name: 'text', text })),
    ];
    const isUnclean = (text: string) =>
      text.length > 1_000 || /[[\p{Cc}\p{Bidi_C}\u200B\u00AD]--\n]/v.test(text);
    return {
      count: all.length,
      unclean: all
        .filter(({ text }) => isUnclean(text))
        .map(({ name, text }) => `${name}: ${text.slice(0, 80)}`),
    };
  });

const expectClean = async (page: Page) => {
  const { count, unclean } = await uncleanLabels(page);
  expect(unclean).toEqual([]);
  expect(count).toBeGreaterThan(10);
};

/** Fills each text field that an agent can write with a hostile text. */
function prepare(): void {
  const uri = stage.storeBlob(png(60, 40), 'image/png');
  const image = { type: 'image', mimeType: 'image/png', name: hostile('photo.png'), uri } as const;
  const path = `/code/shop/${hostile('a.ts')}`;
  const entries: UpsertObject[] = [
    message('u1', hostile('Hello'), {
      ...done,
      origin: 'user',
      blocks: [
        image,
        { ...image, uri: 'https://img.example/a.png' },
        { type: 'resource', resource: { uri, name: hostile('notes.md'), size: 7 } },
        { type: 'resource_link', uri: `file://${path}`, name: hostile('linked') },
      ],
    }),
    message(
      'a1',
      [
        `![${hostile('alt')}](https://img.example/a.png)`,
        `![${hostile('alt')}](b.png)`,
        `[${hostile('file')}](a.ts:2)`,
        `\`\`\`${hostile('lang').replaceAll(/\s/g, '_')}\ncode\n\`\`\``,
        `\`\`\`mermaid\ngraph TD\n  A["${hostile('label').replaceAll('"', '')}"] --> B\n\`\`\``,
      ].join('\n\n'),
      done,
    ),
    ...ToolKind.options.map((kind) =>
      tool(kind, {
        ...done,
        kind,
        toolName: hostile(kind),
        title: hostile(kind),
        toolArguments: { command: hostile('rm'), path, [hostile('name')]: hostile('value') },
        locations: [{ path, line: 1 }],
        ...(kind === 'edit' && { diffs: [{ path, oldText: 'a\n', newText: 'b\n' }] }),
        toolOutput: hostile('out'),
      }),
    ),
  ];
  stage.history = { entries, turns: [turn('t1')], cursor: 'c', hasMore: false };
  stage.others = [
    otherSession('o1', { state: 'waiting', title: hostile('Waits') }),
    otherSession('o2', {
      state: 'failed',
      title: hostile('Failed'),
      projectDir: `/code/${hostile('lib')}`,
    }),
    otherSession('o3', { state: 'idle', title: hostile('Idle'), source: 'agent' }),
  ];
  const option = {
    id: 'model',
    name: hostile('Model'),
    category: 'model',
    type: 'select',
    currentValue: 'a',
  };
  stage.info = {
    ...stage.info,
    session: { ...stage.info.session, title: hostile('Title') },
    queue: [
      {
        turnId: 'q',
        message: hostile('Next'),
        queuedAt: '2026-01-01T00:00:00.000Z',
        state: 'queued',
      },
    ],
    configOptions: [
      {
        ...option,
        options: [
          { value: 'a', name: hostile('A') },
          { value: 'b', name: hostile('B') },
        ],
      },
    ],
    commands: [{ name: 'do', description: hostile('Does') }],
    tasks: [
      {
        taskId: 'b1',
        kind: 'command',
        title: hostile('watch'),
        startedAt: '2026-01-01T00:00:00.000Z',
        progress: hostile('half'),
      },
    ],
    notices: [
      { level: 'warning', code: 'X', message: hostile('Careful'), at: '2026-01-01T00:00:00.000Z' },
    ],
  } as unknown as SessionInfo;
}

/** Opens all folds, so that the labels in them are also checked. */
async function unfold(page: Page): Promise<void> {
  const folded = page.getByRole('log').locator('button[aria-expanded="false"]');
  for (let left = await folded.count(), tries = 0; left > 0 && tries < 40; tries += 1) {
    await folded.first().click();
    left = await folded.count();
  }
}

it('SAFE: whatever an agent writes, no label, tooltip or title contains hidden characters or is too long', async () => {
  prepare();
  const page = await stage.visit();
  await page.getByRole('img', { name: /^Diagram/ }).waitFor();
  await unfold(page);
  await expectClean(page);
  expect(await page.title()).toContain('Waits ‹U+202E›gpj‹U+2066›');
  expect((await page.title()).length).toBeLessThan(340);

  stage.send(
    upsert(
      approval('p1', {
        title: hostile('Run'),
        options: [{ optionId: 'y', name: hostile('Allow'), kind: 'allow_once' }],
      } as never),
    ),
  );
  await page
    .getByRole('button', { name: /^Allow/ })
    .first()
    .waitFor();
  await expectClean(page);
  stage.change({ ...stage.others[2]!, state: 'waiting' });
  await page.locator('[data-announcements]').getByText('Idle ').waitFor({ state: 'attached' });
  await expectClean(page);
});

it('SAFE: the labels in dialogs and menus about a session contain no hidden characters and are not too long', async () => {
  prepare();
  const page = await stage.visit();
  await page.getByRole('button', { name: /^Menu of Idle/ }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).waitFor();
  await expectClean(page);
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('and its queue and attachments will be deleted').waitFor();
  await expectClean(page);
  expect(await dialog.innerText()).toContain('Idle ‹U+202E›gpj');
});

it('SAFE: the labels in a form of an agent contain no hidden characters and are not too long', async () => {
  prepare();
  const page = await stage.visit();
  const form = {
    type: 'object',
    properties: {
      one: { type: 'string', title: hostile('Version'), description: hostile('As in') },
      two: {
        type: 'string',
        title: hostile('Channel'),
        oneOf: [
          { const: 'a', title: hostile('Stable') },
          { const: 'b', title: hostile('Next') },
        ],
      },
      three: { type: 'boolean', title: hostile('Dry') },
    },
  };
  stage.send(upsert(approval('f1', { title: hostile('Fill in'), form })));
  await page.getByRole('group', { name: /^Question/ }).waitFor();
  await expectClean(page);
});

it('SAFE: a copied text is complete, except for characters that have an effect when they are pasted', async () => {
  const page = await stage.visit({ permissions: ['clipboard-read', 'clipboard-write'] });
  const code = 'ls \u001B[201~\u202Ecba\u2069 \u009B2Jnaïve 👨‍👩‍👧 می‌خواهم\n\tend';
  stage.send(upsert(message('a', `\`\`\`sh\n${code}\n\`\`\``, done)));
  await page.getByRole('button', { name: 'Copy code' }).click();
  await expect
    .poll(() => page.evaluate(() => navigator.clipboard.readText()))
    .toBe('ls [201~cba 2Jnaïve 👨‍👩‍👧 می‌خواهم\n\tend');
});
