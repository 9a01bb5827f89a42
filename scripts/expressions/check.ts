import { check } from 'recheck';
import { collectExpressions, type Expression } from './collect.ts';

/** An expression that cannot be checked, or is vulnerable, and whose text is bounded nevertheless. */
export interface Exception {
  file: string;
  /** How the code of the expressions begins; all of the file if it is left out. */
  code?: string;
  /** Why it takes little time on every text that it is given. */
  why: string;
}

/** For one expression, ms: more than any of ours needs on a busy machine. */
const timeout = 60_000;
/** The checker also tries texts at random: the same ones in each run. */
const randomSeed = 1;

/** The expressions of the files that take more than linear time on some text, and exceptions that are not needed. */
export async function checkExpressions(
  root: string,
  files: readonly string[],
  exceptions: readonly Exception[],
): Promise<string[]> {
  const unused = new Set(exceptions);
  const complaints: string[] = [];
  for (const expression of files.flatMap((file) => collectExpressions(root, file))) {
    const exception = exceptions.find(
      ({ file, code = '' }) => file === expression.file && expression.code.startsWith(code),
    );
    if (exception !== undefined) unused.delete(exception);
    else complaints.push(...(await problemsOf(expression)));
  }
  for (const { file, code = '' } of unused) {
    complaints.push(`exceptions.ts: ${file} has no expression ${code}. Remove the exception.`);
  }
  return complaints;
}

async function problemsOf({ file, line, code, known }: Expression): Promise<string[]> {
  const where = `${file}:${line}: ${code}`;
  if (known === undefined) {
    return [`${where} is made of values that are not known here. ${advice}`];
  }
  const { source, flags } = searched(known);
  const found = await check(source, flags, { timeout, randomSeed });
  switch (found.status) {
    case 'safe':
      return [];
    case 'unknown':
      return [`${where} cannot be checked (${JSON.stringify(found.error)}). ${advice}`];
    case 'vulnerable':
      return [
        `${where} takes ${found.complexity.summary} time for ${found.attack.pattern}. ${advice}`,
      ];
  }
}

const advice =
  'Write it in another way, or say in scripts/expressions/exceptions.ts why no text makes it slow.';

/** The same for the checker: it does not know `d`, and takes an expression that is tried at one place for a search. */
function searched({ source, flags }: { source: string; flags: string }) {
  return {
    source: flags.includes('y') ? `^(?:${source})` : source,
    flags: flags.replaceAll(/[dy]/g, ''),
  };
}
