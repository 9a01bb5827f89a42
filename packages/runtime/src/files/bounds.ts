/** How much one scan of a folder may take. */
export interface Bounds {
  /** The most files; folders do not count. */
  files: number;
  /** The longest time, in ms. */
  time: number;
  /** The longest time that asking git what was changed may take, in ms. */
  changedTime: number;
}

export const defaultBounds: Bounds = { files: 100_000, time: 4_000, changedTime: 1_500 };

/** What a scan of a folder found, by paths relative to it; `isWhole` unless a bound ended it. */
export interface Scan {
  paths: string[];
  isWhole: boolean;
}
