import { GrowingText, BoundedMap, maxItemSize } from '@liminal/protocol';

/** How a terminal ended. */
export interface TerminalExit {
  exitCode?: number | null;
  signal?: string | null;
}

interface TerminalState {
  text: GrowingText;
  length: number;
  exit: TerminalExit | undefined;
  isShown: boolean;
}

/** How many characters of a terminal are kept before a tool call shows the terminal. */
const maxUnshown = 1024 * 1024;
/** How many terminals are kept; a further terminal drops the oldest. */
const maxTerminals = 200;

/** The output of the session's terminals, from which tool calls copy the text that they show. */
export class TerminalTexts {
  readonly #terminals = new BoundedMap<string, TerminalState>(maxTerminals);

  print(terminalId: string, text: string): void {
    const terminal = this.#terminal(terminalId);
    // Drop the output: the call that shows this terminal has reached its size limit, and shows a note about that.
    if (terminal.length > maxItemSize) return;
    terminal.text.add(text);
    terminal.length += text.length;
    if (terminal.isShown || terminal.length <= maxUnshown) return;
    const tail = terminal.text.take().slice(-maxUnshown / 2);
    terminal.text.add(tail);
    terminal.length = tail.length;
  }

  exit(terminalId: string, exit: TerminalExit): void {
    this.#terminal(terminalId).exit = exit;
  }

  /**
   * Returns the terminal's output so far. From this call on, later output is kept without the limit for terminals that
   * no call shows.
   */
  text(terminalId: string): string {
    const terminal = this.#terminal(terminalId);
    terminal.isShown = true;
    const text = terminal.text.take();
    terminal.text.add(text);
    return text;
  }

  exitOf(terminalId: string): TerminalExit | undefined {
    return this.#terminals.get(terminalId)?.exit;
  }

  /** Called when the call that shows the terminal has ended. */
  forget(terminalId: string): void {
    this.#terminals.delete(terminalId);
  }

  #terminal(terminalId: string): TerminalState {
    const known = this.#terminals.get(terminalId);
    if (known !== undefined) return known;
    const terminal = { text: new GrowingText(), length: 0, exit: undefined, isShown: false };
    this.#terminals.set(terminalId, terminal);
    return terminal;
  }
}
