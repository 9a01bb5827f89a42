import { cpuMsOf } from '@liminal/testkit/cpu-time';
import { expect, test } from 'vitest';
import { cutDepth } from './depth.ts';

test('checking a line takes time in proportion to its length, whatever the line contains', () => {
  for (const text of ['\\"'.repeat(1_000_000), '['.repeat(2_000_000), '\\'.repeat(2_000_000)]) {
    const check = () => {
      cutDepth(`["${text}"]`);
      cutDepth(text);
    };
    expect(cpuMsOf(check)).toBeLessThan(2_000);
  }
});
