import type { ToolCallUpsert } from '@liminal/protocol';
import type { ReactNode } from 'react';
import { EditDiffs } from './EditDiffs.tsx';
import { ShownText } from '../look/ShownText.tsx';
import { CodeBlock } from '../markdown/CodeBlock.tsx';
import { Markdown } from '../markdown/Markdown.tsx';
import { Attachments } from './Attachments.tsx';
import { Fold } from './Fold.tsx';
import { LongText } from './LongText.tsx';
import { ModelNote } from './ModelNote.tsx';
import { isForModel } from './model-text.ts';
import { ToolFiles } from './ToolFiles.tsx';
import { plainText } from '../terminal/plain-text.ts';
import { Terminal } from '../terminal/Terminal.tsx';
import { count } from '../words/amounts.ts';
import { duration } from '../words/time.ts';
import css from './ToolDetails.module.css';
import { codeOf, commandOf, otherArguments } from './tool-words.ts';
import { type ToolPhase, toolTook } from './tool-outcome.ts';

interface ToolDetailsProps {
  call: ToolCallUpsert;
  phase: ToolPhase;
  /** See `beganAt`. */
  began: string | undefined;
  folder: string | undefined;
  /** A subagent's last message. `children` also show this message. */
  answerBelow?: string | undefined;
  /** The items between the call and its result: a subagent's work. */
  children?: ReactNode;
}

/** Shows a tool's arguments and its result. */
export function ToolDetails(props: ToolDetailsProps) {
  const { call, phase, began, folder, answerBelow, children } = props;
  const diffs = call.diffs ?? [];
  return (
    <>
      <ToolFiles call={call} folder={folder} />
      <EditDiffs diffs={diffs} />
      {diffs.length === 0 && <Invocation call={call} folder={folder} />}
      {children}
      <ToolOutput
        call={call}
        phase={phase}
        began={began}
        hasDiffs={diffs.length > 0}
        answerBelow={answerBelow}
      />
      {call.outputBlocks !== undefined && (
        <div className={css.part}>
          <Attachments blocks={call.outputBlocks} />
        </div>
      )}
    </>
  );
}

function Invocation({ call, folder }: Pick<ToolDetailsProps, 'call' | 'folder'>) {
  const { plan } = call.toolArguments;
  const command = commandOf(call);
  if (command !== undefined) {
    return <LongText className={css.command} text={command} label="Command" />;
  }
  const code = codeOf(call);
  if (code !== undefined) {
    return (
      <div className={css.part}>
        <Fold name="code" title={`Code, ${count(code.trimEnd().split('\n').length, 'line')}`}>
          <CodeBlock code={code.trimEnd()} lang="js" open={false} />
        </Fold>
      </div>
    );
  }
  if (call.kind === 'switch_mode' && typeof plan === 'string') {
    return (
      <div className={css.part}>
        <Markdown>{plan}</Markdown>
      </div>
    );
  }
  const entries = otherArguments(call, folder);
  if (entries.length === 0) return null;
  return (
    <dl className={css.arguments} aria-label="Arguments">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>
            <ShownText text={name} />
          </dt>
          <dd>
            <LongText text={typeof value === 'string' ? value : JSON.stringify(value, null, 2)} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface OutputProps extends Omit<ToolDetailsProps, 'folder' | 'children'> {
  hasDiffs: boolean;
}

function ToolOutput({ call, phase, began, hasDiffs, answerBelow = '' }: OutputProps) {
  const failed = phase === 'failed';
  const all = call.toolOutput || (failed ? (call.errorMessage ?? '') : '');
  const output = withoutStart(all, answerBelow);
  if (output.trim() === '' && all.trim() !== '') return null;
  if (isForModel(output)) {
    return (
      <div className={css.part}>
        <ModelNote title="What the model was told" text={output} />
      </div>
    );
  }
  if (call.kind === 'execute' && output.trim() !== '' && !hasDiffs) {
    return (
      <Terminal
        text={output}
        label="Output"
        outcome={<ExitNote call={call} phase={phase} began={began} />}
      />
    );
  }
  const text = plainText(output);
  if (text.trim() === '') {
    return failed || phase !== 'done' || hasDiffs ? null : <p className={css.none}>No output</p>;
  }
  // If an edit succeeded, its diff is shown instead of the tool's confirmation.
  if (hasDiffs && !failed) return null;
  if (call.kind === 'think' && !failed) {
    return (
      <div className={css.part}>
        <Markdown>{text}</Markdown>
      </div>
    );
  }
  return <LongText className={css.output} data-failed={failed} text={text} label="Output" />;
}

/**
 * Returns the result without the text that is already shown above it. A subagent's result is its last message, to which
 * some agents append text.
 */
function withoutStart(result: string, shown: string): string {
  const start = shown.trim();
  return start !== '' && result.trimStart().startsWith(start)
    ? result.trimStart().slice(start.length)
    : result;
}

/** Shows how a program ended, and how long it ran. */
function ExitNote({ call, phase, began }: Pick<ToolDetailsProps, 'call' | 'phase' | 'began'>) {
  if (phase === 'running' || phase === 'waiting') return null;
  const { exitCode } = call;
  const took = toolTook(call, began);
  const parts = [
    phase === 'stopped' ? 'Stopped' : undefined,
    typeof exitCode === 'number' ? `Exit code ${exitCode}` : undefined,
    took === undefined ? undefined : duration(took),
  ].filter((part) => part !== undefined);
  return (
    <span className={css.ending} data-failed={phase === 'failed'}>
      {parts.join(' · ')}
    </span>
  );
}
