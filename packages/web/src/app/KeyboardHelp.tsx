import { Kbd } from '../look/controls.tsx';
import { Dialog } from '../look/Dialog.tsx';
import spoken from '../look/spoken.module.css';
import css from './KeyboardHelp.module.css';
import { altKey, altWhileTyping, commandKey } from './keys.ts';
import { isTouch } from './typing.ts';

type ShortcutRow = [keys: string[], does: string];

const groups: { name: string; keys: ShortcutRow[] }[] = [
  {
    name: 'Anywhere',
    keys: [
      [[commandKey('K')], 'Command palette and search'],
      [[altKey('N')], 'New session'],
      [[altKey('J')], 'Next session that needs you'],
      [[altKey('1'), '…', altKey('9')], 'Go to a tab'],
      [[altKey('['), altKey(']')], 'Tab to the left, to the right'],
      [[altKey('W')], 'Close the tab'],
      [['Delete'], 'Close the tab that has the focus'],
      [['↑', '↓'], 'Move in the session list'],
      [['→'], 'Open a session’s menu'],
      [[commandKey('B')], 'Show or hide the sidebar'],
      [['?'], 'Keyboard shortcuts'],
      ...(altWhileTyping === undefined ? [] : [[['⌥'], altWhileTyping] satisfies ShortcutRow]),
    ],
  },
  {
    name: 'In a session',
    keys: [
      [['/'], 'Write a message'],
      [[commandKey('F')], 'Find in this session; again: the browser’s search'],
      [['@'], 'Mention a file or folder; Enter takes it, Tab goes into a folder'],
      [['Enter'], isTouch() ? 'New line' : 'Send; while the agent is busy: queue'],
      [[commandKey('Enter')], 'Steer: send it now'],
      [[altKey('↑'), altKey('↓')], 'In the queue: move the message'],
      [['Shift+Enter'], 'New line; so does Enter after \\'],
      [['Shift+Tab'], 'Next mode; after Esc: leave the message field'],
      [['↑'], 'Bring an earlier message back'],
      [['Esc'], 'Stop the agent; in a file: close it'],
      [['Esc Esc'], 'In an empty message field: take the last message back'],
    ],
  },
  {
    name: 'When the agent asks',
    keys: [
      [['Enter'], 'Allow once; in a form, submit'],
      [['Esc'], 'Reject; in a field, leave it'],
    ],
  },
];

/** The list of keyboard shortcuts. */
export default function KeyboardHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      {/* The list can have the focus, because it scrolls if the window is small. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={css.groups} role="region" aria-label="All keyboard shortcuts" tabIndex={0}>
        {groups.map((group) => (
          <section key={group.name}>
            <h3>{group.name}</h3>
            <dl>
              {group.keys.map(([keys, does]) => (
                <div key={does}>
                  <dt>
                    {keys.map((key) => (key === '…' ? key : <Kbd key={key}>{key}</Kbd>))}
                    <span className={spoken.only}>{keys.join(' ')}</span>
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
