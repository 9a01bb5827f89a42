import type { ContentBlock } from '@liminal/protocol';
import { describe, expect, it } from 'vitest';
import { Files } from '../files/files.ts';
import { type FileStorage, memoryFiles } from '../files/storage.ts';
import { ApiError } from '../http/api-error.ts';
import { Outbox, type OutboxChange } from './outbox.ts';
import { memoryOutbox, type OutboxStorage } from './storage.ts';

const away = new ApiError('UNREACHABLE', 0, 'The server did not answer.');

/**
 * A server that accepts each turn once. Tests can make the server unavailable, make it refuse a message, or make it
 * lose an answer.
 */
class Server {
  readonly taken = new Map<string, string>();
  /** The attachments of each message, as the texts of the files. */
  readonly attached: string[][] = [];
  /** The uploaded files, by name. */
  readonly files = new Map<string, string>();
  /** The messages for running turns, by the ids of the messages. */
  readonly steered = new Map<string, string>();
  /** Whether a turn is running. */
  runs = true;
  attempts = 0;
  /** For each message, whether it may be a shell command. */
  readonly mayRun: boolean[] = [];
  does: 'answer' | 'be away' | 'lose the answer' | 'refuse' = 'answer';

  send = async (
    _: string,
    message: string,
    turnId = '',
    {
      blocks = [],
      runCommand = false,
    }: { blocks?: ContentBlock[] | undefined; runCommand?: boolean | undefined } = {},
  ) => {
    this.attempts += 1;
    this.mayRun.push(runCommand);
    if (this.does === 'be away') throw away;
    if (this.does === 'refuse') throw new ApiError('QUEUE_FULL', 409, 'Enough.');
    const files = blocks.map((block) => this.files.get('uri' in block ? block.uri! : ''));
    if (files.includes(undefined)) throw new ApiError('BLOB_NOT_FOUND', 404, 'Attach it again.');
    this.taken.set(turnId, message);
    this.attached.push(files as string[]);
    if (this.does === 'lose the answer') throw away;
    return { turnId, queued: false };
  };

  steer = async (_: string, message: string, messageId = '') => {
    this.attempts += 1;
    if (this.does === 'be away') throw away;
    if (!this.runs) throw new ApiError('NOTHING_TO_STEER', 409, 'No turn is running.');
    this.steered.set(messageId, message);
    return { turnId: 't' };
  };

  putBlob = async (file: Blob) => {
    if (this.does === 'be away') throw away;
    const text = await file.text();
    const uri = `blob:${Buffer.from(text).toString('hex').padEnd(64, '0')}`;
    this.files.set(uri, text);
    return { uri, mimeType: file.type, size: file.size };
  };

  getBlob = async () => Promise.reject(away);

  get messages() {
    return [...this.taken.values()];
  }
}

function page(
  server: Server,
  storage: OutboxStorage = memoryOutbox(),
  kept: FileStorage = memoryFiles(),
) {
  const isConnected = () => false;
  const files = new Files({ requests: server, storage: kept, isConnected });
  const outbox = new Outbox({ requests: server, files, storage, isConnected });
  const told: OutboxChange[] = [];
  outbox.changed.on((change) => told.push(change));
  return { outbox, files, told, states: () => told.map(({ state }) => state) };
}

/** Attaches a file, and returns the block that refers to it. */
async function attach(files: Files, text: string): Promise<ContentBlock> {
  return { type: 'image', mimeType: 'image/png', uri: await files.store(new Blob([text])) };
}

describe('a message', () => {
  it('a message is stored until the server has received it', async () => {
    const storage = memoryOutbox();
    const server = new Server();
    const { outbox, states } = page(server, storage);
    await outbox.send('s', 'Hello');
    expect(server.messages).toEqual(['Hello']);
    expect(states()).toEqual(['sending', 'delivered']);
    expect(await storage.load()).toEqual([]);
  });

  it('SAFE: a message may be a shell command only if the client allows commands', async () => {
    const server = new Server();
    await page(server).outbox.send('s', '!ls');
    const isConnected = () => false;
    const files = new Files({ requests: server, storage: memoryFiles(), isConnected });
    const storage = memoryOutbox();
    const deps = { requests: server, files, storage, isConnected, runCommands: true };
    await new Outbox(deps).send('s', '!ls');
    expect(server.mayRun).toEqual([false, true]);
  });

  it('a message waits while the server is unavailable; afterwards, all waiting messages are sent in order', async () => {
    const server = new Server();
    server.does = 'be away';
    const { outbox, states } = page(server);
    await outbox.send('s', 'one');
    await outbox.send('s', 'two');
    expect(states()).toContain('waiting');
    expect(outbox.messagesOf('s').map(({ message }) => message)).toEqual(['one', 'two']);
    server.does = 'answer';
    outbox.flush();
    await expect.poll(() => server.messages).toEqual(['one', 'two']);
    expect(outbox.messagesOf('s')).toEqual([]);
  });

  it('a message is kept after its page was closed, and is sent by the next page', async () => {
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

  it('a message has the same turn id on each attempt, so that a lost answer does not cause a second turn', async () => {
    const server = new Server();
    server.does = 'lose the answer';
    const { outbox } = page(server);
    await outbox.send('s', 'one');
    server.does = 'answer';
    outbox.flush();
    await expect.poll(() => outbox.messagesOf('s')).toEqual([]);
    expect([server.attempts, server.messages]).toEqual([2, ['one']]);
  });

  it('a message that is refused waits for a person’s decision, and later messages are sent', async () => {
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
    await outbox.sendAgain(outbox.messagesOf('s')[0]!.turnId);
    expect(server.messages).toEqual(['two', 'one']);
  });

  it('a message that is withdrawn is not sent', async () => {
    const server = new Server();
    server.does = 'be away';
    const { outbox, states } = page(server);
    await outbox.send('s', 'one');
    outbox.forget(outbox.messagesOf('s')[0]!.turnId);
    server.does = 'answer';
    await outbox.send('s', 'two');
    expect(server.messages).toEqual(['two']);
    expect(states()).toContain('gone');
  });

  it('a message is sent even if the storage fails', async () => {
    const full = async () => Promise.reject(new Error('full'));
    const server = new Server();
    await page(server, { ...memoryOutbox(), put: full, load: full, remove: full }).outbox.send(
      's',
      'x',
    );
    expect(server.messages).toEqual(['x']);
  });
});

describe('a message for the running turn', () => {
  it('a message for the running turn is sent into that turn, and keeps its position among the other messages', async () => {
    const server = new Server();
    const { outbox, states } = page(server);
    await outbox.send('s', 'A word', [], { isSteer: true });
    expect([[...server.steered.values()], server.messages]).toEqual([['A word'], []]);
    expect(states()).toEqual(['sending', 'delivered']);
  });

  it('if a message for the running turn has waited until the turn has ended, it is not sent as a new turn, and a person decides', async () => {
    const storage = memoryOutbox();
    const server = new Server();
    server.does = 'be away';
    await page(server, storage).outbox.send('s', 'A word', [], { isSteer: true });
    server.does = 'answer';
    server.runs = false;
    const { outbox, told } = page(server, storage);
    await outbox.open();
    await expect.poll(() => told.at(-1)?.state).toBe('refused');
    expect(told.at(-1)).toMatchObject({ isSteer: true, problem: { code: 'NOTHING_TO_STEER' } });
    expect(server.messages).toEqual([]);

    await outbox.sendAgain(outbox.messagesOf('s')[0]!.turnId);
    expect([server.messages, server.steered.size, outbox.messagesOf('s')]).toEqual([
      ['A word'],
      0,
      [],
    ]);
  });
});

describe('a message with files', () => {
  it('a message with files is sent after its files are uploaded; the files are then removed from this device', async () => {
    const kept = memoryFiles();
    const server = new Server();
    const { outbox, files } = page(server, memoryOutbox(), kept);
    const blocks = [await attach(files, 'one'), await attach(files, 'two')];
    await outbox.send('s', '', blocks);
    expect(server.attached).toEqual([['one', 'two']]);
    for (const block of blocks)
      expect(await kept.get((block as { uri: string }).uri)).toBe(undefined);
  });

  it('a message with files is kept with its files after its page was closed, and the files are shown while the message waits', async () => {
    const [storage, kept] = [memoryOutbox(), memoryFiles()];
    const server = new Server();
    server.does = 'be away';
    const before = page(server, storage, kept);
    const block = await attach(before.files, 'one');
    await before.outbox.send('s', 'Look', [block]);
    expect(before.told.at(-1)).toMatchObject({ state: 'waiting', blocks: [block] });
    expect(server.attempts).toBe(0);

    server.does = 'answer';
    const next = page(server, storage, kept);
    await next.outbox.open();
    await expect.poll(() => server.messages).toEqual(['Look']);
    expect(server.attached).toEqual([['one']]);
    expect(next.told[0]).toMatchObject({ state: 'waiting', blocks: [block] });
  });

  it('if the server has deleted the upload of a file while the message waited, the file is uploaded again', async () => {
    const server = new Server();
    const { outbox, files } = page(server);
    const block = await attach(files, 'one');
    await files.uploadAll([block]);
    server.files.clear();
    await outbox.send('s', 'Look', [block]);
    expect(server.attached).toEqual([['one']]);
  });

  it('if the files of a message are lost, the message is refused, with advice', async () => {
    const { outbox, told } = page(new Server());
    await outbox.send('s', 'Look', [{ type: 'image', mimeType: 'image/png', uri: 'local:gone' }]);
    expect(told.at(-1)).toMatchObject({ state: 'refused', problem: { code: 'FILE_LOST' } });
  });

  it('a message that is withdrawn during the upload of its files is not sent, and its files are kept', async () => {
    const kept = memoryFiles();
    const server = new Server();
    const { outbox, files } = page(server, memoryOutbox(), kept);
    const block = await attach(files, 'one');
    const { putBlob } = server;
    server.putBlob = async (file) => {
      outbox.forget(outbox.messagesOf('s')[0]!.turnId);
      return putBlob(file);
    };
    await outbox.send('s', 'Look', [block]);
    expect(server.messages).toEqual([]);
    expect(await files.read((block as { uri: string }).uri).then((file) => file.text())).toBe(
      'one',
    );
  });
});

describe('two pages with one storage', () => {
  it('two pages with the same storage send each message once, and both pages then remove the message', async () => {
    const storage = memoryOutbox();
    const server = new Server();
    server.does = 'be away';
    const [ours, theirs] = [page(server, storage), page(server, storage)];
    await ours.outbox.send('s', 'one');
    await theirs.outbox.open();
    await expect.poll(() => server.attempts).toBe(2);
    expect(theirs.outbox.messagesOf('s')).toHaveLength(1);
    server.does = 'answer';
    ours.outbox.flush();
    await expect.poll(() => server.messages).toEqual(['one']);
    const before = server.attempts;
    theirs.outbox.flush();
    await expect.poll(() => theirs.outbox.messagesOf('s')).toEqual([]);
    expect(server.attempts).toBe(before);
    expect(theirs.states().at(-1)).toBe('gone');
  });
});
