/** Describes items in words, for readers whose format lacks these item types. */
import type { FileDiff, PlanEntry } from '../content.ts';
import type { ItemStartPayload } from '../events.ts';
import type { OutputItem } from '../items.ts';

type Approval = Extract<OutputItem, { type: 'approval' }>;

/** One line for each step: `[completed] Read the code`. */
export function planText(entries: readonly PlanEntry[]): string {
  return entries.map(({ status, content }) => `[${status}] ${content}`).join('\n');
}

/** For each file, its path, its old lines with `-`, and its new lines with `+`. */
export function diffsText(diffs: readonly FileDiff[]): string {
  return diffs
    .map(({ path, oldText, newText }) =>
      [path, ...marked('-', oldText ?? ''), ...marked('+', newText)].join('\n'),
    )
    .join('\n\n');
}

/** Returns the question, the possible answers, and the chosen answer if there is one. */
export function approvalText(
  asking: Partial<Pick<ItemStartPayload, 'asked' | 'description' | 'form' | 'options' | 'title'>> &
    Partial<Pick<Approval, 'outcome'>>,
): string {
  const { title, description, asked, form, options = [], outcome } = asking;
  return [
    title,
    description,
    asked && `${asked.name} ${asked.arguments}`,
    asked?.diffs && diffsText(asked.diffs),
    form && JSON.stringify(form),
    ...options.map(({ optionId, name }) => `- ${optionId}: ${name}`),
    outcome && `=> ${outcomeText(outcome)}`,
  ]
    .filter((line) => line !== undefined && line !== '')
    .join('\n');
}

function outcomeText(outcome: NonNullable<Approval['outcome']>): string {
  if (outcome.outcome === 'cancelled') return ['cancelled', outcome.reason ?? ''].join(' ').trim();
  const { optionId, note, content } = outcome;
  return [optionId, note ?? '', content ? JSON.stringify(content) : '']
    .filter((part) => part !== '')
    .join(' ');
}

function marked(mark: string, text: string): string[] {
  if (text === '') return [];
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => `${mark}${line}`);
}
