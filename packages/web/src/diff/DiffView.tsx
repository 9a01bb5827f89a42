import type { FileDiff } from '@liminal/protocol';
import { ColouredLine } from '../highlight/Code.tsx';
import { languageOfFile } from '../highlight/language-of-file.ts';
import type { ColouredLines } from '../highlight/coloured-lines.ts';
import { useHighlight } from '../highlight/use-highlight.ts';
import { Button } from '../look/controls.tsx';
import { ShownText } from '../look/ShownText.tsx';
import { useRemembered } from '../transcript/remembered.ts';
import css from './DiffView.module.css';
import { type DiffLine, type LineDiff, lineDiff } from './line-diff.ts';
import { labelOf } from '../words/label.ts';

interface DiffViewProps extends Omit<DiffLinesProps, 'diff'> {
  diff: FileDiff;
  /** Whether the file's name is shown. */
  named: boolean;
}

interface DiffLinesProps {
  diff: LineDiff;
  /** The number of lines that are shown at first. If only a few more lines would be hidden, all lines are shown. */
  visible?: number | undefined;
  /** Whether a person must see the whole text. Then only text that is too long to be laid out at once is folded. */
  mustShowAll?: boolean;
}

/** A diff with more lines than this is folded, unless only a few lines would be hidden. */
const visibleLines = 20;
export const slack = 4;
/** The number of lines that each click adds, so that the page stays responsive. */
const step = 2000;
/** The most characters that are laid out at a time, for long lines. */
const most = 200_000;

/** Shows one file's change, line by line, in the colours of its language. */
export function DiffView({ diff, named, visible, mustShowAll = false }: DiffViewProps) {
  const made = lineDiff(diff);
  return (
    <div className={css.diff} data-whole={mustShowAll}>
      {named && (
        <p className={css.path}>
          <ShownText text={diff.path} />
        </p>
      )}
      {made.lines.length === 0 && (
        <p className={css.path}>{diff.oldText == null ? 'An empty file' : 'No change'}</p>
      )}
      <DiffLines diff={made} visible={visible} mustShowAll={mustShowAll} />
    </div>
  );
}

/** Shows the lines of a change, with their line numbers in the file if the numbers are known. */
export function DiffLines({ diff, visible = visibleLines, mustShowAll = false }: DiffLinesProps) {
  const [chosen, setCount] = useRemembered<number | undefined>(`diff ${diff.path}`, undefined);
  const { lines, added, removed } = diff;
  const lang = languageOfFile(diff.path);
  const before = useHighlight(diff.before, lang);
  const after = useHighlight(diff.after, lang);
  const isNumbered = lines.some(({ number }) => number !== undefined);
  const atFirst = mustShowAll ? piece(lines) : visible;
  const count = chosen ?? atFirst;
  const folds = lines.length > (mustShowAll ? atFirst : visible + slack);
  const shown = folds ? lines.slice(0, count) : lines;
  const hidden = lines.length - shown.length;
  const summary = `Changes to ${labelOf(diff.path)}: ${added} added, ${removed} removed`;

  return (
    <>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls sideways */}
      <div className={css.scroll} role="region" aria-label={summary} tabIndex={0}>
        <table className={css.lines}>
          <tbody>
            {shown.map((line, index) => (
              <LineRow key={index} {...{ line, before, after, isNumbered }} />
            ))}
          </tbody>
        </table>
      </div>
      {folds && (
        <Button
          look="quiet"
          className={css.more}
          data-unshown={hidden > 0}
          aria-expanded={count > atFirst}
          onClick={() => setCount(hidden > 0 ? count + piece(lines.slice(count)) : atFirst)}
        >
          {hidden > 0 ? `Show ${hidden} more lines` : 'Show less'}
        </Button>
      )}
    </>
  );
}

/** Returns how many lines, from the first, are laid out together. */
function piece(lines: readonly DiffLine[]): number {
  let characters = 0;
  const end = lines.slice(0, step).findIndex(({ text }) => {
    characters += text.length;
    return characters > most;
  });
  return end === -1 ? step : Math.max(end, 1);
}

const signs = { added: '+', removed: '−', same: ' ' };

interface LineRowProps {
  line: DiffLine;
  before: ColouredLines | undefined;
  after: ColouredLines | undefined;
  isNumbered: boolean;
}

function LineRow({ line, before, after, isNumbered }: LineRowProps) {
  if (line.kind === 'gap') {
    return (
      <tr className={css.gap}>
        <td colSpan={isNumbered ? 3 : 2}>⋯</td>
      </tr>
    );
  }
  const tokens =
    line.newLine === undefined ? before?.[(line.oldLine ?? 0) - 1] : after?.[line.newLine - 1];
  return (
    <tr data-kind={line.kind}>
      {isNumbered && <td className={css.number}>{line.number}</td>}
      <td className={css.sign}>{signs[line.kind]}</td>
      <td className={css.text}>
        {tokens === undefined ? <ShownText text={line.text} /> : <ColouredLine tokens={tokens} />}
      </td>
    </tr>
  );
}
