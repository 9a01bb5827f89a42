import { describe, expect, test } from 'vitest';
import type { ApprovalOption } from './content.ts';
import { defaultOption } from './default-option.ts';

const kinds: ApprovalOption['kind'][] = [
  'allow_once',
  'allow_always',
  'reject_once',
  'reject_always',
];

/** Every list of up to four options with these kinds, in every order. */
function optionLists(length = 4): ApprovalOption['kind'][][] {
  if (length === 0) return [[]];
  const shorter = optionLists(length - 1);
  const longest = shorter.filter((list) => list.length === length - 1);
  return [...shorter, ...longest.flatMap((list) => kinds.map((kind) => [...list, kind]))];
}

const optionsOf = (list: readonly ApprovalOption['kind'][]): ApprovalOption[] =>
  list.map((kind, at) => ({ optionId: `${at}`, name: kind, kind }));

describe('the option that a default chooses', () => {
  test.each<[ApprovalOption['kind'][], allow: string | undefined, reject: string | undefined]>([
    [[], undefined, undefined],
    [['allow_once', 'reject_once'], '0', '1'],
    [['reject_always', 'allow_once', 'allow_always'], '1', '0'],
    [['allow_once', 'allow_always'], '0', undefined],
    [['allow_always', 'reject_always'], undefined, '1'],
    [['allow_always'], undefined, undefined],
    [['reject_always', 'reject_once'], undefined, '1'],
    [['reject_once', 'reject_once', 'allow_always'], undefined, '0'],
    [['allow_once', 'allow_once', 'reject_once'], undefined, '2'],
  ])('among %j is %s for allow and %s for reject', (list, allow, reject) => {
    const options = optionsOf(list);
    expect(defaultOption(options, 'allow')?.optionId).toBe(allow);
    expect(defaultOption(options, 'reject')?.optionId).toBe(reject);
  });

  test('SAFE: never grants permanently and never turns a refusal into a grant, for any list of options', () => {
    for (const list of optionLists()) {
      const options = optionsOf(list);
      expect([undefined, 'allow_once']).toContain(defaultOption(options, 'allow')?.kind);
      const rejecting = list.find((kind) => kind === 'reject_once') ?? 'reject_always';
      const rejected = list.includes(rejecting) ? rejecting : undefined;
      expect(defaultOption(options, 'reject')?.kind).toBe(rejected);
    }
  });

  test('SAFE: never shares its id with an option of another kind', () => {
    const options = [...optionsOf(['reject_once']), ...optionsOf(['allow_always'])];
    expect(defaultOption(options, 'reject')).toBeUndefined();
  });

  test('SAFE: never has an unknown kind', () => {
    for (const kind of kinds) {
      const options = [{ optionId: 'x', name: 'X', kind, isUnclear: true }];
      expect(defaultOption(options, 'allow')).toBeUndefined();
      expect(defaultOption(options, 'reject')).toBeUndefined();
    }
  });
});
