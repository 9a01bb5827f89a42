import type { ApprovalAnswer, ApprovalOption, Form } from '@liminal/protocol';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { RuntimeError } from '../errors.ts';
import { defaultSettings } from '../settings.ts';
import { Approvals } from './approvals.ts';
import type { ApprovalPolicy } from '../settings.ts';
import type { Cluster } from './session-options.ts';

const many = 101;
const draft = { turnId: 't', timestamp: '2026-01-01T00:00:00.000Z' };

const contextWith = (approvals: ApprovalPolicy) => ({
  sessionId: 's',
  cliType: 'scripted',
  now: Date.now,
  settings: { ...defaultSettings, approvals },
  changed: () => {},
  warn: () => {},
});

test('the newest hundred finished requests are remembered, and older finished requests are forgotten', async () => {
  const context = contextWith(defaultSettings.approvals);
  const asking = { answerApproval: async () => {}, wasAsked: async () => false };
  const approvals = new Approvals(context, asking, async () => {});
  for (let count = 0; count < many; count += 1) {
    const [itemId, title, options] = [`a${count}`, 'Run it?', []];
    const start = { type: 'item_start', itemId, itemType: 'approval', approvalId: itemId } as const;
    approvals.track({ ...draft, payload: { ...start, title, options } });
    approvals.closeAll();
  }
  const codeOf = async (approvalId: string) =>
    approvals.answer(approvalId, { optionId: 'x' }).catch(({ code }: { code: string }) => code);
  expect(await codeOf('a0')).toBe('APPROVAL_NOT_FOUND');
  expect(await codeOf('a1')).toBe('APPROVAL_ALREADY_ANSWERED');
  expect(await codeOf(`a${many - 1}`)).toBe('APPROVAL_ALREADY_ANSWERED');
});

describe('an answer to a request that this server does not have', () => {
  const start = { type: 'item_start', itemId: 'a', itemType: 'approval', approvalId: 'a' } as const;
  const request = { ...draft, payload: { ...start, title: 'Run it?', options: [] } };
  const codeOf = async (approvals: Approvals) =>
    approvals.answer('a', { optionId: 'x' }).catch(({ code }: { code: string }) => code);

  test('is rejected as already answered if the conversation has the request from an earlier server', async () => {
    const asking = {
      answerApproval: async () => {},
      wasAsked: async (approvalId: string) => approvalId === 'a',
    };
    const approvals = new Approvals(contextWith(defaultSettings.approvals), asking, async () => {});
    expect(await codeOf(approvals)).toBe('APPROVAL_ALREADY_ANSWERED');
  });

  test('is rejected as already answered if the agent has just withdrawn the request', async () => {
    const answerApproval = async () => {
      throw new RuntimeError('APPROVAL_NOT_FOUND', 'Withdrawn.');
    };
    const asking = { answerApproval, wasAsked: async () => false };
    const approvals = new Approvals(contextWith(defaultSettings.approvals), asking, async () => {});
    approvals.track(request);
    expect(await codeOf(approvals)).toBe('APPROVAL_ALREADY_ANSWERED');
  });

  test('is not sent to the agent if another server may own the session, even at the deadline', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const given: unknown[] = [];
    const warnings: unknown[] = [];
    const asking = {
      answerApproval: async (...answer: unknown[]) => void given.push(answer),
      wasAsked: async () => false,
    };
    const cluster: Pick<Cluster, 'holds'> = { holds: async () => false };
    const context = {
      ...contextWith({ deadlineMs: 1_000, fallback: 'allow' }),
      cluster: cluster as Cluster,
      warn: (error: unknown) => void warnings.push(error),
    };
    const approvals = new Approvals(context, asking, async () => {});
    const options: ApprovalOption[] = [{ optionId: 'x', name: 'Allow', kind: 'allow_once' }];
    approvals.track({ ...draft, payload: { ...start, title: 'Run it?', options } });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(warnings).toMatchObject([{ code: 'STALE_OWNER' }]);
    expect(await codeOf(approvals)).toBe('STALE_OWNER');
    expect(given).toEqual([]);
  });
});

describe('a request without an answer at its deadline', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const deadlineMs = 1_000;
  const given: ApprovalAnswer[] = [];
  const stop = vi.fn<() => Promise<void>>(async () => {});

  /** Asks with options of these kinds; each option's id is its kind. */
  function ask(fallback: ApprovalPolicy['fallback'], kinds: string, form?: Form) {
    given.length = 0;
    stop.mockClear();
    const answerApproval = async (_: string, answer: ApprovalAnswer) => void given.push(answer);
    const context = contextWith({ deadlineMs, fallback });
    const approvals = new Approvals(context, { answerApproval, wasAsked: async () => false }, stop);
    const options = kinds.split(' ').map((kind) => ({ optionId: kind, name: kind, kind }));
    const asked = { approvalId: 'a', title: 'Run it?', options: options as ApprovalOption[] };
    const start = { type: 'item_start', itemId: 'a', itemType: 'approval', ...asked } as const;
    const { payload } = approvals.track({ ...draft, payload: { ...start, ...(form && { form }) } });
    return { approvals, deadline: payload.type === 'item_start' ? payload.deadline : undefined };
  }

  test.each([
    ['reject', 'allow_once allow_always reject_once', 'reject_once'],
    ['reject', 'reject_always allow_once allow_always', 'reject_always'],
    ['reject', 'allow_once allow_always', 'the turn stops'],
    ['reject', 'allow_always', 'the turn stops'],
    ['allow', 'allow_always allow_once reject_once', 'allow_once'],
    ['allow', 'allow_always reject_once', 'nothing'],
    ['allow', 'reject_always reject_once', 'nothing'],
  ] as const)('SAFE: %s, of %s, gives: %s', async (fallback, kinds, expected) => {
    const { deadline } = ask(fallback, kinds);
    await vi.advanceTimersByTimeAsync(deadlineMs * 2);
    const isOption = expected.includes('_');
    expect(given).toEqual(isOption ? [{ optionId: expected }] : []);
    expect(stop).toHaveBeenCalledTimes(expected === 'the turn stops' ? 1 : 0);
    expect(deadline).toBe(expected === 'nothing' ? undefined : '2026-01-01T00:00:01.000Z');
  });

  test('is not allowed at the deadline if the request has a form', async () => {
    const form = { properties: { name: { type: 'string' } }, required: ['name'] };
    ask('allow', 'allow_once reject_once', form);
    await vi.advanceTimersByTimeAsync(deadlineMs * 2);
    expect(given).toEqual([]);
    ask('reject', 'allow_once reject_once', form);
    await vi.advanceTimersByTimeAsync(deadlineMs * 2);
    expect(given).toEqual([{ optionId: 'reject_once' }]);
  });

  test('is not answered at the deadline if a user has just answered it', async () => {
    const { approvals } = ask('reject', 'allow_once allow_always');
    await approvals.answer('a', { optionId: 'allow_once' });
    await vi.advanceTimersByTimeAsync(deadlineMs * 2);
    expect(given).toEqual([{ optionId: 'allow_once' }]);
    expect(stop).not.toHaveBeenCalled();
  });
});
