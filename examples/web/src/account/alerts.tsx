import { isApiError, type Output } from '@dure/client';
import { useInfiniteList, useObject } from '@dure/react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { dure } from '../api.ts';
import { change } from '../app/change.ts';
import { switchPush } from '../app/push.ts';
import { m } from '../paraglide/messages.js';
import { searchPath, useDescribeSearch } from '../posts/filters.ts';
import { Checkbox, Fieldset, Select, TextField } from '../ui/fields.tsx';
import { AskButton, Card, Form, InputError, Item, List, Loaded, Page, Time } from '../ui/index.ts';
import { account, describeDevice } from './names.ts';

export function Alerts() {
  const preferences = useObject(dure.notifications.getMailPreferences);
  return (
    <Page title={m.alert_settings()} width="narrow" back={account()}>
      <PushSwitch />
      <Card title={m.what_to_send()} text={m.emails_go_to_your_verified()}>
        <Loaded query={preferences}>{(saved) => <Preferences {...saved} />}</Loaded>
      </Card>
      <SavedSearches />
    </Page>
  );
}

/** Push notifications of this browser: one button for on and off. Missing where the service sends none. */
function PushSwitch() {
  const query = useQuery({
    queryKey: ['push'],
    queryFn: () => dure.push.getKey().then(() => dure.push.status()),
    retry: false,
    gcTime: 0,
  });
  const devices = useInfiniteList(dure.push.listSubscriptions);
  if (isApiError(query.error) && query.error.status === 404) return null;
  const isOn = query.data === 'on';
  // The user may have blocked it just now.
  const readAgain = () => Promise.all([query.refetch(), devices.refetch()]);
  const toggle = () => switchPush(isOn).catch(explain).finally(readAgain);
  return (
    <Card title={m.push_notifications()} chip={isOn && m.on()} text={m.get_news_on_this_device()}>
      <Loaded query={query}>
        {(status) => {
          if (status === 'blocked')
            return <p className="note warn">{m.your_browser_blocks_notifications_allow()}</p>;
          if (status === 'unsupported') return <p className="note warn">{m.this_browser_has_no_push()}</p>;
          return <Form submitLabel={isOn ? m.switch_off() : m.switch_on()} onSubmit={toggle} />;
        }}
      </Loaded>
      {devices.items.length > 0 && <h3>{m.devices_with_push_notifications()}</h3>}
      <List query={devices} empty={null}>
        {({ id, user_agent, created_at }) => {
          const device = describeDevice(user_agent);
          return (
            <Item
              title={device}
              actions={
                <AskButton
                  label={m.remove()}
                  about={device}
                  title={m.switch_off_push_notifications_on({ device })}
                  onConfirm={() => change(dure.push.deleteSubscription, { subscription_id: id })}
                />
              }>
              {m.added()} <Time moment={created_at} />
            </Item>
          );
        }}
      </List>
    </Card>
  );
}

function explain(error: unknown): never {
  const name = error instanceof DOMException && error.name;
  if (name === 'AbortError') throw new InputError(m.your_browser_could_not_reach());
  if (name === 'NotAllowedError') throw new InputError(m.notifications_were_not_allowed_a());
  throw error;
}

const kinds = {
  partner_request_received: m.new_requests,
  partner_request_answered: m.answers_to_my_requests,
  partner_request_ended: m.partnerships_that_ended,
  saved_search_match: m.new_posts_for_my_saved,
};

/** A withdrawn request is not worth an email. */
const channels = [
  { channel: 'push', label: m.send_me_a_push_notification, ended: m.requests_withdrawn_partnerships_ended },
  { channel: 'email', label: m.send_me_an_email_about, ended: m.partnerships_that_ended },
];

function Preferences({ language, quiet_hours: quiet, ...saved }: Output<'getMailPreferences'>) {
  const values = { ...saved, language, quiet_hours: quiet ?? { from: '', to: '' } };

  async function save({ quiet_hours, ...entered }: typeof values) {
    const { from, to } = quiet_hours;
    if (!from !== !to) {
      throw new InputError(m.enter_both_the_begin_and(), from ? 'quiet_hours.to' : 'quiet_hours.from');
    }
    return change(dure.notifications.updateMailPreferences, {
      ...entered,
      quiet_hours: from ? quiet_hours : null,
    });
  }

  return (
    <Form values={values} draft="alerts" submitLabel={m.save()} onSubmit={save}>
      {channels.map(({ channel, label, ended }) => (
        <Fieldset key={channel} name={channel} label={label()}>
          <div className="choices">
            {Object.entries({ ...kinds, partner_request_ended: ended }).map(([kind, text]) => (
              <Checkbox key={kind} name={`${channel}.${kind}`} label={text()} />
            ))}
          </div>
        </Fieldset>
      ))}
      <Fieldset name="quiet_hours" label={m.quiet_hours()} hint={m.in_korean_time_news_of()}>
        <div className="row">
          <TextField name="quiet_hours.from" type="time" optional label={m.from()} />
          <TextField name="quiet_hours.to" type="time" optional label={m.to()} />
        </div>
      </Fieldset>
      <Select name="language" label={m.language_of_emails_and_push()}>
        <option value="ko" lang="ko">
          한국어
        </option>
        <option value="en" lang="en">
          English
        </option>
      </Select>
    </Form>
  );
}

function SavedSearches() {
  const searches = useInfiniteList(dure.savedSearches.list);
  const describe = useDescribeSearch();
  const none = <p className="soft small">{m.no_saved_searches_search_for()}</p>;
  const remove = ({ id, name }: { id: number; name: string }) => (
    <AskButton
      label={m.delete_label()}
      about={name}
      title={m.delete_the_search({ name })}
      text={m.you_will_no_longer_be()}
      onConfirm={() => change(dure.savedSearches.delete, { saved_search_id: id })}
    />
  );
  return (
    <Card title={m.saved_searches()} text={m.you_will_be_notified_of()}>
      <List query={searches} empty={none}>
        {(search) => (
          <Item title={<Link to={searchPath('/', search)}>{search.name}</Link>} actions={remove(search)}>
            {describe(search) !== search.name && describe(search)}
          </Item>
        )}
      </List>
    </Card>
  );
}
