/** Settings in a project folder, not the user's own settings, that would make an agent run or permit something. */
export interface ProjectSettings {
  /** SHA-256 in hex of the paths and whole texts of all `files`. */
  hash: string;
  /** In the order in which they are shown to people. */
  files: readonly ProjectFile[];
  /** A sentence that says why nobody can agree to the settings, for example because a file cannot be shown whole. */
  problem?: string;
}

export interface ProjectFile {
  /** Absolute. */
  path: string;
  /** The whole text, with JSON indented. */
  text: string;
}

/** People's decisions about the settings in a session's project folder. */
export interface ProjectTrust {
  /**
   * Returns whether people have decided to use exactly these settings. Call this method right before the agent starts.
   */
  uses(settings: ProjectSettings): Promise<boolean>;
  /**
   * Reports the settings with which the agent has started; undefined if there are none.
   * @param isReading - Whether the agent uses project settings; if false, it runs without `settings`.
   */
  started(settings: ProjectSettings | undefined, isReading: boolean): void;
  /** Reports the new settings after a permanent permission, given in this session, has changed the settings files. */
  changed(settings: ProjectSettings): Promise<void>;
}
