import type { Scene } from '../script.ts';

const colour = (code: number) => (text: string) => `\u001B[${code}m${text}\u001B[39m`;
const [green, yellow, cyan, grey] = [colour(32), colour(33), colour(36), colour(90)];
const bold = (text: string) => `\u001B[1m${text}\u001B[22m`;

const packages = [
  'protocol',
  'storage',
  'agents',
  'runtime',
  'server',
  'client',
  'web',
  'cli',
] as const;

/** A line that overwrites itself, as terminal programs show progress. */
function progress(of: string, steps: number): string {
  const bars = Array.from({ length: steps }, (_, step) => {
    const done = Math.round(((step + 1) / steps) * 24);
    const bar = `${green('█'.repeat(done))}${grey('░'.repeat(24 - done))}`;
    return `${of} ${bar} ${Math.round(((step + 1) / steps) * 100)} %\r`;
  });
  return `${bars.join('')}\u001B[K`;
}

const compiled = packages
  .map((name, index) => {
    const files = 14 + ((index * 37) % 60);
    const sources = Array.from(
      { length: 4 },
      (_, part) => `  ${grey('·')} packages/${name}/src/part-${part + 1}.ts\n`,
    );
    return `${cyan(name)} ${grey(`${files} files`)}\n${sources.join('')}`;
  })
  .join('');

const output = `
${bold('> shop@2.4.0 build')}
${bold('> node scripts/build.ts')}

${progress('Fetching ', 12)}${green('✓')} Fetched 212 packages
${compiled}${yellow('warning')} packages/web/src/part-3.ts:41 ${grey('"unused" is never read')}
${progress('Bundling ', 16)}${green('✓')} Bundled 8 packages
${progress('Checking ', 12)}${green('✓')} Checked 418 files

${green(bold('Built in 9.8 s'))}: 8 packages, ${yellow('1 warning')}
`;

export const build: Scene = {
  name: 'build',
  description: 'Runs a long command whose output grows while you watch',
  words: ['build', 'terminal', 'watch'],
  steps: [
    {
      do: 'say',
      text: 'Demo, recorded: I’ll build everything. Its output appears as the program writes it; scroll up in it to stay where you are.\n',
    },
    {
      do: 'tool',
      name: 'Bash',
      title: 'Run npm run build',
      kind: 'execute',
      input: { command: 'npm run build', description: 'Build all packages' },
      takes: 10_000,
      exitCode: 0,
      output,
    },
    {
      do: 'say',
      text: 'It builds. The one warning is a variable in `packages/web/src/part-3.ts` that nothing reads any more; I can take it out.\n',
    },
  ],
};
