import { Kbd } from '../look/controls.tsx';
import { Dialog } from '../look/Dialog.tsx';
import spoken from '../look/spoken.module.css';
import css from './KeyboardHelp.module.css';
import { altKey, commandKey } from './keys.ts';

const groups: { name: string; keys: [keys: string[], does: string][] }[] = [
  {
    name: 'Anywhere',
    keys: [
      [[commandKey('K')], 'Commands, sessions, and what was said in them'],
      [[altKey('N')], 'New session'],
      [[altKey('J')], 'Next session that needs you'],
      [[altKey('1'), '…', altKey('9')], 'Go to a tab'],
      [[altKey('['), altKey(']')], 'Tab to the left, to the right'],
      [[altKey('W')], 'Close the tab'],
      [['Delete'], 'Close the tab that has the focus'],
      [['↑', '↓'], 'Through the list of sessions; from its search, into it'],
      [['→'], 'On a session of the list: pin, archive or delete it'],
      [[commandKey('B')], 'Show or hide the sidebar'],
      [['?'], 'These keys'],
    ],
  },
  {
    name: 'In a session',
    keys: [
      [['/'], 'Write a message'],
      [['@'], 'Mention a file or folder; Enter takes it, Tab goes into a folder'],
      [['Enter'], 'Send; while the agent is busy: queue'],
      [[commandKey('Enter')], 'Steer: say it to the agent in the turn that runs'],
      [[altKey('↑'), altKey('↓')], 'In the queue: move the message'],
      [['Shift+Enter'], 'New line'],
      [['↑'], 'Take up the last message again'],
      [['Esc'], 'Stop the agent; in a file: close it'],
    ],
  },
  {
    name: 'When the agent asks',
    keys: [
      [
        ['Enter'],
        'Allow once what is shown above the composer; of a form: fill it in, then send it',
      ],
      [['Esc'], 'Reject it; in a form’s field: leave the field'],
    ],
  },
];

/** The list of keyboard shortcuts. */
export default function KeyboardHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      {/* Focusable, because it scrolls where there is little room. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={css.groups} role="region" aria-label="All keys" tabIndex={0}>
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
