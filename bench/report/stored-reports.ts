/** Kept reports: one file for each machine, in the repository, so that changes of figures belong to commits. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Machine, Report, withoutSamples } from './report.ts';

const reportFolder = fileURLToPath(new URL('../kept', import.meta.url));

/** Throws for a file that is not a report of this version, and names it. */
export async function readStoredReports(folder = reportFolder): Promise<Report[]> {
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => name.endsWith('.json')).toSorted();
  return Promise.all(files.map(async (name) => readReport(join(folder, name))));
}

/** Replaces groups in the machine's file by the groups that this report has measured completely. Returns the file. */
export async function storeReport(report: Report, folder = reportFolder): Promise<string> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${nameOf(report.machine)}.json`);
  const isThere = (await readdir(folder)).includes(`${nameOf(report.machine)}.json`);
  const earlier = isThere ? await readReport(file) : undefined;
  const kept = mergeGroups(earlier, withoutSamples(report));
  await writeFile(file, `${JSON.stringify(kept, null, 2)}\n`);
  return file;
}

/** Groups that did not complete are not kept. */
export function mergeGroups(earlier: Report | undefined, report: Report): Report {
  const whole = report.groups.filter(({ ended }) => ended === 'whole');
  const others = (earlier?.groups ?? []).filter(
    ({ name }) => !whole.some((group) => group.name === name),
  );
  const groups = [...others, ...whole].toSorted((a, b) => a.name.localeCompare(b.name));
  return { ...report, groups };
}

/** The machine's name as a file name. */
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
