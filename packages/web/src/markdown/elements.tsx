import type { Element, ElementContent } from 'hast';
import { type ComponentProps, createContext, type ReactNode, useContext } from 'react';
import { type Components, defaultUrlTransform } from 'react-markdown';
import { FileLink } from '../files/FileLink.tsx';
import { linkTarget } from '../files/file-target.ts';
import { useNamedFile } from '../files/files.ts';
import { useBlockPlace } from './block-context.ts';
import { CodeBlock } from './CodeBlock.tsx';
import { FootnoteMark } from './FootnoteMark.tsx';
import css from './Markdown.module.css';
import { MarkdownImage } from './MarkdownImage.tsx';
import { TaskBox } from './TaskBox.tsx';
import { Tex } from './Tex.tsx';

/**
 * Keeps links to files unchanged, because the page never uses these links as addresses. react-markdown filters all
 * other links.
 */
export function transformUrl(url: string, key: string): string {
  if (key === 'src' && /^data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml)[;,]/i.test(url))
    return url;
  return linkTarget(url) === undefined ? defaultUrlTransform(url) : url;
}

/** The components that render the elements of Markdown. */
export const components: Components = {
  input: ({ checked }) => <TaskBox checked={checked} />,
  a: ({ href = '', children }) => (
    <InLink value>
      <MarkdownLink href={href}>{children}</MarkdownLink>
    </InLink>
  ),
  img: ({ src, alt = '' }) =>
    typeof src === 'string' && src !== '' ? <MarkdownImage src={src} alt={alt} /> : <>{alt}</>,
  pre: ({ node }) => <FencedCode node={node} />,
  code: ({ className, children }) => {
    const text = typeof children === 'string' ? children : '';
    if (className === 'math-display') return <Tex source={text} display />;
    if (className === 'math-inline') return <Tex source={text} />;
    return <InlineCode>{children}</InlineCode>;
  },
  sup: (props) => {
    const label: unknown = props.node?.properties['dataFootnote'];
    return typeof label === 'string' ? <FootnoteMark label={label} /> : <sup>{props.children}</sup>;
  },
  table: ({ children }) => (
    // Focusable, because it scrolls sideways.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className={css.table} role="region" aria-label="Table" tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
};

/** Whether the content is inside a link. A link cannot contain another link. */
const InLink = createContext(false);

function MarkdownLink({ href, children }: { href: string; children: ReactNode }) {
  const target = linkTarget(href);
  if (target !== undefined) return <FileLink target={target}>{children}</FileLink>;
  // A link without an address, or with only a fragment, would lead to this page.
  if (href === '' || href.startsWith('#')) return <span>{children}</span>;
  // The link opens a page beside the app, without an opener or referrer.
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

/** Shows inline code. If the code is the name of a file that the session's tools used, it is a link to that file. */
function InlineCode({ children }: ComponentProps<'code'>) {
  const isInLink = useContext(InLink);
  const target = useNamedFile(typeof children === 'string' ? children : '');
  const code = <code>{children}</code>;
  return target === undefined || isInLink ? code : <FileLink target={target}>{code}</FileLink>;
}

/** Shows a code block or a display formula, also inside a list or a quote. */
function FencedCode({ node }: { node: Element | undefined }) {
  const { growsAt } = useBlockPlace();
  const [inner] = node?.children ?? [];
  if (inner?.type !== 'element') return null;
  const text = nodeText(inner);
  const classes = inner.properties['className'];
  const names = Array.isArray(classes) ? classes.map(String) : [];
  if (names.includes('math-display')) return <Tex source={text} display />;
  const lang = names.find((name) => name.startsWith('language-'))?.slice('language-'.length) ?? '';
  // A block may be incomplete if it ends where the growing text ends.
  const isOpen = growsAt !== undefined && (node?.position?.end.offset ?? 0) >= growsAt;
  return <CodeBlock code={text.replace(/\n$/, '')} lang={lang} open={isOpen} />;
}

function nodeText(node: ElementContent): string {
  if (node.type === 'text') return node.value;
  return node.type === 'element' ? node.children.map((child) => nodeText(child)).join('') : '';
}
