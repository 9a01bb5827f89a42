import type { FileDiff } from '@liminal/protocol';
import { ColouredLine } from '../highlight/Code.tsx';
import { languageOfFile } from '../highlight/language-of-file.ts';
import type { ColouredLines } from '../highlight/coloured-lines.ts';
import { useHighlight } from '../highlight/use-highlight.ts';
import { Button } from '../look/controls.tsx';
import { ShownText } from '../look/ShownText.tsx';
import { useRemembered } from '../transcript/remembered.ts';
import css from './DiffView.module.css';
import { type DiffLine, lineDiff } from './line-diff.ts';
import { labelOf } from '../words/label.ts';

interface DiffViewProps {
  diff: FileDiff;
  /** Whether to show the file's name. */
  named: boolean;
}

/** Longer diffs (lines) are folded, unless only a few lines would be hidden. */
const visible = 20;
const slack = 4;
/** Lines added per click, so that the page stays responsive. */
const step = 2000;

/** One file's change, line by line, in the colours of its language. */
export function DiffView({ diff, named }: DiffViewProps) {
  const [count, setCount] = useRemembered(`diff ${diff.path}`, visible);
  const { lines, added, removed } = lineDiff(diff);
  const lang = languageOfFile(diff.path);
  const before = useHighlight(diff.oldText ?? '', lang);
  const after = useHighlight(diff.newText, lang);
  const folds = lines.length > visible + slack;
  const shown = folds ? lines.slice(0, count) : lines;
  const hidden = lines.length - shown.length;
  const summary = `Changes to ${labelOf(diff.path)}: ${added} added, ${removed} removed`;

  return (
    <div className={css.diff}>
      {named && (
        <p className={css.path}>
          <ShownText text={diff.path} />
        </p>
      )}
      {lines.length === 0 && (
        <p className={css.path}>{diff.oldText === undefined ? 'An empty file' : 'No change'}</p>
      )}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls sideways */}
      <div className={css.scroll} role="region" aria-label={summary} tabIndex={0}>
        <table className={css.lines}>
          <tbody>
            {shown.map((line, index) => (
              <LineRow key={index} line={line} before={before} after={after} />
            ))}
          </tbody>
        </table>
      </div>
      {folds && (
        <Button
          look="quiet"
          className={css.more}
          aria-expanded={count > visible}
          onClick={() => setCount(hidden > 0 ? count + step : visible)}
        >
          {hidden > 0 ? `Show ${hidden} more lines` : 'Show less'}
        </Button>
      )}
    </div>
  );
}

const signs = { added: '+', removed: '−', same: ' ' };

interface LineRowProps {
  line: DiffLine;
  before: ColouredLines | undefined;
  after: ColouredLines | undefined;
}

function LineRow({ line, before, after }: LineRowProps) {
  if (line.kind === 'gap') {
    return (
      <tr className={css.gap}>
        <td colSpan={2}>⋯</td>
      </tr>
    );
  }
  const tokens =
    line.newLine === undefined ? before?.[(line.oldLine ?? 0) - 1] : after?.[line.newLine - 1];
  return (
    <tr data-kind={line.kind}>
      <td className={css.sign}>{signs[line.kind]}</td>
      <td className={css.text}>
        {tokens === undefined ? <ShownText text={line.text} /> : <ColouredLine tokens={tokens} />}
      </td>
    </tr>
  );
}
