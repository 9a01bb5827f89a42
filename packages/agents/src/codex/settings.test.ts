import { expect, test } from 'vitest';
import { CodexSettings, type Opened, readModels, readOpened } from './settings.ts';

const models = readModels({
  data: [
    {
      model: 'large',
      supportedReasoningEfforts: [{ reasoningEffort: 'low' }, { reasoningEffort: 'high' }],
      defaultReasoningEffort: 'low',
    },
    { model: 'small' },
  ],
});

const opened = (more: object): Opened =>
  readOpened({
    thread: { id: 'thread' },
    model: 'large',
    approvalPolicy: 'on-request',
    sandbox: { type: 'workspaceWrite', writableRoots: [] },
    ...more,
  })!;

/** The settings of a thread that was opened so, after it is replaced by one with the user's own settings. */
function replaced(more: object): CodexSettings {
  const settings = new CodexSettings(opened(more));
  settings.offer({ models, modes: [{ mode: 'default', name: 'Default' }] });
  settings.replaceThread(opened({}));
  return settings;
}

test('a fresh thread with the same settings is given only the way of working', () => {
  const { overrides } = replaced({});
  expect(Object.keys(overrides)).toEqual(['collaborationMode']);
});

test('a fresh thread is given the model, the effort and the approvals that the earlier thread had', () => {
  const readOnly = { sandbox: { type: 'readOnly' } };
  expect(replaced({ model: 'small' }).overrides).toMatchObject({ model: 'small', effort: null });
  expect(replaced({ reasoningEffort: 'high' }).overrides).toMatchObject({ effort: 'high' });
  expect(replaced(readOnly).overrides).toMatchObject({
    approvalPolicy: 'on-request',
    sandboxPolicy: { type: 'readOnly', networkAccess: false },
  });
});

test('SAFE: a fresh thread has no more rights than the earlier one, where those are no preset', () => {
  const rights = {
    approvalPolicy: 'untrusted',
    sandbox: { type: 'readOnly', networkAccess: true },
  };
  const settings = replaced(rights);
  expect(settings.overrides).toMatchObject({
    approvalPolicy: 'untrusted',
    sandboxPolicy: { type: 'readOnly', networkAccess: true },
  });
  settings.change('mode', 'auto');
  expect(settings.overrides).toMatchObject({ approvalPolicy: 'on-request' });
});
