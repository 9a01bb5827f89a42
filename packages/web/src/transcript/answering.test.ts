import type { ApprovalOption } from '@liminal/protocol';
import { expect, it } from 'vitest';
import {
  decisionWords,
  keyAnswers,
  outcomeWords,
  approvalAnswerText,
  sortOptions,
  wasAllowed,
} from './answering.ts';
import { approval } from './testing/items.ts';

it('options that allow come first, and no key grants anything permanently', () => {
  const asked = approval('p');
  expect(sortOptions(asked.options).map((option) => option.optionId)).toEqual([
    'yes',
    'always',
    'no',
  ]);
  expect(keyAnswers(asked).allow?.optionId).toBe('yes');
  expect(keyAnswers(asked).deny?.optionId).toBe('no');
  const forGood = approval('p', {
    options: asked.options.filter(({ kind }) => kind === 'allow_always'),
  });
  expect(keyAnswers(forGood)).toEqual({ allow: undefined, deny: undefined });
});

it('Escape rejects permanently only if there is no other option that rejects', () => {
  const always = { optionId: 'never', name: 'Never', kind: 'reject_always' as const };
  const { options } = approval('p');
  expect(keyAnswers(approval('p', { options: [always, ...options] })).deny?.optionId).toBe('no');
  expect(keyAnswers(approval('p', { options: [always] })).deny?.optionId).toBe('never');
});

it('if there are several answers, no key chooses one of them', () => {
  const { options } = approval('p');
  const yes = options.find(({ kind }) => kind === 'allow_once')!;
  const asked = approval('p', { options: [...options, { ...yes, optionId: 'other' }] });
  expect(keyAnswers(asked).allow).toBeUndefined();
  expect(keyAnswers(asked).deny?.optionId).toBe('no');
});

it('options that need a deliberate answer have no key, and come after the option that rejects', () => {
  const { options } = approval('p');
  const careful = options.map((one) =>
    one.kind.startsWith('allow') ? { ...one, isUnclear: true } : one,
  );
  const asked = approval('p', { options: careful });
  expect(keyAnswers(asked).allow).toBeUndefined();
  expect(keyAnswers(asked).deny?.optionId).toBe('no');
  expect(sortOptions(careful).map(({ optionId }) => optionId)).toEqual(['no', 'yes', 'always']);
});

it('an outcome is shown with the name of the chosen option', () => {
  const allowed = approval('p', { outcome: { outcome: 'selected', optionId: 'yes' } });
  expect([outcomeWords(allowed), wasAllowed(allowed)]).toEqual(['Allow', true]);
  const denied = approval('p', { outcome: { outcome: 'selected', optionId: 'no' } });
  expect([outcomeWords(denied), wasAllowed(denied)]).toEqual(['Deny', false]);
  const gone = approval('p', { outcome: { outcome: 'cancelled', reason: 'The agent ended.' } });
  expect([outcomeWords(gone), wasAllowed(gone)]).toEqual(['The agent ended.', false]);
  const ended = approval('p', { outcome: { outcome: 'cancelled', reason: 'turn_ended' } });
  expect(outcomeWords(ended)).toBe('Not answered: the turn ended');
});

it('a plain answer is shown as a decision, such as “Allowed once”; the name of any other answer is quoted', () => {
  const decision = (name: string, kind: ApprovalOption['kind']) =>
    decisionWords(
      approval('p', {
        options: [{ optionId: 'o', name, kind }],
        outcome: { outcome: 'selected', optionId: 'o' },
      }),
    );
  expect(decision('Allow', 'allow_once')).toBe('Allowed once');
  expect(decision('Always allow', 'allow_always')).toBe('Always allowed');
  expect(decision('Deny', 'reject_once')).toBe('Rejected');
  expect(decision('Skip', 'reject_once')).toBe('Skipped');
  expect(decision('Allow for this turn', 'allow_once')).toBe('Answered “Allow for this turn”');
  const gone = approval('p', { outcome: { outcome: 'cancelled', reason: 'turn_ended' } });
  expect(decisionWords(gone)).toBe('Not answered: the turn ended');
});

it('the short texts of an answer share a line, and an edited plan and the note are separate paragraphs', () => {
  const plan = { type: 'string', title: 'The plan' } as const;
  const form = { type: 'object', properties: { plan } } as const;
  const answered = (text: string, note: string) =>
    approvalAnswerText(
      approval('p', {
        form,
        outcome: { outcome: 'selected', optionId: 'yes', content: { plan: text }, note },
      }),
    );
  expect(answered('Only the cart', 'Be short.')).toBe('Only the cart; Be short.');
  expect(answered('# Plan\n\n1. Only the cart\n', 'Be short.')).toBe(
    '# Plan\n\n1. Only the cart\n\nBe short.',
  );
});
