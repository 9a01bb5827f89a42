import css from './AgentMark.module.css';
import { useAgentName } from './agents.tsx';

interface AgentMarkProps {
  cliType: string;
  /** Whether the agent's name is shown beside the sign. */
  isNamed?: boolean;
}

/** The sign of an agent type: a logo for types that Liminal knows, two letters for any other type. */
export function AgentMark({ cliType, isNamed = false }: AgentMarkProps) {
  const name = useAgentName(cliType);
  const Sign = Object.hasOwn(signs, cliType) ? signs[cliType] : undefined;
  return (
    <svg
      className={css.mark}
      viewBox="0 0 16 16"
      role={isNamed ? undefined : 'img'}
      aria-hidden={isNamed}
      aria-label={isNamed ? undefined : name}
      data-agent={cliType}
    >
      {!isNamed && <title>{name}</title>}
      {Sign === undefined ? <Letters name={name} /> : <Sign />}
    </svg>
  );
}

const line = {
  fill: 'none',
  stroke: 'currentColor',
  strokeWidth: 1.5,
  strokeLinecap: 'round',
} as const;

const signs: Record<string, () => React.ReactNode> = {
  'claude-code': () => (
    <path
      d="M8 1.75v4M8 10.25v4M1.75 8h4M10.25 8h4M3.6 3.6l2.8 2.8M9.6 9.6l2.8 2.8M12.4 3.6 9.6 6.4M6.4 9.6l-2.8 2.8"
      {...line}
    />
  ),
  codex: () => (
    <path
      d="M8 1.5 13.6 4.75v6.5L8 14.5l-5.6-3.25v-6.5ZM5.6 6.2 7.5 8 5.6 9.8M8.6 9.9h2"
      {...line}
      strokeWidth="1.3"
      strokeLinejoin="round"
    />
  ),
  demo: () => <path d="M4.5 2.8 12.5 8l-8 5.2Z" {...line} strokeLinejoin="round" />,
};

function Letters({ name }: { name: string }) {
  return (
    <>
      <rect x="0.75" y="0.75" width="14.5" height="14.5" rx="3.5" {...line} strokeWidth="1" />
      <text x="8" y="11" textAnchor="middle" className={css.letters}>
        {initials(name)}
      </text>
    </>
  );
}

/** Returns the first letters of the name's first two words, or the first two letters of a single word. */
export function initials(name: string): string {
  const words = name.match(/[\p{L}\p{N}]+/gu) ?? [];
  const [first = '', second = ''] = words;
  const letters =
    second === ''
      ? Array.from(first).slice(0, 2).join('')
      : `${Array.from(first)[0]}${Array.from(second)[0]}`;
  return letters.charAt(0).toUpperCase() + letters.slice(1).toLowerCase();
}
