/**
 * Reads the names that the agents declare: Claude Code's SDK declares them in its types, and Codex in the types that it
 * generates.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../bootstrap/root.mjs';

export interface ClaudeNames {
  messages: string[];
  requests: string[];
  methods: string[];
  options: string[];
  functions: string[];
}

/** @param types - The text of the SDK's `sdk.d.ts`. */
export function readClaudeNames(types: string): ClaudeNames {
  const fieldOf = (name: string, field: string): string[] => {
    const values = new RegExp(`^    ${field}: (.*);$`, 'm').exec(bodyOf(types, name))?.[1] ?? '';
    return literalsIn(values);
  };
  const members = membersOf(types, 'SDKMessage').concat(
    'SDKActiveGoalMessage',
    'SDKKeepAliveMessage',
  );
  const messages = members.flatMap((name) => {
    const [type = name] = fieldOf(name, 'type');
    const subtypes = fieldOf(name, 'subtype');
    return subtypes.length === 0 ? [type] : subtypes.map((subtype) => `${type}/${subtype}`);
  });
  return {
    // A message of the user that is replayed has the same type as when it is first sent.
    messages: unique(messages),
    requests: membersOf(types, 'SDKControlRequestInner').flatMap((name) =>
      fieldOf(name, 'subtype'),
    ),
    methods: unique(fieldsIn(bodyOf(types, 'Query'))),
    options: unique(fieldsIn(bodyOf(types, 'Options'))),
    functions: unique([...types.matchAll(/^export declare function (\w+)/gm)].map(first)),
  };
}

export const claudeNames = (): ClaudeNames =>
  readClaudeNames(
    readFileSync(join(root, 'node_modules/@anthropic-ai/claude-agent-sdk/sdk.d.ts'), 'utf8'),
  );

export interface CodexNames {
  requests: string[];
  notifications: string[];
  serverRequests: string[];
  items: string[];
}

/** @param typesOf - Returns the text of a generated file by its name. */
function readCodexNames(typesOf: (file: string) => string): CodexNames {
  const valuesOf = (file: string, field: string): string[] =>
    unique([...typesOf(file).matchAll(new RegExp(`"${field}": "([^"]+)"`, 'g'))].map(first));
  return {
    requests: [
      ...valuesOf('ClientRequest.ts', 'method'),
      ...valuesOf('ClientNotification.ts', 'method'),
    ],
    notifications: valuesOf('ServerNotification.ts', 'method'),
    serverRequests: valuesOf('ServerRequest.ts', 'method'),
    items: valuesOf('v2/ThreadItem.ts', 'type'),
  };
}

/** Runs Codex to generate its types, and returns the names in them. */
export function codexNames(): CodexNames {
  const folder = mkdtempSync(join(tmpdir(), 'liminal-codex-types-'));
  try {
    const program = join(root, 'node_modules/@openai/codex/bin/codex.js');
    const args = [program, 'app-server', 'generate-ts', '--experimental', '--out', folder];
    execFileSync(process.execPath, args, {
      env: { ...process.env, CODEX_HOME: folder },
      stdio: 'pipe',
    });
    return readCodexNames((file) => readFileSync(join(folder, file), 'utf8'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the direct members of a union, without the members of nested unions. */
function membersOf(types: string, name: string): string[] {
  const union = new RegExp(`^(?:export )?declare type ${name} = ([\\w |.]+);$`, 'm').exec(
    types,
  )?.[1];
  if (union === undefined) return [name];
  return union.split(' | ').flatMap((member) => membersOf(types, member.replace(/^.*\./, '')));
}

function bodyOf(types: string, name: string): string {
  const start = new RegExp(`^(?:export )?declare (?:type ${name} =|interface ${name} ).*\\{$`, 'm');
  const found = start.exec(types);
  if (found === null) throw new Error(`The SDK does not declare ${name}.`);
  const from = found.index + found[0].length;
  return types.slice(from, types.indexOf('\n}', from));
}

/** Returns the fields and methods of a type, without those of nested types. */
const fieldsIn = (body: string): string[] => [...body.matchAll(/^ {4}(\w+)\??[(:]/gm)].map(first);

const literalsIn = (values: string): string[] => [...values.matchAll(/'([^']+)'/g)].map(first);

const first = (match: RegExpMatchArray): string => match[1] ?? '';

const unique = (names: readonly string[]): string[] => [...new Set(names)];
