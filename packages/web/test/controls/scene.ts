import { atLength, testAtLength } from '@liminal/testkit/at-length';
import { describe, expect, it } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { message, turn } from '../items.ts';
import { openStage, type Stage, stage } from '../stage.ts';
import { phone, press, unknownControls, type Way, ways } from './ways.ts';

/** A state of the page, and the controls that the page shows in this state. */
export interface Scene {
  name: string;
  /** Prepares the stage before the page is opened. */
  set?: (stage: Stage) => void;
  /** Brings the page from the session view into the scene's state. */
  go?: (page: Page, way: Way, stage: Stage) => Promise<unknown>;
  /** Brings the page back into this state after a control was used. Default: `go`. */
  back?: (page: Page, way: Way, stage: Stage) => Promise<unknown>;
  controls: Control[];
}

export interface Control {
  name: string;
  find: (page: Page) => Locator;
  /** Uses the control. By default, presses it. */
  use?: (page: Page, control: Locator, way: Way, stage: Stage) => Promise<unknown>;
  /** Resolves when the control has had its effect. */
  effect: (page: Page, stage: Stage) => Promise<unknown>;
  /**
   * Undoes effects that would disturb the next control on the same page. Open layers need not be closed here, because
   * they are always closed.
   */
  undo?: (page: Page) => Promise<unknown>;
  /** Whether the effect cannot be undone. No other control is then tried on the same page. */
  spoils?: boolean;
  /** The ways in which the control can be used, if it cannot be used in all ways. */
  only?: Way[];
}

/** A control, and the way in which it is used. */
interface Try {
  control: Control;
  way: Way;
}

/**
 * Uses every control of the scenes. In long runs, each control is used by mouse, by keyboard and by touch, each time on
 * a page of its own. In short runs, mouse and keyboard alternate, touch is used only for controls that only phones
 * have, and controls that do not disturb each other share a page. The test fails if the page shows a control that its
 * scene does not list.
 */
export function tryControls(scenes: readonly Scene[]): void {
  openStage();

  describe.for(scenes)('$name', (scene) => {
    const { go = async () => {}, back = go } = scene;

    const visit = async (way: Way): Promise<Page> => {
      stage.history = past;
      scene.set?.(stage);
      const permissions = ['clipboard-read', 'clipboard-write'];
      const page = await stage.visit({ permissions, ...(way === 'touch' ? phone : {}) });
      await go(page, way, stage);
      return page;
    };

    const findNoOther = async (page: Page) => {
      const known = [...frame, ...scene.controls.map(({ find }) => find)];
      const unknown = () =>
        unknownControls(
          page,
          known.map((find) => find(page)),
        );
      await expect.poll(unknown).toEqual([]);
    };

    /** Uses controls one after another. */
    const tryEach = async (page: Page, tries: readonly Try[]) => {
      const address = page.url();
      for (const [index, { control, way }] of tries.entries()) {
        const { name, find, use: act = press, effect } = control;
        if (index > 0) {
          if (page.url() !== address) await page.goBack();
          await closeAll(page);
          await back(page, way, stage);
        }
        stage.requests.length = 0;
        await act(page, find(page), way, stage);
        await expect(effect(page, stage), `${name}, by ${way}`).resolves.not.toThrow();
        await control.undo?.(page);
      }
    };

    /** The ways in which the scene must still be searched for controls that it does not list. */
    const unseen = new Set<Way>(['mouse', 'touch']);
    for (const tries of visits(scene.controls)) {
      const seen = tries[0]?.way === 'touch' ? 'touch' : 'mouse';
      const isFirst = unseen.delete(seen);
      const names = tries.map(({ control, way }) => `${control.name} by ${way}`).join(', ');
      it(`${names}${isFirst ? '; there is no other control' : ''}`, async () => {
        const page = await visit(tries[0]!.way);
        if (isFirst) await findNoOther(page);
        await expect(tryEach(page, tries)).resolves.not.toThrow();
      });
    }

    // If no control is tried by touch, a phone shows the same controls as a wide window.
    testAtLength.each([...unseen])(
      'the page shows no control that the scene does not list (%s)',
      async (way) => {
        await expect(findNoOther(await visit(way))).resolves.not.toThrow();
      },
    );
  });
}

/** The controls that are used on each page, with the ways in which they are used. */
function visits(controls: readonly Control[]): Try[][] {
  const tries = controls.flatMap((control, index) => {
    const { only = [...ways] } = control;
    const usual = only.filter((way) => way !== 'touch');
    const few = usual.length > 0 ? usual : only;
    const tried = atLength ? only : [few[index % few.length]!];
    return tried.map((way) => ({ control, way }));
  });
  if (atLength) return tries.map((one) => [one]);
  const [onPhone = [], wide = []] = [true, false].map((isPhone) =>
    tries.filter(({ way }) => (way === 'touch') === isPhone),
  );
  return [wide, onPhone].flatMap((all) => {
    const spoiling = all.filter(({ control }) => control.spoils);
    const together = all.filter(({ control }) => !control.spoils);
    const [first = [], ...rest] = spoiling.map((one) => [one]);
    return [[...together, ...first], ...rest].filter((page) => page.length > 0);
  });
}

/** Closes every dialog, menu and list, and every page that a link has opened in front of this page. */
async function closeAll(page: Page): Promise<void> {
  for (const other of page.context().pages()) if (other !== page) await other.close();
  const open = page
    .locator('dialog[open], [role="menu"], [role="listbox"]')
    .filter({ visible: true });
  await expect
    .poll(async () => {
      const count = await open.count();
      if (count > 0) await page.keyboard.press('Escape');
      return count;
    })
    .toBe(0);
}

/** The controls around every scene. Each is tried in only one scene. */
const frame: ((page: Page) => Locator)[] = [
  (page) => sidebar(page).locator('a, button, input'),
  (page) => page.getByRole('banner').locator('a, button'),
  button(/^Skip to (content|message|conversation)$/),
  (page) => field(page),
  button('Send message'),
  button('Attach files'),
  button('Fork from here'),
  button('Restore files to before this turn'),
  (page) => page.getByRole('option'),
];

export const past = {
  entries: [message('u', 'Hello', { origin: 'user', status: 'complete' })],
  turns: [turn('t1', { status: 'complete', endedAt: 1 })],
  cursor: 't1:0',
  hasMore: false,
};

export function button(name: string | RegExp) {
  return (page: Page) => page.getByRole('button', { name, exact: typeof name === 'string' });
}

export const link = (name: string | RegExp) => (page: Page) => page.getByRole('link', { name });
export const dialog = (page: Page, name: string) => page.getByRole('dialog', { name });
export const field = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });
export const sidebar = (page: Page) =>
  page.getByRole('navigation', { name: 'Sessions', exact: true });
export const gone = (locator: Locator) => locator.waitFor({ state: 'detached' });
export const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText());

/** Returns whether a control that opens something is open. */
export const isOpen = (name: string | RegExp) => (page: Page) =>
  page.getByRole('button', { name, expanded: true }).first().waitFor();

export const isAt = (path: string) => async (page: Page) =>
  await expect.poll(() => new URL(page.url()).pathname).toBe(path);

/** Resolves when the server has received this request. */
export const asked =
  (method: string, path: RegExp, body?: unknown) => async (_: Page, stage: Stage) =>
    await expect
      .poll(() => stage.requests.filter((one) => one.method === method && path.test(one.path)))
      .toContainEqual(body === undefined ? expect.anything() : expect.objectContaining({ body }));

/** Adds a second session, and in its project more sessions than the page shows at first. */
export function withOthers(stage: Stage): void {
  stage.history = past;
  const { session } = stage.info;
  const first = ['Docs', 'Bench', 'Login', 'Cart', 'Shop', 'Search', 'Mail'];
  const more = Array.from({ length: 9 }, (_, n) => `Older ${n}`);
  const others = [...first, ...more].map((title, n) => ({
    ...session,
    title,
    sessionId: `other-${n}`,
    state: n === 0 ? ('waiting' as const) : ('idle' as const),
  }));
  const agents = [
    { cliType: 'demo', name: 'Demo', description: '', available: true, forks: true, rewinds: true },
    {
      cliType: 'codex',
      name: 'Codex',
      description: '',
      available: true,
      reason: 'See https://x.org',
    },
  ];
  stage.answer = (_, path) => {
    if (path === '/api/agents') return { agents };
    if (path.startsWith('/api/folders')) return { folders: foldersFor(path) };
    if (path.endsWith('/rewind'))
      return { files: ['/code/shop/a.ts'], insertions: 1, deletions: 2 };
    if (path.endsWith('/fork')) return { sessionId: 'other-1', cliType: 'demo' };
    if (path === '/api/session/create') return { sessionId: 'other-1', cliType: 'demo' };
    if (path !== '/api/projects') return undefined;
    const attic = {
      ...others[1]!,
      sessionId: 'attic',
      title: 'Attic',
      archived: true,
      pinned: true,
    };
    const sessions = [session, ...others, attic];
    return { projects: [{ projectId: 'p', projectDir: '/code/shop', name: 'shop', sessions }] };
  };
}

function foldersFor(path: string) {
  const prefix = new URL(path, 'http://x').searchParams.get('prefix') ?? '';
  return ['/code/shop/api', '/code/shop/docs', '/code/lib']
    .filter((folder) => folder.startsWith(prefix))
    .map((folder) => ({ path: folder, name: folder }));
}
