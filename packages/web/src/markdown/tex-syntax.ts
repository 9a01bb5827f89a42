// Extends micromark-extension-math (which reads `$$` fences) with further delimiters that agents write: \(…\), \[…\]
// and $…$.
import { mathFromMarkdown } from 'mdast-util-math';
import { math } from 'micromark-extension-math';
import type { Code, Construct, Effects, Extension, State, Tokenizer } from 'micromark-util-types';
import type { Processor } from 'unified';

/** Reads LaTeX into the nodes `math` and `inlineMath`. */
export function remarkTex(this: Processor): void {
  const data = this.data();
  // The parser tries the extension first that was added last.
  (data.micromarkExtensions ??= []).push(math({ singleDollarTextMath: false }), delimiters);
  (data.fromMarkdownExtensions ??= []).push(mathFromMarkdown());
}

const [dollar, backslash, space, tab] = [36, 92, 32, 9];

/** The longest formula within a line, in characters. The limit bounds the search for the formula's end. */
const longest = 4000;

/** Whether a code is a line ending. micromark has negative codes for line endings and tabs. */
function isLineEnd(code: Code): boolean {
  return code !== null && code < -2;
}

function isBlank(code: Code): boolean {
  return code === space || code === tab || code === -2 || code === -1;
}

function isWordCode(code: Code): boolean {
  return code !== null && code > 0 && /[\p{L}\p{N}]/u.test(String.fromCodePoint(code));
}

/** Reads `$…$`. Prices and shell variables are not formulas: "$5 and $6", "$HOME/$USER", "between $5 or 6$". */
const tokenizeDollar: Tokenizer = function tokenizeDollar(effects, ok, nok) {
  const before = this.previous;
  let content = '';
  const start: State = (code) => {
    if (isWordCode(before) || before === dollar || before === backslash) return nok(code);
    openWith(effects, code);
    return first;
  };
  const first: State = (code) => {
    effects.exit('mathTextSequence');
    if (code === dollar || code === null || isBlank(code) || isLineEnd(code)) return nok(code);
    effects.enter('mathTextData');
    return inside(code);
  };
  const inside: State = (code) => {
    if (code === null || isLineEnd(code) || content.length > longest) return nok(code);
    if (code === dollar && !/(?:^|[^\\])(?:\\\\)*\\$/.test(content)) return close(code);
    content += codeText(code);
    effects.consume(code);
    return inside;
  };
  const close: State = (code) => {
    const isAmount = /^\d.*\s/.test(content) && !/[\\^_={}<>+*]/.test(content);
    if (/\s$/.test(content) || isAmount) return nok(code);
    closeWith(effects, code);
    return after;
  };
  const after: State = (code) => {
    if (isWordCode(code) || code === dollar || code === 40 || code === 123) return nok(code);
    return endMath(effects, ok)(code);
  };
  return start;
};

/** Reads `\(…\)` and, within a line of text, `\[…\]`. Escaped brackets alone are not formulas. */
const tokenizeBracket: Tokenizer = function tokenizeBracket(effects, ok, nok) {
  let closer = 0;
  let content = '';
  const start: State = (code) => {
    openWith(effects, code);
    return bracket;
  };
  const bracket: State = (code) => {
    if (code !== 40 && code !== 91) return nok(code);
    closer = code === 40 ? 41 : 93;
    effects.consume(code);
    effects.exit('mathTextSequence');
    return between;
  };
  const between: State = (code) => {
    if (code === null || content.length > longest) return nok(code);
    if (!isLineEnd(code)) {
      effects.enter('mathTextData');
      return inside(code);
    }
    content += '\n';
    effects.enter('lineEnding');
    effects.consume(code);
    effects.exit('lineEnding');
    return between;
  };
  const inside: State = (code) => {
    if (code === null || content.length > longest) return nok(code);
    if (isLineEnd(code)) {
      effects.exit('mathTextData');
      return between(code);
    }
    if (code === backslash) return effects.check(closing(closer), close, onward)(code);
    return onward(code);
  };
  const onward: State = (code) => {
    content += codeText(code);
    effects.consume(code);
    // A backslash after a backslash is escaped: \\] is a line break and a bracket.
    return code === backslash ? escaped : inside;
  };
  const escaped: State = (code) => {
    if (code !== backslash) return inside(code);
    content += '\\';
    effects.consume(code);
    return inside;
  };
  const close: State = (code) => {
    if (!looksLikeTex(content, closer === 93)) return nok(code);
    closeWith(effects, code);
    return (last) => {
      effects.consume(last);
      effects.exit('mathTextSequence');
      effects.exit('mathText');
      return ok;
    };
  };
  return start;
};

function looksLikeTex(content: string, isDisplay: boolean): boolean {
  if (/[\\^_={}<>+*/|]/.test(content)) return true;
  return !isDisplay && content.trim() !== '' && !/\p{L}{3}/u.test(content);
}

/** Matches a backslash and this bracket. */
function closing(bracket: number): Construct {
  const tokenize: Tokenizer = (effects, ok, nok) => (code) => {
    effects.enter('mathTextSequence');
    effects.consume(code);
    return (next) => {
      if (next !== bracket) return nok(next);
      effects.consume(next);
      effects.exit('mathTextSequence');
      return ok;
    };
  };
  return { tokenize, partial: true };
}

/** Reads a `\[` alone on its line. The formula ends at `\]`, or where its container ends. */
const tokenizeFence: Tokenizer = function tokenizeFence(effects, ok, nok) {
  const start: State = (code) => {
    effects.enter('mathFlow');
    return effects.attempt(fenceStart, begun, nok)(code);
  };
  const begun: State = (code) => (this.interrupt ? ok(code) : lineEnd(code));
  const lineEnd: State = (code) => {
    if (code === null) return after(code);
    return effects.attempt(nextLine, lineStart, after)(code);
  };
  const lineStart: State = (code) => {
    if (code === null || isLineEnd(code)) return lineEnd(code);
    return effects.attempt(fenceEnd, after, value)(code);
  };
  const value: State = (code) => {
    effects.enter('mathFlowValue');
    return inside(code);
  };
  const inside: State = (code) => {
    if (code === null || isLineEnd(code)) {
      effects.exit('mathFlowValue');
      return lineEnd(code);
    }
    if (code === backslash) return effects.check(fenceEnd, lastPiece, onward)(code);
    return onward(code);
  };
  const onward: State = (code) => {
    effects.consume(code);
    return inside;
  };
  const lastPiece: State = (code) => {
    effects.exit('mathFlowValue');
    return effects.attempt(fenceEnd, after, nok)(code);
  };
  const after: State = (code) => {
    effects.exit('mathFlow');
    return ok(code);
  };
  return start;
};

const [fenceStart, fenceEnd] = [fence(91), fence(93)];

/** Matches a backslash and this bracket, if only spaces follow on the line. */
function fence(bracket: number): Construct {
  const tokenize: Tokenizer = (effects, ok, nok) => {
    const before: State = (code) => {
      if (isBlank(code)) return blank(code, before);
      if (code !== backslash) return nok(code);
      effects.enter('mathFlowFence');
      effects.enter('mathFlowFenceSequence');
      effects.consume(code);
      return last;
    };
    const last: State = (code) => {
      if (code !== bracket) return nok(code);
      effects.consume(code);
      effects.exit('mathFlowFenceSequence');
      return rest;
    };
    const rest: State = (code) => {
      if (isBlank(code)) return blank(code, rest);
      if (code !== null && !isLineEnd(code)) return nok(code);
      effects.exit('mathFlowFence');
      return ok(code);
    };
    const blank = (code: Code, next: State): State => {
      effects.enter('whitespace');
      effects.consume(code);
      effects.exit('whitespace');
      return next;
    };
    return before;
  };
  return { tokenize, partial: true };
}

/**
 * Matches the next line. Does not match a line that only continues a paragraph (in a list or quote) to which this
 * formula does not belong.
 */
const nextLine: Construct = {
  partial: true,
  tokenize(effects, ok, nok) {
    return (code) => {
      effects.enter('lineEnding');
      effects.consume(code);
      effects.exit('lineEnding');
      return (next) => (this.parser.lazy[this.now().line] ? nok(next) : ok(next));
    };
  },
};

function openWith(effects: Effects, code: Code): void {
  effects.enter('mathText');
  effects.enter('mathTextSequence');
  effects.consume(code);
}

function closeWith(effects: Effects, code: Code): void {
  effects.exit('mathTextData');
  effects.enter('mathTextSequence');
  effects.consume(code);
}

function endMath(effects: Effects, ok: State): State {
  return (code) => {
    effects.exit('mathTextSequence');
    effects.exit('mathText');
    return ok(code);
  };
}

function codeText(code: Code): string {
  return code !== null && code > 0 ? String.fromCodePoint(code) : ' ';
}

const delimiters: Extension = {
  text: {
    [dollar]: { name: 'texDollar', tokenize: tokenizeDollar },
    [backslash]: { name: 'texBracket', tokenize: tokenizeBracket },
  },
  flow: { [backslash]: { name: 'texFence', tokenize: tokenizeFence, concrete: true } },
};
