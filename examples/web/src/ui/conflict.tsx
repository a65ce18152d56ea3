import type { ReactNode } from 'react';
import { m } from '../paraglide/messages.js';
import { Button } from './button.tsx';
import type { FieldInfo } from './form.tsx';
import type { useEntries } from './use-entries.ts';
import './conflict.css';

type ConflictProps = Pick<ReturnType<typeof useEntries>, 'conflicts' | 'keepOwn' | 'takeCurrent'> & {
  fields: Map<string, FieldInfo>;
};

/** What was typed beside what was saved elsewhere in the meantime, to choose from. */
export function Conflict({ conflicts, fields, keepOwn, takeCurrent }: ConflictProps) {
  if (conflicts.length === 0) return null;
  return (
    <section className="note warn stack" role="alert">
      <p>{m.this_was_changed_elsewhere_in()}</p>
      {conflicts.map(({ name, own, now }) => {
        const { label, show = defaultShow } = fields.get(name) ?? { label: name };
        return (
          <div className="versions" key={name}>
            <Version title={m.what_you_wrote({ label })}>{show(own)}</Version>
            <Version title={m.what_is_saved_now({ label })}>{show(now)}</Version>
          </div>
        );
      })}
      <div className="row">
        <Button label={m.go_on_with_mine()} onClick={keepOwn} />
        <Button label={m.take_what_is_saved()} onClick={takeCurrent} />
      </div>
    </section>
  );
}

function Version({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <p className="small">
        <strong>{title}</strong>
      </p>
      <div className="pre-line">{children || m.empty()}</div>
    </div>
  );
}

function defaultShow(value: unknown): ReactNode {
  if (typeof value === 'boolean') return value ? m.yes() : m.no();
  return typeof value === 'string' ? value : null;
}
