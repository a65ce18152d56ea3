import { type KeyboardEvent, useLayoutEffect, useRef, useState } from 'react';
import { m } from '../paraglide/messages.js';
import { Button, Dialog, Image } from '../ui/index.ts';
import './photo.css';

interface PhotoProps {
  photos: string[];
  index: number;
}

/** One of several photos: a press enlarges it in a dialog, which leads to the others. */
export function Photo({ photos, index }: PhotoProps) {
  const [isOpen, setOpen] = useState(false);
  const url = photos[index] ?? '';
  const name = m.photo({ number: index + 1 });
  return (
    <>
      <a
        href={url}
        aria-label={m.enlarge({ name })}
        aria-haspopup="dialog"
        onClick={(event) => {
          // For a tab of its own.
          if (event.ctrlKey || event.metaKey) return;
          event.preventDefault();
          setOpen(true);
        }}>
        <Image url={url} alt={name} />
      </a>
      {isOpen && <Viewer photos={photos} index={index} onClose={() => setOpen(false)} />}
    </>
  );
}

/** The photos in a row as wide as the dialog, which scrolls from one to the next: by swipes, arrow keys and buttons. */
function Viewer({ photos, index, onClose }: PhotoProps & { onClose: () => void }) {
  const row = useRef<HTMLUListElement>(null);
  const [current, setCurrent] = useState(index);
  const total = photos.length;

  function show(next: number) {
    row.current?.children[next]?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }
  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    // Otherwise, the row would scroll by itself, too.
    event.preventDefault();
    show(current + step);
  }
  const turn = (label: string, next: number) =>
    total > 1 && <Button label={label} disabled={!photos[next]} onClick={() => show(next)} />;
  // Before it is drawn, so that nothing moves.
  useLayoutEffect(() => show(index), []);

  return (
    <Dialog title={m.photo_of({ number: current + 1, total })} look="viewer" onClose={onClose}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: arrow keys are for the whole dialog, whose buttons have the focus, too */}
      <div className="stack" onKeyDown={onKeyDown}>
        <ul
          ref={row}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reached by keyboard
          tabIndex={0}
          aria-label={m.photos()}
          onScroll={({ currentTarget: { scrollLeft, clientWidth } }) =>
            setCurrent(Math.round(scrollLeft / clientWidth))
          }>
          {photos.map((url, at) => (
            <li key={url} aria-hidden={at !== current}>
              <Image url={url} alt={m.photo({ number: at + 1 })} />
            </li>
          ))}
        </ul>
        <div className="row">
          {turn(m.previous_photo(), current - 1)}
          {turn(m.next_photo(), current + 1)}
          <Button look="primary" label={m.close_photo()} onClick={onClose} />
        </div>
      </div>
    </Dialog>
  );
}
