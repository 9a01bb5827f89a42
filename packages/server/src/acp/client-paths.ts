import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import type * as Acp from '@agentclientprotocol/sdk';

/** A project's folder as the client calls it, and as it really is: editors know their files by the first. */
export interface ProjectPlace {
  cwd: string;
  projectDir: string;
}

/** A path as the client calls it: absolute, as ACP has all paths, while an agent may name one from its project on. */
export function clientPath({ cwd, projectDir }: ProjectPlace, path: string): string {
  const whole = resolve(projectDir, path);
  const inside = relative(projectDir, whole);
  const isOutside = inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside);
  return isOutside ? whole : join(cwd, inside);
}

type Places = Pick<Acp.ToolCallUpdate, 'locations' | 'content'>;

/** A call with its files as the client calls them. */
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
