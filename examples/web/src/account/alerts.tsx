import { isApiError, type Output } from '@dure/client';
import { useInfiniteList, useObject } from '@dure/react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { dure, pushEndedKey } from '../api.ts';
import { change } from '../app/change.ts';
import { searchPath, useDescribeSearch } from '../posts/filters.ts';
import { t } from '../text.ts';
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
    <Page title={t('알림 설정', 'Alert settings')} width="narrow" back={account}>
      <PushSwitch />
      <Card
        title={t('받을 소식', 'What to send')}
        text={t(
          '메일은 인증하신 주소로 보내 드립니다. 알림 화면에는 언제나 표시됩니다.',
          'Emails go to your verified address. The notifications page always shows everything.',
        )}
      >
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
  const hasEnded = localStorage.getItem(pushEndedKey) !== null;

  async function toggle() {
    try {
      await (isOn ? dure.push.unsubscribe() : dure.push.subscribe('/push-worker.js'));
      localStorage.removeItem(pushEndedKey);
    } catch (error) {
      const text = error instanceof DOMException && failed[error.name];
      throw text ? new InputError(text) : error;
    } finally {
      // The user may have blocked it just now.
      await Promise.all([query.refetch(), devices.refetch()]);
    }
  }
  return (
    <Card
      title={t('푸시 알림', 'Push notifications')}
      chip={isOn && t('사용 중', 'on')}
      text={t(
        '두레를 열어 두지 않으셔도 이 기기로 새 소식을 알려 드립니다.',
        'Get news on this device, also while Dure is not open.',
      )}
    >
      <Loaded query={query}>
        {(status) =>
          status === 'blocked' || status === 'unsupported' ? (
            <p className="note warn">{impossible[status]}</p>
          ) : (
            <Form
              submitLabel={isOn ? t('푸시 알림 끄기', 'Switch off') : t('푸시 알림 켜기', 'Switch on')}
              pendingLabel={isOn ? t('끄는 중…', 'Switching off…') : t('켜는 중…', 'Switching on…')}
              onSubmit={toggle}
            />
          )
        }
      </Loaded>
      {hasEnded && !isOn && (
        <p className="note warn">
          {t(
            '로그아웃되면서 이 기기의 푸시 알림이 꺼졌습니다. 계속 받으시려면 다시 켜 주세요.',
            'When you were logged out, push notifications of this device were switched off. Switch them on again to get more.',
          )}
        </p>
      )}
      {devices.items.length > 0 && <h3>{t('푸시 알림을 받는 기기', 'Devices with push notifications')}</h3>}
      <List query={devices} empty={null}>
        {({ id, user_agent, created_at }) => {
          const device = describeDevice(user_agent);
          return (
            <Item title={device} actions={<RemoveDevice id={id} device={device} />}>
              {t('등록:', 'added')} <Time moment={created_at} />
            </Item>
          );
        }}
      </List>
    </Card>
  );
}

function RemoveDevice({ id, device }: { id: number; device: string }) {
  return (
    <AskButton
      label={t('삭제', 'Remove')}
      about={device}
      title={t(`${device}에서 푸시 알림을 끌까요?`, `Switch off push notifications on ${device}?`)}
      onConfirm={() => change(dure.push.deleteSubscription, { subscription_id: id })}
    />
  );
}

/** By the name of what the browser throws. */
const failed: Record<string, string> = {
  AbortError: t(
    '브라우저가 푸시 알림 서버에 연결하지 못했습니다. 시크릿 창에서는 푸시 알림을 켤 수 없습니다.',
    'Your browser could not reach its push service. In a private window, there are no push notifications.',
  ),
  NotAllowedError: t(
    '알림이 허용되지 않아 켜지 못했습니다. 시크릿 창에서는 허용할 수 없습니다.',
    'Notifications were not allowed. A private window cannot allow them.',
  ),
};

const impossible = {
  blocked: t(
    '브라우저에서 알림이 차단되어 있습니다. 브라우저의 사이트 설정에서 알림을 허용하신 뒤 이 화면을 새로 고쳐 주세요.',
    'Your browser blocks notifications. Allow them in the site settings of your browser, then reload this page.',
  ),
  unsupported: t(
    '이 브라우저에서는 푸시 알림을 받을 수 없습니다. iPhone에서는 두레를 홈 화면에 추가하시면 켤 수 있습니다.',
    'This browser has no push notifications. On an iPhone, add Dure to the home screen to switch them on.',
  ),
};

const kinds = [
  ['partner_request_received', t('새 제휴 요청', 'New requests')],
  ['partner_request_answered', t('보낸 요청에 대한 답', 'Answers to my requests')],
  ['partner_request_ended', t('제휴 종료', 'Partnerships that ended')],
  ['saved_search_match', t('저장한 검색에 맞는 새 글', 'New posts for my saved searches')],
] as const;

const channels = [
  ['push', t('푸시 알림으로 받기', 'Send me a push notification about')],
  ['email', t('메일로 받기', 'Send me an email about')],
] as const;

/** Which emails and push messages the account gets, when, and in which language. */
function Preferences({ language, quiet_hours: quiet, ...saved }: Output<'getMailPreferences'>) {
  const values = { ...saved, language, quiet_hours: quiet ?? { from: '', to: '' } };

  async function save({ quiet_hours, ...entered }: typeof values) {
    const { from, to } = quiet_hours;
    if (!from !== !to) {
      throw new InputError(
        t('시작과 종료를 모두 입력해 주세요.', 'Enter both the begin and the end.'),
        from ? 'quiet_hours.to' : 'quiet_hours.from',
      );
    }
    return change(dure.notifications.updateMailPreferences, {
      ...entered,
      quiet_hours: from ? quiet_hours : null,
    });
  }

  return (
    <Form
      values={values}
      draft="alerts"
      submitLabel={t('저장', 'Save')}
      pendingLabel={t('저장하는 중…', 'Saving…')}
      onSubmit={save}
    >
      {channels.map(([channel, legend]) => (
        <Fieldset key={channel} name={channel} legend={legend}>
          <div className="choices">
            {kinds.map(([kind, text]) => (
              <Checkbox
                key={kind}
                name={`${channel}.${kind}`}
                // A withdrawn request is not worth an email.
                label={
                  kind === 'partner_request_ended' && channel === 'push'
                    ? t('요청 취소와 제휴 종료', 'Requests withdrawn, partnerships ended')
                    : text
                }
              />
            ))}
          </div>
        </Fieldset>
      ))}
      <Fieldset
        name="quiet_hours"
        legend={t('방해 금지 시간', 'Quiet hours')}
        hint={t(
          '이 시간(한국 시간)에 생긴 소식은 끝난 뒤에 보내 드립니다. 비워 두시면 언제든지 보내 드립니다.',
          'In Korean time. News of these hours comes when they end. Leave empty for news at any time.',
        )}
      >
        <div className="row">
          <TextField name="quiet_hours.from" type="time" optional label={t('시작', 'From')} />
          <TextField name="quiet_hours.to" type="time" optional label={t('종료', 'To')} />
        </div>
      </Fieldset>
      <Select
        name="language"
        label={t('메일과 푸시 알림의 언어', 'Language of emails and push notifications')}
      >
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
  const none = t(
    '저장한 검색이 없습니다. 글을 검색하신 뒤 ‘이 조건으로 알림 받기’를 눌러 보세요.',
    'No saved searches. Search for posts, then choose “Notify me of new posts”.',
  );
  const remove = ({ id, name }: { id: number; name: string }) => (
    <AskButton
      label={t('삭제', 'Delete')}
      about={name}
      title={t(`‘${name}’ 검색을 삭제할까요?`, `Delete the search “${name}”?`)}
      text={t(
        '이 조건에 맞는 새 글을 더 이상 알려 드리지 않습니다.',
        'You will no longer be notified of new posts that match.',
      )}
      onConfirm={() => change(dure.savedSearches.delete, { saved_search_id: id })}
    />
  );
  return (
    <Card
      title={t('저장한 검색', 'Saved searches')}
      text={t('조건에 맞는 새 글이 올라오면 알려 드립니다.', 'You will be notified of new posts that match.')}
    >
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
