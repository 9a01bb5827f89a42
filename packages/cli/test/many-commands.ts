/**
 * Runs command lines one after another in one process. Reads each command line as a line of JSON from standard input.
 * Writes its outcome as a line of JSON to standard output.
 */
import { createInterface } from 'node:readline';
import { main } from '../src/program.ts';

const outputs = [process.stdout, process.stderr];
const writes = outputs.map((output) => output.write.bind(output));
// Every command line adds listeners to the process, so allow any number.
for (const emitter of [process, ...outputs]) emitter.setMaxListeners(0);
const environment = { ...process.env };

for await (const line of createInterface({ input: process.stdin })) {
  // Restore Liminal's own variables, because the previous command removed them.
  Object.assign(process.env, environment);
  const said = outputs.map((output) => {
    const texts: string[] = [];
    output.write = (chunk: string | Uint8Array) => {
      texts.push(String(chunk));
      return true;
    };
    return texts;
  });
  const exitCode = await main(JSON.parse(line) as string[]);
  for (const [at, output] of outputs.entries()) output.write = writes[at]!;
  const [stdout, stderr] = said.map((texts) => texts.join(''));
  process.stdout.write(`${JSON.stringify({ exitCode, stdout, stderr })}\n`);
}
process.exit(0);
