import { headOf } from '@liminal/protocol';
import type { UpsertObject } from '@liminal/protocol';
import { Button } from '../look/controls.tsx';
import { MentioningText, useUnmentioned } from '../mentions/MentioningText.tsx';
import { Attachments } from './Attachments.tsx';
import { EditAgain } from './EditAgain.tsx';
import { useReadOnly } from './read-only.ts';
import { useSessionActions } from './session-actions.ts';
import { openName, useRemembered } from './remembered.ts';
import css from './UserMessage.module.css';

type MessageUpsert = Extract<UpsertObject, { type: 'message' }>;

/** The limits in lines and characters. A longer message is folded. */
const longest = { lines: 20, characters: 2400 };

/** Shows a person's message as it was written. */
export function UserMessage({ item }: { item: MessageUpsert }) {
  const [open, setOpen] = useRemembered(openName, false);
  const others = useUnmentioned(item.content, item.blocks);
  const isLong =
    item.content.length > longest.characters || item.content.split('\n').length > longest.lines;
  return (
    <div className={css.row} data-item-id={item.itemId} data-status={item.status}>
      <div className={css.line}>
        {item.delivery === undefined && <EditAgain turnId={item.turnId} iconClass={css.edit} />}
        <div className={css.said} role="article" aria-label="You">
          <Attachments blocks={others} look="mine" />
          {item.content !== '' && (
            <div className={css.bubble} data-folded={isLong && !open} dir="auto">
              <MentioningText
                text={isLong && !open ? headOf(item.content, longest.characters * 2) : item.content}
                blocks={item.blocks}
              />
            </div>
          )}
        </div>
      </div>
      <DeliveryNote item={item} />
      {isLong && (
        <Button
          look="quiet"
          className={css.fold}
          onClick={() => setOpen(!open)}
          aria-expanded={open}
        >
          {open ? 'Show less' : 'Show all'}
        </Button>
      )}
    </div>
  );
}

const deliveries = {
  sent: 'Sent, not read yet',
  taken: 'Steered',
  not_taken: 'Not read: the agent had finished',
};

/** Shows how the agent handled a message that was sent during a turn. */
function DeliveryNote({ item: { content, blocks, delivery } }: { item: MessageUpsert }) {
  const { send } = useSessionActions();
  const isReadOnly = useReadOnly();
  if (delivery === undefined) return null;
  return (
    <div className={css.delivery} data-delivery={delivery}>
      <span>{deliveries[delivery]}</span>
      {delivery === 'not_taken' && !isReadOnly && (
        <Button look="quiet" onClick={() => send(content, blocks)}>
          Send again
        </Button>
      )}
    </div>
  );
}
