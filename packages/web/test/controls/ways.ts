import type { BrowserContextOptions, Locator, Page } from 'playwright-core';

/** How people use a control. */
export const ways = ['mouse', 'keyboard', 'touch'] as const;
export type Way = (typeof ways)[number];

export const phone: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  hasTouch: true,
  isMobile: true,
};

/** Presses a control: by a click, by a tap, or by going there with Tab and pressing Enter. */
export async function press(page: Page, control: Locator, way: Way): Promise<void> {
  if (way === 'mouse') await control.click();
  if (way === 'touch') await control.tap();
  if (way !== 'keyboard') return;
  await tabTo(page, control);
  await page.keyboard.press('Enter');
}

/** Checks a box or a radio button. The key is Space, since Enter sends the form. */
export async function check(page: Page, control: Locator, way: Way): Promise<void> {
  if (way !== 'keyboard') return press(page, control, way);
  await tabTo(page, control);
  await page.keyboard.press('Space');
}

/** Puts the cursor into a field, and types there. */
export async function write(page: Page, field: Locator, way: Way, text: string): Promise<void> {
  if (way === 'keyboard') await tabTo(page, field);
  else await press(page, field, way);
  await page.keyboard.press('Control+a');
  await page.keyboard.type(text);
}

/** Takes an option of an open list: by a click, by a tap, or by arrow keys and Enter. */
export async function take(page: Page, option: Locator, way: Way): Promise<void> {
  await option.waitFor();
  if (way !== 'keyboard') return press(page, option, way);
  for (let step = 0; step < most; step += 1) {
    if (await option.evaluate(isCurrent)) return page.keyboard.press('Enter');
    await page.keyboard.press('ArrowDown');
  }
  throw new Error('The arrow keys do not reach this option.');
}

/** A limit: no page of ours needs so many key presses. */
const most = 80;

/** Moves the focus to a control by the Tab key; inside a list that is one stop, by arrow keys. */
export async function tabTo(page: Page, control: Locator): Promise<void> {
  const find = await finder(control);
  for (let step = 0; step < most; step += 1) {
    const place = await find();
    if (place === 'here') return;
    if (place === 'beside') await arrowTo(page, control);
    else await page.keyboard.press('Tab');
  }
  throw new Error('The Tab key does not reach this control.');
}

/**
 * Moves the focus inside a list by arrow keys. Ends early if something takes the focus out of the list, for example a
 * page that has just loaded.
 */
async function arrowTo(page: Page, control: Locator): Promise<void> {
  const isInRow = await control.evaluate((element) => element.closest('header') !== null);
  await page.keyboard.press('Home');
  const find = await finder(control);
  for (let step = 0; step < most; step += 1) {
    if ((await find()) !== 'beside') return;
    await page.keyboard.press(isInRow ? 'ArrowRight' : 'ArrowDown');
  }
  throw new Error('The arrow keys do not reach this control.');
}

/**
 * Returns a function that reports where the focus is, relative to a control. The control is located again only if the
 * page has replaced its element.
 */
async function finder(control: Locator) {
  const find = () => control.elementHandle();
  let element = await find();
  return async (): Promise<Place> => {
    const place = await element?.evaluate(placeOfFocus);
    if (place !== undefined) return place;
    element = await find();
    return (await element?.evaluate(placeOfFocus)) ?? 'elsewhere';
  };
}

type Place = 'here' | 'beside' | 'elsewhere';

/**
 * Where the focus is. `beside`: the focus is on the entry of the control's list that Tab reaches. Undefined if the
 * control is no longer in the page.
 */
function placeOfFocus(control: Node): Place | undefined {
  const { activeElement } = document;
  if (!control.isConnected) return undefined;
  if (control === activeElement) return 'here';
  const isEntry = activeElement?.matches('nav :is(li, h2) *') ?? false;
  const { tabIndex } = control as HTMLElement;
  const list = (control as Element).closest('nav');
  return tabIndex < 0 && isEntry && list?.contains(activeElement) === true ? 'beside' : 'elsewhere';
}

/** Whether Enter takes this option: it has the focus, or the focused field points to it. */
function isCurrent(option: Element): boolean {
  const { activeElement } = document;
  if (option === activeElement) return true;
  return option.id !== '' && activeElement?.getAttribute('aria-activedescendant') === option.id;
}

/** Elements that a person can use. */
const usable = [
  'button',
  'a[href]',
  'input',
  'select',
  'textarea',
  'summary',
  ...['button', 'link', 'option', 'menuitem', 'checkbox', 'radio', 'switch', 'tab', 'combobox'].map(
    (role) => `[role="${role}"]`,
  ),
].join(', ');

/** The HTML of the visible controls that none of `known` finds. */
export async function unknownControls(page: Page, known: readonly Locator[]): Promise<string[]> {
  for (const locator of known) {
    await locator.evaluateAll((found) => {
      for (const element of found) element.setAttribute('data-known', '');
    });
  }
  return page.locator(usable).evaluateAll((found) => {
    // Controls behind an open dialog cannot be used.
    const front = [...document.querySelectorAll('dialog[open]')].at(-1);
    return found
      .filter((element) => element.checkVisibility({ visibilityProperty: true }))
      .filter((element) => front === undefined || front.contains(element))
      .filter(
        (element) => !element.matches('[data-known], [aria-hidden="true"], option, :disabled'),
      )
      .map((element) => element.outerHTML.slice(0, 200));
  });
}
