import type { ApprovalUpsert } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { requestLines } from './request-lines.ts';

/** Returns the lines of a request to change a file, with these arguments. */
function linesOf(
  toolArguments: Record<string, unknown>,
  newText: string,
  oldText?: string,
): string[] {
  const diffs = [{ path: '/a', newText, ...(oldText !== undefined && { oldText }) }];
  const approval = {
    title: 'Change a',
    asked: { toolName: 'patch', kind: 'edit', toolArguments, diffs },
  } as unknown as ApprovalUpsert;
  return requestLines(approval, undefined);
}

const evil = 'first\nevil\nlast\n';

test.each([
  ['that the shortened change omits', { content: evil }, evil, evil],
  ['of the other side', { new_string: evil }, 'first\n', evil],
  ['as old text', { old_string: evil }, evil, 'first\n'],
])('SAFE: an argument %s is shown', (_, toolArguments, newText, oldText) => {
  const lines = linesOf(toolArguments, newText, oldText);
  expect(lines).toContain('    evil');
  expect(lines.join('\n')).not.toContain('in the change below');
});

test.each([
  [{ content: evil }, evil, undefined, '    +evil'],
  [{ new_string: evil }, evil, 'x\n', '    +evil'],
  [{ old_string: evil }, 'x\n', evil, '    -evil'],
])(
  'if the change already shows an argument completely, the argument is not repeated: %j',
  (args, newText, oldText, shown) => {
    const lines = linesOf(args, newText, oldText);
    expect(lines.join('\n')).toContain(': (in the change below)');
    expect(lines).toContain(shown);
    expect(lines).not.toContain('    evil');
  },
);
