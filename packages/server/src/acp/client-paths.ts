import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import type * as Acp from '@agentclientprotocol/sdk';

/** A project's folder: `cwd` is the path that the client uses, and `projectDir` the real path. */
export interface ProjectPaths {
  cwd: string;
  projectDir: string;
}

/**
 * Returns the client's path for a file; absolute, as ACP requires. An agent's `path` may be relative to the project.
 */
export function clientPath({ cwd, projectDir }: ProjectPaths, path: string): string {
  const absolutePath = resolve(projectDir, path);
  const inside = relative(projectDir, absolutePath);
  const isOutside = inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside);
  return isOutside ? absolutePath : join(cwd, inside);
}

type CallPaths = Pick<Acp.ToolCallUpdate, 'locations' | 'content'>;

/** Replaces the paths in a tool call by the client's own paths. */
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
