import type { Input, Item as ItemOf } from '@dure/client';
import { useObject } from '@dure/react';
import { useId } from 'react';
import { useFormContext, useWatch } from 'react-hook-form';
import { dure } from '../api.ts';
import { change } from '../app/change.ts';
import { m } from '../paraglide/messages.js';
import { Checkbox, ErrorText } from '../ui/fields.tsx';
import { useFieldError } from '../ui/form.tsx';
import { Button, Card, Item, Loaded, Time } from '../ui/index.ts';

const names: Partial<Record<string, () => string>> = {
  is_14_or_older: m.i_am_14_or_older,
  terms: m.terms_of_service,
  privacy: m.privacy_policy,
  marketing: m.offers_and_news_by_email,
};

export const noConsents = { terms: false, privacy: false, marketing: false, is_14_or_older: false };

/** What a new user is asked to agree to: nothing where the service has no terms. */
export function ConsentChoices({ items }: { items: ItemOf<'listConsents'>[] }) {
  const { setValue, clearErrors } = useFormContext();
  const chosen: Record<string, boolean> = useWatch({ name: 'consents' });
  if (items.length === 0) return null;
  const choices = [{ id: 'is_14_or_older', required: true }, ...items];
  const isAll = choices.every(({ id }) => chosen[id]);
  function chooseAll() {
    for (const { id } of choices) setValue(`consents.${id}`, !isAll);
    clearErrors('consents');
  }
  return (
    <fieldset className="field">
      <legend>{m.consent()}</legend>
      <label className="choice">
        <input type="checkbox" checked={isAll} onChange={chooseAll} />
        {m.agree_to_all_optional_ones()}
      </label>
      {choices.map((choice) => (
        <Choice key={choice.id} {...choice} />
      ))}
    </fieldset>
  );
}

function Choice({ id, url, required }: { id: string; url?: string; required: boolean }) {
  const errorId = useId();
  const field = `consents.${id}`;
  const name = names[id]?.() ?? id;
  const label = `${name} ${required ? m.required() : m.optional()}`;
  return (
    <>
      <div className="spread">
        <Checkbox name={field} label={label} aria-describedby={errorId} />
        {url && (
          <a className="small" href={url} target="_blank" rel="noreferrer">
            {m.show()}
            <span className="visually-hidden"> {name}</span>
          </a>
        )}
      </div>
      <ErrorText id={errorId} error={useFieldError(field, { label })} />
    </>
  );
}

/** What was chosen; the service says what is missing. */
export function consentsIn(
  chosen: typeof noConsents,
  items: ItemOf<'listConsents'>[],
): Input<'signUp'>['consents'] {
  const version = (id: 'terms' | 'privacy') => items.find((item) => item.id === id && chosen[id])?.version;
  return {
    terms: version('terms'),
    privacy: version('privacy'),
    // Not chosen is not the same as withdrawn.
    marketing: chosen.marketing || undefined,
    is_14_or_older: chosen.is_14_or_older || undefined,
  };
}

/** What the user has agreed to, and what can still be agreed to or withdrawn. Missing where the service has no terms. */
export function Consents() {
  const listed = useObject(dure.auth.listConsents).data?.items ?? [];
  const own = useObject(dure.auth.getOwnConsents);
  if (listed.length === 0) return null;
  return (
    <Card title={m.my_consents()}>
      <Loaded query={own}>
        {({ items }) => (
          <ul className="items">
            {listed.map((consent) => (
              <li key={consent.id}>
                <Consent {...consent} own={items.find(({ id }) => id === consent.id)} />
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Card>
  );
}

type ConsentProps = ItemOf<'listConsents'> & { own?: ItemOf<'getOwnConsents'> | undefined };

function Consent({ id, url, version, own }: ConsentProps) {
  const name = names[id]?.() ?? id;
  const moment = own?.withdrawn_at ?? own?.given_at;
  // The latest answer counts for marketing, of whichever version; it can always be withdrawn.
  const isGiven = id === 'marketing' ? own?.withdrawn_at === null : own?.is_current;
  const value = id === 'marketing' ? !isGiven : version;
  const label = isGiven ? m.withdraw() : m.agree();
  const update = () => change(dure.auth.updateOwnConsents, { [id]: value });
  const link = (
    <a href={url} target="_blank" rel="noreferrer">
      {name}
    </a>
  );
  return (
    <Item
      title={link}
      actions={(!isGiven || id === 'marketing') && <Button label={label} about={name} onClick={update} />}>
      {moment && own && (
        <>
          {own.version} · {own.withdrawn_at ? m.withdrawn() : m.given()} <Time moment={moment} />
        </>
      )}
    </Item>
  );
}
