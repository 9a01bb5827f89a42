import { crc32, deflateSync } from 'node:zlib';

type Colour = [red: number, green: number, blue: number];

/** Makes a PNG file of this size (pixels). `colour` returns each pixel by its position. */
export function png(
  width: number,
  height: number,
  colour: (x: number, y: number) => Colour = (x, y) => [(x * 7) % 256, (y * 5) % 256, 160],
): Buffer {
  const lines = Array.from({ length: height }, (_, y) =>
    Buffer.from([0, ...Array.from({ length: width }, (__, x) => colour(x, y)).flat()]),
  );
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Each of red, green and blue has eight bits.
  head.set([8, 2], 8);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(Buffer.concat(lines))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(name: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name), content]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
