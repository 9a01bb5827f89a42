import fc from 'fast-check';
import { expect, test } from 'vitest';
import { editPermission, isAllowed } from './permissions.ts';
import type { Permission } from './tool.ts';

const rule: fc.Arbitrary<string> = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const rules = fc.array(rule);
const permission: fc.Arbitrary<Permission> = fc.record({ always: fc.string(), rule, also: rules });
const needed = fc.array(permission);

test('each permission that a call needs must be allowed by one of the permission’s rules', () => {
  fc.assert(
    fc.property(needed, rules, (several, given) => {
      const expected = several.filter((one) => {
        return ![one.rule, ...(one.also ?? [])].some((name) => given.includes(name));
      });
      return isAllowed(several, given) === (expected.length === 0);
    }),
  );
});

test('adding a rule never removes a permission', () => {
  fc.assert(
    fc.property(needed, rules, rule, (several, given, more) => {
      return !isAllowed(several, given) || isAllowed(several, [more, ...given]);
    }),
  );
});

test('the rules that an answer “always” creates allow the same call again', () => {
  fc.assert(
    fc.property(needed, (several) =>
      isAllowed(
        several,
        several.map((one) => one.rule),
      ),
    ),
  );
});

test.each([
  ['src/a/b.ts', 'edit:src/a/', 'edits in src/a/'],
  ['src/a.ts', 'edit:src/', 'edits in src/'],
  ['a.ts', 'edit:./', 'edits in the whole project'],
])('“Always” for a change of %s makes the rule %s', (name, made, always) => {
  expect(editPermission({ name, shown: name })).toMatchObject({ rule: made, always });
});

test('a folder’s rule applies below the folder, but not beside it', () => {
  const isCovered = (name: string, by: string) =>
    isAllowed([editPermission({ name, shown: name })], [by]);
  expect(isCovered('src/a/b.ts', 'edit:src/')).toBe(true);
  expect(isCovered('src/a/b.ts', 'edit:./')).toBe(true);
  expect(isCovered('src/a/b.ts', 'tool:edit')).toBe(true);
  expect(isCovered('b.ts', 'tool:edit')).toBe(true);
  expect(isCovered('src/a/b.ts', 'edit:src/a/b/')).toBe(false);
  expect(isCovered('srcs/b.ts', 'edit:src/')).toBe(false);
  expect(isCovered('b.ts', 'edit:src/')).toBe(false);
  expect(isCovered('src/b.ts', 'tool:bash')).toBe(false);
});

test('only rules for a folder outside of the project allow a change in that folder', () => {
  const shown = '/other/src/a.ts';
  const needed = editPermission({ name: 'src/a.ts', shown });
  expect(needed).toEqual({ always: 'edits in /other/src/', rule: 'edit:/other/src/' });
  expect(isAllowed([needed], ['tool:edit', 'edit:./', 'edit:src/'])).toBe(false);
});
