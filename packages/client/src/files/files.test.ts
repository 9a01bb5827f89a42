import { describe, expect, it } from 'vitest';
import { ApiError } from '../http/api-error.ts';
import { Files } from './files.ts';
import { type FileStorage, memoryFiles } from './storage.ts';

const away = new ApiError('UNREACHABLE', 0, 'The server did not answer.');
const hash = 'a'.repeat(64);

function device(storage: FileStorage = memoryFiles()) {
  const server = {
    uploads: 0,
    answer: async (): Promise<void> => undefined,
    putBlob: async (file: Blob) => {
      server.uploads += 1;
      await server.answer();
      return { uri: `blob:${hash}`, mimeType: file.type, size: file.size };
    },
    getBlob: async (named: string) => new Blob([`on the server: ${named}`]),
  };
  const files = new Files({ requests: server, storage, isConnected: () => false });
  return { server, files, stateOf: (uri: string) => files.uploads.getSnapshot().get(uri) };
}
const text = async (file: Promise<Blob>) => (await file).text();

describe('an attached file', () => {
  it('an attached file is read from this device, even after its message was sent, and another device reads it from the server', async () => {
    const { files } = device();
    const uri = await files.store(new Blob(['here']));
    expect(await text(files.read(uri))).toBe('here');
    const block = { type: 'image', mimeType: 'image/png', uri } as const;
    expect(await files.uploadAll([block])).toEqual([{ ...block, uri: `blob:${hash}` }]);
    files.forget([block]);
    expect(await text(files.read(uri))).toBe('here');
    expect(await text(files.read(`blob:${hash}`))).toBe('here');
    expect(await text(device().files.read(`blob:${hash}`))).toBe(`on the server: ${hash}`);
  });

  it('an attached file stays in memory after its upload only while there is room', async () => {
    const { files, server } = device();
    let uploads = 0;
    server.putBlob = async (file) => {
      uploads += 1;
      return { uri: `blob:${String(uploads).repeat(64)}`, mimeType: file.type, size: file.size };
    };
    const send = async (bytes: string): Promise<void> => {
      const uri = await files.store(new Blob([bytes]));
      const block = { type: 'image', mimeType: 'image/png', uri } as const;
      await files.uploadAll([block]);
      files.forget([block]);
    };
    await send('first');
    await send('second');
    expect(await text(files.read(`blob:${'1'.repeat(64)}`))).toBe('first');
    await send('x'.repeat(15_999_990));
    expect(await text(files.read(`blob:${'1'.repeat(64)}`))).toMatch(/^on the server/);
    expect(await text(files.read(`blob:${'2'.repeat(64)}`))).toBe('second');
  });

  it('an attached file is uploaded once, even if the upload is requested several times', async () => {
    const { files, server, stateOf } = device();
    const uri = await files.store(new Blob(['here']));
    files.start(uri);
    files.start(uri);
    expect(stateOf(uri)).toEqual({ state: 'uploading' });
    const resource = { uri, mimeType: 'text/plain', name: 'a.txt' };
    expect(await files.uploadAll([{ type: 'resource', resource }])).toEqual([
      { type: 'resource', resource: { ...resource, uri: `blob:${hash}` } },
    ]);
    expect(server.uploads).toBe(1);
    expect(stateOf(uri)).toEqual({ state: 'uploaded' });
  });

  it('an attached file waits while the server is unavailable, and is uploaded when the server is available again', async () => {
    const { files, server, stateOf } = device();
    server.answer = () => Promise.reject(away);
    const uri = await files.store(new Blob(['here']));
    files.start(uri);
    await expect.poll(() => stateOf(uri)).toEqual({ state: 'waiting' });
    server.answer = async () => undefined;
    files.flush();
    await expect.poll(() => stateOf(uri)).toEqual({ state: 'uploaded' });
  });

  it('an attached file that the server refuses has a reason, and is uploaded again only on request', async () => {
    const { files, server, stateOf } = device();
    const problem = { code: 'BLOB_TYPE_WRONG', message: 'It is no image.' };
    server.answer = () => Promise.reject(new ApiError(problem.code, 415, problem.message));
    const uri = await files.store(new Blob(['here']));
    files.start(uri);
    await expect.poll(() => stateOf(uri)).toEqual({ state: 'failed', problem });
    files.start(uri);
    files.flush();
    expect(server.uploads).toBe(1);
    server.answer = async () => undefined;
    files.retry(uri);
    await expect.poll(() => stateOf(uri)).toEqual({ state: 'uploaded' });
  });

  it('an attached file can be sent even if this device cannot store it', async () => {
    const full = async () => Promise.reject(new Error('full'));
    const { files, server } = device({ get: full, put: full, remove: full });
    const uri = await files.store(new Blob(['here']));
    expect(await text(files.read(uri))).toBe('here');
    await files.uploadAll([{ type: 'image', mimeType: 'image/png', uri }]);
    expect(server.uploads).toBe(1);
  });
});
