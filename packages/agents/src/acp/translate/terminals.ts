import { GrowingText, maxItemSize } from '@liminal/protocol';

/** How a terminal ended. */
export interface TerminalExit {
  exitCode?: number | null;
  signal?: string | null;
}

interface Terminal {
  text: GrowingText;
  length: number;
  exit: TerminalExit | undefined;
  isShown: boolean;
}

/** How many characters of a terminal are kept before a tool call shows the terminal. */
const MAX_UNSHOWN = 1024 * 1024;
/** How many terminals are kept; a further terminal drops the oldest. */
const MAX_TERMINALS = 200;

/** The output of the session's terminals, from which tool calls copy the text that they show. */
export class TerminalTexts {
  readonly #terminals = new Map<string, Terminal>();

  print(terminalId: string, text: string): void {
    const terminal = this.#terminal(terminalId);
    // The call that shows this terminal has reached its size limit, and reports that.
    if (terminal.length > maxItemSize) return;
    terminal.text.add(text);
    terminal.length += text.length;
    if (terminal.isShown || terminal.length <= MAX_UNSHOWN) return;
    const kept = terminal.text.take().slice(-MAX_UNSHOWN / 2);
    terminal.text.add(kept);
    terminal.length = kept.length;
  }

  exit(terminalId: string, exit: TerminalExit): void {
    this.#terminal(terminalId).exit = exit;
  }

  /** Returns the terminal's output, and keeps all later output. */
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

  #terminal(terminalId: string): Terminal {
    const known = this.#terminals.get(terminalId);
    if (known !== undefined) return known;
    const terminal = { text: new GrowingText(), length: 0, exit: undefined, isShown: false };
    this.#terminals.set(terminalId, terminal);
    const [oldest] = this.#terminals.keys();
    if (this.#terminals.size > MAX_TERMINALS && oldest !== undefined) this.forget(oldest);
    return terminal;
  }
}
