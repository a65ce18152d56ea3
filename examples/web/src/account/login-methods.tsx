import { supportsPasskeys } from '@dure/client';
import { useInfiniteList, useObject } from '@dure/react';
import { dure } from '../api.ts';
import { change, confirmed } from '../app/change.ts';
import { m } from '../paraglide/messages.js';
import { AskButton, Button, Card, Form, Item, List, Page, TextField, Time } from '../ui/index.ts';
import { account, describeDevice, nameOfMethod } from './names.ts';
import { TwoStep } from './two-step.tsx';

/** How the account logs in, beside its password. */
export function LoginMethods() {
  return (
    <Page title={m.ways_to_log_in()} width="narrow" back={account}>
      <Identities />
      <Passkeys />
      <TwoStep />
    </Page>
  );
}

/** The providers that the account logs in with, and those that it can connect. */
function Identities() {
  const offered = useObject(dure.auth.listLoginProviders).data?.items ?? [];
  const identities = useInfiniteList(dure.auth.listIdentities);
  const connected = identities.items.map(({ provider }) => provider);
  const others = identities.isSuccess ? offered.filter(({ id }) => !connected.includes(id)) : [];
  const connect = (provider: string) =>
    confirmed(() => dure.auth.loginWith(provider, { purpose: 'link', returnTo: location.pathname }));
  const none = <p>{m.there_is_nothing_to_connect()}</p>;
  return (
    <Card title={m.connected_logins()} text={m.log_in_with_these_without()}>
      <List query={identities} empty={offered.length === 0 && none}>
        {({ id, provider, email, last_used_at }) => (
          <Item
            title={nameOfMethod(provider)}
            actions={
              <AskButton
                label={m.disconnect()}
                about={nameOfMethod(provider)}
                title={m.disconnect_2({ name: nameOfMethod(provider) })}
                text={m.you_will_not_be_able()}
                onConfirm={() => change(dure.auth.removeIdentity, { identity_id: id })}
              />
            }
          >
            {email && `${email} · `}
            {m.last_used()} <Time moment={last_used_at} />
          </Item>
        )}
      </List>
      <div className="row">
        {others.map(({ id, name }) => (
          <Button key={id} label={m.connect({ name })} onClick={() => connect(id)} />
        ))}
      </div>
    </Card>
  );
}

function Passkeys() {
  const passkeys = useInfiniteList(dure.passkeys.list);
  const none = <p className="soft small">{m.no_passkeys_yet()}</p>;

  async function add() {
    await confirmed(() => dure.passkeys.register({ name: describeDevice(navigator.userAgent) }));
    await passkeys.refetch();
  }

  return (
    <Card title={m.passkeys()} text={m.log_in_with_your_fingerprint()}>
      <List query={passkeys} empty={none}>
        {({ id, name, is_synced, last_used_at }) => (
          <Item title={name} actions={<ChangePasskey id={id} name={name} />}>
            {is_synced ? m.synced() : m.on_one_device_only()} · {m.last_used()} <Time moment={last_used_at} />
          </Item>
        )}
      </List>
      {supportsPasskeys() ? (
        <Form submitLabel={m.add_a_passkey()} onSubmit={add} />
      ) : (
        <p>{m.this_browser_has_no_passkeys()}</p>
      )}
    </Card>
  );
}

function ChangePasskey({ id, name }: { id: number; name: string }) {
  return (
    <div className="row">
      <AskButton
        label={m.rename()}
        about={name}
        confirmLabel={m.save()}
        values={{ name }}
        onConfirm={(entered) => change(dure.passkeys.update, { passkey_id: id, ...entered })}
      >
        <TextField name="name" label={m.name_of_the_passkey()} />
      </AskButton>
      <AskButton
        danger
        label={m.delete_label()}
        about={name}
        title={m.delete_the_passkey({ name })}
        text={m.it_will_no_longer_log()}
        onConfirm={() => change(dure.passkeys.delete, { passkey_id: id })}
      />
    </div>
  );
}
