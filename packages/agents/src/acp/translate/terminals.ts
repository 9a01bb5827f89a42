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

/** How many characters are kept of a terminal that no tool call shows yet. */
const MAX_UNSHOWN = 1024 * 1024;
/** How many terminals are kept; past that the oldest is forgotten. */
const MAX_TERMINALS = 200;

/** The output of the session's terminals: tool calls copy from here what they show. */
export class TerminalTexts {
  readonly #terminals = new Map<string, Terminal>();

  print(terminalId: string, text: string): void {
    const terminal = this.#terminal(terminalId);
    // The call that shows it is full, and says so.
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

  /** All that it has printed; later output is kept whole. */
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

  /** The call that shows it has ended. */
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
