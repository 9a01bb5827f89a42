import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Person } from './person.ts';

const folder = fileURLToPath(new URL('../../test-results', import.meta.url));

/** Saves evidence of a failed test: a screenshot and the text of every page, and the server's log. */
export async function saveEvidence(
  test: string,
  people: readonly Person[],
  serverLog: string,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const name = test.replace(/[^\w.-]+/g, '-').slice(0, 80);
  await writeFile(join(folder, `${name}.server.log`), serverLog);
  for (const [index, { page, problems: complaints }] of people.entries()) {
    const path = join(folder, `${name}.${index}`);
    await page.screenshot({ path: `${path}.png` }).catch(() => undefined);
    const text = await page
      .locator('body')
      .ariaSnapshot()
      .catch((error: unknown) => String(error));
    await writeFile(`${path}.txt`, [page.url(), ...complaints, '', text].join('\n'));
  }
}
