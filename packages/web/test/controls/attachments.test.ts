import { expect } from 'vitest';
import type { Page } from 'playwright-core';
import { message } from '../items.ts';
import { png } from '../png.ts';
import type { Stage } from '../stage.ts';
import { button, dialog, gone, link, past, tryControls } from './scene.ts';
import { press, type Way } from './ways.ts';

const picture = png(60, 40);
const card = (page: Page, name: string) =>
  page.getByRole('list', { name: 'Attached' }).getByRole('listitem').filter({ hasText: name });

/** Shows a message with an image and a file, in the conversation and in the queue. */
function withFiles(stage: Stage): void {
  const uri = stage.storeBlob(picture, 'image/png');
  const notes = stage.storeBlob(Buffer.from('# Notes'), 'text/markdown');
  const image = { type: 'image', mimeType: 'image/png', uri, name: 'said.png' } as const;
  const file = { type: 'resource', resource: { uri: notes, name: 'notes.md', size: 7 } } as const;
  const said = { origin: 'user', status: 'complete' } as const;
  const entries = [message('u', 'Look', { ...said, blocks: [image, file] })];
  stage.history = { ...past, entries };
  const queued = { turnId: 'q', message: '', queuedAt: '', state: 'queued' } as const;
  stage.info.queue = [{ ...queued, blocks: [{ ...image, name: 'queued.png' }] }];
  stage.refuse = (path) =>
    path === '/api/blob' ? { code: 'STORE_WRITE_FAILED', message: 'The disk is full.' } : undefined;
}

/** Attaches an image whose upload fails. */
async function attach(page: Page): Promise<void> {
  const file = { name: 'mine.png', mimeType: 'image/png', buffer: picture };
  await page.locator('input[type="file"]').first().setInputFiles(file);
  await card(page, 'mine.png').getByText('The disk is full.').waitFor();
}

async function choose(page: Page, way: Way, item: string): Promise<void> {
  const choosing = page.waitForEvent('filechooser');
  await press(page, button('Attach files')(page), way);
  if (way === 'touch') await press(page, page.getByRole('menuitem', { name: item }), way);
  await (await choosing).setFiles({ name: 'new.png', mimeType: 'image/png', buffer: picture });
}

const isShown = (name: string) => (page: Page) => dialog(page, name).getByRole('img').waitFor();

tryControls([
  {
    name: 'files of messages',
    set: withFiles,
    go: attach,
    back: async (page) => {
      if ((await card(page, 'mine.png').count()) === 0) await attach(page);
    },
    controls: [
      {
        name: 'the paper clip',
        find: button('Attach files'),
        use: (page, _, way) => choose(page, way, 'Choose files'),
        effect: (page) => card(page, 'new.png').waitFor(),
        undo: (page) => button('Remove new.png')(page).click(),
      },
      {
        name: 'the camera of a phone',
        find: button('Attach files'),
        use: (page, _, way) => choose(page, way, 'Take a photo'),
        effect: (page) => card(page, 'new.png').waitFor(),
        undo: (page) => button('Remove new.png')(page).click(),
        only: ['touch'],
      },
      {
        name: 'the picture of an attachment',
        find: button('Show mine.png'),
        effect: isShown('mine.png'),
      },
      {
        name: 'the button that removes an attachment',
        find: button('Remove mine.png'),
        effect: (page) => gone(card(page, 'mine.png')),
      },
      {
        name: 'the button that removes all refused attachments',
        find: button('Remove it'),
        effect: (page) => gone(card(page, 'mine.png')),
      },
      {
        name: 'Try again',
        find: button('Try again'),
        use: (page, control, way, stage) => {
          stage.refuse = () => undefined;
          return press(page, control, way);
        },
        effect: (page) => gone(card(page, 'mine.png').getByText('The disk is full.')),
      },
      {
        name: 'an image of the conversation',
        find: button('Show said.png'),
        effect: isShown('said.png'),
      },
      {
        name: 'a file of the conversation',
        find: button(/^Download notes.md/),
        use: async (page, control, way) => {
          const saving = page.waitForEvent('download');
          await press(page, control, way);
          expect((await saving).suggestedFilename()).toBe('notes.md');
        },
        effect: (page) => page.getByText('notes.md').waitFor(),
      },
      {
        name: 'an image in the queue',
        find: button('Show queued.png'),
        effect: isShown('queued.png'),
      },
      {
        name: 'the button that changes a queued image',
        find: button('Edit queued message'),
        effect: (page) => page.getByRole('textbox', { name: 'Queued message' }).waitFor(),
        undo: (page) => page.keyboard.press('Escape'),
      },
      {
        name: 'the button that removes a queued image',
        find: button('Remove queued message'),
        effect: async (_, stage) =>
          await expect.poll(() => stage.requests.map(({ method }) => method)).toContain('DELETE'),
      },
    ],
  },
  {
    name: 'an image, large',
    set: withFiles,
    go: async (page, way) => {
      await press(page, button('Show said.png')(page), way);
      await dialog(page, 'said.png').waitFor();
    },
    controls: [
      {
        name: 'Close',
        find: button('Close'),
        effect: (page) => gone(dialog(page, 'said.png')),
      },
      {
        name: 'Download',
        find: link('Download'),
        use: async (page, control, way) => {
          const saving = page.waitForEvent('download');
          await press(page, control, way);
          expect((await saving).suggestedFilename()).toBe('said.png');
        },
        effect: (page) => dialog(page, 'said.png').waitFor(),
      },
    ],
  },
]);
