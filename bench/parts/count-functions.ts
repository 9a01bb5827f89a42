/**
 * A module that a process imports. After SIGHUP, the process prints as JSON which functions of Liminal's packages were
 * called since the last SIGHUP: `file:function@offset` → number of calls. V8's precise coverage counts the calls.
 */
import { Session } from 'node:inspector/promises';

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

process.on('SIGHUP', () => void print());

async function print(): Promise<void> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const calls: Record<string, number> = {};
  for (const { url, functions } of result) {
    const [, file] = /\/(packages\/\w+\/src\/.*)$/.exec(url) ?? [];
    if (file === undefined) continue;
    for (const { functionName, ranges } of functions) {
      const [range] = ranges;
      // A function that starts at offset 0 is the module itself.
      if (range === undefined || range.count === 0 || range.startOffset === 0) continue;
      calls[`${file}:${functionName}@${range.startOffset}`] = range.count;
    }
  }
  console.log(JSON.stringify(calls));
}
