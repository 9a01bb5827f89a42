import type { ApprovalUpsert, FileDiff, ShownCall, ToolLocation } from '@liminal/protocol';
import type { ReactNode } from 'react';
import { DiffView } from '../diff/DiffView.tsx';
import { FileLink } from '../files/FileLink.tsx';
import { targetWords } from '../files/file-target.ts';
import { joinClasses } from '../look/controls.tsx';
import { Guard } from '../look/Guard.tsx';
import { LinkedText } from '../look/LinkedText.tsx';
import { ShownText } from '../look/ShownText.tsx';
import { Markdown } from '../markdown/Markdown.tsx';
import { Fold } from '../transcript/Fold.tsx';
import { LongText } from '../transcript/LongText.tsx';
import details from '../transcript/ToolDetails.module.css';
import { shortPath } from '../words/paths.ts';
import {
  type Argument,
  type ApprovalPart,
  approvalParts,
  type PartContent,
  type PartKind,
} from './approval-parts.ts';
import css from './ApprovalParts.module.css';
import { InPieces } from './InPieces.tsx';
import { isSimpleMarkdown } from './simple-markdown.ts';

interface PartContext {
  folder: string | undefined;
  /** The request's form. */
  form: ReactNode;
}

/** The components that show the whole content of a part, by the part's kind. */
const partRenderers: {
  [K in PartKind]: (content: PartContent[K], around: PartContext) => ReactNode;
} = {
  askedBy: (askedBy) => (
    <p className={css.askedBy}>
      <ShownText text={askedBy} /> asks:
    </p>
  ),
  title: (title) => <LinkedText className={css.title} text={title} />,
  description: (description) => <AgentText text={description} label="Description" />,
  files: (files, { folder }) => <FileLinks files={files} folder={folder} />,
  diffs: (diffs) => <Diffs diffs={diffs} />,
  command: (command) => (
    <LongText className={details.command} text={command} label="Command" mustShowAll />
  ),
  plan: (plan) => <AgentText text={plan} label="Plan" />,
  arguments: (args) => <ArgumentList of={args} label="Arguments" />,
  changed: (earlier, { folder }) => <EarlierCall earlier={earlier} folder={folder} />,
  form: (_, { form }) => form,
};

interface ApprovalPartsProps extends PartContext {
  parts: readonly ApprovalPart[];
}

/**
 * Shows a request, part by part. Each part has the attribute `data-to-see`: nothing can be allowed before the end of
 * each such part has been on the screen.
 */
export function ApprovalParts({ parts, ...around }: ApprovalPartsProps) {
  return parts.map((part) => (
    <section
      key={part.kind}
      className={css.part}
      data-part={part.kind}
      data-to-see="true"
      // While a form is being filled in, its text changes, so the fixed text “form” identifies the part.
      data-said={part.kind === 'form' ? 'form' : undefined}
    >
      <Guard of={part.content} fallback={<Undrawn of={part.content} />}>
        {renderPart(part, around)}
      </Guard>
    </section>
  ));
}

/** Shows a part that cannot be rendered as JSON. */
function Undrawn({ of }: { of: unknown }) {
  return <LongText className={css.text} text={JSON.stringify(of, null, 2)} mustShowAll />;
}

/** Shows the parts of an answered request, folded. */
export function ApprovalFold({ approval }: { approval: ApprovalUpsert }) {
  const parts = approvalParts({ approval, call: undefined }, undefined);
  return (
    <Fold name={`asked ${approval.approvalId}`} title="What was asked for">
      <ApprovalParts
        parts={parts.filter(({ kind }) => kind !== 'form')}
        folder={undefined}
        form={null}
      />
    </Fold>
  );
}

function renderPart<K extends PartKind>(
  { kind, content }: { kind: K; content: PartContent[K] },
  around: PartContext,
): ReactNode {
  return partRenderers[kind](content, around);
}

/** Shows an agent's text: rendered as Markdown, or as plain text if Markdown could hide a part of the text. */
export function AgentText({ text, label }: { text: string; label: string }) {
  return (
    <div className={css.text}>
      {isSimpleMarkdown(text) ? (
        <Markdown>{text}</Markdown>
      ) : (
        <LongText text={text} label={label} mustShowAll />
      )}
    </div>
  );
}

function FileLinks({
  files,
  folder,
}: {
  files: readonly ToolLocation[];
  folder: string | undefined;
}) {
  return (
    <p className={details.files}>
      <InPieces of={files} most={100} name="files">
        {(file, index) => (
          <FileLink key={index} target={file}>
            <ShownText text={targetWords({ ...file, path: shortPath(file.path, folder) })} />
          </FileLink>
        )}
      </InPieces>
    </p>
  );
}

function Diffs({ diffs }: { diffs: readonly FileDiff[] }) {
  return (
    <InPieces of={diffs} most={50} name="changes">
      {(diff, index) => <DiffView key={index} diff={diff} named={diffs.length > 1} mustShowAll />}
    </InPieces>
  );
}

function ArgumentList({ of, label }: { of: readonly Argument[]; label: string }) {
  return (
    <dl className={joinClasses(details.arguments, css.arguments)} aria-label={label}>
      <InPieces of={of} most={100} name="arguments">
        {([name, value, word = name]) => (
          <div key={name}>
            <dt>
              <ShownText text={word} />
            </dt>
            <dd>
              <Value of={value} />
            </dd>
          </div>
        )}
      </InPieces>
    </dl>
  );
}

function Value({ of }: { of: unknown }) {
  if (of === '') return <span className={css.empty}>empty</span>;
  return <LongText text={typeof of === 'string' ? of : JSON.stringify(of, null, 2)} mustShowAll />;
}

/** Shows the call's earlier values. The other parts of the request show the values that are requested now. */
function EarlierCall({
  earlier,
  folder,
}: {
  earlier: Partial<ShownCall>;
  folder: string | undefined;
}) {
  const { toolName, title, kind, locations, diffs, toolArguments = {} } = earlier;
  const fields: Argument[] = [
    ['Name', toolName],
    ['Title', title],
    ['Kind', kind],
    ...Object.entries(toolArguments),
  ];
  const shownFields = fields.filter(([, value]) => value !== undefined);
  return (
    <div className={css.changed}>
      <p className={css.warning}>
        Changed: what is above runs if you allow it. Before, the call said:
      </p>
      {locations && <FileLinks files={locations} folder={folder} />}
      {diffs && <Diffs diffs={diffs} />}
      {shownFields.length > 0 && (
        <ArgumentList of={shownFields} label="What the call said before" />
      )}
    </div>
  );
}
