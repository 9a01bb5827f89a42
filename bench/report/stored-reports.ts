/**
 * Stores kept reports in the repository, one file for each machine, so that each change of the figures belongs to a
 * commit.
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Machine, Report, withoutSamples } from './report.ts';

const reportFolder = fileURLToPath(new URL('../kept', import.meta.url));

/** Reads all kept reports. If a file is not a report of this version, throws an error that contains the file's name. */
export async function readStoredReports(folder = reportFolder): Promise<Report[]> {
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => name.endsWith('.json')).toSorted();
  return Promise.all(files.map(async (name) => readReport(join(folder, name))));
}

/** Replaces, in the machine's file, the groups that this report has measured completely. Returns the file's path. */
export async function storeReport(report: Report, folder = reportFolder): Promise<string> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${nameOf(report.machine)}.json`);
  const isThere = (await readdir(folder)).includes(`${nameOf(report.machine)}.json`);
  const earlier = isThere ? await readReport(file) : undefined;
  const kept = mergeGroups(earlier, withoutSamples(report));
  await writeFile(file, `${JSON.stringify(kept, null, 2)}\n`);
  return file;
}

/**
 * Adds a report's complete groups to an earlier report, and replaces groups that have the same name. Groups that did
 * not complete are not added.
 */
export function mergeGroups(earlier: Report | undefined, report: Report): Report {
  const whole = report.groups.filter(({ ended }) => ended === 'whole');
  const others = (earlier?.groups ?? []).filter(
    ({ name }) => !whole.some((group) => group.name === name),
  );
  const groups = [...others, ...whole].toSorted((a, b) => a.name.localeCompare(b.name));
  return { ...report, groups };
}

/** Returns a file name for the machine. */
function nameOf({ cores, cpu, memoryGiB }: Machine): string {
  return `${cores} ${cpu} ${memoryGiB} GiB`
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}

async function readReport(file: string): Promise<Report> {
  try {
    return Report.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    const what = `${file} is not a report of this version. Remove it, and keep a new one.`;
    throw new Error(what, { cause: error });
  }
}
