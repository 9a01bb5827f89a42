import { check } from 'recheck';
import { collectExpressions, type Expression } from './collect.ts';

/** An expression that the checker cannot check or finds vulnerable, but which is applied only to bounded text. */
export interface Exception {
  file: string;
  /** The beginning of the expression's code. Without this field, the exception is for all expressions of the file. */
  code?: string;
  /** Why the expression is fast on every text to which the program applies it. */
  why: string;
}

/** The time limit for one expression, in ms: more than any expression needs on a busy machine. */
const timeout = 60_000;
/** The seed of the checker's random texts, so that these texts are the same in each run. */
const randomSeed = 1;
/**
 * How many checks in a row must find an expression slow. Parts of the checker's search have time limits, so on a busy
 * machine a single check can report a fast expression; a slow expression is reported each time.
 */
const confirmations = 3;

/**
 * Returns a sentence for each expression that takes more than linear time on some text, and for each exception that is
 * not needed.
 */
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
    return [`${where} is built from values that are not known here. ${advice}`];
  }
  const { source, flags } = searched(known);
  let found = await check(source, flags, { timeout, randomSeed });
  for (let checks = 1; checks < confirmations && found.status === 'vulnerable'; checks += 1) {
    found = await check(source, flags, { timeout, randomSeed });
  }
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
  'Rewrite it, or explain in scripts/expressions/exceptions.ts why no text makes it slow.';

/**
 * Returns an equivalent expression for the checker. The checker does not know the flag `d`, and treats an anchored
 * expression as if it could match anywhere.
 */
function searched({ source, flags }: { source: string; flags: string }) {
  return {
    source: flags.includes('y') ? `^(?:${source})` : source,
    flags: flags.replaceAll(/[dy]/g, ''),
  };
}
