import { expect, test } from 'vitest';
import { Sessions } from './sessions.ts';

class Played {
  isAlive = true;
  ends = 0;
  readonly remembered: string;

  constructor(remembered: string) {
    this.remembered = remembered;
  }

  async kill(): Promise<void> {
    this.isAlive = false;
    this.ends += 1;
  }
}

const make = () => new Sessions<Played, string>('Played');

test('a session that was ended is forgotten but for what starting it again needs', async () => {
  const sessions = make();
  sessions.put('a', new Played('what a needs'));
  expect(sessions.isAlive('a')).toBe(true);
  await sessions.end('a');
  expect(sessions.has('a')).toBe(false);
  expect(sessions.isAlive('a')).toBe(false);
  expect(sessions.remembered('a')).toBe('what a needs');
  expect(() => sessions.get('a')).toThrow(expect.objectContaining({ code: 'PROCESS_CRASH' }));
});

test('nothing is done with one that was ended, and one that never was is not found', async () => {
  const sessions = make();
  sessions.put('a', new Played(''));
  await sessions.end('a');
  await sessions.unlessEnded('a', () => {
    throw new Error('It was done.');
  });
  await sessions.end('b');
  await expect(sessions.unlessEnded('b', () => {})).rejects.toMatchObject({
    code: 'SESSION_NOT_FOUND',
  });
});

test('one that was started again while the one before was being ended stays', async () => {
  const sessions = make();
  const [first, second] = [new Played('first'), new Played('second')];
  sessions.put('a', first);
  const ending = sessions.end('a');
  sessions.put('a', second);
  await ending;
  expect(first.ends).toBe(1);
  expect(sessions.get('a')).toBe(second);
});

test('of those that were ended a thousand are remembered, the newest', async () => {
  const sessions = make();
  for (let count = 0; count <= 1_000; count += 1) {
    sessions.put(`${count}`, new Played(`${count}`));
    await sessions.end(`${count}`);
  }
  expect(sessions.remembered('0')).toBeUndefined();
  expect(sessions.remembered('1')).toBe('1');
  expect(sessions.remembered('1000')).toBe('1000');
});
