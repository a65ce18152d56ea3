import type { ReactNode } from 'react';
import { t } from '../text.ts';
import { Button } from './button.tsx';
import type { FieldInfo } from './form.tsx';
import type { FieldConflict } from './use-entries.ts';

interface ConflictProps {
  conflicts: FieldConflict[];
  fields: Map<string, FieldInfo>;
  keepOwn: () => void;
  takeCurrent: () => void;
}

/** What was typed beside what was saved elsewhere in the meantime, to choose from. */
export function Conflict({ conflicts, fields, keepOwn, takeCurrent }: ConflictProps) {
  if (conflicts.length === 0) return null;
  return (
    <section className="note warn stack" role="alert">
      <p>
        {t(
          '그사이 다른 곳에서 내용이 바뀌었습니다. 어느 쪽으로 이어서 쓸지 골라 주세요.',
          'This was changed elsewhere in the meantime. Choose how to go on.',
        )}
      </p>
      {conflicts.map(({ name, own, now }) => {
        const { label, show = defaultShow } = fields.get(name) ?? { label: name };
        return (
          <div className="versions" key={name}>
            <Version title={t(`${label}: 내가 쓴 것`, `${label}: what you wrote`)}>{show(own)}</Version>
            <Version title={t(`${label}: 지금 것`, `${label}: what is saved now`)}>{show(now)}</Version>
          </div>
        );
      })}
      <div className="row">
        <Button label={t('내가 쓴 것으로 계속', 'Go on with mine')} onClick={keepOwn} />
        <Button label={t('지금 것으로 바꾸기', 'Take what is saved')} onClick={takeCurrent} />
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
      <div className="pre-line">{children || t('(비어 있음)', '(empty)')}</div>
    </div>
  );
}

function defaultShow(value: unknown): ReactNode {
  if (typeof value === 'boolean') return value ? t('예', 'Yes') : t('아니요', 'No');
  return typeof value === 'string' ? value : null;
}
