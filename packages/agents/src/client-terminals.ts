/** How a program ended, in ACP's shape. */
export interface ExitStatus {
  exitCode: number | null;
  signal: string | null;
}

export interface TerminalRequest {
  /** Without `args`, a line for a shell. */
  command: string;
  args: readonly string[];
  /** Its own variables, beside those of the client's environment. */
  env: Readonly<Record<string, string>>;
  /** Absolute. */
  cwd: string;
  /** How many bytes of its output are kept. */
  outputLimit: number;
}

/** A program that a client runs. Everything rejects once the client has gone. */
export interface ClientTerminal {
  /** What it has printed; only the end of it if it is `truncated`. */
  output(): Promise<{ output: string; truncated: boolean }>;
  /** Resolves when it has ended. */
  exited(): Promise<ExitStatus>;
  /** Ends it; its output stays. */
  kill(): Promise<void>;
  /** Ends it, and lets go of its output. */
  release(): Promise<void>;
}

/** The terminals of a session's clients. */
export interface ClientTerminals {
  /**
   * Runs a program with the client whose person began the turn that runs; undefined if that one offers no terminals: then
   * it is run here. Rejects, with a sentence for the agent, if the client did not run it.
   */
  create(request: TerminalRequest): Promise<ClientTerminal | undefined>;
}
