import { describe, expect, it } from 'vitest';
import { ApiError } from '../http/api-error.ts';
import { Outbox, type OutboxChange } from './outbox.ts';
import { memoryOutbox, type OutboxStorage } from './storage.ts';

const away = new ApiError('UNREACHABLE', 0, 'The server did not answer.');

/** A server that takes each turn once, and can be away, lose its answer or refuse. */
class Server {
  readonly taken = new Map<string, string>();
  attempts = 0;
  does: 'answer' | 'be away' | 'lose the answer' | 'refuse' = 'answer';

  send = async (_: string, message: string, turnId = '') => {
    this.attempts += 1;
    if (this.does === 'be away') throw away;
    if (this.does === 'refuse') throw new ApiError('QUEUE_FULL', 409, 'Enough.');
    this.taken.set(turnId, message);
    if (this.does === 'lose the answer') throw away;
    return { turnId, queued: false };
  };

  get messages() {
    return [...this.taken.values()];
  }
}

function page(server: Server, storage: OutboxStorage = memoryOutbox()) {
  const outbox = new Outbox({ requests: server, storage, isConnected: () => false });
  const told: OutboxChange[] = [];
  outbox.changed.on((change) => told.push(change));
  return { outbox, told, states: () => told.map(({ state }) => state) };
}

describe('a message', () => {
  it('is kept until the server has it', async () => {
    const storage = memoryOutbox();
    const server = new Server();
    const { outbox, states } = page(server, storage);
    await outbox.send('s', 'Hello');
    expect(server.messages).toEqual(['Hello']);
    expect(states()).toEqual(['sending', 'delivered']);
    expect(await storage.load()).toEqual([]);
  });

  it('waits while the server is away, and is sent in order when it is back', async () => {
    const server = new Server();
    server.does = 'be away';
    const { outbox, states } = page(server);
    await outbox.send('s', 'one');
    await outbox.send('s', 'two');
    expect(states()).toContain('waiting');
    expect(outbox.of('s').map(({ message }) => message)).toEqual(['one', 'two']);
    server.does = 'answer';
    outbox.flush();
    await expect.poll(() => server.messages).toEqual(['one', 'two']);
    expect(outbox.of('s')).toEqual([]);
  });

  it('outlives its page, and is sent by the next one', async () => {
    const storage = memoryOutbox();
    const server = new Server();
    server.does = 'be away';
    await page(server, storage).outbox.send('s', 'one');
    server.does = 'answer';
    const next = page(server, storage);
    await next.outbox.open();
    await expect.poll(() => server.messages).toEqual(['one']);
    expect(next.states()).toEqual(['waiting', 'delivered']);
  });

  it('keeps its turn id on each attempt, so that a lost answer makes no second turn', async () => {
    const server = new Server();
    server.does = 'lose the answer';
    const { outbox } = page(server);
    await outbox.send('s', 'one');
    server.does = 'answer';
    outbox.flush();
    await expect.poll(() => outbox.of('s')).toEqual([]);
    expect([server.attempts, server.messages]).toEqual([2, ['one']]);
  });

  it('that is refused waits for a person, and blocks none behind it', async () => {
    const storage = memoryOutbox();
    const server = new Server();
    server.does = 'refuse';
    const { outbox, told } = page(server, storage);
    await outbox.send('s', 'one');
    expect(told.at(-1)).toMatchObject({ state: 'refused', problem: { message: 'Enough.' } });
    expect(await storage.load()).toMatchObject([{ message: 'one' }]);
    server.does = 'answer';
    await outbox.send('s', 'two');
    expect(server.messages).toEqual(['two']);
    await outbox.sendAgain(outbox.of('s')[0]!.turnId);
    expect(server.messages).toEqual(['two', 'one']);
  });

  it('that is taken back is not sent', async () => {
    const server = new Server();
    server.does = 'be away';
    const { outbox, states } = page(server);
    await outbox.send('s', 'one');
    outbox.forget(outbox.of('s')[0]!.turnId);
    server.does = 'answer';
    await outbox.send('s', 'two');
    expect(server.messages).toEqual(['two']);
    expect(states()).toContain('gone');
  });

  it('is sent even if storage fails', async () => {
    const full = async () => Promise.reject(new Error('full'));
    const server = new Server();
    await page(server, { ...memoryOutbox(), put: full, load: full, remove: full }).outbox.send(
      's',
      'x',
    );
    expect(server.messages).toEqual(['x']);
  });
});

describe('two pages with one storage', () => {
  it('send each message once, and both know that it is gone', async () => {
    const storage = memoryOutbox();
    const server = new Server();
    server.does = 'be away';
    const [ours, theirs] = [page(server, storage), page(server, storage)];
    await ours.outbox.send('s', 'one');
    await theirs.outbox.open();
    await expect.poll(() => server.attempts).toBe(2);
    expect(theirs.outbox.of('s')).toHaveLength(1);
    server.does = 'answer';
    ours.outbox.flush();
    await expect.poll(() => server.messages).toEqual(['one']);
    const before = server.attempts;
    theirs.outbox.flush();
    await expect.poll(() => theirs.outbox.of('s')).toEqual([]);
    expect(server.attempts).toBe(before);
    expect(theirs.states().at(-1)).toBe('gone');
  });
});
