import { expect, test } from 'vitest';
import { UnplacedUpdates } from './unplaced-updates.ts';

test('kept values are returned once, and the newest late update of each call comes last', () => {
  const news = new UnplacedUpdates();
  news.late('c', { n: 1 });
  news.add('a', 'b');
  news.late('d', { n: 2 });
  news.late('c', { n: 3 });
  expect(news.take()).toEqual(['a', 'b', { n: 3 }, { n: 2 }]);
  expect(news.take()).toEqual([]);
});

test('SAFE: late updates are kept for the first hundred calls', () => {
  const news = new UnplacedUpdates();
  for (let n = 0; n < 150; n += 1) news.late(`c${n}`, n);
  news.late('c0', 'newer');
  const kept = news.take();
  expect(kept).toHaveLength(100);
  expect([kept[0], kept.at(-1)]).toEqual(['newer', 99]);
});

test('SAFE: large late updates are only counted', () => {
  const news = new UnplacedUpdates();
  news.late('small', 'x'.repeat(39_998));
  news.late('large', 'x'.repeat(39_999));
  expect(news.take()).toEqual(['x'.repeat(39_998), { toolCallId: 'large', omitted: 1 }]);
});
