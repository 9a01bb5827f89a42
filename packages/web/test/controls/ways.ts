import type { BrowserContextOptions, Locator, Page } from 'playwright-core';

/** The ways in which people use a control. */
export const ways = ['mouse', 'keyboard', 'touch'] as const;
export type Way = (typeof ways)[number];

export const phone: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  hasTouch: true,
  isMobile: true,
};

/** Presses a control: by a click, by a tap, or by moving to it with Tab and pressing Enter. */
export async function press(page: Page, control: Locator, way: Way): Promise<void> {
  if (way === 'mouse') await control.click();
  if (way === 'touch') await control.tap();
  if (way !== 'keyboard') return;
  await tabTo(page, control);
  await page.keyboard.press('Enter');
}

/** Checks a box or a radio button. By keyboard, this function presses Space, since Enter sends the form. */
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

/** Chooses an option of an open list: by a click, by a tap, or by arrow keys and Enter. */
export async function take(page: Page, option: Locator, way: Way): Promise<void> {
  await option.waitFor();
  if (way !== 'keyboard') return press(page, option, way);
  for (let step = 0; step < most; step += 1) {
    if (await option.evaluate(isCurrent)) return page.keyboard.press('Enter');
    await page.keyboard.press('ArrowDown');
  }
  throw new Error('The arrow keys do not reach this option.');
}

/** The most key presses. No page of ours needs so many. */
const most = 80;

/**
 * Moves the focus to a control with the Tab key. If the control is in a list that is a single stop of the Tab key,
 * moves inside the list with arrow keys.
 */
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
 * Moves the focus inside a list with arrow keys. Ends early if the focus leaves the list, for example because a page
 * has just loaded.
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
 * Returns a function that reports where the focus is, relative to a control. The function looks the control up again
 * only if the page has replaced the control's element.
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
 * The position of the focus. `beside` means that the focus is on that entry of the control's list which Tab reaches.
 * Undefined if the control is no longer in the page.
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

/** Returns whether Enter would choose this option: the option has the focus, or the focused field refers to it. */
function isCurrent(option: Element): boolean {
  const { activeElement } = document;
  if (option === activeElement) return true;
  return option.id !== '' && activeElement?.getAttribute('aria-activedescendant') === option.id;
}

/** A selector for elements that a person can use. */
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

/** Returns the HTML of the visible controls that no locator in `known` finds. */
export async function unknownControls(page: Page, known: readonly Locator[]): Promise<string[]> {
  for (const locator of known) {
    await locator.evaluateAll((found) => {
      for (const element of found) element.setAttribute('data-known', '');
    });
  }
  return page.locator(usable).evaluateAll((found) => {
    // Controls behind an open dialog cannot be used, so they are left out.
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
