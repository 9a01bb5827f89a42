import { LiminalError } from '@liminal/protocol';
import { expect, test } from 'vitest';
import type { AttachedClient } from '../api.ts';
import { AttachedClients } from './attached-clients.ts';

interface Options extends Partial<AttachedClient> {
  text?: string;
}

/** A client that returns this text for every file, and logs each call. */
function client(name: string, log: string[], { text, ...more }: Options = {}): AttachedClient {
  return {
    startedTurn: () => false,
    readText: async () => {
      log.push(`read ${name}`);
      if (text === undefined) throw new Error('no such text');
      return text;
    },
    writeText: async () => void log.push(`write ${name}`),
    ...more,
  };
}

function attach(...clients: AttachedClient[]) {
  const attached = new AttachedClients();
  const leave = clients.map((one) => attached.add('s', one));
  return { files: attached.files('s', () => 'turn'), leave, attached };
}

test('the client that began the turn is asked first, then the client that attached last', async () => {
  const log: string[] = [];
  const asker = client('asker', log, { startedTurn: (turnId) => turnId === 'turn' });
  const { files } = attach(client('old', log), asker, client('new', log));
  expect(await files.read('/a')).toBeUndefined();
  expect(log).toEqual(['read asker', 'read new', 'read old']);
  expect(await files.write('/a', 'x')).toBe(true);
  expect(log.at(-1)).toBe('write asker');
});

test('a file that a client does not have is read from the next client; if no client has the file, it is read from the disk', async () => {
  const log: string[] = [];
  const { files, leave } = attach(client('one', log, { text: 'mine' }), client('two', log));
  expect(await files.read('/a')).toBe('mine');
  expect(log).toEqual(['read two', 'read one']);
  for (const one of leave) one();
  expect(await files.read('/a')).toBeUndefined();
  expect(await files.write('/a', 'x')).toBe(false);
});

test('only clients of this session are asked, and only for features that they have', async () => {
  const log: string[] = [];
  const { files, attached } = attach(client('unreadable', log, { readText: undefined }));
  attached.add('other', client('other', log, { text: 'theirs' }));
  expect(await files.read('/a')).toBeUndefined();
  // The client's unsaved text cannot be read, and a write would overwrite it.
  expect(await files.write('/a', 'x')).toBe(false);
  expect(log).toEqual([]);
});

test('if a client refuses a write, the agent gets the client’s error; if a client does not answer, the outcome of the write is unknown', async () => {
  const failing = (error: Error) => ({
    text: '',
    writeText: async () => {
      throw error;
    },
  });
  const refusal = new LiminalError('CLIENT_REFUSED', 'It is locked.');
  await expect(
    attach(client('a', [], failing(refusal))).files.write('/a', 'x'),
  ).rejects.toMatchObject({
    code: 'CLIENT_REFUSED',
    message: 'The editor did not write “/a”: It is locked.',
  });
  const gone = attach(client('a', [], failing(new Error('ACP connection closed'))));
  await expect(gone.files.write('/a', 'x')).rejects.toMatchObject({
    code: 'CLIENT_SILENT',
    message: expect.stringMatching(/^Whether “\/a” was written is not known.*Read it again\.$/),
  });
});
