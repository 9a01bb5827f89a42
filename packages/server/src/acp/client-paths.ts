import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import type * as Acp from '@agentclientprotocol/sdk';

/** A project's folder: `cwd` is the client's path, which its editor knows, and `projectDir` the real path. */
export interface ProjectPlace {
  cwd: string;
  projectDir: string;
}

/** Returns the client's path: absolute, as ACP requires. An agent's `path` may be relative to the project. */
export function clientPath({ cwd, projectDir }: ProjectPlace, path: string): string {
  const whole = resolve(projectDir, path);
  const inside = relative(projectDir, whole);
  const isOutside = inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside);
  return isOutside ? whole : join(cwd, inside);
}

type Places = Pick<Acp.ToolCallUpdate, 'locations' | 'content'>;

/** Rewrites a tool call's paths to the client's own. */
export function withClientPaths<Call extends Places>(call: Call, place: ProjectPlace): Call {
  const { locations, content } = call;
  return {
    ...call,
    ...(locations && {
      locations: locations.map((one) => ({ ...one, path: clientPath(place, one.path) })),
    }),
    ...(content && {
      content: content.map((one) =>
        one.type === 'diff' ? { ...one, path: clientPath(place, one.path) } : one,
      ),
    }),
  };
}
