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

/** Returns the settings of a thread after a thread with the user's own settings has replaced it. */
function replaced(more: object): CodexSettings {
  const settings = new CodexSettings(opened(more));
  settings.offer({ models, modes: [{ mode: 'default', name: 'Default' }] });
  settings.replaceThread(opened({}));
  return settings;
}

test('a fresh thread with the same settings gets only the mode', () => {
  const { overrides } = replaced({});
  expect(Object.keys(overrides)).toEqual(['collaborationMode']);
});

test('a fresh thread gets the model, effort and approvals of the earlier thread', () => {
  const readOnly = { sandbox: { type: 'readOnly' } };
  expect(replaced({ model: 'small' }).overrides).toMatchObject({ model: 'small', effort: null });
  expect(replaced({ reasoningEffort: 'high' }).overrides).toMatchObject({ effort: 'high' });
  expect(replaced(readOnly).overrides).toMatchObject({
    approvalPolicy: 'on-request',
    sandboxPolicy: { type: 'readOnly', networkAccess: false },
  });
});

test('SAFE: a fresh thread gets the rights of the earlier thread if they match no preset', () => {
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
