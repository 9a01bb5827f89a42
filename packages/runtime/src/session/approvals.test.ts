import { expect, test } from 'vitest';
import { defaultSettings } from '../settings.ts';
import { Approvals } from './approvals.ts';

const MANY = 101;

test('the newest hundred requests that are over are kept, older ones are forgotten', async () => {
  const context = {
    cliType: 'scripted',
    now: Date.now,
    settings: defaultSettings,
    changed: () => {},
    warn: () => {},
  };
  const approvals = new Approvals(context, { answerApproval: async () => {} });
  const draft = { turnId: 't', timestamp: '2026-01-01T00:00:00.000Z' };
  for (let count = 0; count < MANY; count += 1) {
    const [itemId, title, options] = [`a${count}`, 'Run it?', []];
    const start = { type: 'item_start', itemId, itemType: 'approval', approvalId: itemId } as const;
    approvals.pass({ ...draft, payload: { ...start, title, options } });
    approvals.closeAll();
  }
  const codeOf = async (approvalId: string) =>
    approvals.answer(approvalId, { optionId: 'x' }).catch(({ code }: { code: string }) => code);
  expect(await codeOf('a0')).toBe('APPROVAL_NOT_FOUND');
  expect(await codeOf('a1')).toBe('APPROVAL_ALREADY_ANSWERED');
  expect(await codeOf(`a${MANY - 1}`)).toBe('APPROVAL_ALREADY_ANSWERED');
});
