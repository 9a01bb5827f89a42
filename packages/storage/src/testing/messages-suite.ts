import { EventEmitter, once } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { TwoServers } from './subject.ts';

const longMs = 600_000;
const patience = { timeout: 15_000, interval: 10 };

/** Names and texts with characters that are special in a database. */
const odd = ['a*b', 'a?', '[a]', 'back\\slash', 'br{a}ce', '100%', '%7B', 'ß🧵', 'two\nlines'];

/** Collects received texts, and waits for them. */
class ReceivedTexts {
  readonly all: string[] = [];
  readonly #emitter = new EventEmitter();

  readonly receive = (what: string): void => {
    this.all.push(what);
    this.#emitter.emit('news');
  };

  async until(what: string): Promise<void> {
    while (!this.all.includes(what)) await once(this.#emitter, 'news');
  }
}

export function boardSuite(servers: () => TwoServers): void {
  describe('the board', () => {
    const watch = async (prefix: string) => {
      const heard = new ReceivedTexts();
      const onPost = (name: string, text: string) => heard.receive(`${name}=${text}`);
      const { board } = servers().two.coordination;
      const stop = await board.watch(prefix, { onPost, onGap: () => heard.receive('gap') });
      return { heard, stop };
    };

    test('shows the latest text under each name', async () => {
      const { one, two } = servers();
      await one.coordination.board.post('a', 'old', longMs);
      await one.coordination.board.post('a', 'new', longMs);
      await two.coordination.board.post('b', '', longMs);
      for (const { coordination } of [one, two]) {
        const texts = await coordination.board.read(['a', 'b', 'c']);
        expect([...texts]).toEqual([
          ['a', 'new'],
          ['b', ''],
        ]);
      }
    });

    test('forgets a text that is not posted again before it expires', async () => {
      const { board } = servers().one.coordination;
      await board.post('a', 'soon gone', 50);
      await board.post('b', 'stays', longMs);
      await expect
        .poll(async () => [...(await board.read(['a', 'b'])).keys()], patience)
        .toEqual(['b']);
    });

    test('notifies subscribers, in order, from any server', async () => {
      const { one, two } = servers();
      const { heard, stop } = await watch('room:');
      for (const text of ['1', '2', '3']) {
        await one.coordination.board.post('room:a', text, longMs);
        await two.coordination.board.post('room:b', text, longMs);
      }
      await heard.until('room:a=3');
      await heard.until('room:b=3');
      expect(heard.all.filter((what) => what.startsWith('room:a'))).toEqual([
        'room:a=1',
        'room:a=2',
        'room:a=3',
      ]);
      expect(heard.all).toHaveLength(6);
      await stop();
    });

    test('notifies only for names with the prefix, and not after the subscription has ended', async () => {
      const { board } = servers().one.coordination;
      const [exact, all] = [await watch('a*'), await watch('')];
      await board.post('axb', 'no', longMs);
      await board.post('a*b', 'yes', longMs);
      await exact.heard.until('a*b=yes');
      await all.heard.until('axb=no');
      await all.heard.until('a*b=yes');
      await exact.stop();
      await board.post('a*c', 'late', longMs);
      await all.heard.until('a*c=late');
      expect(exact.heard.all).toEqual(['a*b=yes']);
      expect(all.heard.all.toSorted()).toEqual(['a*b=yes', 'a*c=late', 'axb=no']);
      await all.stop();
    });

    test('does not end a second subscription for the same names when the first subscription ends', async () => {
      const [first, second] = [await watch('a'), await watch('a')];
      await first.stop();
      await servers().one.coordination.board.post('a', '1', longMs);
      await second.heard.until('a=1');
      expect(first.heard.all).toEqual([]);
      await second.stop();
    });

    test('accepts any name and any text', async () => {
      const { one, two } = servers();
      const { heard, stop } = await watch('');
      for (const name of odd) await one.coordination.board.post(name, name, longMs);
      for (const name of odd) await heard.until(`${name}=${name}`);
      expect(heard.all).toHaveLength(odd.length);
      expect([...(await two.coordination.board.read(odd)).values()]).toEqual(odd);
      await stop();
    });
  });
}

export function inboxSuite(servers: () => TwoServers): void {
  describe('inboxes', () => {
    test('receive messages from any server, each once and in order', async () => {
      const { one, two } = servers();
      const heard = new ReceivedTexts();
      const close = await two.coordination.inboxes.open('server-2', heard.receive);
      const messages = Array.from({ length: 300 }, (_, index) => String(index));
      for (const message of messages) {
        const from = Number(message) % 3 === 0 ? two : one;
        expect(await from.coordination.inboxes.send('server-2', message)).toBe(true);
      }
      await heard.until('299');
      expect(heard.all).toEqual(messages);
      await close();
    });

    test('an inbox accepts no messages before the inbox is opened, or after it is closed', async () => {
      const { one, two } = servers();
      expect(await one.coordination.inboxes.send('server-2', 'too early')).toBe(false);
      const heard = new ReceivedTexts();
      const close = await two.coordination.inboxes.open('server-2', heard.receive);
      await close();
      expect(await one.coordination.inboxes.send('server-2', 'too late')).toBe(false);
      const again = await two.coordination.inboxes.open('server-2', heard.receive);
      await one.coordination.inboxes.send('server-2', 'now');
      await heard.until('now');
      expect(heard.all).toEqual(['now']);
      await again();
    });

    test('are separate for any names and messages', async () => {
      const { one, two } = servers();
      const heard = new ReceivedTexts();
      const closers = odd.map(async (name) =>
        two.coordination.inboxes.open(name, (message) => heard.receive(`${name}: ${message}`)),
      );
      const open = await Promise.all(closers);
      for (const name of odd) await one.coordination.inboxes.send(name, name);
      for (const name of odd) await heard.until(`${name}: ${name}`);
      expect(heard.all).toHaveLength(odd.length);
      for (const close of open) await close();
    });
  });
}
