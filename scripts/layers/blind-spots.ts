import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ICruiseResult } from 'dependency-cruiser';
import { z } from 'zod';

const manifestSchema = z.object({ dependencies: z.record(z.string(), z.string()).default({}) });

/**
 * Returns the source files and the imports between packages that exist but that the cruiser did not read. If
 * dependency-cruiser could not parse the files, it would find no violations, and the check would pass although nothing
 * was checked.
 */
export function findBlindSpots(root: string, { modules }: ICruiseResult): string[] {
  const read = new Set(modules.map((module) => module.source));
  const edges = new Set(
    modules.flatMap(({ source, dependencies }) =>
      dependencies.map((dependency) => `${roomOf(source)} → ${roomOf(dependency.resolved)}`),
    ),
  );
  return [
    ...sourceFiles(root)
      .filter((file) => !read.has(file))
      .map((file) => `Not read: ${file}`),
    ...declaredEdges(root)
      .filter((edge) => !edges.has(edge))
      .map((edge) => `Not seen: ${edge}`),
  ];
}

function sourceFiles(root: string): string[] {
  const files = globSync('packages/*/{src,test}/**/*.{ts,tsx}', { cwd: root });
  return files.filter((file) => !/\/(dist|fixtures|node_modules)\//.test(file));
}

/** Returns the imports between packages that the package.json files declare. */
function declaredEdges(root: string): string[] {
  return globSync('packages/*/package.json', { cwd: root }).flatMap((file) => {
    const { dependencies } = manifestSchema.parse(
      JSON.parse(readFileSync(join(root, file), 'utf8')),
    );
    const others = Object.keys(dependencies).filter((name) => name.startsWith('@liminal/'));
    return others.map((name) => `${roomOf(file)} → ${name.slice('@liminal/'.length)}`);
  });
}

function roomOf(path: string): string | undefined {
  return /^packages\/([^/]+)\//.exec(path)?.[1];
}
