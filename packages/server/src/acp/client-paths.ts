import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import type * as Acp from '@agentclientprotocol/sdk';

/** A project's folder: `cwd` is the path that the client uses, and `projectDir` the real path. */
export interface ProjectPaths {
  cwd: string;
  projectDir: string;
}

/**
 * Returns the path that the client uses for a file. The result is absolute, as ACP requires. `path`, from the agent,
 * may be relative to the project.
 */
export function clientPath({ cwd, projectDir }: ProjectPaths, path: string): string {
  const absolutePath = resolve(projectDir, path);
  const inside = relative(projectDir, absolutePath);
  const isOutside = inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside);
  return isOutside ? absolutePath : join(cwd, inside);
}

type CallPaths = Pick<Acp.ToolCallUpdate, 'locations' | 'content'>;

/** Replaces the paths in a tool call with the paths that the client uses. */
export function withClientPaths<Call extends CallPaths>(call: Call, paths: ProjectPaths): Call {
  const { locations, content } = call;
  return {
    ...call,
    ...(locations && {
      locations: locations.map((one) => ({ ...one, path: clientPath(paths, one.path) })),
    }),
    ...(content && {
      content: content.map((one) =>
        one.type === 'diff' ? { ...one, path: clientPath(paths, one.path) } : one,
      ),
    }),
  };
}
