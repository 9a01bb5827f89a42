import { fromFirst, markWords } from './mark-words.ts';
import css from './Search.module.css';

interface SnippetProps {
  children: string;
  /** The query, whose words are marked. */
  query: string;
}

/** A piece of a conversation, from shortly before the first search word on, with the search words marked. */
export function Snippet({ children, query }: SnippetProps) {
  return (
    <bdi className={css.snippet}>
      {fromFirst(markWords(children, query)).map(({ text, found }, index) =>
        found ? <mark key={index}>{text}</mark> : text,
      )}
    </bdi>
  );
}
