import type { ApprovalUpsert } from '@liminal/protocol';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { approval, tool, turn } from '../items.ts';
import { asked, button, field, gone, past, type Scene, tryControls } from './scene.ts';
import { showAll } from '../show-all.ts';
import { check, press, tabTo, write } from './ways.ts';

const dock = (page: Page) => page.getByRole('region', { name: 'Waiting for you' });
const inDock = (name: string) => (page: Page) =>
  dock(page).getByRole('button', { name, exact: true });

const isAtSecond = (page: Page) => dock(page).getByText('2 of 2').waitFor();
const toFirst = async (page: Page) => {
  await inDock('Previous request')(page).click();
  await dock(page).getByText('1 of 2').waitFor();
};

const options: ApprovalUpsert['options'] = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
  { optionId: 'always', name: 'Always allow', kind: 'allow_always' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once', takesNote: true },
];

/** Shows two waiting calls, with the other parts of an approval. */
const waiting =
  (rest: Partial<ApprovalUpsert> = {}): Scene['set'] =>
  (stage) => {
    const calls = ['one', 'two'].flatMap((command) => [
      tool(command, { toolArguments: { command } }),
      approval(`p-${command}`, { callId: command, title: `Run ${command}`, options, ...rest }),
    ]);
    stage.history = { ...past, entries: [...past.entries, ...calls], turns: [turn('t1')] };
    // The server refuses every answer, so that the requests still wait after an answer.
    stage.refuse = (path) =>
      path.includes('/approval/') ? { code: 'NOT_NOW', message: 'Not now.' } : undefined;
  };

/** Presses a focused button by key, but only when there was time to read the request. */
const answer: Scene['controls'][number]['use'] = async (page, control, way, stage) => {
  if (way !== 'keyboard') return press(page, control, way);
  await tabTo(page, control);
  await expect
    .poll(async () => {
      await page.keyboard.press('Enter');
      return stage.requests.some(({ path }) => path.includes('/approval/'));
    })
    .toBe(true);
};

const form: NonNullable<ApprovalUpsert['form']> = {
  properties: {
    version: { type: 'string', title: 'Version' },
    channel: { type: 'string', title: 'Channel', enum: ['latest', 'next'] },
    region: { type: 'string', title: 'Region', enum: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] },
    targets: { type: 'array', title: 'Targets', items: { enum: ['linux', 'macos'] } },
    sign: { type: 'boolean', title: 'Sign it' },
  },
};

const answered = (body: unknown) => asked('POST', /\/approval\/p-one$/, body);
const filled = (content: object) =>
  answered(expect.objectContaining({ content: expect.objectContaining(content) }));

tryControls([
  {
    name: 'requests that wait',
    set: waiting(),
    go: (page) => dock(page).waitFor(),
    controls: [
      { name: 'Allow', find: inDock('Allow'), use: answer, effect: answered({ optionId: 'yes' }) },
      {
        name: 'Always allow',
        find: inDock('Always allow'),
        use: answer,
        effect: answered({ optionId: 'always' }),
      },
      { name: 'Reject', find: inDock('Reject'), use: answer, effect: answered({ optionId: 'no' }) },
      {
        name: 'Reject with a note',
        find: inDock('Reject with a note'),
        use: async (page, _, way, stage) => {
          await write(page, field(page), way, 'Not so');
          await answer(page, inDock('Reject with this note')(page), way, stage);
        },
        effect: answered({ optionId: 'no', note: 'Not so' }),
        undo: (page) => field(page).fill(''),
      },
      {
        name: 'the next request',
        find: inDock('Next request'),
        effect: isAtSecond,
        undo: toFirst,
      },
      {
        name: 'the previous request',
        find: inDock('Previous request'),
        effect: isAtSecond,
        undo: toFirst,
      },
      {
        name: 'the line of a request in the conversation',
        find: (page) => page.getByRole('link', { name: /^Waiting for you/ }),
        use: (page, control, way) => press(page, control.last(), way),
        effect: isAtSecond,
        undo: toFirst,
      },
      {
        name: 'the call of a request in the conversation',
        find: (page) => page.getByRole('log').getByRole('button', { name: /^Run/ }),
        use: (page, control, way) => press(page, control.first(), way),
        effect: (page) =>
          page.getByRole('log').getByRole('button', { expanded: true }).first().waitFor(),
      },
      { name: 'Stop', find: button('Stop'), effect: asked('POST', /\/cancel$/) },
    ],
  },
  {
    name: 'a request that is longer than its room',
    set: (stage) => {
      const command = 'echo\n'.repeat(200);
      const call = tool('one', { toolArguments: { command } });
      const request = approval('p-one', { callId: 'one', title: 'Say it', options });
      stage.history = { ...past, entries: [...past.entries, call, request], turns: [turn('t1')] };
    },
    go: (page) => inDock('Show all')(page).waitFor(),
    controls: [
      {
        name: 'Show all',
        find: inDock('Show all'),
        effect: (page) => inDock('Show more')(page).waitFor(),
        spoils: true,
      },
      {
        name: 'Show more',
        find: inDock('Show more'),
        use: async (page, control, way) => {
          await press(page, inDock('Show all')(page), way);
          await press(page, control, way);
        },
        effect: (page) => {
          const asks = dock(page).getByRole('region', { name: 'What is asked' });
          return expect.poll(() => asks.evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(50);
        },
        spoils: true,
      },
      {
        name: 'the buttons around it',
        find: (page) => page.locator('main').getByRole('button'),
        use: (page, _, way, stage) => answer(page, inDock('Reject')(page), way, stage),
        effect: answered({ optionId: 'no' }),
      },
      {
        name: 'the line in the conversation',
        find: (page) => page.getByRole('link', { name: /^Waiting for you/ }),
        effect: (page) => dock(page).locator('[role="group"]:focus').waitFor(),
      },
    ],
  },
  {
    name: 'a form',
    set: waiting({ form }),
    go: (page) => dock(page).getByRole('textbox').waitFor(),
    controls: [
      {
        name: 'a text',
        find: (page) => dock(page).getByRole('textbox'),
        use: async (page, control, way) => {
          await showAll(page);
          await write(page, control, way, '2.0');
          await page.keyboard.press('Enter');
        },
        effect: filled({ version: '2.0' }),
      },
      {
        name: 'one of a few',
        find: (page) => dock(page).getByRole('radio'),
        use: async (page, control, way) => {
          const last = dock(page).getByRole('radio', { name: 'next' });
          if (way !== 'keyboard') await check(page, last, way);
          else {
            await tabTo(page, control.filter({ has: page.locator(':scope:checked') }));
            await page.keyboard.press('ArrowUp');
          }
          await showAll(page);
          await inDock('Allow')(page).click();
        },
        effect: filled({ channel: 'next' }),
      },
      {
        name: 'one of many',
        find: (page) => dock(page).getByRole('combobox'),
        use: async (page, control) => {
          await tabTo(page, control);
          await page.keyboard.type('c');
          await showAll(page);
          await inDock('Allow')(page).click();
        },
        effect: filled({ region: 'c' }),
        // A click opens the browser's own list, which is outside the page.
        only: ['keyboard'],
      },
      {
        name: 'several',
        find: (page) => dock(page).getByRole('checkbox'),
        use: async (page, _, way) => {
          await check(page, dock(page).getByRole('checkbox', { name: 'macos' }), way);
          await check(page, dock(page).getByRole('checkbox', { name: 'Sign it' }), way);
          await showAll(page);
          await inDock('Allow')(page).click();
        },
        effect: filled({ targets: ['macos'], sign: true }),
      },
      {
        name: 'the buttons around it',
        find: (page) => page.locator('main').getByRole('button'),
        use: (page, _, way) => press(page, inDock('Next request')(page), way),
        effect: isAtSecond,
        undo: toFirst,
      },
      {
        name: 'the lines in the conversation',
        find: (page) => page.getByRole('link', { name: /^Waiting for you/ }),
        use: (page, control, way) => press(page, control.last(), way),
        effect: isAtSecond,
        undo: toFirst,
      },
    ],
  },
  ...(['waiting', 'refused'] as const).map((state): Scene => {
    const message = (page: Page) => page.getByRole('article', { name: 'Unsent message' });
    return {
      name: `a message that is ${state}`,
      set: (stage) => {
        stage.history = past;
        const code = state === 'waiting' ? 'SHUTTING_DOWN' : 'QUEUE_FULL';
        stage.refuse = (path) => (path.endsWith('/send') ? { code, message: 'No.' } : undefined);
      },
      go: async (page) => {
        await field(page).fill('Do it');
        await field(page).press('Enter');
        await button('Edit')(page).waitFor();
      },
      controls: [
        {
          name: 'Edit',
          find: button('Edit'),
          effect: async (page) => {
            await gone(message(page));
            await expect.poll(() => field(page).inputValue()).toBe('Do it');
          },
        },
        { name: 'Delete', find: button('Delete'), effect: (page) => gone(message(page)) },
        ...(state === 'waiting'
          ? []
          : [
              {
                name: 'Send again',
                find: button('Send again'),
                use: async (page, control, way, stage) => {
                  stage.refuse = () => undefined;
                  stage.answer = (_, path, body) =>
                    path.endsWith('/send') ? { ...(body as object), queued: false } : undefined;
                  await press(page, control, way);
                },
                effect: (page) => gone(button('Send again')(page)),
              } satisfies Scene['controls'][number],
            ]),
      ],
    };
  }),
]);
