import { isApiError, type Output } from '@dure/client';
import { useInfiniteList, useObject } from '@dure/react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { dure } from '../api.ts';
import { change } from '../app/change.ts';
import { switchPush } from '../app/push.ts';
import { m } from '../paraglide/messages.js';
import { searchPath, useDescribeSearch } from '../posts/filters.ts';
import {
  AskButton,
  Card,
  Checkbox,
  Fieldset,
  Form,
  InputError,
  Item,
  List,
  Loaded,
  Page,
  Select,
  TextField,
  Time,
} from '../ui/index.ts';
import { account, describeDevice } from './names.ts';

/** What the account is notified of, how and when. */
export function Alerts() {
  const preferences = useObject(dure.notifications.getMailPreferences);
  return (
    <Page title={m.alert_settings()} width="narrow" back={account}>
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

  async function toggle() {
    try {
      await switchPush(isOn);
    } catch (error) {
      const text = error instanceof DOMException && failed[error.name];
      throw text ? new InputError(text()) : error;
    } finally {
      // The user may have blocked it just now.
      await Promise.all([query.refetch(), devices.refetch()]);
    }
  }
  return (
    <Card title={m.push_notifications()} chip={isOn && m.on()} text={m.get_news_on_this_device()}>
      <Loaded query={query}>
        {(status) =>
          status === 'blocked' || status === 'unsupported' ? (
            <p className="note warn">{impossible[status]()}</p>
          ) : (
            <Form submitLabel={isOn ? m.switch_off() : m.switch_on()} onSubmit={toggle} />
          )
        }
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

/** By the name of what the browser throws. */
const failed: Record<string, () => string> = {
  AbortError: m.your_browser_could_not_reach,
  NotAllowedError: m.notifications_were_not_allowed_a,
};

const impossible = {
  blocked: m.your_browser_blocks_notifications_allow,
  unsupported: m.this_browser_has_no_push,
};

const kinds = [
  ['partner_request_received', m.new_requests],
  ['partner_request_answered', m.answers_to_my_requests],
  ['partner_request_ended', m.partnerships_that_ended],
  ['saved_search_match', m.new_posts_for_my_saved],
] as const;

const channels = [
  ['push', m.send_me_a_push_notification],
  ['email', m.send_me_an_email_about],
] as const;

/** Which emails and push messages the account gets, when, and in which language. */
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
      {channels.map(([channel, legend]) => (
        <Fieldset key={channel} name={channel} legend={legend()}>
          <div className="choices">
            {kinds.map(([kind, text]) => (
              <Checkbox
                key={kind}
                name={`${channel}.${kind}`}
                // A withdrawn request is not worth an email.
                label={
                  kind === 'partner_request_ended' && channel === 'push'
                    ? m.requests_withdrawn_partnerships_ended()
                    : text()
                }
              />
            ))}
          </div>
        </Fieldset>
      ))}
      <Fieldset name="quiet_hours" legend={m.quiet_hours()} hint={m.in_korean_time_news_of()}>
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

/** The searches whose new posts are notified. */
function SavedSearches() {
  const searches = useInfiniteList(dure.savedSearches.list);
  const describe = useDescribeSearch();
  const none = m.no_saved_searches_search_for();
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
      <List query={searches} empty={<p className="soft small">{none}</p>}>
        {(search) => (
          <Item title={<Link to={searchPath('/', search)}>{search.name}</Link>} actions={remove(search)}>
            {describe(search) !== search.name && describe(search)}
          </Item>
        )}
      </List>
    </Card>
  );
}
