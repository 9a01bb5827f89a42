import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Compared } from './compare.ts';
import { writeMarkdown } from './markdown.ts';
import { plotGroup } from './plot.ts';
import type { Report, ReportedFigure } from './report.ts';

/** Writes `report.md`, `report.json` and a plot for each group into a folder, replacing earlier files. */
export async function writeReport(
  folder: string,
  report: Report,
  compared: readonly Compared[],
): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'report.json'), `${JSON.stringify(report)}\n`);
  await writeFile(join(folder, 'report.md'), writeMarkdown(report, compared));
  for (const { group, figures } of compared) {
    if (group.figures.length === 0) continue;
    const before = (figure: ReportedFigure): number | undefined => {
      const { comparison } = figures.find((one) => one.figure === figure) ?? {};
      return comparison?.verdict === 'apart' ? undefined : comparison?.before;
    };
    await writeFile(join(folder, `${group.name}.svg`), plotGroup(group, before));
  }
}

/** Returns the name of the folder for a report that begins now. The names sort by time. */
export function nameFolder({ at, commit }: { at: string; commit: string }): string {
  return `${at.slice(0, 19).replaceAll(':', '-')}-${commit}`;
}
