import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { sessionId } from '../stage.ts';
import {
  asked,
  button,
  clipboard,
  dialog,
  gone,
  isAt,
  link,
  sidebar,
  tryControls,
  withOthers,
  type Control,
} from './scene.ts';
import { check, press, tabTo, take, write, type Way } from './ways.ts';

/** On a phone, the sidebar is a drawer. */
async function toSidebar(page: Page, way: Way): Promise<void> {
  if (way === 'touch') await page.getByRole('button', { name: /^Sessions/ }).tap();
}

/** Opens a row's menu by a right click, by the right arrow key, or by its button. */
async function openRowMenu(page: Page, title: string, way: Way): Promise<void> {
  const row = sidebar(page).getByRole('link', { name: new RegExp(title) });
  if (way === 'touch') {
    await sidebar(page)
      .getByRole('button', { name: `Menu of ${title}` })
      .tap();
  } else if (way === 'mouse') await row.click({ button: 'right' });
  else {
    await tabTo(page, row);
    await page.keyboard.press('ArrowRight');
  }
  await page.getByRole('menu').waitFor();
}

const tabs = (page: Page) => page.getByRole('navigation', { name: 'Open sessions' });

const tabBar: Control[] = [
  {
    name: 'a tab',
    find: (page) => tabs(page).getByRole('link', { name: /Fix the login/ }),
    effect: isAt(`/session/${sessionId}`),
    only: ['mouse', 'keyboard'],
  },
  {
    name: 'the close button of a tab',
    find: (page) => tabs(page).getByRole('button', { name: 'Close Fix the login' }),
    use: async (page, control, way) => {
      if (way === 'mouse') return control.click();
      await tabTo(page, tabs(page).getByRole('link', { name: /Fix the login/ }));
      await page.keyboard.press('Delete');
    },
    effect: (page) => gone(tabs(page).getByRole('link', { name: /Fix the login/ })),
    spoils: true,
    only: ['mouse', 'keyboard'],
  },
  {
    name: 'the tabs of a phone',
    find: button(/\d tabs?$/),
    use: async (page, control, way) => {
      await press(page, control, way);
      await take(page, page.getByRole('menuitem', { name: /Fix the login/ }), way);
    },
    effect: isAt(`/session/${sessionId}`),
    only: ['touch'],
  },
  {
    name: 'the button for a waiting session',
    find: button(/^1 needs you/),
    effect: isAt('/session/other-0'),
  },
  {
    name: 'the button for a new session in the tab bar',
    find: (page) => page.getByRole('banner').getByRole('button', { name: /^New session/ }),
    effect: (page) => dialog(page, 'New session').waitFor(),
  },
  {
    name: 'the button for the palette',
    find: button(/^Commands/),
    effect: (page) => dialog(page, 'Commands').waitFor(),
  },
];

/** Opens the list of agents that are not set up, if it is closed. */
async function openNotSetUp(page: Page, root = page.getByRole('main')): Promise<void> {
  const list = root.locator('details').filter({ has: page.locator('summary') });
  await list.waitFor();
  if ((await list.getAttribute('open')) === null) await list.locator('summary').click();
  await root.getByRole('link', { name: 'https://x.org' }).waitFor();
}

tryControls([
  {
    name: 'the start page',
    set: withOthers,
    go: async (page) => {
      // Open the session in a kept tab, because a previewed tab would be gone after the reload.
      await page.evaluate((id) => localStorage.setItem('liminal.tabs', `["${id}"]`), sessionId);
      await page.goto(new URL('/', page.url()).href);
      await page.getByRole('main').getByRole('link', { name: /Docs/ }).waitFor();
      await openNotSetUp(page);
    },
    back: async (page) => {
      await page.getByRole('main').getByRole('link', { name: /Docs/ }).waitFor();
      await openNotSetUp(page);
    },
    controls: [
      ...tabBar,
      {
        name: 'the button that shows the sessions of a phone',
        find: button(/^Sessions/),
        effect: (page) => dialog(page, 'Sessions').waitFor(),
        only: ['touch'],
      },
      {
        name: 'the button for a new session',
        find: (page) => page.getByRole('main').getByRole('button', { name: 'New session' }),
        effect: (page) => dialog(page, 'New session').waitFor(),
      },
      {
        name: 'a recent session',
        find: (page) => page.getByRole('region', { name: 'Recent sessions' }).getByRole('link'),
        use: (page, control, way) => press(page, control.filter({ hasText: 'Docs' }), way),
        effect: isAt('/session/other-0'),
      },
      {
        name: 'a link in the advice about a missing agent',
        find: link('https://x.org'),
        effect: async (page) =>
          expect(await link('https://x.org')(page).getAttribute('target')).toBe('_blank'),
      },
      {
        name: 'the list of agents that are not set up',
        find: (page) => page.getByRole('main').locator('summary'),
        effect: (page) => link('https://x.org')(page).waitFor({ state: 'hidden' }),
      },
    ],
  },
  {
    name: 'the sidebar',
    set: withOthers,
    go: async (page, way) => {
      await toSidebar(page, way);
      await sidebar(page).getByRole('link', { name: /Docs/ }).first().waitFor();
    },
    controls: [
      {
        name: 'a session',
        find: (page) => sidebar(page).getByRole('link', { name: /Bench/ }),
        effect: isAt('/session/other-1'),
      },
      {
        name: 'a session that needs a person',
        find: (page) => page.getByRole('region', { name: 'Needs you' }).getByRole('link'),
        effect: isAt('/session/other-0'),
      },
      {
        name: 'the button for a new session in the sidebar',
        find: (page) => sidebar(page).getByRole('button', { name: 'New session' }),
        effect: (page) => dialog(page, 'New session').waitFor(),
      },
      {
        name: 'the search',
        find: (page) => sidebar(page).getByRole('searchbox'),
        use: (page, control, way) => write(page, control, way, 'bench'),
        effect: (page) => gone(sidebar(page).getByRole('link', { name: /Docs/ })),
        undo: (page) => sidebar(page).getByRole('searchbox').fill(''),
      },
      {
        name: 'the menu of a session',
        find: (page) => sidebar(page).getByRole('button', { name: 'Menu of Bench' }),
        use: async (page, control, way) => {
          if (way === 'mouse') await sidebar(page).getByRole('link', { name: /Bench/ }).hover();
          if (way !== 'keyboard') return press(page, control, way);
          await tabTo(page, sidebar(page).getByRole('link', { name: /Bench/ }));
          await page.keyboard.press('ArrowRight');
        },
        effect: (page) => page.getByRole('menuitem', { name: 'Pin' }).waitFor(),
      },
      {
        name: 'the archive',
        find: (page) => sidebar(page).getByRole('button', { name: /^Archived/ }),
        effect: (page) => sidebar(page).getByRole('link', { name: /Attic/ }).waitFor(),
      },
      {
        name: 'the heading of a project',
        find: (page) => sidebar(page).getByRole('button', { name: '/code/shop' }),
        effect: (page) => gone(sidebar(page).getByRole('link', { name: /Bench/ })),
        spoils: true,
      },
      {
        name: 'the button for more sessions',
        find: (page) => sidebar(page).getByRole('button', { name: /^Show \d+ more/ }),
        effect: (page) => sidebar(page).getByRole('link', { name: /Mail/ }).waitFor(),
      },
      {
        name: 'the button for the keys',
        find: (page) => sidebar(page).getByRole('button', { name: 'Keyboard shortcuts' }),
        effect: (page) => dialog(page, 'Keyboard shortcuts').waitFor(),
      },
    ],
  },
  {
    name: 'the keys',
    go: async (page) => {
      await page.evaluate(() => (document.activeElement as HTMLElement).blur());
      await page.keyboard.press('?');
      await dialog(page, 'Keyboard shortcuts').waitFor();
    },
    controls: [
      {
        name: 'the close button',
        find: button('Close'),
        effect: (page) => gone(dialog(page, 'Keyboard shortcuts')),
      },
    ],
  },
  {
    name: 'the palette',
    set: withOthers,
    go: async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('option', { name: /Bench/ }).waitFor();
    },
    controls: [
      {
        name: 'the search',
        find: (page) => page.getByRole('combobox', { name: /^Search commands/ }),
        use: (page, control, way) => write(page, control, way, 'bench'),
        effect: (page) => gone(page.getByRole('option', { name: /Docs/ })),
      },
      {
        name: 'a command',
        find: (page) => page.getByRole('option', { name: /Start page/ }),
        use: take,
        effect: isAt('/'),
      },
      {
        name: 'a session',
        find: (page) => page.getByRole('option', { name: /Bench/ }),
        use: take,
        effect: isAt('/session/other-1'),
      },
      {
        name: 'Pin this session',
        find: (page) => page.getByRole('option', { name: 'Pin this session' }),
        use: take,
        effect: asked('POST', /\/session\/s1\/pin$/),
      },
      {
        name: 'Archive this session',
        find: (page) => page.getByRole('option', { name: 'Archive this session' }),
        use: take,
        effect: asked('POST', /\/session\/s1\/archive$/),
        spoils: true,
      },
      {
        name: 'Delete this session…',
        find: (page) => page.getByRole('option', { name: /^Delete this session/ }),
        use: take,
        effect: (page) => dialog(page, 'Delete this session?').waitFor(),
      },
    ],
  },
  {
    name: 'the menu of a session in the sidebar',
    set: withOthers,
    go: async (page, way) => {
      await toSidebar(page, way);
      await openRowMenu(page, 'Bench', way);
    },
    controls: [
      {
        name: 'Pin',
        find: (page) => page.getByRole('menuitem', { name: 'Pin' }),
        use: take,
        effect: asked('POST', /\/session\/other-1\/pin$/),
      },
      {
        name: 'Archive',
        find: (page) => page.getByRole('menuitem', { name: 'Archive' }),
        use: take,
        effect: asked('POST', /\/session\/other-1\/archive$/),
      },
      {
        name: 'Changes…',
        find: (page) => page.getByRole('menuitem', { name: /^Changes/ }),
        use: take,
        effect: asked('GET', /\/session\/other-1\/diff$/),
      },
      {
        name: 'Delete…',
        find: (page) => page.getByRole('menuitem', { name: /^Delete/ }),
        use: take,
        effect: (page) => dialog(page, 'Delete this session?').waitFor(),
      },
    ],
  },
  {
    name: 'the menu of a session in the archive',
    set: withOthers,
    go: async (page, way) => {
      await toSidebar(page, way);
      const archive = sidebar(page).getByRole('button', { name: /^Archived/ });
      await archive.waitFor();
      if ((await archive.getAttribute('aria-expanded')) === 'false')
        await press(page, archive, way);
      await openRowMenu(page, 'Attic', way);
    },
    controls: [
      {
        name: 'Unpin',
        find: (page) => page.getByRole('menuitem', { name: 'Unpin' }),
        use: take,
        effect: asked('POST', /\/session\/attic\/unpin$/),
      },
      {
        name: 'Unarchive',
        find: (page) => page.getByRole('menuitem', { name: 'Unarchive' }),
        use: take,
        effect: asked('POST', /\/session\/attic\/unarchive$/),
      },
      {
        name: 'Changes…',
        find: (page) => page.getByRole('menuitem', { name: /^Changes/ }),
        use: take,
        effect: asked('GET', /\/session\/attic\/diff$/),
      },
      {
        name: 'Delete…',
        find: (page) => page.getByRole('menuitem', { name: /^Delete/ }),
        use: take,
        effect: (page) => dialog(page, 'Delete this session?').waitFor(),
      },
    ],
  },
  {
    name: 'the toast about an archived session',
    set: withOthers,
    go: async (page, way) => {
      await toSidebar(page, way);
      await openRowMenu(page, 'Bench', way);
      await take(page, page.getByRole('menuitem', { name: 'Archive' }), way);
      await page.getByText('Archived “Bench”.').waitFor();
    },
    controls: [
      {
        name: 'Undo',
        find: button('Undo'),
        effect: asked('POST', /\/session\/other-1\/unarchive$/),
      },
      {
        name: 'Dismiss',
        find: button('Dismiss'),
        effect: (page) => gone(page.getByText('Archived “Bench”.')),
      },
    ],
  },
  {
    name: 'an archived session',
    set: (stage) => {
      stage.info.session.archived = true;
    },
    controls: [
      {
        name: 'Unarchive',
        find: button('Unarchive'),
        effect: asked('POST', /\/session\/s1\/unarchive$/),
      },
    ],
  },
  {
    name: 'the dialog before a session is deleted',
    set: withOthers,
    go: async (page, way) => {
      await press(page, button('Session')(page), way);
      await take(page, page.getByRole('menuitem', { name: /^Delete/ }), way);
      await dialog(page, 'Delete this session?').waitFor();
    },
    controls: [
      {
        name: 'Delete',
        find: button('Delete'),
        effect: asked('DELETE', /\/session\/s1$/),
        spoils: true,
      },
      {
        name: 'Cancel',
        find: button('Cancel'),
        effect: (page) => gone(dialog(page, 'Delete this session?')),
      },
      {
        name: 'the close button',
        find: button('Close'),
        effect: (page) => gone(dialog(page, 'Delete this session?')),
      },
    ],
  },
  {
    name: 'the dialog for a new session',
    set: withOthers,
    go: async (page) => {
      await page.keyboard.press('Alt+n');
      await page.getByRole('radio', { name: /Demo/ }).waitFor();
      await openNotSetUp(page, dialog(page, 'New session'));
    },
    controls: [
      {
        name: 'the list of agents that are not set up',
        find: (page) => dialog(page, 'New session').locator('summary'),
        effect: async (page) =>
          await expect
            .poll(() => page.getByRole('radio', { name: /Codex/ }).isVisible())
            .toBe(false),
        undo: (page) => openNotSetUp(page, dialog(page, 'New session')),
      },
      {
        name: 'an agent',
        find: (page) => page.getByRole('radio'),
        use: async (page, control, way) => {
          if (way !== 'keyboard') return check(page, control.last(), way);
          await check(page, control.first(), way);
          await page.keyboard.press('ArrowDown');
        },
        effect: async (page) =>
          await expect
            .poll(() => page.getByRole('radio', { name: /Codex/ }).isChecked())
            .toBe(true),
      },
      {
        name: 'the button that looks for agents again',
        find: button('Check again'),
        effect: async (_, stage) =>
          await expect
            .poll(() => stage.requests.filter(({ path }) => path === '/api/agents').length)
            .toBeGreaterThan(0),
      },
      {
        name: 'the link in the advice about a missing agent',
        find: (page) => dialog(page, 'New session').getByRole('link'),
        effect: async (page) =>
          expect(await dialog(page, 'New session').getByRole('link').getAttribute('target')).toBe(
            '_blank',
          ),
      },
      {
        name: 'a suggested folder',
        find: (page) => page.getByRole('combobox', { name: 'Project folder' }),
        use: async (page, control, way) => {
          await write(page, control, way, '/code/');
          await take(page, page.getByRole('option', { name: '/code/lib' }), way);
        },
        effect: async (page) => {
          await expect
            .poll(() => page.getByRole('combobox', { name: 'Project folder' }).inputValue())
            .toBe('/code/lib');
          await dialog(page, 'New session').waitFor();
        },
        undo: (page) => page.getByRole('combobox', { name: 'Project folder' }).fill('/code/shop'),
      },
      {
        name: 'the button that shows folders',
        find: button('Show folders'),
        // By keyboard, the list is opened with the arrow keys in the field.
        only: ['mouse', 'touch'],
        effect: (page) => page.getByRole('option', { name: '/code/shop/api' }).waitFor(),
      },
      {
        name: 'a folder used before',
        find: (page) => dialog(page, 'New session').getByRole('button', { name: '/code/shop' }),
        use: async (page, control, way) => {
          await write(page, page.getByRole('combobox', { name: 'Project folder' }), way, 'x');
          await press(page, control, way);
        },
        effect: async (page) =>
          await expect
            .poll(() => page.getByRole('combobox', { name: 'Project folder' }).inputValue())
            .toBe('/code/shop'),
      },
      {
        name: 'Start',
        find: button('Start'),
        effect: isAt('/session/other-1'),
      },
      {
        name: 'Cancel',
        find: button('Cancel'),
        effect: (page) => gone(dialog(page, 'New session')),
      },
      {
        name: 'the close button',
        find: button('Close'),
        effect: (page) => gone(dialog(page, 'New session')),
      },
    ],
  },
  {
    name: 'the menu of tabs on a phone',
    set: withOthers,
    go: async (page, way) => {
      if (way !== 'touch') return;
      await button(/\d tabs?$/)(page).tap();
      await page.getByRole('menu').waitFor();
    },
    controls: [
      {
        name: 'a tab',
        find: (page) => page.getByRole('menuitem', { name: /Fix the login/ }),
        use: take,
        effect: (page) => gone(page.getByRole('menu')),
        only: ['touch'],
      },
      {
        name: 'Close this tab',
        find: (page) => page.getByRole('menuitem', { name: 'Close this tab' }),
        use: take,
        effect: isAt('/'),
        only: ['touch'],
      },
    ],
  },
  {
    name: 'the session’s menu',
    set: withOthers,
    go: async (page, way) => {
      await press(page, button('Session')(page), way);
      await page.getByRole('menu').waitFor();
    },
    controls: [
      {
        name: 'Find in this session',
        find: (page) => page.getByRole('menuitem', { name: /^Find in this session/ }),
        use: take,
        effect: (page) => page.getByRole('search').waitFor(),
        undo: (page) => page.keyboard.press('Escape'),
      },
      {
        name: 'Rename',
        find: (page) => page.getByRole('menuitem', { name: 'Rename' }),
        use: async (page, control, way) => {
          await take(page, control, way);
          await write(page, page.getByRole('textbox', { name: 'Title' }), way, 'Better');
          await press(page, button('Rename')(page), way);
        },
        effect: asked('POST', /\/title$/, { title: 'Better' }),
      },
      {
        name: 'Fork',
        find: (page) => page.getByRole('menuitem', { name: 'Fork' }),
        use: take,
        effect: isAt('/session/other-1'),
        spoils: true,
      },
      {
        name: 'Copy session id',
        find: (page) => page.getByRole('menuitem', { name: 'Copy session id' }),
        use: take,
        effect: async (page) => await expect.poll(() => clipboard(page)).toBe(sessionId),
      },
      {
        name: 'Export',
        find: (page) => page.getByRole('menuitem', { name: 'Export' }),
        use: take,
        effect: asked('GET', /\/session\/s1\/export$/),
      },
      {
        name: 'Pin tab',
        find: (page) => page.getByRole('menuitem', { name: 'Pin tab' }),
        use: take,
        effect: async (page) => {
          const kept = () => page.evaluate(() => localStorage.getItem('liminal.tabs'));
          await expect.poll(kept).toContain(sessionId);
        },
      },
      {
        name: 'Close tab',
        find: (page) => page.getByRole('menuitem', { name: /^Close tab/ }),
        use: take,
        effect: isAt('/'),
        spoils: true,
      },
      {
        name: 'Stop the agent process',
        find: (page) => page.getByRole('menuitem', { name: /^Stop the agent process/ }),
        use: take,
        effect: asked('POST', /\/kill$/),
      },
      {
        name: 'Pin',
        find: (page) => page.getByRole('menuitem', { name: 'Pin', exact: true }),
        use: take,
        effect: asked('POST', /\/session\/s1\/pin$/),
      },
      {
        name: 'Archive',
        find: (page) => page.getByRole('menuitem', { name: 'Archive' }),
        use: take,
        effect: asked('POST', /\/session\/s1\/archive$/),
        spoils: true,
      },
      {
        name: 'Changes…',
        find: (page) => page.getByRole('menuitem', { name: /^Changes/ }),
        use: take,
        effect: asked('GET', /\/session\/s1\/diff$/),
      },
      {
        name: 'Delete…',
        find: (page) => page.getByRole('menuitem', { name: /^Delete/ }),
        use: take,
        effect: (page) => dialog(page, 'Delete this session?').waitFor(),
      },
    ],
  },
]);
