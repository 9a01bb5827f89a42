/** The program `claude`: the user's own, or the one installed with Liminal. */
import { BoundedMap } from '@liminal/protocol';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { z } from 'zod';
import { findProgram } from '../../base/find-program.ts';
import { isAtLeast, programKey, versionOf } from '../../base/program-version.ts';

const require = createRequire(import.meta.url);
const sdk = '@anthropic-ai/claude-agent-sdk';

/**
 * The oldest version that passes all tests of Liminal. Older versions lack the hook PreSkillShellCommand, which blocks
 * a skill's commands until people have agreed to the skill.
 */
export const oldestClaude = '2.1.332';

export interface FoundClaude {
  /** Absolute. */
  path: string;
  version: string | undefined;
  /** Whether this is the user's own program, found on the search path. */
  isOwn: boolean;
}

interface ProgramSearch {
  /** The program to use; undefined if no usable program is found. */
  used: FoundClaude | undefined;
  /** Why the user's own program is not used, as a sentence; undefined if the program is used or does not exist. */
  passedOver: string | undefined;
}

/**
 * Finds the user's own program on the search path if that program works and is new enough; otherwise returns the
 * installed program.
 */
export async function findClaude(searchPath: string | undefined): Promise<ProgramSearch> {
  const path = findProgram('claude', searchPath);
  if (path === undefined) return { used: installedClaude(), passedOver: undefined };
  const version = await versionOf(path);
  const failure = failures.get(await programKey(path));
  const fault =
    failure ??
    (version === undefined ? 'does not print its version' : undefined) ??
    (isAtLeast(version ?? '', oldestClaude)
      ? undefined
      : `is ${version}, and Liminal needs ${oldestClaude} or newer`);
  if (fault === undefined) return { used: { path, version, isOwn: true }, passedOver: undefined };
  const used = installedClaude();
  const instead = used === undefined ? '' : ` Liminal uses its own ${used.version}.`;
  const advice = 'Run `claude update` in a terminal.';
  return { used, passedOver: `Your own ${path} ${fault}.${instead} ${advice}` };
}

/** Programs that failed to start a session, by `programKey`, with their errors. */
const failures = new BoundedMap<string, string>(10);

/** Records that the user's own program failed, so that the program is not used again until its file changes. */
export async function noteFailure({ path }: FoundClaude, why: string): Promise<void> {
  failures.set(await programKey(path), `did not start a session (${why.replace(/\.$/, '')})`);
}

/** Returns the program that npm has installed for this platform. */
export function installedClaude(): FoundClaude | undefined {
  const { platform, arch } = process;
  const name = `${platform}-${arch}${isMusl() ? '-musl' : ''}`;
  const file = resolve(`${sdk}-${name}/${platform === 'win32' ? 'claude.exe' : 'claude'}`);
  const path = file && findProgram(file);
  return path === undefined ? undefined : { path, version: installedVersion(), isOwn: false };
}

export const isMusl = (): boolean => {
  const report = z
    .looseObject({ header: z.looseObject({ glibcVersionRuntime: z.string().optional() }) })
    .safeParse(process.report.getReport()).data;
  return process.platform === 'linux' && report?.header.glibcVersionRuntime === undefined;
};

function installedVersion(): string | undefined {
  const entry = resolve(sdk);
  if (entry === undefined) return undefined;
  const manifest: unknown = require(join(entry, '..', 'package.json'));
  return z.looseObject({ claudeCodeVersion: z.string() }).safeParse(manifest).data
    ?.claudeCodeVersion;
}

function resolve(specifier: string): string | undefined {
  try {
    return require.resolve(specifier);
  } catch {
    return undefined;
  }
}
