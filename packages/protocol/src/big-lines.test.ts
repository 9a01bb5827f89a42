import { expect, test } from 'vitest';
import { cutDepth } from './depth.ts';

test('lines of any kind are gone through in a time that grows with their length only', () => {
  for (const text of ['\\"'.repeat(1_000_000), '['.repeat(2_000_000), '\\'.repeat(2_000_000)]) {
    const began = performance.now();
    cutDepth(`["${text}"]`);
    cutDepth(text);
    expect(performance.now() - began).toBeLessThan(2_000);
  }
});
