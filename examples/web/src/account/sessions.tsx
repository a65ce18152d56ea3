import type { Session } from '@dure/client';
import { useInfiniteList } from '@dure/react';
import { dure } from '../api.ts';
import { change } from '../app/change.ts';
import { m } from '../paraglide/messages.js';
import { AskButton, Item, List, Page, Time } from '../ui/index.ts';
import { account, describeDevice, nameOfMethod } from './names.ts';

export function Sessions() {
  const sessions = useInfiniteList(dure.auth.listSessions);
  return (
    <Page title={m.devices()} lead={m.if_you_do_not_recognise()} width="narrow" back={account()}>
      <List query={sessions} empty={null}>
        {(session) => <Device {...session} />}
      </List>
      {sessions.items.length > 1 && (
        <AskButton
          danger
          label={m.log_out_on_all_other()}
          title={m.log_out_on_all_other_2()}
          text={m.you_stay_logged_in_on()}
          confirmLabel={m.log_out()}
          onConfirm={() => change(dure.auth.endOtherSessions, {})}
        />
      )}
    </Page>
  );
}

function Device({ id, user_agent, ip, last_used_at, methods, is_current }: Session) {
  const device = describeDevice(user_agent) || m.unknown_device();
  const logOut = (
    <AskButton
      label={m.log_out()}
      about={device}
      title={m.log_out_on_this_device()}
      text={m.it_will_have_to_log()}
      onConfirm={() => change(dure.auth.endSession, { session_id: id })}
    />
  );
  const here = <span className="status accepted">{m.this_device()}</span>;
  return (
    <Item heading="h2" title={device} actions={is_current ? here : logOut}>
      {ip} · {m.last_used()} <Time moment={last_used_at} />
      <br />
      {methods.length > 0 && `${m.logged_in_by()} ${methods.map(nameOfMethod).join(', ')}`}
    </Item>
  );
}
