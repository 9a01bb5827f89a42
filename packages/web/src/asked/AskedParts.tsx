import type { ApprovalUpsert, FileDiff, ShownCall, ToolLocation } from '@liminal/protocol';
import type { ReactNode } from 'react';
import { DiffView } from '../diff/DiffView.tsx';
import { FileLink } from '../files/FileLink.tsx';
import { targetWords } from '../files/file-target.ts';
import { join } from '../look/controls.tsx';
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
  type AskedPart,
  askedParts,
  type PartContent,
  type PartKind,
} from './asked-parts.ts';
import css from './AskedParts.module.css';
import { InPieces } from './InPieces.tsx';
import { isSimpleMarkdown } from './simple-markdown.ts';

interface Around {
  folder: string | undefined;
  /** The request's form. */
  form: ReactNode;
}

/** Shows the whole content of a part, by its kind. */
const shows: { [K in PartKind]: (content: PartContent[K], around: Around) => ReactNode } = {
  askedBy: (askedBy) => (
    <p className={css.askedBy}>
      <ShownText text={askedBy} /> asks:
    </p>
  ),
  title: (title) => <LinkedText className={css.title} text={title} />,
  description: (description) => <AgentText text={description} label="Description" />,
  files: (files, { folder }) => <Files files={files} folder={folder} />,
  diffs: (diffs) => <Diffs diffs={diffs} />,
  command: (command) => (
    <LongText className={details.command} text={command} label="Command" whole />
  ),
  plan: (plan) => <AgentText text={plan} label="Plan" />,
  arguments: (args) => <Arguments of={args} label="Arguments" />,
  changed: (earlier, { folder }) => <Changed earlier={earlier} folder={folder} />,
  form: (_, { form }) => form,
};

interface AskedPartsProps extends Around {
  parts: readonly AskedPart[];
}

/**
 * A request, part by part. Each part is marked: nothing can be allowed before the end of each part was on the screen.
 */
export function AskedParts({ parts, ...around }: AskedPartsProps) {
  return parts.map((part) => (
    <section
      key={part.kind}
      className={css.part}
      data-part={part.kind}
      data-to-see="true"
      // A form's text changes while it is filled in, so a fixed value stands for it.
      data-said={part.kind === 'form' ? 'form' : undefined}
    >
      <Guard of={part.content} fallback={<Undrawn of={part.content} />}>
        {shown(part, around)}
      </Guard>
    </section>
  ));
}

/** A part that cannot be rendered, as JSON. */
function Undrawn({ of }: { of: unknown }) {
  return <LongText className={css.text} text={JSON.stringify(of, null, 2)} whole />;
}

/** The parts of an answered request, folded. */
export function AskedFold({ approval }: { approval: ApprovalUpsert }) {
  const parts = askedParts({ approval, call: undefined }, undefined);
  return (
    <Fold name={`asked ${approval.approvalId}`} title="What was asked for">
      <AskedParts
        parts={parts.filter(({ kind }) => kind !== 'form')}
        folder={undefined}
        form={null}
      />
    </Fold>
  );
}

function shown<K extends PartKind>(
  { kind, content }: { kind: K; content: PartContent[K] },
  around: Around,
): ReactNode {
  return shows[kind](content, around);
}

/** An agent's text: as Markdown, unless Markdown could hide a part of it. */
export function AgentText({ text, label }: { text: string; label: string }) {
  return (
    <div className={css.text}>
      {isSimpleMarkdown(text) ? (
        <Markdown>{text}</Markdown>
      ) : (
        <LongText text={text} label={label} whole />
      )}
    </div>
  );
}

function Files({ files, folder }: { files: readonly ToolLocation[]; folder: string | undefined }) {
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
      {(diff, index) => <DiffView key={index} diff={diff} named={diffs.length > 1} whole />}
    </InPieces>
  );
}

function Arguments({ of, label }: { of: readonly Argument[]; label: string }) {
  return (
    <dl className={join(details.arguments, css.arguments)} aria-label={label}>
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
  return <LongText text={typeof of === 'string' ? of : JSON.stringify(of, null, 2)} whole />;
}

/** The call's earlier values; the other parts show the request's values. */
function Changed({ earlier, folder }: { earlier: Partial<ShownCall>; folder: string | undefined }) {
  const { toolName, title, kind, locations, diffs, toolArguments = {} } = earlier;
  const fields: Argument[] = [
    ['Name', toolName],
    ['Title', title],
    ['Kind', kind],
    ...Object.entries(toolArguments),
  ];
  const said = fields.filter(([, value]) => value !== undefined);
  return (
    <div className={css.changed}>
      <p className={css.warning}>
        Changed: what is above runs if you allow it. Before, the call said:
      </p>
      {locations && <Files files={locations} folder={folder} />}
      {diffs && <Diffs diffs={diffs} />}
      {said.length > 0 && <Arguments of={said} label="What the call said before" />}
    </div>
  );
}
