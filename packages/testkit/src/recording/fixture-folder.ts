import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A recording of a real program: where it comes from, and its messages in order. */
interface Recording {
  name: string;
  entries: unknown[];
}

/** The folder that contains one program's recordings, one file each. */
export class FixtureFolder<T extends Recording> {
  readonly #folder: string;
  readonly #parse: (json: unknown) => T;

  /**
   * @param parse - The parse function of the recordings' schema.
   */
  constructor(folder: URL, parse: (json: unknown) => T) {
    this.#folder = fileURLToPath(folder);
    this.#parse = parse;
  }

  /** Loads one recording, by the name of its case. */
  async load(name: string): Promise<T> {
    return this.#parse(JSON.parse(await readFile(join(this.#folder, `${name}.json`), 'utf8')));
  }

  /** Resolves with the names of all recordings, sorted. */
  async names(): Promise<string[]> {
    const files = await readdir(this.#folder);
    return files
      .filter((file) => file.endsWith('.json'))
      .map((file) => file.slice(0, -'.json'.length))
      .toSorted();
  }

  async save(recording: T): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    await writeFile(join(this.#folder, `${recording.name}.json`), print(recording));
  }
}

/** Formats a recording with one entry on each line, so that a diff shows the changes. */
function print({ entries, ...head }: Recording): string {
  const start = Object.entries(head).map(([key, value]) => `  "${key}": ${JSON.stringify(value)}`);
  const lines = entries.map((entry) => `    ${JSON.stringify(entry)}`).join(',\n');
  return `{\n${start.join(',\n')},\n  "entries": [\n${lines}\n  ]\n}\n`;
}
