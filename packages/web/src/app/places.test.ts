import { expect, it } from 'vitest';
import { closeTab, fromPath, moveTab, openTab, readTabs, toPath } from './places.ts';
import { keepTabs } from './use-kept-tabs.ts';

const three = { tabs: ['a', 'b', 'c'], active: 'b' };

it('a session opens in a new tab, or in the one it has', () => {
  expect(openTab(three, 'd')).toEqual({ tabs: ['a', 'b', 'c', 'd'], active: 'd' });
  expect(openTab(three, 'a')).toEqual({ tabs: ['a', 'b', 'c'], active: 'a' });
});

it('the neighbour takes over from the active tab that is closed', () => {
  expect(closeTab(three, 'b')).toEqual({ tabs: ['a', 'c'], active: 'c' });
  expect(closeTab({ ...three, active: 'c' }, 'c')).toEqual({ tabs: ['a', 'b'], active: 'b' });
  expect(closeTab(three, 'a')).toEqual({ tabs: ['b', 'c'], active: 'b' });
  expect(closeTab({ tabs: ['a'], active: 'a' }, 'a')).toEqual({ tabs: [], active: undefined });
  expect(closeTab(three, 'unknown')).toBe(three);
});

it('a tab moves to the place of another', () => {
  expect(moveTab(three, 'a', 'c').tabs).toEqual(['b', 'c', 'a']);
  expect(moveTab(three, 'c', 'a').tabs).toEqual(['c', 'a', 'b']);
  expect(moveTab(three, 'a', 'unknown')).toBe(three);
});

it('a place has an address', () => {
  expect(fromPath(toPath('a/b c'))).toBe('a/b c');
  expect(fromPath(toPath(undefined))).toBeUndefined();
  expect(fromPath('/session/%')).toBeUndefined();
  expect(fromPath('/elsewhere')).toBeUndefined();
});

it('stored tabs are read with care', () => {
  expect(readTabs('["a","b","a",3,""]')).toEqual(['a', 'b']);
  expect(readTabs('{"a":1}')).toEqual([]);
  expect(readTabs('nonsense')).toEqual([]);
  expect(readTabs(null)).toEqual([]);
});

it('pages of the tabs looked at last are kept, those of closed tabs are not', () => {
  const tabs = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const kept = tabs.reduce<readonly string[]>((held, tab) => keepTabs(held, tabs, tab), []);
  expect(kept).toEqual(['b', 'c', 'd', 'e', 'f', 'g']);
  expect(keepTabs(kept, tabs, 'b')).toBe(kept);
  expect(keepTabs(kept, ['b', 'g'], 'g')).toEqual(['b', 'g']);
});
