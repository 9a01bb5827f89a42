/** Emits a view's outputs. */
import type { FoldOutput, UpsertObject } from '../upserts.ts';
import { hasContent } from './item-text.ts';
import { renderUpsert } from './render-upsert.ts';
import type { FoldStep } from './upsert-state.ts';
import { viewEndedAt, type Progress, type View } from './views.ts';

type Moment = Pick<FoldStep, 'head' | 'timestamp' | 'now' | 'epoch'>;

const open: Progress = { status: 'open' };

/** Shows an open view. */
export function emitOpen(moment: Moment, view: View, status: 'create' | 'update'): FoldOutput {
  return emit(moment, view, open, status);
}

/**
 * Emits a view for the last time. If the view's text was never shown, its `create` is emitted first (TC-5.1a), unless
 * the text was held on purpose (a user's message) or is empty (TC-5.4c).
 */
export function emitLast(
  moment: Moment,
  view: View,
  progress: Exclude<Progress, { status: 'open' }>,
  shown: boolean,
): FoldOutput[] {
  const ended = { ...moment, timestamp: viewEndedAt(view) ?? moment.timestamp };
  const last = emit(ended, view, progress, progress.status);
  const early = !shown && progress.status === 'complete' && isStreamedText(view);
  return early ? [emit(moment, view, open, 'create'), last] : [last];
}

function isStreamedText({ item }: View): boolean {
  if (item.type === 'message') return item.origin !== 'user' && hasContent(item);
  return item.type === 'reasoning' && hasContent(item);
}

function emit(
  { head, timestamp, now, epoch }: Moment,
  view: View,
  progress: Progress,
  status: UpsertObject['status'],
): FoldOutput {
  const emission = {
    status,
    sourceTimestamp: timestamp,
    emittedAt: new Date(epoch + now).toISOString(),
  };
  return { kind: 'upsert', upsert: renderUpsert(view, progress, head, emission) };
}
