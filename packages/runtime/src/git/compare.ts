/** Compares a work tree with its last commit. Git lists the files that may differ; their content is compared here. */
import { isUtf8 } from 'node:buffer';
import { join } from 'node:path';
import type { ChangedFile, Unshown } from '@liminal/protocol';
import { mayBeShown, type FileScope } from '../shown-files.ts';
import { readAttributes } from './attributes.ts';
import { type Committed, readBlobs } from './blobs.ts';
import { type Candidate, findCandidates, submoduleCommit } from './candidates.ts';
import type { Sides } from './hunks.ts';
import { findRenames } from './renames.ts';
import type { Repository } from './repository.ts';
import { blobId, contentMax, readWorkFile, type WorkFile } from './work-file.ts';

export interface DiffBounds {
  /** The most files that are listed. */
  files: number;
  /** The most bytes of content, of all files that are compared at the same time, on each side. */
  content: number;
}

export const diffBounds: DiffBounds = { files: 500, content: 16 * 1024 * 1024 };

/** A changed file before its hunks are made from `sides`. */
export interface Difference {
  file: Omit<ChangedFile, 'hunks'>;
  /** Absent if the content is not shown. */
  sides?: Sides;
}

export interface Comparison {
  /** By path. */
  differences: Difference[];
  /** The number of candidates that were not compared. */
  unlisted: number;
  /** The number of files that may differ and must not be shown. */
  hidden: number;
}

interface CompareOptions {
  repository: Repository;
  place: FileScope;
  bounds: DiffBounds;
  signal: AbortSignal;
}

/** A file that differs, with its state in the work tree. */
interface WorkTreeChange {
  candidate: Candidate;
  /** Undefined for a deleted file. */
  mode?: string | undefined;
  id?: string | undefined;
  /** Undefined if the file is deleted, not in the work tree, or not shown. */
  content?: Buffer | undefined;
  unshown?: Unshown | undefined;
}

/** A file that differs, with its committed content. */
interface ChangeWithBase extends WorkTreeChange {
  before?: Buffer | undefined;
}

/**
 * The most files that are compared at the same time. This limits memory, because the contents of these files are in
 * memory.
 */
const filesAtOnce = 8;

/** @throws `DIFF_UNAVAILABLE`. */
export async function compareWorkTree(compared: CompareOptions): Promise<Comparison> {
  const candidates = await findCandidates(compared.repository, compared.signal);
  const { found, hidden, unlisted } = await inspectAll(candidates, compared);
  const differences = withRenames(await withCommitted(found, compared));
  return { differences, unlisted, hidden };
}

/** Compares candidates until enough files differ, or until the time limit is reached. */
async function inspectAll(
  candidates: readonly Candidate[],
  { repository, place, bounds, signal }: CompareOptions,
): Promise<{ found: WorkTreeChange[]; hidden: number; unlisted: number }> {
  const found: WorkTreeChange[] = [];
  let [hidden, content, at] = [0, 0, 0];
  for (
    ;
    at < candidates.length && found.length < bounds.files && !signal.aborted;
    at += filesAtOnce
  ) {
    const batch = candidates.slice(at, at + filesAtOnce);
    const looks = await Promise.all(
      batch.map(async (candidate) => inspect(candidate, repository, place, signal)),
    );
    for (const one of looks) {
      if (one === 'hidden') hidden += 1;
      if (typeof one === 'string') continue;
      content += one.content?.length ?? 0;
      if (content > bounds.content) delete one.content;
      found.push(content > bounds.content ? { ...one, unshown: one.unshown ?? 'limit' } : one);
    }
  }
  return { found, hidden, unlisted: Math.max(0, candidates.length - at) };
}

async function inspect(
  candidate: Candidate,
  { top, algorithm }: Repository,
  place: FileScope,
  signal: AbortSignal,
): Promise<WorkTreeChange | 'same' | 'hidden'> {
  const { path, old, mode } = candidate;
  if (candidate.isOddName) {
    return { candidate, mode: old === undefined ? '100644' : mode, unshown: 'name' };
  }
  // Git lists a nested repository by a path that ends with a slash, and does not read the nested repository.
  if (path.endsWith('/')) {
    return mayBeShown(join(top, path.slice(0, -1)), place)
      ? { candidate, mode: '160000', unshown: 'repository' }
      : 'hidden';
  }
  const seen = await readWorkFile(path, { ...place, top, algorithm });
  switch (seen) {
    case 'hidden':
      return 'hidden';
    case 'unreadable':
      return { candidate, mode: mode ?? old?.mode ?? '100644', unshown: 'unreadable' };
    case 'gone':
      return lookAtGone(candidate);
    case 'folder':
      return mode === '160000'
        ? lookAtSubmodule(candidate, await submoduleCommit(join(top, path), signal))
        : lookAtGone({ ...candidate, staged: undefined });
    default:
      return lookAtFile(candidate, seen);
  }
}

function lookAtGone(candidate: Candidate): WorkTreeChange | 'same' {
  const { old, mode, staged } = candidate;
  // A file that a sparse checkout leaves out is treated as equal to the staged file.
  if (mode !== undefined && staged !== undefined) return { candidate, mode, id: staged };
  return old === undefined ? 'same' : { candidate };
}

function lookAtSubmodule(
  candidate: Candidate,
  commit: string | undefined,
): WorkTreeChange | 'same' {
  // If a submodule has no commit, the submodule is not checked out.
  const now = commit ?? candidate.staged ?? candidate.old?.id;
  if (now === undefined || now === candidate.old?.id) return 'same';
  return { candidate, mode: '160000', content: asText(now) };
}

/** Converts a submodule's commit to the form that git's own patches show. */
const asText = (commit: string): Buffer => Buffer.from(`Subproject commit ${commit}\n`);

function lookAtFile(candidate: Candidate, seen: WorkFile): WorkTreeChange | 'same' {
  const { old } = candidate;
  // A difference in the executable bit is ignored if git ignores the executable bit in this repository.
  const expected = candidate.mode ?? old?.mode;
  const mode = fileTypeOf(expected) === fileTypeOf(seen.mode) ? expected : seen.mode;
  if (old !== undefined && seen.id === old.id && mode === old.mode) return 'same';
  const { id, content } = seen;
  return { candidate, mode, id, content, ...(content === undefined && { unshown: 'large' }) };
}

/** The mode of a file, a link or a submodule. */
const fileTypeOf = (mode: string | undefined): string | undefined => mode?.slice(0, 3);
const isFile = (mode: string | undefined): boolean => fileTypeOf(mode) === '100';

/** Adds the committed content, and leaves out files that git would store unchanged. */
async function withCommitted(
  found: readonly WorkTreeChange[],
  { repository, bounds, signal }: CompareOptions,
): Promise<ChangeWithBase[]> {
  const isModified = ({ candidate: { old }, mode }: WorkTreeChange) =>
    isFile(mode) && isFile(old?.mode);
  const paths = found.filter(isModified).map(({ candidate }) => candidate.path);
  const storing = await readAttributes(repository, paths, signal);
  const judged = found.flatMap((one): WorkTreeChange[] => {
    const { path, isRecent = false } = one.candidate;
    if (!isModified(one) || !storing(path).isFiltered) return [one];
    return isRecent ? [] : [{ ...one, unshown: 'filtered' }];
  });
  const bytes = { each: contentMax, all: bounds.content };
  const blobs = await readBlobs(repository, judged.flatMap(blobsOf), bytes, signal);
  return judged.flatMap((one): ChangeWithBase[] => {
    const both = withBlobs(one, blobs);
    const { before, content, candidate } = both;
    if (both.unshown !== undefined || !isModified(one) || !content?.includes('\r\n')) return [both];
    const hasReturns = before?.includes('\r\n') === true;
    if (!storing(candidate.path).storesLineFeeds(hasReturns)) return [both];
    const stored = Buffer.from(content.toString('latin1').replaceAll('\r\n', '\n'), 'latin1');
    const isSame = blobId(stored, repository.algorithm) === candidate.old?.id;
    return isSame && both.mode === candidate.old?.mode ? [] : [{ ...both, content: stored }];
  });
}

/** Returns the ids of the blobs that are read for a file. */
function blobsOf({ candidate: { old }, mode, id, content, unshown }: WorkTreeChange): string[] {
  if (unshown !== undefined) return [];
  const isStagedOnly = mode !== undefined && content === undefined;
  return [
    ...(old === undefined || old.mode === '160000' ? [] : [old.id]),
    ...(isStagedOnly && id !== undefined ? [id] : []),
  ];
}

function withBlobs(found: WorkTreeChange, blobs: ReadonlyMap<string, Committed>): ChangeWithBase {
  const { candidate, mode, id, unshown } = found;
  if (unshown !== undefined) return found;
  const { old } = candidate;
  const blob = (name: string | undefined): Committed | undefined =>
    name === undefined ? undefined : (blobs.get(name) ?? 'missing');
  const before = old?.mode === '160000' ? asText(old.id) : blob(old?.id);
  const content = found.content ?? (mode === undefined ? undefined : blob(id));
  if (typeof before === 'string') return { ...found, content: undefined, unshown: before };
  if (typeof content === 'string') return { ...found, content: undefined, unshown: content };
  return { ...found, content, before };
}

/** Returns all differences by path; the two entries of a renamed file become one. */
function withRenames(all: readonly ChangeWithBase[]): Difference[] {
  const deleted = all
    .filter(({ candidate: { old }, mode }) => mode === undefined && isFile(old?.mode))
    .map((both) => ({ both, id: both.candidate.old?.id, content: both.before }));
  const added = all
    .filter(({ candidate: { old }, mode }) => old === undefined && isFile(mode))
    .map((both) => ({ both, id: both.id, content: both.content }));
  const pairs = [...findRenames(deleted, added)];
  const from = new Map(pairs.map(([now, old]) => [now.both, old.both]));
  const gone = new Set(from.values());
  return all
    .filter((both) => !gone.has(both))
    .map((both) => difference(both, from.get(both)))
    .toSorted((a, b) => (a.file.path < b.file.path ? -1 : 1));
}

function difference(both: ChangeWithBase, from: ChangeWithBase | undefined): Difference {
  const { candidate, mode, content } = both;
  const old = (from ?? both).candidate.old;
  const before = (from ?? both).before;
  const unshown = both.unshown ?? from?.unshown ?? binary(before, content);
  const isPlain = [old?.mode, mode].every((each) => each === undefined || each === '100644');
  const file: Difference['file'] = {
    path: candidate.path,
    change: changeOf(both, from),
    ...(from !== undefined && { oldPath: from.candidate.path }),
    ...(!isPlain && old?.mode !== mode && { ...modes(old?.mode, mode) }),
    ...(unshown !== undefined && { unshown }),
  };
  return unshown === undefined ? { file, sides: texts(before, content) } : { file };
}

function modes(oldMode: string | undefined, newMode: string | undefined) {
  return { ...(oldMode !== undefined && { oldMode }), ...(newMode !== undefined && { newMode }) };
}

function changeOf(
  { candidate, mode }: ChangeWithBase,
  from: ChangeWithBase | undefined,
): ChangedFile['change'] {
  if (from !== undefined) return 'renamed';
  if (mode === undefined) return 'deleted';
  if (candidate.old !== undefined) return 'modified';
  return candidate.isUntracked ? 'untracked' : 'added';
}

/** The number of bytes at a file's start by which the comparison decides, as git does, whether the file is text. */
const start = 8_000;

function binary(...sides: (Buffer | undefined)[]): 'binary' | undefined {
  return sides.some((side) => side?.subarray(0, start).includes(0)) ? 'binary' : undefined;
}

/** Decodes both sides in the same encoding, so that each changed byte changes the text. */
function texts(before: Buffer = Buffer.alloc(0), after: Buffer = Buffer.alloc(0)): Sides {
  const encoding = [before, after].every((side) => isUtf8(side)) ? 'utf8' : 'latin1';
  return { before: before.toString(encoding), after: after.toString(encoding) };
}
