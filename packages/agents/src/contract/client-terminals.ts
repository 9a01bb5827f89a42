/** How a program ended, in ACP's shape. */
export interface ExitStatus {
  exitCode: number | null;
  signal: string | null;
}

export interface TerminalRequest {
  /** A program; without `args`, a command line for a shell. */
  command: string;
  args: readonly string[];
  /** Variables added to the client's environment. */
  env: Readonly<Record<string, string>>;
  /** Absolute. */
  cwd: string;
  /** How many bytes of the output are kept. */
  outputLimit: number;
}

/** A program that a client runs. All methods reject once the client has disconnected. */
export interface ClientTerminal {
  /** Returns the output so far; only its end if `truncated`. */
  output(): Promise<{ output: string; truncated: boolean }>;
  /** Resolves when the program has ended. */
  exited(): Promise<ExitStatus>;
  /** Ends the program; its output is kept. */
  kill(): Promise<void>;
  /** Ends the program and discards its output. */
  release(): Promise<void>;
}

/** The terminals of a session's clients. */
export interface ClientTerminals {
  /**
   * Runs a program in the client that began the running turn; returns undefined if that client offers no terminals. The
   * server then runs the program itself. Rejects, with a sentence for the agent, if the client did not run the program.
   */
  create(request: TerminalRequest): Promise<ClientTerminal | undefined>;
}
