import { hash } from 'node:crypto';

const pieceLines = 10;

/**
 * Picks random pieces of the files; the same seed always picks the same pieces.
 * @returns Pieces in Stryker's format: `file.ts:11-20`
 */
export function samplePieces(
  files: readonly { file: string; lines: number }[],
  count: number,
  seed: number,
): string[] {
  const pieces = files.flatMap(({ file, lines }) =>
    Array.from({ length: Math.ceil(lines / pieceLines) }, (_, index) => {
      const first = index * pieceLines + 1;
      return `${file}:${first}-${Math.min(first + pieceLines - 1, lines)}`;
    }),
  );
  return pieces
    .map((piece) => ({ piece, place: hash('sha256', `${seed} ${piece}`) }))
    .toSorted((a, b) => a.place.localeCompare(b.place))
    .slice(0, count)
    .map(({ piece }) => piece);
}
