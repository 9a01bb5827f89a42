/** Generates files: any bytes as a blob, and exports of a session that were cut, changed or compressed. */
import { gzipSync } from 'node:zlib';
import { refusalsOfAny, serverOperations, UploadedBlob } from '@liminal/protocol';
import fc from 'fast-check';
import { expect } from 'vitest';
import { fewHarms, type Harm, linesOf } from '../hostile/stream.ts';
import { expectNamed, type FuzzStage } from './stage.ts';

type Upload =
  | { to: 'blob'; type: string; bytes: Uint8Array; times: number }
  | { to: 'import'; bytes: Uint8Array }
  /** An export of a session. `cut` is the part of the export that is sent, in thousandths. */
  | {
      to: 'import';
      harms: Harm[];
      flips: [at: number, byte: number][];
      cut: number;
      gzip: boolean;
    };

const types = fc.constantFrom(
  'image/png',
  'text/plain; charset=utf-8',
  'application/json',
  'application/octet-stream',
  'multipart/form-data; boundary=x',
  'x',
  '',
  'a/b; c="',
  `a/${'b'.repeat(2_000)}`,
);
const bytes = fc.uint8Array({ maxLength: 8_000 });

/** The size of the largest file that is sent for an import, in bytes. */
const importMax = 400_000;

export const uploads: fc.Arbitrary<Upload[]> = fc.array(
  fc.oneof(
    fc.record(
      {
        to: fc.constant('blob' as const),
        type: types,
        bytes,
        times: fc.oneof(fc.constant(1), fc.nat({ max: 400 })),
      },
      { noNullPrototype: true },
    ),
    fc.record({ to: fc.constant('import' as const), bytes }, { noNullPrototype: true }),
    fc.record(
      {
        to: fc.constant('import' as const),
        harms: fewHarms,
        flips: fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { maxLength: 3 }),
        cut: fc.oneof(fc.constant(1_000), fc.nat({ max: 1_000 })),
        gzip: fc.boolean(),
      },
      { noNullPrototype: true },
    ),
  ),
  { minLength: 1, maxLength: 4 },
);

export async function playUploads(all: readonly Upload[], stage: FuzzStage): Promise<void> {
  for (const upload of all) await playUpload(upload, stage);
}

async function playUpload(upload: Upload, stage: FuzzStage): Promise<void> {
  const body = await bytesOf(upload, stage);
  const { path, refusals } =
    upload.to === 'blob' ? serverOperations.putBlob : serverOperations.importSession;
  const type = upload.to === 'blob' ? upload.type : 'application/x-ndjson';
  stage.note(`POST ${path} ${type} ${body.length} ${Buffer.from(body).toString('latin1')}`);
  const headers = { 'content-type': type };
  const answer = await stage.ask({ method: 'POST', path, headers, body });
  if (answer.status >= 300) {
    const code = expectNamed(answer.status, answer.text);
    expect([...refusals, ...refusalsOfAny]).toContain(code);
    return;
  }
  expect(answer.status).toBe(201);
  if (upload.to !== 'blob') return;
  const { uri } = UploadedBlob.parse(JSON.parse(answer.text));
  const hash = uri.replace('blob:', '');
  stage.addBlob(hash);
  const given = await stage.ask({ method: 'GET', path: `/api/blob/${hash}` });
  expect(given.status).toBe(200);
}

async function bytesOf(upload: Upload, stage: FuzzStage): Promise<Uint8Array> {
  if (upload.to === 'blob') return Buffer.concat(Array(upload.times).fill(upload.bytes));
  if ('bytes' in upload) return upload.bytes;
  const { harms, flips, cut, gzip } = upload;
  const whole = (await stage.exported()).split('\n').filter((line) => line !== '');
  const messages = whole.map((line) => JSON.parse(line) as object);
  const lines = linesOf({ script: 0, length: messages.length, harms }, [messages]);
  const plain = Buffer.from(`${lines.join('\n')}\n`);
  const packed = gzip ? gzipSync(plain) : plain;
  const size = Math.min(Math.ceil((packed.length * cut) / 1_000), importMax);
  const sent = Buffer.from(packed.subarray(0, size));
  for (const [at, byte] of flips) sent[at % sent.length] = byte;
  return sent;
}
