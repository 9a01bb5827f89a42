import { expect, test } from 'vitest';
import { readToolResult } from './tool-results.ts';

const read = (
  content: unknown,
  rest: { tool?: string; isError?: boolean; structured?: unknown } = {},
) =>
  readToolResult(rest.tool, {
    callId: 'c',
    content,
    isError: rest.isError ?? false,
    structured: rest.structured,
  });

test('texts are joined, images kept as blocks, and unknown blocks kept raw', () => {
  const hologram = { type: 'hologram' };
  const image = {
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: 'AAAA' },
  };
  expect(read([{ type: 'text', text: 'a' }, image, { type: 'text', text: 'b' }, hologram])).toEqual(
    {
      output: 'a\nb',
      success: true,
      blocks: [{ type: 'image', mimeType: 'image/png', data: 'AAAA' }],
      raw: [hologram],
    },
  );
  expect(read([{ type: 'tool_reference', tool_name: 'WebFetch' }]).output).toBe('WebFetch');
  expect(read(undefined)).toEqual({ output: '', success: true });
  expect(read(null)).toEqual({ output: '', success: true });
  expect(read({ type: 'text', text: 'a' })).toEqual({ output: 'a', success: true });
  expect(read(7)).toEqual({ output: '', success: true, raw: [7] });
});

test('a command’s exit code is a field and is removed from the output', () => {
  expect(read('Exit code 2\nno such file', { tool: 'Bash', isError: true })).toEqual({
    output: 'no such file',
    success: false,
    exitCode: 2,
  });
  expect(read('fine', { tool: 'Bash' })).toMatchObject({ output: 'fine', exitCode: 0 });
  expect(read('The user refused this.', { tool: 'Bash', isError: true })).not.toHaveProperty(
    'exitCode',
  );
});

test('an exit code is recognised only for commands', () => {
  const output = 'Exit code 2\nno such file';
  expect(read(output, { tool: 'Read', isError: true })).toEqual({ output, success: false });
  expect(read(`So: ${output}`, { tool: 'Bash' })).toMatchObject({ exitCode: 0 });
  expect(read('Exit code 137', { tool: 'Bash', isError: true })).toMatchObject({
    output: '',
    exitCode: 137,
  });
});

test('the tag around an error’s text is removed', () => {
  const tagged = '<tool_use_error>No such\ntool.</tool_use_error>';
  expect(read(tagged, { isError: true }).output).toBe('No such\ntool.');
  expect(read(`See ${tagged}`).output).toBe(`See ${tagged}`);
  expect(read(`${tagged}!`).output).toBe(`${tagged}!`);
});

test('a file that is written whole has a diff from its old text, or from nothing if the file is new', () => {
  const written = { filePath: '/a', content: 'new', structuredPatch: [] };
  expect(read('ok', { structured: written }).diffs).toEqual([
    { path: '/a', oldText: null, newText: 'new' },
  ]);
  expect(read('ok', { structured: { ...written, originalFile: 'old' } }).diffs).toEqual([
    { path: '/a', oldText: 'old', newText: 'new' },
  ]);
  const unsaid = { filePath: '/a', structuredPatch: [] };
  expect(read('ok', { structured: unsaid })).not.toHaveProperty('diffs');
});

test('each hunk of a patch is a diff with the surrounding lines', () => {
  const structured = {
    filePath: '/a',
    originalFile: 'x',
    structuredPatch: [{ lines: [' a', '-b', '+c', ' d'] }, { lines: ['+e'] }],
  };
  expect(read('ok', { structured }).diffs).toEqual([
    { path: '/a', oldText: 'a\nb\nd', newText: 'a\nc\nd' },
    { path: '/a', oldText: '', newText: 'e' },
  ]);
  expect(read('failed', { structured, isError: true })).not.toHaveProperty('diffs');
});

test('a subagent’s report is shown without the text for the model', () => {
  const structured = {
    status: 'completed',
    content: [
      { type: 'text', text: '<tools-used-before-summary>Read</tools-used-before-summary>' },
      { type: 'text', text: 'Two lines.' },
    ],
  };
  expect(read('[Subagent hand-back] Two lines.', { tool: 'Agent', structured }).output).toBe(
    'Two lines.',
  );
  expect(read('As stored.', { tool: 'Agent' }).output).toBe('As stored.');
  expect(read('As told.', { tool: 'Read', structured }).output).toBe('As told.');
  expect(read('As told.', { tool: 'Task', structured }).output).toBe('Two lines.');
  const launched = { status: 'async_launched', agentId: 'a' };
  expect(read('internal', { tool: 'Agent', structured: launched }).output).toBe(
    'It works in the background.',
  );
});
