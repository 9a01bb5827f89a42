/** The limits of one scan of a folder. */
export interface Bounds {
  /** The most files; folders do not count. */
  files: number;
  /** The longest time, in ms. */
  time: number;
  /** The longest time that asking git for changed files may take, in ms. */
  changedTime: number;
}

export const defaultBounds: Bounds = { files: 100_000, time: 4_000, changedTime: 1_500 };

/** The result of scanning a folder, with paths relative to the folder. `isWhole` is false if a limit ended the scan. */
export interface Scan {
  paths: string[];
  isWhole: boolean;
}
