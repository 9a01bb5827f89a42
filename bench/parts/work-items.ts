import type { OutputItem } from '@liminal/protocol';

const words =
  'The loader reads the file, checks it against the **schema** and says where it is wrong. ';
const code = Array.from(
  { length: 24 },
  (_, line) =>
    `  const value${line} = await read(path${line}, { encoding: 'utf8' }); // line ${line}`,
).join('\n');
const oldLines = code.split('\n').slice(0, 16);
const newLines = oldLines.map((line, index) => (index % 5 === 2 ? `${line} changed` : line));

/**
 * Makes an item of typical work: text, a list or a table, code, a command with its output, or an edit with its diff.
 */
export function makeWorkItem(id: string, index: number): OutputItem {
  const call = {
    callId: id.replace(/\d+$/, String(index - (index % 2))),
    origin: 'agent',
  } as const;
  if (index === 0) return { type: 'message', id, content: words.repeat(2), origin: 'user' };
  if (index === 1) return { type: 'reasoning', id, content: words.repeat(4), origin: 'agent' };
  switch (index % 6) {
    case 2:
      return { type: 'function_call', id, ...call, ...toolOf(index) };
    case 3:
      return {
        type: 'function_call_output',
        id,
        callId: call.callId,
        output: `${'a line of what the command wrote\n'.repeat(30)}`,
        success: index % 12 !== 3,
        origin: 'tool_harness',
      };
    case 4:
      return { type: 'message', id, content: `Now:\n\n\`\`\`ts\n${code}\n\`\`\``, origin: 'agent' };
    default:
      return {
        type: 'message',
        id,
        content: `## Step ${index}\n\n${words.repeat(3)}\n\n- one \`thing\`\n- another\n\n| a | b |\n| - | - |\n| 1 | 2 |`,
        origin: 'agent',
      };
  }
}

/** Returns a command for one index and an edit for the next. */
function toolOf(index: number) {
  if (index % 12 === 2) {
    const args = JSON.stringify({ command: `npm test -- ${index}` });
    return { name: 'Bash', kind: 'execute', arguments: args } as const;
  }
  const diffs = [
    { path: 'src/loader.ts', oldText: oldLines.join('\n'), newText: newLines.join('\n') },
  ];
  const args = JSON.stringify({ file_path: 'src/loader.ts' });
  return { name: 'Edit', kind: 'edit', arguments: args, diffs } as const;
}
