/** One side of a change whose other side is missing: a deleted file or a new file. */
export interface RenameSide {
  id: string | undefined;
  content: Buffer | undefined;
}

/** The most pairs that are compared by content. */
const pairsMax = 2_500;
/** The smallest share of a file that must be the same for a rename, as in git. */
const minSimilarity = 0.5;

/**
 * Pairs deleted files with new files: first by equal content, then by content of which at least half is the same. Each
 * file is in at most one pair.
 */
export function findRenames<D extends RenameSide, N extends RenameSide>(
  deleted: readonly D[],
  added: readonly N[],
): Map<N, D> {
  const renames = new Map<N, D>();
  const gone = new Set(deleted.filter(hasContent));
  for (const one of added.filter(hasContent)) {
    const equal = [...gone].find(({ id }) => id !== undefined && id === one.id);
    if (equal === undefined) continue;
    renames.set(one, equal);
    gone.delete(equal);
  }
  const left = added.filter((one) => hasContent(one) && !renames.has(one));
  if (left.length * gone.size > pairsMax) return renames;
  const linesOfGone = new Map([...gone].map((one) => [one, countLines(one)] as const));
  const pairs = left.flatMap((one) => {
    const lines = countLines(one);
    return [...linesOfGone].map(([old, before]) => ({ one, old, share: shared(before, lines) }));
  });
  for (const { one, old, share } of pairs.toSorted((a, b) => b.share - a.share)) {
    if (share < minSimilarity || renames.has(one) || !gone.has(old)) continue;
    renames.set(one, old);
    gone.delete(old);
  }
  return renames;
}

/** All empty files are equal, so equality of empty files does not prove a rename. */
const hasContent = ({ content }: RenameSide): boolean =>
  content === undefined || content.length > 0;

interface LineCounts {
  /** The number of occurrences of each line. */
  counts: ReadonlyMap<string, number>;
  size: number;
}

function countLines({ content }: RenameSide): LineCounts {
  const counts = new Map<string, number>();
  // Each character stands for a byte, because only equality counts.
  const text = content?.toString('latin1') ?? '';
  for (const line of text.split(/(?<=\n)/)) counts.set(line, (counts.get(line) ?? 0) + 1);
  return { counts, size: text.length };
}

/** Returns the share of the larger text that both texts have in common, by whole lines, from 0 to 1. */
function shared(before: LineCounts, after: LineCounts): number {
  const larger = Math.max(before.size, after.size);
  if (larger === 0 || Math.min(before.size, after.size) / larger < minSimilarity) return 0;
  let same = 0;
  for (const [line, count] of after.counts) {
    same += Math.min(count, before.counts.get(line) ?? 0) * line.length;
  }
  return same / larger;
}
