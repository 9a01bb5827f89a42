/** Sentences about changed files, which clients show beside the changed lines. */
import type { ChangedFile, SessionDiff, Unshown } from './wire/http.ts';

const unshownWords: Record<Unshown, string> = {
  binary: 'Not text.',
  large: 'Larger than 1 MiB: the content is not compared.',
  limit: 'The changes are too large to be shown completely.',
  filtered:
    'Git stores this file through a program (Git LFS, for example), which is not run here: the content is not compared.',
  missing: 'This clone lacks the committed content.',
  unreadable: 'The server cannot read this file.',
  repository: 'A git repository of its own.',
  name: 'The name is not UTF-8: the content is not shown.',
};

const modeWords: Record<string, string> = {
  '100644': 'a plain file',
  '100755': 'a program',
  '120000': 'a symbolic link',
  '160000': 'a submodule',
};

/** Sentences about a changed file: its earlier name, what kind of file it is, and why lines are missing. */
export function changedFileNotes(file: ChangedFile): string[] {
  const { change, oldPath, oldMode, newMode, unshown, hunks, isCut, added } = file;
  const isSame = hunks.length === 0 && unshown === undefined && change === 'renamed';
  const isEmpty = hunks.length === 0 && added === 0 && /^(?:added|untracked|deleted)$/.test(change);
  return [
    ...(oldPath === undefined ? [] : [`Renamed from ${oldPath}.`]),
    ...modeNotes(oldMode, newMode),
    ...(isSame ? ['The content is the same.'] : []),
    ...(isEmpty && isCut !== true ? ['An empty file.'] : []),
    ...(unshown === undefined ? [] : [unshownWords[unshown]]),
    ...(isCut === true ? ['Only the first changed lines are shown.'] : []),
  ];
}

function modeNotes(oldMode: string | undefined, newMode: string | undefined): string[] {
  const [before, after] = [oldMode, newMode].map(
    (mode) => mode && (modeWords[mode] ?? `mode ${mode}`),
  );
  if (before !== undefined && after !== undefined) return [`Was ${before}, is ${after}.`];
  if (after !== undefined) return [`Is ${after}.`];
  return before === undefined ? [] : [`Was ${before}.`];
}

/**
 * Sentences about a whole comparison: the commit with which the work tree is compared, and which files are left out.
 */
export function sessionDiffNotes(diff: SessionDiff): string[] {
  const { commit, branch, files, unlisted = 0, hidden = 0 } = diff;
  const where = branch === undefined ? 'a detached HEAD' : `branch ${branch}`;
  const base =
    commit === undefined
      ? `nothing: ${where} has no commit yet`
      : `commit ${commit.slice(0, 10)} of ${where}`;
  const number = files.length === 1 ? '1 file differs' : `${files.length} files differ`;
  return [
    `${files.length === 0 ? 'No file differs' : number} from ${base}.`,
    ...(unlisted > 0 ? [`${unlisted} more may differ: they were not compared.`] : []),
    ...(hidden > 0 ? [`${hidden} more may differ and must not be shown here.`] : []),
  ];
}
