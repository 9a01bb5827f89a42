import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const css = readFileSync(new URL('tokens.css', import.meta.url), 'utf8');

/** Red, green, blue and opacity, each from 0 to 1. */
type Colour = [number, number, number, number];

function token(name: string, theme: 'light' | 'dark'): Colour {
  const value = new RegExp(`--${name}: (?:light-dark\\((#\\w+), (#\\w+)\\)|(#\\w+));`).exec(css);
  const hex = value?.[3] ?? value?.[theme === 'light' ? 1 : 2];
  if (hex === undefined) throw new Error(`The colour --${name} is not defined.`);
  const parts =
    hex
      .slice(1)
      .match(/../g)
      ?.map((part) => Number.parseInt(part, 16) / 255) ?? [];
  return [parts[0]!, parts[1]!, parts[2]!, parts[3] ?? 1];
}

/** Returns the visible colour of one colour over an opaque colour. */
function over([r, g, b, alpha]: Colour, below: Colour): Colour {
  const mix = (top: number, index: 0 | 1 | 2) => top * alpha + below[index] * (1 - alpha);
  return [mix(r, 0), mix(g, 1), mix(b, 2), 1];
}

/** Returns the relative luminance of WCAG 2. */
function luminance([r, g, b]: Colour): number {
  const [x, y, z] = [r, g, b].map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * x! + 0.7152 * y! + 0.0722 * z!;
}

function contrast(a: Colour, b: Colour): number {
  const [light, dark] = [luminance(a), luminance(b)].toSorted((x, y) => y - x);
  return (light! + 0.05) / (dark! + 0.05);
}

describe.each(['light', 'dark'] as const)('in the %s theme', (theme) => {
  it.each([
    ['text', ['page', 'side', 'raised', 'sunken', 'bubble']],
    ['text-soft', ['page', 'side', 'raised', 'sunken', 'bubble']],
    ['text-faint', ['page', 'side', 'raised', 'sunken']],
    ['accent', ['page', 'raised']],
    ['success', ['page', 'raised']],
    ['warning', ['page', 'side', 'raised']],
    ['danger', ['page', 'raised']],
    ['on-accent', ['accent-fill', 'accent-fill-hover']],
  ])(
    'text in the colour %s can be read on all backgrounds of the colour (contrast of level AA)',
    (name, grounds) => {
      const unreadable = grounds.filter(
        (ground) => contrast(token(name, theme), token(ground, theme)) < 4.5,
      );
      expect(unreadable).toEqual([]);
    },
  );

  it.each([
    [
      'text',
      ['danger-wash', 'warning-wash', 'accent-wash', 'added-wash', 'removed-wash', 'pressed'],
    ],
    ['text-soft', ['danger-wash', 'accent-wash', 'hover', 'pressed']],
    ['success', ['added-wash']],
    ['danger', ['removed-wash', 'danger-wash']],
  ])(
    'text in the colour %s can be read on washes over the page (contrast of level AA)',
    (name, washes) => {
      const unreadable = washes.filter((wash) => {
        const ground = over(token(wash, theme), token('page', theme));
        return contrast(token(name, theme), ground) < 4.5;
      });
      expect(unreadable).toEqual([]);
    },
  );

  it('the colours that terminal programs use can be read (contrast of level AA)', () => {
    const names = [...css.matchAll(/--(ansi-\w+):/g)].map(([, name]) => name!);
    expect(names).toHaveLength(16);
    const ground = token('sunken', theme);
    expect(names.filter((name) => contrast(token(name, theme), ground) < 4.5)).toEqual([]);
  });

  it('the borders of controls are visible', () => {
    for (const name of ['accent', 'warning', 'danger']) {
      expect(contrast(token(name, theme), token('page', theme))).toBeGreaterThanOrEqual(3);
    }
  });
});
