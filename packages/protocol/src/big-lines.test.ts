import { expect, test } from 'vitest';
import { cutDepth } from './depth.ts';

test('checking lines of any kind takes time in proportion to their length', () => {
  for (const text of ['\\"'.repeat(1_000_000), '['.repeat(2_000_000), '\\'.repeat(2_000_000)]) {
    const began = performance.now();
    cutDepth(`["${text}"]`);
    cutDepth(text);
    expect(performance.now() - began).toBeLessThan(2_000);
  }
});
