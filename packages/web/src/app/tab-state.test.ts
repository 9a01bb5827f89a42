import { expect, it } from 'vitest';
import {
  closeOthers,
  closeTab,
  keepTab,
  restoredTabs,
  showStartPage,
  moveTab,
  openTab,
  tabStateAt,
  previewTab,
  readTabs,
  toAddress,
} from './tab-state.ts';
import { nextMountedTabs } from './use-mounted-tabs.ts';

const three = { tabs: ['a', 'b', 'c'], active: 'b' };
const looking = { tabs: ['a', 'p', 'b'], active: 'p', preview: 'p' };

it('a session opens in a new tab, or in its existing tab if it has one', () => {
  expect(openTab(three, 'd')).toEqual({ tabs: ['a', 'b', 'c', 'd'], active: 'd' });
  expect(openTab(three, 'a')).toEqual({ tabs: ['a', 'b', 'c'], active: 'a' });
});

it('a previewed session replaces the session that was previewed before', () => {
  expect(previewTab(three, 'd')).toEqual({
    ...three,
    tabs: [...three.tabs, 'd'],
    active: 'd',
    preview: 'd',
  });
  expect(previewTab(looking, 'q')).toEqual({ tabs: ['a', 'q', 'b'], active: 'q', preview: 'q' });
  expect(previewTab(looking, 'a')).toEqual({ ...looking, active: 'a' });
  expect(previewTab(looking, 'p')).toEqual(looking);
});

it('a kept tab is not replaced by another session', () => {
  const kept = keepTab(looking, 'p');
  expect(kept).toEqual({ tabs: ['a', 'p', 'b'], active: 'p' });
  expect(previewTab(kept, 'q').tabs).toEqual(['a', 'p', 'b', 'q']);
  expect(keepTab(looking, 'a')).toBe(looking);
  expect(openTab(looking, 'p')).toEqual(kept);
  expect(moveTab(looking, 'p', 'a')).toEqual({ tabs: ['p', 'a', 'b'], active: 'p' });
});

it('only kept tabs survive a reload', () => {
  expect(restoredTabs(looking)).toEqual(['a', 'b']);
  expect(restoredTabs(three)).toEqual(['a', 'b', 'c']);
});

it('when the active tab is closed, the neighbouring tab becomes active', () => {
  expect(closeTab(three, 'b')).toEqual({ tabs: ['a', 'c'], active: 'c' });
  expect(closeTab({ ...three, active: 'c' }, 'c')).toEqual({ tabs: ['a', 'b'], active: 'b' });
  expect(closeTab(three, 'a')).toEqual({ tabs: ['b', 'c'], active: 'b' });
  expect(closeTab({ tabs: ['a'], active: 'a' }, 'a')).toEqual({ tabs: [], active: undefined });
  expect(closeTab(looking, 'p')).toEqual({ tabs: ['a', 'b'], active: 'b' });
  expect(closeTab(three, 'unknown')).toBe(three);
});

it('closeOthers closes all tabs except the given tab', () => {
  expect(closeOthers(looking, 'a')).toEqual({ tabs: ['a'], active: 'a' });
  expect(closeOthers(three, 'unknown')).toBe(three);
});

it('a tab can be moved to the position of another tab', () => {
  expect(moveTab(three, 'a', 'c').tabs).toEqual(['b', 'c', 'a']);
  expect(moveTab(three, 'c', 'a').tabs).toEqual(['c', 'a', 'b']);
  expect(moveTab(three, 'a', 'unknown')).toBe(three);
});

const at = (address: string) => {
  const { pathname, hash } = new URL(address, 'http://localhost');
  return tabStateAt(three, { pathname, hash });
};

it('each session has its own address, and so has each item in a session', () => {
  expect(at(toAddress({ active: 'b' }))).toEqual(three);
  expect(at(toAddress({ active: 'x/y z' }))).toMatchObject({ active: 'x/y z', preview: 'x/y z' });
  const item = at(toAddress({ active: 'b', target: { id: 'r1:0 #%' } }));
  expect(item).toEqual({ ...three, target: { id: 'r1:0 #%' } });
  expect(at(toAddress({}))).toEqual({ tabs: three.tabs });
  expect(at('/session/%').active).toBeUndefined();
  expect(at('/elsewhere').active).toBeUndefined();
  expect(at('/session/b#item-%').target).toBeUndefined();
});

it('the next navigation removes the target item', () => {
  const item = previewTab(three, 'b', { id: 'i' });
  expect(previewTab(item, 'a').target).toBeUndefined();
  expect(previewTab(item, 'b').target).toBeUndefined();
  expect(showStartPage(item)).toEqual({ tabs: three.tabs });
  expect(closeTab(item, 'b').target).toBeUndefined();
  expect(closeTab(item, 'a').target).toEqual({ id: 'i' });
});

it('readTabs reads stored tabs, and returns no tabs for any other value', () => {
  expect(readTabs('["a","b","a",3,""]')).toEqual(['a', 'b']);
  expect(readTabs('{"a":1}')).toEqual([]);
  expect(readTabs('nonsense')).toEqual([]);
  expect(readTabs(null)).toEqual([]);
});

it('the pages of the tabs that were shown last stay mounted; the pages of closed tabs do not', () => {
  const tabs = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const kept = tabs.reduce<readonly string[]>((held, tab) => nextMountedTabs(held, tabs, tab), []);
  expect(kept).toEqual(['b', 'c', 'd', 'e', 'f', 'g']);
  expect(nextMountedTabs(kept, tabs, 'b')).toBe(kept);
  expect(nextMountedTabs(kept, ['b', 'g'], 'g')).toEqual(['b', 'g']);
});
