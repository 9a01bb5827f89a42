import { fromFirst, markWords } from './mark-words.ts';
import css from './Search.module.css';

interface SnippetProps {
  children: string;
  /** The query, whose words are highlighted. */
  query: string;
}

/**
 * Shows a piece of a conversation that begins shortly before the first search word, with all search words highlighted.
 */
export function Snippet({ children, query }: SnippetProps) {
  return (
    <bdi className={css.snippet}>
      {fromFirst(markWords(children, query)).map(({ text, found }, index) =>
        found ? <mark key={index}>{text}</mark> : text,
      )}
    </bdi>
  );
}
