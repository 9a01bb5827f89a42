/**
 * Writes a language model as a file in llama.cpp's format: GGUF, version 3. Source: ggml's description of the format.
 */
import { endianness } from 'node:os';

export type GgufValue =
  | { uint32: number }
  | { float32: number }
  | { bool: boolean }
  | { string: string }
  | { strings: readonly string[] }
  | { float32s: readonly number[] }
  | { int32s: readonly number[] };

export interface GgufTensor {
  name: string;
  /** The dimensions. The first dimension is the length of a row. */
  shape: readonly number[];
  values: Float32Array;
}

/** Every tensor begins at a multiple of this number of bytes. */
const alignment = 32;
const version = 3;
/** The numbers with which the format encodes the types of values and of tensors. */
const types = { int32: 5, uint32: 4, float32: 6, bool: 7, string: 8, array: 9 };
const float32Tensor = 0;

export function ggufFile(
  values: Readonly<Record<string, GgufValue>>,
  tensors: readonly GgufTensor[],
): Buffer {
  if (endianness() !== 'LE')
    throw new Error('Model files can be written only on little-endian machines.');
  const pairs = Object.entries(values);
  const head = [Buffer.from('GGUF'), uint32(version), uint64(tensors.length), uint64(pairs.length)];
  for (const [key, value] of pairs) head.push(text(key), typed(value));
  const bodies: Buffer[] = [];
  let offset = 0;
  for (const { name, shape, values: numbers } of tensors) {
    const sizes = [uint32(shape.length), ...shape.map(uint64)];
    head.push(text(name), ...sizes, uint32(float32Tensor), uint64(offset));
    const body = padded(Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength));
    bodies.push(body);
    offset += body.length;
  }
  return Buffer.concat([padded(Buffer.concat(head)), ...bodies]);
}

function typed(value: GgufValue): Buffer {
  if ('uint32' in value) return Buffer.concat([uint32(types.uint32), uint32(value.uint32)]);
  if ('float32' in value) return Buffer.concat([uint32(types.float32), float32(value.float32)]);
  if ('bool' in value) return Buffer.concat([uint32(types.bool), Buffer.of(value.bool ? 1 : 0)]);
  if ('string' in value) return Buffer.concat([uint32(types.string), text(value.string)]);
  if ('strings' in value) return list(types.string, value.strings.map(text));
  if ('float32s' in value) return list(types.float32, value.float32s.map(float32));
  return list(types.int32, value.int32s.map(int32));
}

const list = (type: number, items: readonly Buffer[]): Buffer =>
  Buffer.concat([uint32(types.array), uint32(type), uint64(items.length), ...items]);

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint64(bytes.length), bytes]);
}

function padded(bytes: Buffer): Buffer {
  const size = Math.ceil(bytes.length / alignment) * alignment;
  return Buffer.concat([bytes, Buffer.alloc(size - bytes.length)]);
}

/** Returns a buffer of `size` bytes that `write` has filled. */
function made(size: number, write: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.alloc(size);
  write(bytes);
  return bytes;
}

const uint32 = (value: number): Buffer => made(4, (bytes) => bytes.writeUInt32LE(value));
const int32 = (value: number): Buffer => made(4, (bytes) => bytes.writeInt32LE(value));
const float32 = (value: number): Buffer => made(4, (bytes) => bytes.writeFloatLE(value));
const uint64 = (value: number): Buffer => made(8, (bytes) => bytes.writeBigUInt64LE(BigInt(value)));
