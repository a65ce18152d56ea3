import type { Browser } from 'playwright-core';
import type { PushService, SubscribedBrowser } from '../../../test/support/push-service.ts';
import { until } from '../../../test/support/until.ts';
import { openVisitor } from './visitor.ts';

/** A visitor at a place, whose browser has a subscription of the fake push service. */
export type Phone = Awaited<ReturnType<typeof openPhone>>;

interface PhoneOptions {
  browser: Browser;
  origin: string;
  pushService: PushService;
  place: { latitude: number; longitude: number };
}

/** Opens a browser for somebody. Chromium without a window reaches no push service, so its subscription is made up. */
export async function openPhone(
  person: { username: string; name: string },
  { browser: chromium, origin, pushService, place }: PhoneOptions,
) {
  const visitor = await openVisitor(chromium, origin, person);
  const { context, page } = visitor;
  const browser = pushService.subscribe();
  await context.setGeolocation(place);
  await context.grantPermissions(['geolocation', 'notifications', 'clipboard-write']);
  await context.addInitScript(subscribeTo(browser));
  const cdp = await context.newCDPSession(page);
  let registrationId = '';
  cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
    registrationId = registrations[0]?.registrationId ?? registrationId;
  });
  await cdp.send('ServiceWorker.enable');
  const worker = () => until('a service worker', () => context.serviceWorkers()[0]);
  return {
    ...visitor,
    browser,
    /** Hands the first push message to the service worker, which shows it as a notification. */
    async showPush(): Promise<{ title: string; body: string; tag: string; data: { url: string } }> {
      const { message } = await browser.next();
      const data = JSON.stringify(message);
      await (await worker()).evaluate(watchShown);
      await until('its registration', () => registrationId);
      await cdp.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data });
      return (await worker()).evaluate('shown');
    },
    /** Presses the notification that is shown. @returns the address that the service worker opens */
    pressNotification: async () => (await worker()).evaluate<string>(pressFirst),
  };
}

/** Replaces what browsers ask their push service for. */
function subscribeTo({ subscription: { endpoint, keys } }: SubscribedBrowser): string {
  return `{
    const subscription = {
      endpoint: '${endpoint}',
      toJSON: () => ({ keys: ${JSON.stringify(keys)} }),
      unsubscribe: async () => localStorage.removeItem('push') ?? true,
    };
    PushManager.prototype.getSubscription = async () => (localStorage.getItem('push') ? subscription : null);
    PushManager.prototype.subscribe = async () => (localStorage.setItem('push', 'on'), subscription);
  }`;
}

/** Chromium may drop a notification that is read while it is being shown, so the page must not poll for it. */
const watchShown = `void (self.shown = new Promise((resolve) => {
  const show = registration.showNotification.bind(registration);
  registration.showNotification = async (...given) => {
    await show(...given);
    const [shown] = await registration.getNotifications();
    resolve(shown && { title: shown.title, body: shown.body, tag: shown.tag, data: shown.data });
  };
}))`;

/** Only a real press lets a service worker open a window, so what it opens is noted. */
const pressFirst = `(async () => {
  const [notification] = await registration.getNotifications();
  return new Promise((resolve) => {
    clients.openWindow = async (url) => resolve(url);
    dispatchEvent(new NotificationEvent('notificationclick', { notification }));
  });
})()`;
