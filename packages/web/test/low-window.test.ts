import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { approval, begun, tool, upsert } from './items.ts';
import { openStage, otherSession, stage } from './stage.ts';
import { steady } from './steady.ts';

const plan = Array.from({ length: 40 }, (_, n) => `${n + 1}. Step ${n + 1} of the plan`).join('\n');
const option = (name: string, category: string, ...values: string[]) => ({
  id: name,
  name,
  category,
  currentValue: values[0] ?? '',
  options: values.map((value) => ({ value, name: value })),
});

openStage(() => {
  stage.history = begun('Tidy up');
  stage.others = [otherSession('o1')];
  stage.info = {
    ...stage.info,
    canSteer: true,
    configOptions: [
      option('Model', 'model', 'Default (recommended)', 'Other'),
      option('Mode', 'mode', 'Ask first', 'Auto'),
      option('Effort', 'thought_level', 'High', 'Low'),
      option('Speed', 'speed', 'Normal', 'Fast'),
    ],
  };
});

const phone = { hasTouch: true, isMobile: true };
const sizes = [
  ['a phone on its side', { ...phone, viewport: { width: 844, height: 390 } }],
  // Use a window of 1400 × 900 px.
  ['a zoom of 400 %', { viewport: { width: 350, height: 225 } }],
  ['a phone', { ...phone, viewport: { width: 390, height: 844 } }],
] as const;

const composer = (page: Page) => page.getByRole('form', { name: 'Composer' });

/** Scrolls to an element, and checks that a press in its middle hits the element. */
async function isReached(control: Locator): Promise<void> {
  const what = async () => {
    await control.scrollIntoViewIfNeeded();
    return control.evaluate((element) => {
      const { left, top, width, height } = element.getBoundingClientRect();
      const hit = document.elementFromPoint(left + width / 2, top + height / 2);
      const isHit = hit !== null && (element.contains(hit) || hit.contains(element));
      const isInside = top >= 0 && left >= 0 && top + height <= innerHeight + 1;
      return isHit && isInside && left + width <= innerWidth + 1 ? '' : element.outerHTML;
    });
  };
  await expect.poll(what).toBe('');
}

it.each(sizes)(
  'with %s, every part of a request and of the composer can be reached',
  async (_, options) => {
    const page = await stage.visit(options);
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    stage.send(
      upsert(
        tool('c1', {
          toolName: 'ExitPlanMode',
          kind: 'switch_mode',
          title: 'Plan',
          toolArguments: { plan },
        }),
      ),
    );
    stage.send(upsert(approval('p1', { callId: 'c1', title: 'Start with this plan' })));
    const request = page.getByRole('region', { name: 'Waiting for you' });
    await request.waitFor();
    for (const name of ['Allow', 'Deny'])
      await isReached(request.getByRole('button', { name, exact: true }));
    // A part of the plan must be visible when the page is scrolled to it.
    const shown = await request
      .locator('[data-to-see]')
      .first()
      .evaluate((part) => {
        const region = part.parentElement;
        return region === null ? 0 : region.clientHeight;
      });
    expect(shown).toBeGreaterThan(60);
    for (const control of await composer(page).getByRole('button').all()) await isReached(control);
    await isReached(composer(page).getByRole('textbox', { name: 'Message' }));
  },
);

it.each([...sizes, ['a wide window', { viewport: { width: 1400, height: 900 } }] as const])(
  'with %s, nothing in the composer moves or becomes narrower when the first letter is typed',
  async (_, options) => {
    const page = await stage.visit(options);
    await page.getByRole('button', { name: 'Steer' }).waitFor();
    const boxes = () =>
      composer(page).evaluate((form) =>
        [form, ...form.querySelectorAll('button')].map((element) => {
          const { x, y, width, height } = element.getBoundingClientRect();
          return [element.getAttribute('aria-label'), x, y, width, height].join(' ');
        }),
      );
    const before = await steady(page, boxes);
    await composer(page).getByRole('textbox', { name: 'Message' }).fill('And');
    await expect.poll(() => page.getByRole('button', { name: 'Steer' }).isEnabled()).toBe(true);
    expect(await steady(page, boxes)).toEqual(before);
    for (const button of await composer(page).getByRole('button').all()) {
      const box = await button.boundingBox();
      expect(box!.width, await button.innerText()).toBeGreaterThanOrEqual(28);
      expect(box!.x + box!.width).toBeLessThanOrEqual(options.viewport.width);
    }
  },
);

it('on a phone, the settings keep a readable width, and the hint fits', async () => {
  stage.history = { ...begun('Tidy up'), turns: [] };
  const page = await stage.visit({ ...phone, viewport: { width: 390, height: 844 } });
  const selects = composer(page).getByRole('combobox');
  await selects.first().waitFor();
  for (const select of await selects.all())
    expect((await select.boundingBox())!.width).toBeGreaterThanOrEqual(64);
  const more = await page.getByRole('button', { name: 'More settings' }).boundingBox();
  expect(more!.width).toBeGreaterThanOrEqual(36);
  const field = composer(page).getByRole('textbox', { name: 'Message' });
  await expect.poll(() => field.getAttribute('placeholder')).toBe('Message Demo');
});
