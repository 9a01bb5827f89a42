/** What a project folder would make an agent run, or would permit it, besides the user's own settings. */
export interface ProjectSettings {
  /** Of all files below, with their paths and whole texts: SHA-256 in hex. */
  hash: string;
  /** In the order in which they are shown. */
  files: readonly ProjectFile[];
  /** Why nobody can agree to them, in a sentence: a file that cannot be shown whole, for example. */
  problem?: string;
}

export interface ProjectFile {
  /** Absolute. */
  path: string;
  /** The whole text, with JSON indented. */
  text: string;
}

/** The decisions of people about a session's project folder. */
export interface ProjectTrust {
  /** Whether people have decided to use exactly these settings. To be asked right before the agent starts. */
  uses(settings: ProjectSettings): Promise<boolean>;
  /**
   * The agent runs with these settings from now on; undefined if there are none.
   * @param isReading - Whether it reads settings of the project at all; if not, `settings` are left out.
   */
  started(settings: ProjectSettings | undefined, isReading: boolean): void;
  /** A permission that a person gave for good in this session has changed the settings in use into these. */
  changed(settings: ProjectSettings): Promise<void>;
}
