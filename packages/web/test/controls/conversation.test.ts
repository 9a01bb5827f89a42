import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { message, tool, turn } from '../items.ts';
import {
  asked,
  button,
  clipboard,
  field,
  gone,
  isAt,
  isOpen,
  link,
  past,
  tryControls,
  withOthers,
} from './scene.ts';
import { press } from './ways.ts';

const closeCall = (page: Page) => button(/npm test/)(page).click();

tryControls([
  {
    name: 'the conversation',
    set: (stage) => {
      const long = (what: string) =>
        Array.from({ length: 60 }, (_, n) => `${what} ${n}`).join('\n');
      const done = { status: 'complete' } as const;
      stage.info = { ...stage.info, session: { ...stage.info.session, state: 'idle' } };
      stage.history = {
        entries: [
          message('u', long('Wish'), { origin: 'user', ...done }),
          {
            ...message('th', 'Let me see.', done),
            type: 'thinking',
            providerId: 'p',
          } as never,
          tool('r1', { ...done, kind: 'read', toolArguments: { file_path: '/code/shop/a.ts' } }),
          tool('r2', { ...done, kind: 'read', toolArguments: { file_path: '/code/shop/b.ts' } }),
          tool('run', {
            ...done,
            toolArguments: { command: 'npm test' },
            toolOutput: long('line'),
            exitCode: 0,
          }),
          tool('edit', {
            ...done,
            kind: 'edit',
            title: 'Edit c.ts',
            locations: [{ path: '/code/shop/c.ts' }],
            diffs: [{ path: '/code/shop/c.ts', oldText: long('old'), newText: long('new') }],
          }),
          {
            ...message('changes', '', done),
            type: 'file_changes',
            diffs: [{ path: '/code/shop/c.ts', oldText: 'old', newText: 'new' }],
          } as never,
          message('a', 'See [the docs](https://docs.example):\n\n```ts\nconst a = 1;\n```\n', done),
        ],
        turns: [turn('t1', { status: 'complete', endedAt: 1 })],
        cursor: 't1:0',
        hasMore: false,
      };
    },
    controls: [
      {
        name: 'a long message of one’s own',
        find: button('Show all'),
        effect: isOpen('Show less'),
        undo: (page) => button('Show less')(page).click(),
      },
      { name: 'a thought', find: button(/^Thought/), effect: isOpen(/^Thought/) },
      { name: 'a run of reads', find: button(/^Read 2 files/), effect: isOpen(/^Read 2 files/) },
      {
        name: 'a tool call',
        find: button(/npm test/),
        effect: (page) => page.getByLabel('Output').waitFor(),
        undo: closeCall,
      },
      {
        name: 'an edit',
        find: button(/^Edit c\.ts/),
        effect: (page) =>
          page.getByRole('region', { name: /^Changes to/ }).waitFor({ state: 'detached' }),
        undo: (page) => button(/^Edit c\.ts/)(page).click(),
      },
      {
        name: 'the file of an edit',
        find: button('c.ts'),
        effect: (page) => button('Close file')(page).waitFor(),
        undo: (page) => button('Close file')(page).click(),
      },
      {
        name: 'the fold of a long diff',
        find: button(/^Show \d+ more lines/),
        effect: isOpen('Show less'),
        undo: (page) => button('Show less')(page).click(),
      },
      {
        name: 'what changed in files',
        find: button(/^1 file changed/),
        effect: (page) => page.getByRole('region', { name: /1 added, 1 removed$/ }).waitFor(),
        undo: (page) => button(/^1 file changed/)(page).click(),
      },
      {
        name: 'the whole of an output',
        find: button(/npm test/),
        use: async (page, control, way) => {
          await press(page, control, way);
          await press(page, button(/^Show (all|\d+ (more|earlier) lines)/)(page).last(), way);
        },
        effect: isOpen(/^Show less/),
        undo: closeCall,
      },
      {
        name: 'the button that copies an output',
        find: button(/npm test/),
        use: async (page, control, way) => {
          await press(page, control, way);
          await press(page, button('Copy all')(page), way);
        },
        effect: async (page) => await expect.poll(() => clipboard(page)).toContain('line 59'),
        undo: closeCall,
      },
      {
        name: 'the button that copies code',
        find: button('Copy code'),
        effect: async (page) => await expect.poll(() => clipboard(page)).toBe('const a = 1;'),
      },
      {
        name: 'the button that copies an answer',
        find: button('Copy answer'),
        effect: async (page) =>
          await expect.poll(() => clipboard(page)).toContain('See [the docs]'),
      },
      {
        name: 'a link',
        find: link('the docs'),
        effect: async (page) =>
          expect(await link('the docs')(page).getAttribute('target')).toBe('_blank'),
      },
      {
        name: 'the button that goes to the end',
        find: button('Jump to latest'),
        use: async (page, control, way) => {
          await page
            .getByRole('log')
            .locator('..')
            .evaluate((e) => e.scrollTo(0, 0));
          if (way !== 'keyboard') return press(page, control, way);
          // A person who moves through the conversation with Tab reaches its end, and the message field is after it.
          await field(page).focus();
          await page.keyboard.press('Shift+Tab');
          await expect.poll(() => control.evaluate((e) => e === document.activeElement)).toBe(true);
          await page.keyboard.press('Enter');
        },
        effect: (page) => gone(button('Jump to latest')(page)),
      },
    ],
  },
  {
    name: 'older pages that could not be loaded',
    set: (stage) => {
      stage.history = { ...past, hasMore: true, before: 'mark' };
      stage.refuse = (path) =>
        path.includes('/history?') ? { code: 'STORE_READ_FAILED', message: 'No.' } : undefined;
    },
    go: (page) => page.getByText('Older messages could not').waitFor(),
    controls: [
      {
        name: 'Try again',
        find: button('Try again'),
        use: (page, control, way, stage) => {
          stage.refuse = () => undefined;
          stage.answer = (_, path) =>
            path.includes('/history?')
              ? { ...past, entries: [], turns: [], hasMore: false }
              : undefined;
          return press(page, control, way);
        },
        effect: (page) => gone(page.getByText('Older messages could not')),
      },
    ],
  },
  {
    name: 'a fork, which can be forked again',
    set: (stage) => {
      withOthers(stage);
      const { info } = stage;
      const forkedFrom = { sessionId: 'other-0', turnId: 't9', title: 'Docs' };
      stage.info = { ...info, session: { ...info.session, state: 'idle', forkedFrom } };
    },
    controls: [
      {
        name: 'the link to the original of a fork',
        find: (page) => page.getByRole('main').getByRole('link', { name: 'Docs' }),
        effect: isAt('/session/other-0'),
      },
      {
        name: 'Fork from here',
        find: button('Fork from here'),
        effect: isAt('/session/other-1'),
      },
    ],
  },
  {
    name: 'the dialog about files that would be changed back',
    set: withOthers,
    go: async (page) => {
      await button('Restore files to before this turn')(page).click();
      await button('Restore 1 file')(page).waitFor();
    },
    controls: [
      {
        name: 'Restore',
        find: button('Restore 1 file'),
        effect: asked('POST', /\/rewind$/, { turnId: 't1' }),
      },
      {
        name: 'Cancel',
        find: button('Cancel'),
        effect: (page) => gone(page.getByRole('dialog')),
      },
      {
        name: 'the close button',
        find: button('Close'),
        effect: (page) => gone(page.getByRole('dialog')),
      },
    ],
  },
  {
    name: 'turns that were taken back, and the dialog about more of them',
    set: (stage) => {
      withOthers(stage);
      const before = stage.answer;
      stage.answer = (method, path, body) => {
        if (path === '/api/agents') {
          const demo = { cliType: 'demo', name: 'Demo', description: '', available: true };
          return { agents: [{ ...demo, rewindsConversation: true }] };
        }
        if (!path.endsWith('/rewind')) return before(method, path, body);
        const takenBack = { turnIds: ['t1'], message: 'Go.' };
        return { files: [], insertions: 0, deletions: 0, takenBack };
      };
      const done = { status: 'complete' } as const;
      stage.history = {
        entries: [
          message('u', 'Before.', { origin: 'user', turnId: 't0', ...done }),
          message('n', 'One turn was taken back.', { turnId: 'r', origin: 'system', ...done }),
          message('v', 'Go.', { origin: 'user', ...done }),
        ],
        turns: [
          turn('t0', { ...done, endedAt: 1 }),
          turn('r', { ...done, endedAt: 1, finishReason: 'rewind', rewoundTo: 't0' }),
          turn('t1', { ...done, endedAt: 1 }),
        ],
        cursor: 't1:0',
        hasMore: false,
      };
    },
    controls: [
      {
        name: 'the fold of turns that were taken back',
        find: button(/taken back/),
        effect: isOpen(/taken back/),
      },
      {
        name: 'Edit and send again',
        find: button('Edit and send again'),
        effect: async (page) => await button('Take back 1 turn')(page).waitFor(),
        undo: (page) => button('Cancel')(page).click(),
      },
      {
        name: 'Take back',
        find: button('Edit and send again'),
        use: async (page, control, way) => {
          await press(page, control, way);
          await press(page, button('Take back 1 turn')(page), way);
        },
        effect: asked('POST', /\/rewind$/, { turnId: 't1', scope: 'conversation' }),
      },
    ],
  },
  {
    name: 'a turn that failed, of an agent that can be forked',
    set: (stage) => {
      withOthers(stage);
      const error = { code: 'X', message: 'It broke.' };
      stage.history = { ...past, turns: [turn('t1', { status: 'error', endedAt: 1, error })] };
    },
    controls: [
      { name: 'Send again', find: button('Send again'), effect: asked('POST', /\/send$/) },
      {
        name: 'Fork from here',
        find: button('Fork from here'),
        effect: asked('POST', /\/fork$/, { turnId: 't1', sessionId: expect.any(String) }),
      },
    ],
  },
  {
    name: 'a turn that failed',
    set: (stage) => {
      const error = { code: 'X', message: 'It broke.' };
      stage.history = { ...past, turns: [turn('t1', { status: 'error', endedAt: 1, error })] };
      stage.answer = (_, path) =>
        path.endsWith('/send') ? { turnId: 't2', queued: false } : undefined;
    },
    controls: [
      {
        name: 'Send again',
        find: button('Send again'),
        effect: asked('POST', /\/send$/, expect.objectContaining({ message: 'Hello' })),
      },
    ],
  },
]);
